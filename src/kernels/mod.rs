//! The inner loops, and the choice of the instruction set they run with.
//!
//! [`portable`] is the definition: safe, scalar Rust. A faster tier is the same loop compiled for more instructions,
//! so all tiers give the same bits. The choice is made once per process and carried as a token, [`Isa`].
#![allow(unsafe_code)]

pub mod lookup;
pub mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use crate::{Error, Result};
pub use lookup::{CellTable, Count};
pub use portable::{Pull, SignTable, Slot, Tally};
use std::sync::OnceLock;

/// Proof that this CPU runs an instruction set; made only by [`Isa::detect`] and [`Isa::available`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

/// Environment variable that names the instruction set to use, for tests and bug reports.
const FORCE: &str = "BINFM_ISA";

impl Isa {
    /// The best of this CPU, or the one that `BINFM_ISA` names.
    ///
    /// # Errors
    /// If `BINFM_ISA` names one that this CPU does not have.
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

    /// All that this CPU can run, the fastest last.
    pub fn available() -> Vec<Self> {
        let mut tiers = vec![Self(Level::Portable)];
        #[cfg(target_arch = "x86_64")]
        if x86_64::has_avx2() {
            tiers.push(Self(Level::Avx2));
        }
        tiers
    }

    /// Whether [`count_rows`] is faster than [`tally_rows`].
    pub fn looks_up(self) -> bool {
        self.0 != Level::Portable
    }

    /// The name by which `BINFM_ISA` calls it.
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
        }
    }
}

/// Calls the tier that `isa` proves.
macro_rules! dispatch {
    ($isa:expr, $name:ident($($argument:expr),*)) => {
        match $isa.0 {
            Level::Portable => portable::$name($($argument),*),
            // SAFETY: an `Isa` of this level exists only where the CPU has the instructions.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { x86_64::$name($($argument),*) },
        }
    };
}

/// See [`lookup::count_rows`].
pub fn count_rows(
    isa: Isa,
    table: &CellTable,
    values: &[f32],
    counts: &mut [Count],
    skipped: &mut Vec<usize>,
) {
    match isa.0 {
        Level::Portable => lookup::count_rows(table, values, counts, skipped),
        // SAFETY: an `Isa` of this level exists only where the CPU has the instructions.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86_64::lookup::count_rows(table, values, counts, skipped) },
    }
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

/// See [`portable::sum_signs`].
pub fn sum_signs(isa: Isa, proxies: &[f32], columns: usize, starts: &[u32], sums: &mut [f32]) {
    dispatch!(isa, sum_signs(proxies, columns, starts, sums));
}

/// See [`portable::adagrad`].
pub fn adagrad(
    isa: Isa,
    proxies: &mut [f32],
    squares: &mut [f32],
    columns: usize,
    starts: &[u32],
    pull: &Pull,
) {
    dispatch!(isa, adagrad(proxies, squares, columns, starts, pull));
}

/// See [`portable::sgd`].
pub fn sgd(isa: Isa, proxies: &mut [f32], columns: usize, starts: &[u32], pull: &Pull) {
    dispatch!(isa, sgd(proxies, columns, starts, pull));
}
