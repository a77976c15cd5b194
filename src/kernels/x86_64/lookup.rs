//! [`crate::kernels::lookup`] with AVX2: a register holds eight rows.

#![allow(clippy::wildcard_imports)] // intrinsics, each with its own name

use crate::kernels::lookup::{CELLS, CellTable, Count, LEVELS, MOST_PLANES, Part, Searched};
use std::arch::x86_64::*;

/// Rows that go together.
const LANES: usize = 8;

/// See [`crate::kernels::lookup::count_rows`].
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
pub fn count_rows(
    table: &CellTable,
    values: &[f32],
    counts: &mut [Count],
    skipped: &mut Vec<usize>,
) {
    let mut cells = vec![_mm256_setzero_si256(); table.columns.next_multiple_of(LANES)];
    let per_group = LANES * table.functions;
    let whole = values.len() / (LANES * table.columns);
    let groups = values.chunks_exact(LANES * table.columns);
    let rest = groups.remainder();
    for (group, (rows, counts)) in groups.zip(counts.chunks_exact_mut(per_group)).enumerate() {
        count_group(table, rows, &mut cells, counts, group * LANES, skipped);
    }
    if !rest.is_empty() {
        // The last rows, with rows of zeros to make them eight.
        let mut rows = vec![0.0; LANES * table.columns];
        rows[..rest.len()].copy_from_slice(rest);
        let mut eight = vec![Count::default(); per_group];
        count_group(table, &rows, &mut cells, &mut eight, whole * LANES, skipped);
        let counts = &mut counts[whole * per_group..];
        counts.copy_from_slice(&eight[..counts.len()]);
    }
}

#[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
fn count_group(
    table: &CellTable,
    rows: &[f32],
    cells: &mut [__m256i],
    counts: &mut [Count],
    first: usize,
    skipped: &mut Vec<usize>,
) {
    let nan = find_cells(table, rows, cells);
    skipped.extend((0..LANES).filter(|lane| nan >> lane & 1 == 1).map(|lane| first + lane));
    counts.fill(Count::default());
    count_linear(table, cells, counts);
    let per_word = table.features.len() * table.cell_planes * CELLS;
    for (word, parts) in table.words.iter().enumerate() {
        let factors = &table.factors[word * per_word..][..per_word];
        let planes = match (table.cell_planes, table.planes) {
            (1, ..=5) => count_columns::<1, 5>(cells, factors, table.features.len()),
            (1, _) => count_columns::<1, MOST_PLANES>(cells, factors, table.features.len()),
            (2, ..=7) => count_columns::<2, 7>(cells, factors, table.features.len()),
            (2, _) => count_columns::<2, MOST_PLANES>(cells, factors, table.features.len()),
            (_, ..=7) => count_columns::<3, 7>(cells, factors, table.features.len()),
            _ => count_columns::<3, MOST_PLANES>(cells, factors, table.features.len()),
        };
        for part in parts {
            add_tallies(&planes[..table.planes], part, table.functions, counts);
        }
    }
}

/// Cells of each used feature for eight rows, in the order of `table.features`; a bit for each row with a NaN.
#[target_feature(enable = "avx2")]
fn find_cells(table: &CellTable, rows: &[f32], cells: &mut [__m256i]) -> u32 {
    let mut nan = _mm256_setzero_ps();
    let mut next = 0;
    for first in (0..table.columns).step_by(LANES) {
        let columns = transpose(rows, table.columns, first);
        while let Some(feature) =
            table.features.get(next).filter(|feature| feature.column < first + LANES)
        {
            let values = columns[feature.column - first];
            nan = _mm256_or_ps(nan, _mm256_cmp_ps::<_CMP_UNORD_Q>(values, values));
            cells[next] = search(feature, values);
            next += 1;
        }
    }
    _mm256_movemask_ps(nan) as u32
}

/// Eight columns of eight rows; columns past the end are zero.
#[target_feature(enable = "avx2")]
fn transpose(rows: &[f32], columns: usize, first: usize) -> [__m256; LANES] {
    let mut r = [_mm256_setzero_ps(); LANES];
    let count = (columns - first).min(LANES);
    if count == LANES {
        for (lane, r) in r.iter_mut().enumerate() {
            let eight = &rows[lane * columns + first..][..LANES];
            // SAFETY: the slice has eight values.
            *r = unsafe { _mm256_loadu_ps(eight.as_ptr()) };
        }
    } else {
        let wanted = _mm256_cmpgt_epi32(
            _mm256_set1_epi32(count as i32),
            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        );
        for (lane, r) in r.iter_mut().enumerate() {
            let some = &rows[lane * columns + first..][..count];
            // SAFETY: only the first `count` lanes are read, and the slice has as many values.
            *r = unsafe { _mm256_maskload_ps(some.as_ptr(), wanted) };
        }
    }
    turn(r)
}

