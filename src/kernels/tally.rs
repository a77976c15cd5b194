//! Counts of set bits among the active rows of a table of signs.

use alloc::vec::Vec;

/// The ±1 factors of a model as bits. Several outputs share a word where they fit.
#[derive(Clone, Debug, Default)]
pub struct SignTable {
    /// `width` words per row; a set bit is +1.
    pub words: Vec<u64>,
    /// Words per row.
    pub width: usize,
    /// Consecutive rows that a start activates.
    pub tilings: usize,
    /// The columns of each output, ordered by word.
    pub slots: Vec<Slot>,
    /// Number of outputs.
    pub outputs: usize,
}

/// The columns of one output within one word of a row.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Index of the word within the row.
    pub word: usize,
    /// Index of the output.
    pub output: usize,
    /// The bits of the output in the word.
    pub mask: u64,
}

/// The active rows of several samples.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// The starts of all samples, one sample after the other.
    pub starts: &'a [u32],
    /// Where the starts of each sample end: sample i has `starts[ends[i - 1]..ends[i]]`.
    pub ends: &'a [u32],
}

/// Σ c and Σ c² over the columns of one output, where c is the number of active rows that have the column's bit set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Σ c
    pub sum: u64,
    /// Σ c²
    pub squares: u64,
}

/// Bits of the largest count: fewer than 2³² rows can be active.
const PLANES: usize = 33;

/// See [`tally_samples`](super::tally_samples).
#[inline(always)]
pub fn tally_samples(table: &SignTable, samples: Samples, tallies: &mut [Tally]) {
    tallies.fill(Tally::default());
    let mut first = 0;
    for (&end, tallies) in samples.ends.iter().zip(tallies.chunks_exact_mut(table.outputs)) {
        tally_sample(table, &samples.starts[first..end as usize], tallies);
        first = end as usize;
    }
}

#[inline(always)]
fn tally_sample(table: &SignTable, starts: &[u32], tallies: &mut [Tally]) {
    let active = starts.len() * table.tilings;
    let used = (usize::BITS - active.leading_zeros()) as usize;
    let mut slots = table.slots.as_slice();
    for word in 0..table.width {
        let planes = count_columns(table, word, starts);
        while let Some((slot, rest)) = slots.split_first().filter(|(slot, _)| slot.word == word) {
            add_tally(&planes[..used], slot.mask, &mut tallies[slot.output]);
            slots = rest;
        }
    }
}

/// Counts the set bits in each of a word's 64 columns. The counts are bit planes: plane a holds bit a of all 64.
///
/// Eight rows at a time go through a tree of carry-save adders, which leaves one carry of weight eight.
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

/// Returns the sum and the carry of three bits, in each of 64 columns.
#[inline(always)]
fn full_add(a: u64, b: u64, c: u64) -> (u64, u64) {
    let ab = a ^ b;
    (ab ^ c, (a & b) | (ab & c))
}

/// Adds Σ c = Σ_a 2^a |P_a| and Σ c² = Σ_{a,b} 2^{a+b} |P_a ∧ P_b| over the columns in `mask`.
#[inline(always)]
fn add_tally(planes: &[u64], mask: u64, tally: &mut Tally) {
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
