//! [`crate::kernels::lookup`] with AVX2: a register holds eight values, or the cells of 32 rows.

#![allow(clippy::wildcard_imports)] // intrinsics, each with its own name

use super::search::{Cells, GROUP, LANES, find_cells};
use crate::kernels::lookup::{CELLS, CellTable, Count, MOST_PLANES};
use std::arch::x86_64::*;

/// Octets that can be tallied in bytes before one of them could overflow: one adds at most 40.
const FLUSH: usize = 6;

/// See [`crate::kernels::lookup::count_rows`].
#[target_feature(enable = "avx2")]
pub fn count_rows(
    table: &CellTable,
    values: &[f32],
    counts: &mut [Count],
    skipped: &mut Vec<usize>,
) {
    match (table.cell_planes, table.planes) {
        (1, ..=5) => count::<1, 5>(table, values, counts, skipped),
        (1, ..=7) => count::<1, 7>(table, values, counts, skipped),
        (1, _) => count::<1, MOST_PLANES>(table, values, counts, skipped),
        (2, ..=7) => count::<2, 7>(table, values, counts, skipped),
        (2, _) => count::<2, MOST_PLANES>(table, values, counts, skipped),
        (_, ..=7) => count::<3, 7>(table, values, counts, skipped),
        _ => count::<3, MOST_PLANES>(table, values, counts, skipped),
    }
}

/// With so many planes of a cell's counts, and no more than `PLANES` of a row's.
#[target_feature(enable = "avx2")]
fn count<const CELL_PLANES: usize, const PLANES: usize>(
    table: &CellTable,
    values: &[f32],
    counts: &mut [Count],
    skipped: &mut Vec<usize>,
) {
    let zero = _mm256_setzero_si256();
    let mut cells = vec![Cells { low: zero, high: zero }; table.features.len()];
    let per_group = GROUP * table.functions;
    let groups = values.chunks_exact(GROUP * table.columns);
    let (whole, rest) = (groups.len(), groups.remainder());
    for (group, (rows, counts)) in groups.zip(counts.chunks_exact_mut(per_group)).enumerate() {
        let nan = count_group::<CELL_PLANES, PLANES>(table, rows, &mut cells, counts);
        skip(nan, group * GROUP, skipped);
    }
    if !rest.is_empty() {
        // The last rows, with rows of zeros to make them a group.
        let mut rows = vec![0.0; GROUP * table.columns];
        rows[..rest.len()].copy_from_slice(rest);
        let mut group = vec![Count::default(); per_group];
        let nan = count_group::<CELL_PLANES, PLANES>(table, &rows, &mut cells, &mut group);
        skip(nan, whole * GROUP, skipped);
        let counts = &mut counts[whole * per_group..];
        counts.copy_from_slice(&group[..counts.len()]);
    }
}

/// Name the rows whose bits are set.
fn skip(nan: u32, first: usize, skipped: &mut Vec<usize>) {
    if nan != 0 {
        skipped.extend((0..GROUP).filter(|row| nan >> row & 1 == 1).map(|row| first + row));
    }
}

/// Count 32 rows; a bit for each row with a NaN, which is counted wrong.
#[target_feature(enable = "avx2")]
fn count_group<const CELL_PLANES: usize, const PLANES: usize>(
    table: &CellTable,
    rows: &[f32],
    cells: &mut [Cells],
    counts: &mut [Count],
) -> u32 {
    let nan = find_cells(table, rows, cells);
    count_linear(table, cells, counts);
    let per_octet = cells.len() * CELL_PLANES * CELLS;
    let mut tallies = Tallies::<PLANES>::new();
    for (octet, parts) in table.octets.iter().enumerate() {
        let factors = &table.factors[octet * per_octet..][..per_octet];
        let planes = count_columns::<CELL_PLANES, PLANES>(cells, factors);
        for part in parts {
            tallies.add(&planes, part.mask);
            let next = table.octets.get(octet + 1).and_then(|parts| parts.first());
            if parts.len() > 1 || next.is_none_or(|next| next.function != part.function) {
                tallies.finish(part.function, table.functions, counts);
            }
        }
    }
    nan
}