/// Turn eight registers of eight lanes round.
#[target_feature(enable = "avx2")]
fn turn(r: [__m256; LANES]) -> [__m256; LANES] {
    let low = |a, b| _mm256_unpacklo_ps(a, b);
    let high = |a, b| _mm256_unpackhi_ps(a, b);
    let t = [
        low(r[0], r[1]),
        high(r[0], r[1]),
        low(r[2], r[3]),
        high(r[2], r[3]),
        low(r[4], r[5]),
        high(r[4], r[5]),
        low(r[6], r[7]),
        high(r[6], r[7]),
    ];
    let even = |a, b| _mm256_shuffle_ps::<0x44>(a, b);
    let odd = |a, b| _mm256_shuffle_ps::<0xee>(a, b);
    let u = [
        even(t[0], t[2]),
        odd(t[0], t[2]),
        even(t[1], t[3]),
        odd(t[1], t[3]),
        even(t[4], t[6]),
        odd(t[4], t[6]),
        even(t[5], t[7]),
        odd(t[5], t[7]),
    ];
    let left = |a, b| _mm256_permute2f128_ps::<0x20>(a, b);
    let right = |a, b| _mm256_permute2f128_ps::<0x31>(a, b);
    [
        left(u[0], u[4]),
        left(u[1], u[5]),
        left(u[2], u[6]),
        left(u[3], u[7]),
        right(u[0], u[4]),
        right(u[1], u[5]),
        right(u[2], u[6]),
        right(u[3], u[7]),
    ]
}

/// Five steps down the tree of thresholds.
#[target_feature(enable = "avx2")]
fn search(feature: &Searched, values: __m256) -> __m256i {
    let bits = _mm256_castps_si256(values);
    let key = _mm256_xor_si256(bits, _mm256_srli_epi32::<1>(_mm256_srai_epi32::<31>(bits)));
    let tree = &feature.tree;
    let root = _mm256_cmpgt_epi32(key, _mm256_set1_epi32(tree[LEVELS[0]]));
    let node = _mm256_sub_epi32(_mm256_setzero_si256(), root);
    let down = |node, threshold| {
        _mm256_sub_epi32(_mm256_add_epi32(node, node), _mm256_cmpgt_epi32(key, threshold))
    };
    let node = down(node, permute_four(four(tree, LEVELS[1]), node));
    let node = down(node, permute_four(four(tree, LEVELS[2]), node));
    let node = down(node, _mm256_permutevar8x32_epi32(eight(tree, LEVELS[3]), node));
    let low = _mm256_permutevar8x32_epi32(eight(tree, LEVELS[4]), node);
    let high = _mm256_permutevar8x32_epi32(eight(tree, LEVELS[4] + 8), node);
    down(node, choose(low, high, _mm256_slli_epi32::<28>(node)))
}

/// `high` where the top bit of `which` is set.
#[target_feature(enable = "avx2")]
fn choose(low: __m256i, high: __m256i, which: __m256i) -> __m256i {
    let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    _mm256_castps_si256(_mm256_blendv_ps(low, high, _mm256_castsi256_ps(which)))
}

/// Look up a table of four by the low two bits.
#[target_feature(enable = "avx2")]
fn permute_four(table: __m256i, index: __m256i) -> __m256i {
    _mm256_castps_si256(_mm256_permutevar_ps(_mm256_castsi256_ps(table), index))
}

#[target_feature(enable = "avx2")]
fn four(values: &[i32], at: usize) -> __m256i {
    let four = &values[at..][..4];
    // SAFETY: the slice has four values.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(four.as_ptr().cast()) })
}

#[target_feature(enable = "avx2")]
fn eight(values: &[i32], at: usize) -> __m256i {
    let eight = &values[at..][..8];
    // SAFETY: the slice has eight values.
    unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) }
}

/// How many of the active w are +1: cells are looked up as bytes.
#[target_feature(enable = "avx2")]
fn count_linear(table: &CellTable, cells: &[__m256i], counts: &mut [Count]) {
    let features = table.features.len();
    let top = _mm256_set1_epi32(0x8080_8000_u32 as i32);
    for function in 0..table.functions {
        let linear = table.linear[function * features * CELLS..].chunks_exact(CELLS);
        let mut sum = _mm256_setzero_si256();
        for (&cell, linear) in cells.iter().zip(linear).take(features) {
            let index = _mm256_or_si256(cell, top);
            let low = _mm256_shuffle_epi8(sixteen(linear, 0), index);
            let high = _mm256_shuffle_epi8(sixteen(linear, 16), index);
            sum = _mm256_add_epi32(sum, choose(low, high, _mm256_slli_epi32::<27>(cell)));
        }
        for (lane, sum) in lanes(sum).into_iter().enumerate() {
            counts[lane * table.functions + function].linear = sum;
        }
    }
}

#[target_feature(enable = "avx2")]
fn sixteen(values: &[u8], at: usize) -> __m256i {
    let sixteen = &values[at..][..16];
    // SAFETY: the slice has sixteen values.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(sixteen.as_ptr().cast()) })
}

#[target_feature(enable = "avx2")]
fn lanes(register: __m256i) -> [u32; LANES] {
    let mut out = [0; LANES];
    // SAFETY: there is room for eight values.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), register) };
    out
}

