//! The inner loops, and the instruction sets they are compiled for.
//!
//! Every kernel is defined by scalar Rust. A faster tier is the same loop compiled for more instructions, or a loop over
//! SIMD registers, and gives the same bits: sums are of whole numbers or have a fixed order, everything else is computed
//! element by element, and fused multiply-add is never used. The tier is chosen once per process and passed on as a
//! token, [`Isa`].
//!
//! To add a kernel, write its algorithm (`#[inline(always)]`, so that each tier compiles it for its own instructions) and
//! add it to the list below. To add a tier, define its registers in `arch/` and add it to the list of
//! `for_tiers!` in `isa.rs`.
#![allow(clippy::indexing_slicing)] // callers check lengths and row numbers once per batch
#![allow(unsafe_code)]
#![warn(clippy::undocumented_unsafe_blocks)]

#[cfg(feature = "std")]
mod arch;
#[cfg(feature = "std")]
mod float_step;
mod float_sum;
#[cfg(feature = "std")]
mod floats;
mod isa;
pub mod lookup;
#[cfg(feature = "std")]
mod lookup_vector;
mod prefetch;
mod search;
#[cfg(feature = "std")]
mod sign_step;
mod tally;
mod weights;

#[cfg(feature = "std")]
pub use float_step::FloatGradient;
pub use float_sum::{FloatRows, Sample, sum_squares};
pub use isa::Isa;
use isa::{Tier, for_tiers};
pub use lookup::{CellTable, Count};
pub use prefetch::prefetch;
#[cfg(feature = "std")]
pub use sign_step::{SignGradient, SignSums};
pub use tally::{Samples, SignTable, Slot, Tally};
pub use weights::{RowWeights, is_positive};

/// Generates the public function of each kernel, which runs the kernel's algorithm on the tier of an [`Isa`].
///
/// The algorithm stands to the right of `=`. Where SIMD tiers use another one, it follows `simd`, and
/// `registers` is the module of the tier's registers.
macro_rules! kernels {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $output:ty)?
            = $portable:expr $(, simd $simd:expr)?;
    )*) => {$(
        $(#[$attribute])*
        pub fn $name(isa: Isa, $($argument: $type),*) $(-> $output)? {
            for_tiers!(dispatch! {
                isa, fn($($argument: $type),*) -> first!($($output,)? ()), ($($argument),*),
                $portable, first!($($simd,)? $portable)
            })
        }
    )*};
}

/// Calls the portable algorithm, or the SIMD algorithm in a function with the target features of the tier.
macro_rules! dispatch {
    (
        { $isa:ident, fn $parameters:tt -> $output:ty, $arguments:tt, $portable:expr, $simd:expr }
        $($(#[$cfg:meta])* $tier:ident = $name:ident, $is_detected:ident[$($feature:tt),+];)*
    ) => {
        #[allow(unused_unsafe)] // most algorithms are safe functions
        match $isa.tier() {
            // SAFETY: a portable algorithm has no registers but scalar ones.
            Tier::Portable => unsafe { $portable $arguments },
            $(
                $(#[$cfg])*
                Tier::$tier => {
                    #[target_feature($(enable = $feature),+)]
                    fn enter $parameters -> $output {
                        #[allow(unused_imports)] // most algorithms name no registers
                        use arch::$name as registers;
                        // SAFETY: this function has the target features of the tier.
                        unsafe { $simd $arguments }
                    }
                    // SAFETY: `Isa` proves that the CPU has the target features of the tier.
                    unsafe { enter $arguments }
                }
            )*
        }
    };
}

/// Expands to the first of one or two.
#[allow(unused_macros)] // without std there is only the portable tier
macro_rules! first {
    ($first:tt $(, $second:tt)?) => {
        $first
    };
}

kernels! {
    /// Finds the cell of each key: the number of edges that are not above it. `edges` are in ascending order.
    fn count_edges(keys: &[i32], edges: &[i32], cells: &mut [u32]) = search::count_edges;

    /// Tallies the active bits of each sample into `table.outputs` tallies.
    fn tally_samples(table: &SignTable, samples: Samples<'_>, tallies: &mut [Tally]) = tally::tally_samples;

    /// Tallies samples by looking their values up, without a list of active rows. `values` holds `table.columns` values
    /// per sample, `counts` has room for `table.outputs` counts per sample.
    fn count_samples(table: &CellTable, values: &[f32], counts: &mut [Count])
        = lookup::count_samples, simd lookup_vector::count_samples::<registers::Vector>;

    /// Sums the signs of the active rows: returns Σ w and Σ s², and stores the sums s of the factors in the first
    /// `factors` of `sums`.
    ///
    /// A start activates `sums.len() / factors` consecutive rows, which are summed separately first; the rest of `sums`
    /// is scratch space for that.
    #[cfg(feature = "std")]
    fn sum_signs(weights: &RowWeights, starts: &[u32], factors: usize, sums: &mut [f32]) -> SignSums
        = sign_step::sum_signs;

    /// Takes an Adagrad step with the proxies of all active rows. `squares` must start above zero.
    #[cfg(feature = "std")]
    fn adagrad(
        weights: &mut RowWeights,
        squares: &mut RowWeights,
        starts: &[u32],
        gradient: &SignGradient,
    ) = sign_step::adagrad::<f32>, simd sign_step::adagrad::<registers::Floats>;

    /// Takes a step of plain gradient descent with the proxies of all active rows.
    #[cfg(feature = "std")]
    fn sgd(weights: &mut RowWeights, starts: &[u32], gradient: &SignGradient) = sign_step::sgd;

    /// Computes Σ x·v over the active rows for each of the `rows.width` columns.
    fn sum_floats(rows: FloatRows<'_>, sample: Sample<'_>, sums: &mut [f32]) = float_sum::sum_floats;

    /// Computes Σ x·sign(v) over the active rows for each of the `rows.width` columns.
    #[cfg(feature = "std")]
    fn sum_float_signs(rows: FloatRows<'_>, sample: Sample<'_>, sums: &mut [f32])
        = float_sum::sum_float_signs;

    /// Updates the active float weights, with Adagrad unless `squares` is empty; then with plain gradient descent.
    ///
    /// ```text
    /// g_w = ℓ'·x + λ1·w        g_v = ℓ'·β²·x·(s_f − x·v) + λ2·β·v
    /// ```
    #[cfg(feature = "std")]
    fn step_floats(
        weights: &mut RowWeights,
        squares: &mut RowWeights,
        sample: Sample<'_>,
        sums: &[f32],
        gradient: &FloatGradient,
    ) = float_step::step_floats;
}
