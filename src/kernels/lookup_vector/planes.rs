//! Sums of the counts that are looked up for the cells of a group.

use super::{MAX_SAMPLES, Vector};
use crate::kernels::lookup::{CELLS, CellTable, Count};

/// Features whose counts of w are summed in bytes before they could overflow: each adds at most 7.
const LINEAR_FLUSH: usize = 36;

/// Counts the active rows with w = +1, and stores the number of active features.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
pub unsafe fn count_linear<V: Vector>(
    table: &CellTable,
    cells: &[V::Cells],
    active: &[u16; MAX_SAMPLES],
    counts: &mut [Count],
) {
    for output in 0..table.outputs {
        let linear = &table.linear[output * cells.len() * CELLS..][..cells.len() * CELLS];
        let mut sums = [0_u16; MAX_SAMPLES];
        let parts = cells.chunks(LINEAR_FLUSH).zip(linear.chunks(LINEAR_FLUSH * CELLS));
        for (cells, linear) in parts {
            let mut bytes = [0; MAX_SAMPLES];
            // SAFETY: the caller guarantees the instructions of `V`.
            unsafe {
                let mut sum = V::splat(0);
                for (&cells, linear) in cells.iter().zip(linear.chunks_exact(CELLS)) {
                    sum = sum.add(V::look_up(linear, cells));
                }
                sum.store(&mut bytes);
            }
            sums.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum += u16::from(byte));
        }
        let samples = counts.chunks_exact_mut(table.outputs).zip(sums.into_iter().zip(active));
        for (counts, (linear, &active)) in samples {
            counts[output].linear = linear.into();
            counts[output].active = active.into();
        }
    }
}

/// Returns the bit planes of the counts of eight columns, of which there are at most `PLANES`.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
pub unsafe fn count_columns<V: Vector, const CELL_PLANES: usize, const PLANES: usize>(
    cells: &[V::Cells],
    factors: &[u8],
) -> [V; PLANES] {
    let pairs = cells.chunks_exact(2);
    let last = pairs.remainder();
    // SAFETY: the caller guarantees the instructions of `V`.
    unsafe {
        let mut planes = [V::splat(0); PLANES];
        for (pair, lookups) in pairs.zip(factors.chunks_exact(2 * CELL_PLANES * CELLS)) {
            add_pair::<V, CELL_PLANES, PLANES>(&mut planes, pair, lookups);
        }
        if let [cells] = *last {
            let lookups = &factors[factors.len() - CELL_PLANES * CELLS..];
            add_one::<V, CELL_PLANES, PLANES>(&mut planes, cells, lookups);
        }
        planes
    }
}

/// Adds the counts of two features.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn add_pair<V: Vector, const CELL_PLANES: usize, const PLANES: usize>(
    planes: &mut [V; PLANES],
    pair: &[V::Cells],
    lookups: &[u8],
) {
    let (first, second) = lookups.split_at(CELL_PLANES * CELLS);
    // SAFETY: the caller guarantees the instructions of `V`.
    unsafe {
        let zero = V::splat(0);
        // Two carries go into each plane: one from adding the lookups, one from adding the carries before.
        let (mut from_lookups, mut from_carries) = (zero, zero);
        for (a, plane) in planes.iter_mut().enumerate() {
            let (sum, carry) = if a < CELL_PLANES {
                let x = V::look_up(&first[a * CELLS..][..CELLS], pair[0]);
                let y = V::look_up(&second[a * CELLS..][..CELLS], pair[1]);
                plane.full_add(x, y)
            } else {
                (*plane, zero)
            };
            let other;
            (*plane, other) = sum.full_add(from_lookups, from_carries);
            (from_lookups, from_carries) = (carry, other);
        }
    }
}

/// Adds the counts of one feature.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn add_one<V: Vector, const CELL_PLANES: usize, const PLANES: usize>(
    planes: &mut [V; PLANES],
    cells: V::Cells,
    lookups: &[u8],
) {
    // SAFETY: the caller guarantees the instructions of `V`.
    unsafe {
        let zero = V::splat(0);
        let mut carry = zero;
        for (a, plane) in planes.iter_mut().enumerate() {
            let x = if a < CELL_PLANES {
                V::look_up(&lookups[a * CELLS..][..CELLS], cells)
            } else {
                zero
            };
            (*plane, carry) = plane.full_add(x, carry);
        }
    }
}