/// A byte of a table of 32 for each of 32 rows.
#[target_feature(enable = "avx2")]
fn look_up(table: &[u8], cells: &Cells) -> __m256i {
    let half = |at: usize| {
        let sixteen = &table[at..][..16];
        // SAFETY: the slice has sixteen values.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(sixteen.as_ptr().cast()) })
    };
    let low = _mm256_shuffle_epi8(half(0), cells.low);
    let high = _mm256_shuffle_epi8(half(16), cells.high);
    _mm256_or_si256(low, high)
}

/// How many of the active w are +1.
#[target_feature(enable = "avx2")]
fn count_linear(table: &CellTable, cells: &[Cells], counts: &mut [Count]) {
    for function in 0..table.functions {
        let linear = table.linear[function * cells.len() * CELLS..].chunks_exact(CELLS);
        let mut sum = _mm256_setzero_si256();
        for (cells, linear) in cells.iter().zip(linear) {
            sum = _mm256_add_epi8(sum, look_up(linear, cells));
        }
        let mut bytes = [0_u8; GROUP];
        // SAFETY: there is room for 32 bytes.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), sum) };
        for (row, sum) in bytes.into_iter().enumerate() {
            counts[row * table.functions + function].linear = sum.into();
        }
    }
}

/// Bit planes of the counts of eight columns, for 32 rows; there are no more than `PLANES`.
#[target_feature(enable = "avx2")]
fn count_columns<const CELL_PLANES: usize, const PLANES: usize>(
    cells: &[Cells],
    factors: &[u8],
) -> [__m256i; PLANES] {
    let zero = _mm256_setzero_si256();
    let mut planes = [zero; PLANES];
    let pairs = cells.chunks_exact(2);
    let last = pairs.remainder();
    for (pair, lookups) in pairs.zip(factors.chunks_exact(2 * CELL_PLANES * CELLS)) {
        let (first, second) = lookups.split_at(CELL_PLANES * CELLS);
        // Carries into each weight: one from the two words, one from the plane.
        let (mut from_words, mut from_plane) = (zero, zero);
        for (a, plane) in planes.iter_mut().enumerate() {
            let (sum, carry, other);
            if a < CELL_PLANES {
                let x = look_up(&first[a * CELLS..][..CELLS], &pair[0]);
                let y = look_up(&second[a * CELLS..][..CELLS], &pair[1]);
                (sum, carry) = full_add(*plane, x, y);
            } else {
                (sum, carry) = (*plane, zero);
            }
            (*plane, other) = full_add(sum, from_words, from_plane);
            (from_words, from_plane) = (carry, other);
        }
    }
    if let [cell] = last {
        let lookup = &factors[(cells.len() - 1) * CELL_PLANES * CELLS..];
        let mut carry = zero;
        for (a, plane) in planes.iter_mut().enumerate() {
            let x =
                if a < CELL_PLANES { look_up(&lookup[a * CELLS..][..CELLS], cell) } else { zero };
            (*plane, carry) = full_add(*plane, x, carry);
        }
    }
    planes
}

/// Sum and carry of three bits, in each of 256 columns.
#[target_feature(enable = "avx2")]
fn full_add(a: __m256i, b: __m256i, c: __m256i) -> (__m256i, __m256i) {
    let ab = _mm256_xor_si256(a, b);
    let carry = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(ab, c));
    (_mm256_xor_si256(ab, c), carry)
}

/// Σ c and Σ c² of 32 rows: set bits by their weight, as bytes for as long as they fit, then as numbers.
struct Tallies<const PLANES: usize> {
    octets: usize,
    by_plane: [__m256i; MOST_PLANES],
    by_weight: [__m256i; 2 * MOST_PLANES],
    sums: [__m256i; 4],
    squares: [__m256i; 4],
}

impl<const PLANES: usize> Tallies<PLANES> {
    #[target_feature(enable = "avx2")]
    fn new() -> Self {
        let zero = _mm256_setzero_si256();
        Self {
            octets: 0,
            by_plane: [zero; MOST_PLANES],
            by_weight: [zero; 2 * MOST_PLANES],
            sums: [zero; 4],
            squares: [zero; 4],
        }
    }