/// Bit planes of the column counts of eight rows; there are no more than `PLANES`.
#[target_feature(enable = "avx2")]
fn count_columns<const CELL_PLANES: usize, const PLANES: usize>(
    cells: &[__m256i],
    factors: &[u32],
    features: usize,
) -> [__m256i; MOST_PLANES] {
    let zero = _mm256_setzero_si256();
    let mut planes = [zero; PLANES];
    let mut pairs =
        cells[..features].chunks_exact(2).zip(factors.chunks_exact(2 * CELL_PLANES * CELLS));
    for (pair, lookups) in &mut pairs {
        let (first, second) = lookups.split_at(CELL_PLANES * CELLS);
        // Carries into each weight: one from the two words, one from the plane.
        let (mut from_words, mut from_plane) = (zero, zero);
        for (a, plane) in planes.iter_mut().enumerate() {
            let (sum, carry, other);
            if a < CELL_PLANES {
                let x = look_up(&first[a * CELLS..][..CELLS], pair[0]);
                let y = look_up(&second[a * CELLS..][..CELLS], pair[1]);
                (sum, carry) = full_add(*plane, x, y);
            } else {
                (sum, carry) = (*plane, zero);
            }
            (*plane, other) = full_add(sum, from_words, from_plane);
            (from_words, from_plane) = (carry, other);
        }
    }
    if features % 2 == 1 {
        let last = &factors[(features - 1) * CELL_PLANES * CELLS..];
        let mut carry = zero;
        for (a, plane) in planes.iter_mut().enumerate() {
            let x = if a < CELL_PLANES {
                look_up(&last[a * CELLS..][..CELLS], cells[features - 1])
            } else {
                zero
            };
            (*plane, carry) = full_add(*plane, x, carry);
        }
    }
    let mut out = [zero; MOST_PLANES];
    out[..PLANES].copy_from_slice(&planes);
    out
}

/// Sum and carry of three bits, in each of 256 columns.
#[target_feature(enable = "avx2")]
fn full_add(a: __m256i, b: __m256i, c: __m256i) -> (__m256i, __m256i) {
    let ab = _mm256_xor_si256(a, b);
    let carry = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(ab, c));
    (_mm256_xor_si256(ab, c), carry)
}

/// Eight words of a table of 32.
#[target_feature(enable = "avx2")]
fn look_up(table: &[u32], cell: __m256i) -> __m256i {
    let eighth = |at: usize| {
        let eight = &table[at..][..8];
        // SAFETY: the slice has eight values.
        _mm256_permutevar8x32_epi32(unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) }, cell)
    };
    let by_eight = _mm256_slli_epi32::<28>(cell);
    let low = choose(eighth(0), eighth(8), by_eight);
    let high = choose(eighth(16), eighth(24), by_eight);
    choose(low, high, _mm256_slli_epi32::<27>(cell))
}

/// Σ c and Σ c² of eight rows over the columns of one function, from bit planes.
#[target_feature(enable = "avx2")]
fn add_tallies(planes: &[__m256i], part: &Part, functions: usize, counts: &mut [Count]) {
    let mask = _mm256_set1_epi32(part.mask as i32);
    // Pairs of one weight are added as bytes before they are spread: at most 8 · 2 · MOST_PLANES / 2 a byte.
    let mut by_weight = [_mm256_setzero_si256(); 2 * MOST_PLANES];
    let mut sum = _mm256_setzero_si256();
    for (a, &plane) in planes.iter().enumerate() {
        let plane = _mm256_and_si256(plane, mask);
        let alone = popcount_bytes(plane);
        sum =
            _mm256_add_epi32(sum, _mm256_sll_epi32(add_bytes(alone), _mm_cvtsi32_si128(a as i32)));
        by_weight[2 * a] = _mm256_add_epi8(by_weight[2 * a], alone);
        for (b, &other) in planes[..a].iter().enumerate() {
            let both = popcount_bytes(_mm256_and_si256(plane, other));
            by_weight[a + b + 1] = _mm256_add_epi8(by_weight[a + b + 1], both);
        }
    }
    let mut squares = _mm256_setzero_si256();
    for (weight, &bytes) in by_weight[..2 * planes.len()].iter().enumerate() {
        squares = _mm256_add_epi32(
            squares,
            _mm256_sll_epi32(add_bytes(bytes), _mm_cvtsi32_si128(weight as i32)),
        );
    }
    for (lane, (sum, squares)) in lanes(sum).into_iter().zip(lanes(squares)).enumerate() {
        let tally = &mut counts[lane * functions + part.function].factors;
        tally.sum += u64::from(sum);
        tally.squares += u64::from(squares);
    }
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

/// Sum of the four bytes of each lane.
#[target_feature(enable = "avx2")]
fn add_bytes(x: __m256i) -> __m256i {
    _mm256_madd_epi16(_mm256_maddubs_epi16(x, _mm256_set1_epi8(1)), _mm256_set1_epi16(1))
}
