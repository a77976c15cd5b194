//! The portable loops compiled for AVX2 and popcnt: every x86-64 server since 2015.

pub mod lookup;
mod search;

use super::portable::{self, Pull, SignTable, Tally};

/// Whether this CPU has what this file is compiled for.
pub fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
}

/// Defines the same function under the tier's target features. FMA is left out: it would change the bits.
macro_rules! recompile {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
        pub fn $name($($argument: $type),*) {
            portable::$name($($argument),*);
        }
    )*};
}

recompile! {
    count_edges(keys: &[i32], edges: &[i32], cells: &mut [u32]);
    tally_rows(table: &SignTable, starts: &[u32], ends: &[u32], tallies: &mut [Tally]);
    sum_signs(proxies: &[f32], columns: usize, starts: &[u32], sums: &mut [f32]);
    adagrad(proxies: &mut [f32], squares: &mut [f32], columns: usize, starts: &[u32], pull: &Pull);
    sgd(proxies: &mut [f32], columns: usize, starts: &[u32], pull: &Pull);
}