    /// Σ c = Σ_a 2^a |P_a| and Σ c² = Σ_{a,b} 2^{a+b} |P_a ∧ P_b|, over the columns in `mask`.
    #[target_feature(enable = "avx2")]
    fn add(&mut self, planes: &[__m256i; PLANES], mask: u8) {
        if self.octets == FLUSH {
            self.flush();
        }
        self.octets += 1;
        let mask = _mm256_set1_epi8(mask as i8);
        for a in 0..PLANES {
            let plane = _mm256_and_si256(planes[a], mask);
            let alone = popcount_bytes(plane);
            self.by_plane[a] = _mm256_add_epi8(self.by_plane[a], alone);
            self.by_weight[2 * a] = _mm256_add_epi8(self.by_weight[2 * a], alone);
            for (b, &other) in planes[..a].iter().enumerate() {
                let both = popcount_bytes(_mm256_and_si256(plane, other));
                self.by_weight[a + b + 1] = _mm256_add_epi8(self.by_weight[a + b + 1], both);
            }
        }
    }

    /// Add the bytes to the numbers.
    #[target_feature(enable = "avx2")]
    fn flush(&mut self) {
        let zero = _mm256_setzero_si256();
        weigh(&self.by_plane, PLANES, &mut self.sums);
        weigh(&self.by_weight, 2 * PLANES, &mut self.squares);
        self.by_plane = [zero; MOST_PLANES];
        self.by_weight = [zero; 2 * MOST_PLANES];
        self.octets = 0;
    }

    /// Write the tallies of a function and begin anew.
    #[target_feature(enable = "avx2")]
    fn finish(&mut self, function: usize, functions: usize, counts: &mut [Count]) {
        self.flush();
        for (register, (&sums, &squares)) in self.sums.iter().zip(&self.squares).enumerate() {
            for (lane, (sum, squares)) in lanes(sums).into_iter().zip(lanes(squares)).enumerate() {
                let row = 4 * register + lane % 4 + lane / 4 * 16;
                let tally = &mut counts[row * functions + function].factors;
                (tally.sum, tally.squares) = (sum.into(), squares.into());
            }
        }
        self.sums = [_mm256_setzero_si256(); 4];
        self.squares = [_mm256_setzero_si256(); 4];
    }
}

/// Add Σ_w 2^w · bytes[w], row by row. Rows 4r to 4r + 3 are in the lower half of register r, and those 16 further in
/// the upper half: where unpacking puts them.
#[target_feature(enable = "avx2")]
fn weigh(bytes: &[__m256i], weights: usize, numbers: &mut [__m256i; 4]) {
    let (one_two, one_four) = (_mm256_set1_epi16(0x0201), _mm256_set1_epi32(0x0004_0001));
    for (four, quarter) in bytes.chunks_exact(4).take(weights.div_ceil(4)).enumerate() {
        let two = |a, b| {
            let low = _mm256_maddubs_epi16(_mm256_unpacklo_epi8(a, b), one_two);
            (low, _mm256_maddubs_epi16(_mm256_unpackhi_epi8(a, b), one_two))
        };
        let (low_ab, high_ab) = two(quarter[0], quarter[1]);
        let (low_cd, high_cd) = two(quarter[2], quarter[3]);
        let shift = _mm_cvtsi32_si128(4 * four as i32);
        let weighed = [
            _mm256_unpacklo_epi16(low_ab, low_cd),
            _mm256_unpackhi_epi16(low_ab, low_cd),
            _mm256_unpacklo_epi16(high_ab, high_cd),
            _mm256_unpackhi_epi16(high_ab, high_cd),
        ];
        for (number, weighed) in numbers.iter_mut().zip(weighed) {
            let sum = _mm256_sll_epi32(_mm256_madd_epi16(weighed, one_four), shift);
            *number = _mm256_add_epi32(*number, sum);
        }
    }
}

#[target_feature(enable = "avx2")]
fn lanes(register: __m256i) -> [u32; LANES] {
    let mut out = [0; LANES];
    // SAFETY: there is room for eight values.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), register) };
    out
}

/// Set bits of each byte.
#[target_feature(enable = "avx2")]
fn popcount_bytes(x: __m256i) -> __m256i {
    let counts = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let nibble = _mm256_set1_epi8(0x0f);
    let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(x, nibble));
    let high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16::<4>(x), nibble));
    _mm256_add_epi8(low, high)
}
