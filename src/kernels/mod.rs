//! The inner loops, and the choice of the instruction set they run with.
//!
//! [`portable`] is the definition: safe, scalar Rust. A faster tier is the same loop compiled for more instructions,
//! so all tiers give the same bits. The choice is made once per process and carried as a token, [`Isa`].
#![allow(clippy::indexing_slicing)] // lengths are checked once for each batch, by whoever calls
#![allow(unsafe_code)]

#[cfg(all(target_arch = "aarch64", feature = "std"))]
mod aarch64;
pub mod lookup;
pub mod portable;
pub mod reals;
#[cfg(feature = "std")]
mod steps;
#[cfg(feature = "std")]
mod vector;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86_64;

#[cfg(feature = "std")]
use crate::Error;
use crate::Result;
use alloc::vec::Vec;
pub use lookup::{CellTable, Count};
pub use portable::{SignTable, Slot, Tally};
#[cfg(feature = "std")]
pub use reals::RealPull;
pub use reals::sum_squares;
#[cfg(feature = "std")]
use std::sync::OnceLock;
#[cfg(feature = "std")]
pub use steps::{Pull, Sums, Weights, positive};

/// Proof that this CPU runs an instruction set; made only by [`Isa::detect`] and [`Isa::available`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Portable,
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx2,
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx512,
    #[cfg(all(target_arch = "aarch64", feature = "std"))]
    Neon,
}

/// Bytes that come from memory together.
#[cfg(feature = "std")]
const LINE: usize = 64;
/// Environment variable that names the instruction set to use, for tests and bug reports.
#[cfg(feature = "std")]
const FORCE: &str = "BINFM_ISA";

impl Isa {
    /// The best of this CPU, or the one that `BINFM_ISA` names.
    ///
    /// # Errors
    /// If `BINFM_ISA` names one that this CPU does not have.
    #[cfg(feature = "std")]
    pub fn detect() -> Result<Self> {
        static CHOSEN: OnceLock<std::result::Result<Isa, String>> = OnceLock::new();
        let choose = || match std::env::var(FORCE) {
            Ok(name) => Self::available().into_iter().find(|isa| isa.name() == name).ok_or(name),
            Err(_) => Ok(Self::available().pop().unwrap_or(Self(Level::Portable))),
        };
        CHOSEN.get_or_init(choose).clone().map_err(|name| {
            let names: Vec<_> = Self::available().iter().map(|isa| isa.name()).collect();
            Error::value(
                FORCE,
                format!("'{name}'"),
                format!("on this CPU are {}", names.join(", ")),
            )
        })
    }

    /// The portable one: without std there is nobody to ask.
    ///
    /// # Errors
    /// Never.
    #[cfg(not(feature = "std"))]
    pub fn detect() -> Result<Self> {
        Ok(Self(Level::Portable))
    }

    /// All that this CPU can run, the fastest last.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)] // there may be no other
        let mut tiers = vec![Self(Level::Portable)];
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if x86_64::has_avx2() {
            tiers.push(Self(Level::Avx2));
        }
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if x86_64::has_avx512() {
            tiers.push(Self(Level::Avx512));
        }
        #[cfg(all(target_arch = "aarch64", feature = "std"))]
        if aarch64::has_neon() {
            tiers.push(Self(Level::Neon));
        }
        tiers
    }

    /// Whether [`count_rows`] is faster than [`tally_rows`].
    pub fn looks_up(self) -> bool {
        self.0 != Level::Portable
    }

    /// Names of all tiers of this architecture, the fastest last.
    pub const NAMES: &[&str] = &[
        "portable",
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        "avx2",
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        "avx512",
        #[cfg(all(target_arch = "aarch64", feature = "std"))]
        "neon",
    ];

    /// The name by which `BINFM_ISA` calls it.
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Portable => "portable",
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Level::Avx2 => "avx2",
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Level::Avx512 => "avx512",
            #[cfg(all(target_arch = "aarch64", feature = "std"))]
            Level::Neon => "neon",
        }
    }
}

