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
mod backward;
#[cfg(feature = "std")]
mod batch;
#[cfg(feature = "std")]
mod blocks;
mod float_sum;
#[cfg(feature = "std")]
mod forward;
mod isa;
#[cfg(feature = "std")]
mod logistic;
pub mod lookup;
#[cfg(feature = "std")]
mod lookup_vector;
#[cfg(feature = "std")]
mod mean_size;
mod prefetch;
mod search;
#[cfg(feature = "std")]
mod step;
mod stored;
mod tally;
mod weights;

#[cfg(feature = "std")]
pub use batch::{Batch, CellGradients, CellSums, SampleSums, Touched, Visits};
pub use float_sum::{FloatRows, Sample, sum_squares};
pub use isa::Isa;
use isa::{Tier, for_tiers};
pub use lookup::{CellTable, Count};
pub use prefetch::prefetch;
#[cfg(feature = "std")]
pub use step::{Pull, PulledRow, Step, inverse_sqrt};
pub use stored::{FEW, StoredColumn, StoredTable};
pub use tally::{Samples, SignTable, Slot, Tally};
pub use weights::{Kind, RowWeights, is_positive};

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

    /// Finds the start of each stored value, given its column and its key: `u32::MAX` if it activates nothing, as a zero.
    fn find_starts(table: &StoredTable, columns: &[u32], keys: &[i32], starts: &mut [u32]) = stored::find_starts;

    /// Tallies the active bits of each sample into `table.outputs` tallies.
    fn tally_samples(table: &SignTable, samples: Samples<'_>, tallies: &mut [Tally]) = tally::tally_samples;

    /// Tallies samples by looking their values up, without a list of active rows. `values` holds `table.columns` values
    /// per sample, `counts` has room for `table.outputs` counts per sample.
    ///
    /// # Errors
    /// If there is not enough memory.
    fn count_samples(table: &CellTable, values: &[f32], counts: &mut [Count]) -> crate::Result<()>
        = lookup::count_samples, simd lookup_vector::count_samples::<registers::Vector>;

    /// Computes Σ x·v over the active rows for each of the `rows.width` columns.
    fn sum_floats(rows: FloatRows<'_>, sample: Sample<'_>, sums: &mut [f32]) = float_sum::sum_floats;

    /// Sums the weights of the rows that each touched cell activates. `sums` has room for all slots.
    #[cfg(feature = "std")]
    fn sum_cells(
        weights: &RowWeights,
        kinds: [Kind; 2],
        tilings: usize,
        batch: Batch<'_>,
        sums: &mut CellSums,
    ) = forward::sum_cells;

    /// Computes the sums of each sample of a batch from those of its cells.
    #[cfg(feature = "std")]
    fn forward(
        batch: Batch<'_>,
        cells: &CellSums,
        v_kind: Kind,
        tilings: usize,
        factors: usize,
        sums: &mut SampleSums,
    ) = forward::forward;

    /// Adds up the gradients of the samples in each touched cell. `s` are the sums of the forward pass, which it
    /// overwrites, and `slopes` are ℓ'. Cells whose rows count as one leave themselves `alone`, given their sums.
    #[cfg(feature = "std")]
    fn backward(
        batch: Batch<'_>,
        s: &mut [f32],
        slopes: &[f32],
        factors: usize,
        alone: Option<&CellSums>,
        gradients: &mut CellGradients,
    ) = backward::backward;

    /// Takes a step with every row of the touched cells, with Adagrad unless `squares` is empty. They must start
    /// above zero. With a pull there must be Adagrad, v are signs or levels, and λ is that of the pull.
    ///
    /// ```text
    /// g_w = α·Σ ℓ'·x + λ1·w        g_v = β²·(Σ ℓ'·x·s − v·Σ ℓ'·x²) + λ2·v
    /// ```
    #[cfg(feature = "std")]
    fn step(
        weights: &mut RowWeights,
        squares: &mut RowWeights,
        touched: &[Touched],
        gradients: &mut CellGradients,
        step: Step,
        pull: Option<Pull<'_>>,
    ) = step::step;

    /// Returns the mean squares of the gradients of w and of v over the rows of the touched cells, each divided by its
    /// number of visits.
    #[cfg(feature = "std")]
    fn gradient_squares(
        weights: &RowWeights,
        touched: &[Touched],
        gradients: &mut CellGradients,
        step: Step,
        pull: Pull<'_>,
    ) -> [f64; 2] = step::gradient_squares;

    /// Computes the logistic loss of each margin y·score, and its slope with respect to the margin.
    #[cfg(feature = "std")]
    fn logistic(margins: &[f32], losses: &mut [f32], slopes: &mut [f32]) = logistic::logistic;

    /// Returns the mean of |x|; zero if there are no numbers.
    #[cfg(feature = "std")]
    fn mean_size(numbers: &[f32]) -> f64 = mean_size::mean_size;
}
