//! Sums of the counts that are looked up for the cells of a group.

use super::{MAX_SAMPLES, Vector};
use crate::kernels::lookup::{CELLS, CellTable, Count, DIGIT_BITS};

/// Features whose digits of Σ u are summed in bytes before they could overflow.
const LINEAR_FLUSH: usize = u8::MAX as usize / ((1 << DIGIT_BITS) - 1);

/// Sums u over the active rows, and stores the number of active features; the other counts become zero.
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
    let per_digit = cells.len() * CELLS;
    for output in 0..table.outputs {
        let mut linear = [0; MAX_SAMPLES];
        for digit in 0..table.linear_digits {
            let first = (output * table.linear_digits + digit) * per_digit;
            // SAFETY: the caller guarantees the instructions of `V`.
            let sums = unsafe { sum_digits::<V>(cells, &table.linear[first..][..per_digit]) };
            let shift = DIGIT_BITS * digit;
            linear.iter_mut().zip(sums).for_each(|(all, sum)| *all += u32::from(sum) << shift);
        }
        let samples = counts.chunks_exact_mut(table.outputs).zip(linear.into_iter().zip(active));
        for (counts, (linear, &active)) in samples {
            counts[output] = Count { active: active.into(), linear, ..Count::default() };
        }
    }
}

/// Sums a digit that is looked up for each cell.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn sum_digits<V: Vector>(cells: &[V::Cells], digits: &[u8]) -> [u16; MAX_SAMPLES] {
    let mut sums = [0_u16; MAX_SAMPLES];
    for (cells, digits) in cells.chunks(LINEAR_FLUSH).zip(digits.chunks(LINEAR_FLUSH * CELLS)) {
        let mut bytes = [0; MAX_SAMPLES];
        // SAFETY: the caller guarantees the instructions of `V`.
        unsafe {
            let mut sum = V::splat(0);
            for (&cells, digits) in cells.iter().zip(digits.chunks_exact(CELLS)) {
                sum = sum.add(V::look_up(digits, cells));
            }
            sum.store(&mut bytes);
        }
        sums.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum += u16::from(byte));
    }
    sums
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
