//! The definition of every kernel. No order of floating-point sums is left open: what is summed is whole numbers, and
//! the rest is element by element, without fused multiply-add.

pub use super::lookup::count_rows;
pub use super::reals::sum_reals;
#[cfg(feature = "std")]
pub use super::reals::{step_reals, sum_real_signs};
#[cfg(feature = "std")]
use super::steps::{self, Pull, Weights};
#[cfg(feature = "std")]
pub use super::steps::{sgd, sum_signs};
use alloc::vec::Vec;

/// See [`steps::adagrad`].
#[cfg(feature = "std")]
pub fn adagrad(weights: &mut Weights, squares: &mut Weights, starts: &[u32], pull: &Pull) {
    steps::adagrad::<f32>(weights, squares, starts, pull);
}

/// Up to this many edges a value is compared with each of them, many values at once; above, it is searched for.
const MOST_COMPARED: usize = 48;

/// Cell of each key: the number of edges that are not above it. `edges` ascend.
#[inline(always)]
pub fn count_edges(keys: &[i32], edges: &[i32], cells: &mut [u32]) {
    if edges.len() > MOST_COMPARED {
        for (cell, key) in cells.iter_mut().zip(keys) {
            *cell = edges.partition_point(|edge| edge <= key) as u32;
        }
        return;
    }
    cells.fill(0);
    for edge in edges {
        for (cell, key) in cells.iter_mut().zip(keys) {
            *cell += u32::from(edge <= key);
        }
    }
}

/// The ±1 factors of a model as bits, several score functions to a word where they fit.
#[derive(Clone, Debug, Default)]
pub struct SignTable {
    /// `width` words for each parameter row; a set bit is +1.
    pub words: Vec<u64>,
    /// Words a row.
    pub width: usize,
    /// Rows that one start activates.
    pub tilings: usize,
    /// Where the columns of each function are, in the order of the words.
    pub slots: Vec<Slot>,
    /// Number of score functions.
    pub functions: usize,
}

/// Columns of one score function within one word of a row.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Which word.
    pub word: usize,
    /// Which score function.
    pub function: usize,
    /// The bits of that function in the word.
    pub mask: u64,
}

/// Over the columns of one function: Σ c and Σ c², c being how many of a column's active bits are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Σ c
    pub sum: u64,
    /// Σ c²
    pub squares: u64,
}

/// Bits of the largest count: fewer than 2³² rows can be active.
const PLANES: usize = 33;

/// Tally each row's active bits, `functions` tallies a row; row i is active at `starts[ends[i-1]..ends[i]]`.
#[inline(always)]
pub fn tally_rows(table: &SignTable, starts: &[u32], ends: &[u32], tallies: &mut [Tally]) {
    tallies.fill(Tally::default());
    let mut first = 0;
    for (&end, row) in ends.iter().zip(tallies.chunks_exact_mut(table.functions)) {
        tally_row(table, &starts[first..end as usize], row);
        first = end as usize;
    }
}

#[inline(always)]
fn tally_row(table: &SignTable, starts: &[u32], tallies: &mut [Tally]) {
    let active = starts.len() * table.tilings;
    let used = (usize::BITS - active.leading_zeros()) as usize;
    let mut slots = table.slots.as_slice();
    for word in 0..table.width {
        let planes = count_columns(table, word, starts);
        while let Some((slot, rest)) = slots.split_first().filter(|(slot, _)| slot.word == word) {
            add_tally(&planes[..used], slot.mask, &mut tallies[slot.function]);
            slots = rest;
        }
    }
}

/// How often each of a word's 64 columns is set, as bit planes: plane a holds bit a of the 64 counts.
///
/// Eight rows at a time go through a tree of carry-save adders, and one carry of weight eight comes out.
#[inline(always)]
fn count_columns(table: &SignTable, word: usize, starts: &[u32]) -> [u64; PLANES] {
    let mut planes = [0; PLANES];
    let mut eight = [0; 8];
    let mut filled = 0;
    for &start in starts {
        let first = start as usize * table.width + word;
        for t in 0..table.tilings {
            eight[filled] = table.words[first + t * table.width];
            filled += 1;
            if filled == 8 {
                add_eight(&mut planes, &eight);
                filled = 0;
            }
        }
    }
    eight[filled..].fill(0);
    add_eight(&mut planes, &eight);
    planes
}

#[inline(always)]
fn add_eight(planes: &mut [u64; PLANES], x: &[u64; 8]) {
    let (ones, two_a) = full_add(planes[0], x[0], x[1]);
    let (ones, two_b) = full_add(ones, x[2], x[3]);
    let (ones, two_c) = full_add(ones, x[4], x[5]);
    let (ones, two_d) = full_add(ones, x[6], x[7]);
    let (twos, four_a) = full_add(planes[1], two_a, two_b);
    let (twos, four_b) = full_add(twos, two_c, two_d);
    let (fours, mut carry) = full_add(planes[2], four_a, four_b);
    (planes[0], planes[1], planes[2]) = (ones, twos, fours);
    for plane in &mut planes[3..] {
        if carry == 0 {
            break;
        }
        (*plane, carry) = (*plane ^ carry, *plane & carry);
    }
}

/// Sum and carry of three bits, in each of 64 columns.
#[inline(always)]
fn full_add(a: u64, b: u64, c: u64) -> (u64, u64) {
    let ab = a ^ b;
    (ab ^ c, (a & b) | (ab & c))
}

/// Σ c = Σ_a 2^a |P_a| and Σ c² = Σ_{a,b} 2^{a+b} |P_a ∧ P_b|, over the columns in `mask`.
#[inline(always)]
pub fn add_tally(planes: &[u64], mask: u64, tally: &mut Tally) {
    for (a, plane) in planes.iter().enumerate() {
        let plane = plane & mask;
        let alone = u64::from(plane.count_ones());
        tally.sum += alone << a;
        tally.squares += alone << (2 * a);
        for (b, other) in planes[..a].iter().enumerate() {
            tally.squares += u64::from((plane & other).count_ones()) << (a + b + 1);
        }
    }
}
