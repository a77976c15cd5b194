//! The cells of a group of samples.

use super::{MAX_SAMPLES, QUAD, Vector};
use crate::kernels::lookup::{CELLS, CellTable, NAN, Searched, ShortTree};
use crate::kernels::prefetch::prefetch_bytes;

/// Groups between the current one and the one that is prefetched. Without prefetching, a third of the time goes into
/// reading values.
const AHEAD: usize = 4;

/// Finds the cells of each feature, in the order of `table.features`, and returns the number of active features of each
/// sample.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
pub unsafe fn find_cells<V: Vector>(
    table: &CellTable,
    values: &[f32],
    cells: &mut [V::Cells],
) -> [u16; MAX_SAMPLES] {
    let mut active = [table.active as u16; MAX_SAMPLES];
    let mut padded = [0.0; MAX_SAMPLES * QUAD];
    let (values, stride) = pad_columns(values, table.columns, &mut padded);
    let mut next = 0;
    for quad in (0..stride).step_by(QUAD) {
        // The last four columns may overlap those before them.
        let first = quad.min(stride - QUAD);
        prefetch_quad::<V>(values, quad, stride);
        // SAFETY: the caller guarantees the instructions of `V`.
        unsafe {
            let (columns, has_nan) = V::load_columns(&values[first..], stride);
            while let Some(feature) =
                table.features.get(next).filter(|feature| feature.column < quad + QUAD)
            {
                let column = || values[feature.column..].iter().step_by(stride).copied();
                let mut found = match feature.tree.short() {
                    Some(short) => search(short, columns[feature.column - first]),
                    None => V::load(&search_long::<V>(feature, column())),
                };
                if has_nan {
                    let mut bytes = [0; MAX_SAMPLES];
                    found.store(&mut bytes);
                    mark_nan(feature, column().take(V::SAMPLES), &mut bytes, &mut active);
                    found = V::load(&bytes);
                }
                cells[next] = found.cells();
                next += 1;
            }
        }
    }
    active
}

/// Prefetches a later group, spread over the quads of the current one.
#[inline(always)]
fn prefetch_quad<V: Vector>(values: &[f32], quad: usize, stride: usize) {
    let later = values.as_ptr().wrapping_add(V::SAMPLES * (AHEAD * stride + quad));
    prefetch_bytes(later.cast(), V::SAMPLES * QUAD * size_of::<f32>());
}

/// Returns the values with at least [`QUAD`] columns, and the number of columns. If there are fewer, the values are
/// copied and columns of zeros are added.
#[inline(always)]
fn pad_columns<'a>(
    values: &'a [f32],
    columns: usize,
    padded: &'a mut [f32; MAX_SAMPLES * QUAD],
) -> (&'a [f32], usize) {
    if columns >= QUAD {
        return (values, columns);
    }
    for (wide, narrow) in padded.chunks_exact_mut(QUAD).zip(values.chunks_exact(columns)) {
        wide[..columns].copy_from_slice(narrow);
    }
    (padded, QUAD)
}

/// Returns the cells of the even and the odd samples.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn search<V: Vector>(short: &ShortTree, [even, odd]: [V; 2]) -> V {
    // SAFETY: the caller guarantees the instructions of `V`.
    unsafe {
        let (even, odd) = (descend(short, even), descend(short, odd));
        even.merge(odd.sub(V::splat(CELLS as u8)))
    }
}

/// Walks down the tree with a sample in each 16-bit lane, and returns its cell in the low byte and its cell +
/// [`CELLS`] in the high byte.
///
/// On a level of n nodes, the low byte is the node's index i and the high byte is i + n: where the low and the high byte
/// of its threshold are stored, so that one shuffle fetches both.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn descend<V: Vector>(short: &ShortTree, values: V) -> V {
    // SAFETY: the caller guarantees the instructions of `V`.
    unsafe {
        let key = values.ordered_keys();
        let node = V::splat_i16(0x0200).sub(key.gt_i16(V::splat_i16(short.one)));
        let node = child(key, node, node.shuffle(&short.two));
        let node = child(key, node, node.shuffle(&short.four));
        let node = child(key, node, node.shuffle(&short.eight));
        child(key, node, node.shuffle_halves(&short.sixteen))
    }
}

/// Returns the left or the right child of a node.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn child<V: Vector>(key: V, node: V, threshold: V) -> V {
    // SAFETY: the caller guarantees the instructions of `V`.
    unsafe { node.add(node).sub(key.gt_i16(threshold)) }
}

/// Returns the cells of a feature whose thresholds need all 32 bits, one sample at a time.
#[inline(always)]
fn search_long<V: Vector>(
    feature: &Searched,
    column: impl Iterator<Item = f32>,
) -> [u8; MAX_SAMPLES] {
    let mut cells = [0; MAX_SAMPLES];
    for (cell, value) in cells.iter_mut().zip(column).take(V::SAMPLES) {
        *cell = feature.tree.cell(value) as u8;
    }
    cells
}

/// Gives NaN its own cell, and deactivates the feature if that cell has no rows.
#[inline(never)]
fn mark_nan(
    feature: &Searched,
    column: impl Iterator<Item = f32>,
    cells: &mut [u8; MAX_SAMPLES],
    active: &mut [u16; MAX_SAMPLES],
) {
    let absent = u16::from(feature.absent);
    for ((cell, active), value) in cells.iter_mut().zip(active).zip(column) {
        let mask = u8::from(value.is_nan()).wrapping_neg(); // no branch: half of the values may be NaN
        *cell = (NAN as u8 & mask) | (*cell & !mask);
        *active -= absent & u16::from(mask);
    }
}
