//! x86-64 tiers: AVX2 with popcnt (every server since 2015), and AVX-512 with counted bits (Ice Lake, Zen 4 and later).

mod floats;
mod vector;

/// Whether this CPU has what [`avx2`] is compiled for.
pub fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
}

/// Whether this CPU has what [`avx512`] is compiled for.
pub fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512bitalg")
        && is_x86_feature_detected!("avx512vpopcntdq")
}

/// A tier: the portable loops compiled under its target features, and the lookups for its registers. Fused
/// multiply-add is never used, not even where the features imply it: it would change the bits.
macro_rules! tier {
    ($tier:ident, $features:literal, $register:ty) => {
        pub mod $tier {
            use super::floats::Eight;
            use super::vector::Register;
            use crate::kernels::lookup::{CellTable, Count};
            use crate::kernels::portable::{self, SignTable, Tally};
            use crate::kernels::reals::RealPull;
            use crate::kernels::steps::{self, Pull, Sums, Weights};
            use crate::kernels::vector;

            #[target_feature(enable = $features)]
            pub fn count_rows(table: &CellTable, values: &[f32], counts: &mut [Count]) {
                vector::count_rows::<$register>(table, values, counts);
            }

            #[target_feature(enable = $features)]
            pub fn count_edges(keys: &[i32], edges: &[i32], cells: &mut [u32]) {
                portable::count_edges(keys, edges, cells);
            }

            #[target_feature(enable = $features)]
            pub fn tally_rows(
                table: &SignTable,
                starts: &[u32],
                ends: &[u32],
                tallies: &mut [Tally],
            ) {
                portable::tally_rows(table, starts, ends, tallies);
            }

            #[target_feature(enable = $features)]
            pub fn sum_signs(
                weights: &Weights,
                starts: &[u32],
                factors: usize,
                sums: &mut [f32],
            ) -> Sums {
                portable::sum_signs(weights, starts, factors, sums)
            }

            #[target_feature(enable = $features)]
            pub fn adagrad(
                weights: &mut Weights,
                squares: &mut Weights,
                starts: &[u32],
                pull: &Pull,
            ) {
                steps::adagrad::<Eight>(weights, squares, starts, pull);
            }

            #[target_feature(enable = $features)]
            pub fn sgd(weights: &mut Weights, starts: &[u32], pull: &Pull) {
                portable::sgd(weights, starts, pull);
            }

            #[target_feature(enable = $features)]
            pub fn sum_reals(
                numbers: &[f32],
                width: usize,
                tilings: usize,
                starts: &[u32],
                values: &[f32],
                sums: &mut [f32],
            ) {
                portable::sum_reals(numbers, width, tilings, starts, values, sums);
            }

            #[target_feature(enable = $features)]
            pub fn sum_real_signs(
                numbers: &[f32],
                width: usize,
                tilings: usize,
                starts: &[u32],
                values: &[f32],
                sums: &mut [f32],
            ) {
                portable::sum_real_signs(numbers, width, tilings, starts, values, sums);
            }

            #[target_feature(enable = $features)]
            pub fn step_reals(
                weights: &mut Weights,
                squares: &mut Weights,
                starts: &[u32],
                values: &[f32],
                sums: &[f32],
                pull: &RealPull,
            ) {
                portable::step_reals(weights, squares, starts, values, sums, pull);
            }
        }
    };
}

tier!(avx2, "avx2,popcnt,bmi1,bmi2,lzcnt", Register<false>);
tier!(
    avx512,
    "avx2,popcnt,bmi1,bmi2,lzcnt,avx512f,avx512vl,avx512bw,avx512bitalg,avx512vpopcntdq",
    Register<true>
);
