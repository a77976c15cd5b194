//! The aarch64 tier. NEON is part of the architecture, so the portable loops use it already; lookups have their own form.

mod floats;
mod vector;

use super::lookup::{CellTable, Count};
pub use super::portable::{
    count_edges, sgd, step_reals, sum_real_signs, sum_reals, sum_signs, tally_rows,
};
use super::steps::{self, Pull, Weights};

/// Whether this CPU has what [`count_rows`] is compiled for.
pub fn has_neon() -> bool {
    std::arch::is_aarch64_feature_detected!("neon")
}

/// See [`super::lookup::count_rows`].
#[target_feature(enable = "neon")]
pub fn count_rows(table: &CellTable, values: &[f32], counts: &mut [Count]) {
    super::vector::count_rows::<vector::Register>(table, values, counts);
}

/// See [`super::steps::adagrad`].
#[target_feature(enable = "neon")]
pub fn adagrad(weights: &mut Weights, squares: &mut Weights, starts: &[u32], pull: &Pull) {
    steps::adagrad::<floats::Four>(weights, squares, starts, pull);
}