/// Calls the tier that `isa` proves.
macro_rules! dispatch {
    ($isa:expr, $name:ident($($argument:expr),*)) => {
        match $isa.0 {
            Level::Portable => portable::$name($($argument),*),
            // SAFETY: an `Isa` of this level exists only where the CPU has the instructions.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Level::Avx2 => unsafe { x86_64::avx2::$name($($argument),*) },
            // SAFETY: the same.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Level::Avx512 => unsafe { x86_64::avx512::$name($($argument),*) },
            // SAFETY: the same.
            #[cfg(all(target_arch = "aarch64", feature = "std"))]
            #[allow(unused_unsafe)] // most of this tier are the portable functions
            Level::Neon => unsafe { aarch64::$name($($argument),*) },
        }
    };
}

/// Ask for some numbers that will be read soon.
#[inline(always)]
pub fn prefetch<T>(numbers: &[T]) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    for line in (0..size_of_val(numbers)).step_by(LINE) {
        // SAFETY: SSE is part of the architecture, and a prefetch never faults.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(numbers.as_ptr().cast::<i8>().wrapping_add(line));
        }
    }
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    let _ = numbers;
}

/// See [`lookup::count_rows`].
pub fn count_rows(isa: Isa, table: &CellTable, values: &[f32], counts: &mut [Count]) {
    dispatch!(isa, count_rows(table, values, counts));
}

/// See [`portable::count_edges`].
pub fn count_edges(isa: Isa, keys: &[i32], edges: &[i32], cells: &mut [u32]) {
    dispatch!(isa, count_edges(keys, edges, cells));
}

/// See [`portable::tally_rows`].
pub fn tally_rows(
    isa: Isa,
    table: &SignTable,
    starts: &[u32],
    ends: &[u32],
    tallies: &mut [Tally],
) {
    dispatch!(isa, tally_rows(table, starts, ends, tallies));
}

/// See [`steps::sum_signs`].
#[cfg(feature = "std")]
pub fn sum_signs(
    isa: Isa,
    weights: &Weights,
    starts: &[u32],
    factors: usize,
    sums: &mut [f32],
) -> Sums {
    dispatch!(isa, sum_signs(weights, starts, factors, sums))
}

/// See [`steps::adagrad`].
#[cfg(feature = "std")]
pub fn adagrad(
    isa: Isa,
    weights: &mut Weights,
    squares: &mut Weights,
    starts: &[u32],
    pull: &Pull,
) {
    dispatch!(isa, adagrad(weights, squares, starts, pull));
}

/// See [`steps::sgd`].
#[cfg(feature = "std")]
pub fn sgd(isa: Isa, weights: &mut Weights, starts: &[u32], pull: &Pull) {
    dispatch!(isa, sgd(weights, starts, pull));
}

/// See [`reals::sum_reals`].
pub fn sum_reals(
    isa: Isa,
    numbers: &[f32],
    width: usize,
    tilings: usize,
    starts: &[u32],
    values: &[f32],
    sums: &mut [f32],
) {
    dispatch!(isa, sum_reals(numbers, width, tilings, starts, values, sums));
}

/// See [`reals::sum_real_signs`].
#[cfg(feature = "std")]
pub fn sum_real_signs(
    isa: Isa,
    numbers: &[f32],
    width: usize,
    tilings: usize,
    starts: &[u32],
    values: &[f32],
    sums: &mut [f32],
) {
    dispatch!(isa, sum_real_signs(numbers, width, tilings, starts, values, sums));
}

/// See [`reals::step_reals`].
#[cfg(feature = "std")]
pub fn step_reals(
    isa: Isa,
    weights: &mut Weights,
    squares: &mut Weights,
    starts: &[u32],
    values: &[f32],
    sums: &[f32],
    pull: &RealPull,
) {
    dispatch!(isa, step_reals(weights, squares, starts, values, sums, pull));
}
