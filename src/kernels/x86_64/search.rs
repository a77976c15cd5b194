//! Finding the cells of 32 rows: turn eight columns of eight rows round, then go down each feature's tree.
#![allow(clippy::wildcard_imports)] // intrinsics, each with its own name

use crate::kernels::lookup::{CellTable, LEVELS, Searched};
use std::arch::x86_64::*;

/// Values in a register.
pub const LANES: usize = 8;
/// Rows that go together: a byte each.
pub const GROUP: usize = 32;

/// Cells of 32 rows as indices into the two halves of a table: a byte of 128 or more finds zero.
#[derive(Clone, Copy)]
pub struct Cells {
    pub low: __m256i,
    pub high: __m256i,
}

/// Cells of each used feature for 32 rows, in the order of `table.features`; a bit for each row with a NaN.
#[target_feature(enable = "avx2")]
pub fn find_cells(table: &CellTable, rows: &[f32], cells: &mut [Cells]) -> u32 {
    let mut nan = [_mm256_setzero_ps(); GROUP / LANES];
    let mut next = 0;
    let (eight_rows, last_block) = (LANES * table.columns, table.columns.saturating_sub(LANES));
    for block in (0..table.columns).step_by(LANES) {
        // The last eight columns overlap those before them.
        let first = block.min(last_block);
        let turned =
            |part: usize| transpose(&rows[part * eight_rows..][..eight_rows], table.columns, first);
        let columns = [turned(0), turned(1), turned(2), turned(3)];
        while let Some(feature) =
            table.features.get(next).filter(|feature| feature.column < block + LANES)
        {
            let mut found = [_mm256_setzero_si256(); GROUP / LANES];
            for ((found, columns), nan) in found.iter_mut().zip(&columns).zip(&mut nan) {
                let values = columns[feature.column - first];
                *nan = _mm256_or_ps(*nan, _mm256_cmp_ps::<_CMP_UNORD_Q>(values, values));
                *found = search(feature, values);
            }
            cells[next] = pack(found);
            next += 1;
        }
    }
    nan.iter().rev().fold(0, |bits, &nan| bits << LANES | _mm256_movemask_ps(nan) as u32)
}

/// Four times eight cells as 32 bytes in the order of the rows.
#[target_feature(enable = "avx2")]
fn pack(found: [__m256i; GROUP / LANES]) -> Cells {
    let [a, b, c, d] = found;
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    let cells = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    Cells {
        low: _mm256_add_epi8(cells, _mm256_set1_epi8(0x70)),
        high: _mm256_sub_epi8(cells, _mm256_set1_epi8(16)),
    }
}

/// Eight columns of eight rows; columns past the end are zero.
#[target_feature(enable = "avx2")]
fn transpose(rows: &[f32], columns: usize, first: usize) -> [__m256; LANES] {
    let count = (columns - first).min(LANES);
    let mut padded = [0.0; LANES * LANES];
    if count < LANES {
        for (padded, row) in padded.chunks_exact_mut(LANES).zip(rows.chunks_exact(columns)) {
            padded[..count].copy_from_slice(&row[first..first + count]);
        }
        return turn(&padded, LANES);
    }
    turn(&rows[first..], columns)
}

/// Turn the first eight values of eight rows round.
///
/// Rows i and i + 4 are loaded by halves into one register, so that no value has to cross halves afterwards.
#[target_feature(enable = "avx2")]
#[rustfmt::skip]
fn turn(rows: &[f32], columns: usize) -> [__m256; LANES] {
    let last = &rows[7 * columns..][..LANES]; // and so all rows are there
    let half = |row: usize, at: usize| {
        debug_assert!(row * columns + at + 4 <= 7 * columns + last.len());
        // SAFETY: the last of the rows was sliced above, and this one does not end behind it.
        unsafe { _mm_loadu_ps(rows.as_ptr().add(row * columns + at)) }
    };
    let both = |row, at| _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(half(row, at)), half(row + 4, at));
    let four = |at| {
        let r = [both(0, at), both(1, at), both(2, at), both(3, at)];
        let (a, b) = (_mm256_unpacklo_ps(r[0], r[1]), _mm256_unpackhi_ps(r[0], r[1]));
        let (c, d) = (_mm256_unpacklo_ps(r[2], r[3]), _mm256_unpackhi_ps(r[2], r[3]));
        [
            _mm256_shuffle_ps::<0x44>(a, c), _mm256_shuffle_ps::<0xee>(a, c),
            _mm256_shuffle_ps::<0x44>(b, d), _mm256_shuffle_ps::<0xee>(b, d),
        ]
    };
    let ([a, b, c, d], [e, f, g, h]) = (four(0), four(4));
    [a, b, c, d, e, f, g, h]
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
