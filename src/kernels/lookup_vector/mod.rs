//! [`count_samples`](super::lookup::count_samples) with SIMD registers: several samples at a time, one byte each.
//!
//! The algorithm is written once; what instruction sets differ in is a [`Vector`]. Three steps handle a group of samples:
//! [`cells`] finds the cell of each value, [`planes`] adds up the counts of the cells, and [`tallies`] turns the counts
//! into Σ c and Σ c².

mod cells;
mod planes;
mod tallies;

use crate::Result;
use crate::memory::filled;
use super::lookup::{CELLS, CellTable, Count, MAX_CELL_PLANES, MAX_PLANES};
use tallies::Tallies;

/// A register with a byte for each sample of a group.
///
/// # Safety
/// All functions require that the CPU has the instructions of the register. They are inlined, and fast only beneath a
/// function with the matching target features.
pub trait Vector: Copy {
    /// The cells of the samples, prepared for [`Vector::look_up`].
    type Cells: Copy;
    /// Samples in a group.
    const SAMPLES: usize;

    /// Sets all bytes to the same value.
    unsafe fn splat(byte: u8) -> Self;
    /// Sets all 16-bit lanes to the same value.
    unsafe fn splat_i16(number: i16) -> Self;
    /// Loads the first [`Vector::SAMPLES`] bytes of a slice.
    unsafe fn load(bytes: &[u8]) -> Self;
    /// Stores into the first [`Vector::SAMPLES`] bytes.
    unsafe fn store(self, bytes: &mut [u8; MAX_SAMPLES]);
    /// Returns the bitwise and.
    unsafe fn and(self, other: Self) -> Self;
    /// Adds bytes, wrapping around.
    unsafe fn add(self, other: Self) -> Self;
    /// Subtracts bytes, wrapping around.
    unsafe fn sub(self, other: Self) -> Self;
    /// Compares signed 16-bit lanes: all bits are set where `self` is greater, none elsewhere.
    unsafe fn gt_i16(self, other: Self) -> Self;
    /// Maps the upper halves of floats, in 16-bit lanes, to signed integers of the same order.
    unsafe fn ordered_keys(self) -> Self;
    /// Combines the even bytes of `self` with the odd bytes of `odd`.
    unsafe fn merge(self, odd: Self) -> Self;
    /// Replaces each byte, which must be below 16, by its entry in a table.
    unsafe fn shuffle(self, table: &[u8; 16]) -> Self;
    /// Replaces each byte by its entry in a table; even bytes must be below 16, and odd bytes in 16..32.
    unsafe fn shuffle_halves(self, table: &[u8; 32]) -> Self;
    /// Prepares bytes below [`CELLS`] for lookups.
    unsafe fn cells(self) -> Self::Cells;
    /// Looks up the cell of each sample in a table of [`CELLS`] bytes.
    unsafe fn look_up(table: &[u8], cells: Self::Cells) -> Self;
    /// Counts the set bits of each byte.
    unsafe fn count_ones(self) -> Self;
    /// Returns the sum and the carry of three bits, in every position.
    unsafe fn full_add(self, b: Self, c: Self) -> (Self, Self);
    /// Loads the upper halves of the first [`QUAD`] values of each sample, with −0.0 replaced by 0.0. For each column,
    /// returns those of the even samples and those of the odd ones; also returns whether any of the values is NaN.
    unsafe fn load_columns(values: &[f32], stride: usize) -> ([[Self; 2]; QUAD], bool);
}

/// Samples in the widest register.
pub const MAX_SAMPLES: usize = 32;
/// Columns of X that are loaded together.
pub const QUAD: usize = 4;

/// See [`count_samples`](super::count_samples).
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
pub unsafe fn count_samples<V: Vector>(
    table: &CellTable,
    values: &[f32],
    counts: &mut [Count],
) -> Result<()> {
    // SAFETY: the caller guarantees the instructions of `V`.
    unsafe {
        match (table.cell_planes, table.planes) {
            (1, ..=5) => count::<V, 1, 5>(table, values, counts),
            (1, ..=7) => count::<V, 1, 7>(table, values, counts),
            (1, _) => count::<V, 1, MAX_PLANES>(table, values, counts),
            (2, ..=7) => count::<V, 2, 7>(table, values, counts),
            (2, _) => count::<V, 2, MAX_PLANES>(table, values, counts),
            (3, ..=7) => count::<V, 3, 7>(table, values, counts),
            (3, _) => count::<V, 3, MAX_PLANES>(table, values, counts),
            (4, ..=9) => count::<V, 4, 9>(table, values, counts),
            (4, _) => count::<V, 4, MAX_PLANES>(table, values, counts),
            (_, ..=9) => count::<V, MAX_CELL_PLANES, 9>(table, values, counts),
            _ => count::<V, MAX_CELL_PLANES, MAX_PLANES>(table, values, counts),
        }
    }
}

/// Counts samples with `CELL_PLANES` bit planes per cell and at most `PLANES` bit planes per sample.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn count<V: Vector, const CELL_PLANES: usize, const PLANES: usize>(
    table: &CellTable,
    values: &[f32],
    counts: &mut [Count],
) -> Result<()> {
    let per_group = V::SAMPLES * table.outputs;
    let groups = values.chunks_exact(V::SAMPLES * table.columns);
    let (whole, rest) = (groups.len(), groups.remainder());
    // SAFETY: the caller guarantees the instructions of `V`.
    unsafe {
        let mut cells = filled(table.features.len(), V::splat(0).cells())?;
        for (values, counts) in groups.zip(counts.chunks_exact_mut(per_group)) {
            count_group::<V, CELL_PLANES, PLANES>(table, values, &mut cells, counts);
        }
        if !rest.is_empty() {
            // Fill the last group up with samples of zeros.
            let mut values = filled(V::SAMPLES * table.columns, 0.0)?;
            values[..rest.len()].copy_from_slice(rest);
            let mut group = filled(per_group, Count::default())?;
            count_group::<V, CELL_PLANES, PLANES>(table, &values, &mut cells, &mut group);
            let counts = &mut counts[whole * per_group..];
            counts.copy_from_slice(&group[..counts.len()]);
        }
    }
    Ok(())
}

/// Counts one group of samples.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn count_group<V: Vector, const CELL_PLANES: usize, const PLANES: usize>(
    table: &CellTable,
    values: &[f32],
    cells: &mut [V::Cells],
    counts: &mut [Count],
) {
    let per_octet = cells.len() * CELL_PLANES * CELLS;
    // SAFETY: the caller guarantees the instructions of `V`.
    unsafe {
        let active = cells::find_cells::<V>(table, values, cells);
        planes::count_linear::<V>(table, cells, &active, counts);
        let mut tallies = Tallies::<V, PLANES>::new();
        for (octet, parts) in table.octets.iter().enumerate() {
            let factors = &table.factors[octet * per_octet..][..per_octet];
            let planes = planes::count_columns::<V, CELL_PLANES, PLANES>(cells, factors);
            for part in parts {
                tallies.add(&planes, part.mask);
                let next = table.octets.get(octet + 1).and_then(|parts| parts.first());
                if parts.len() > 1 || next.is_none_or(|next| next.output != part.output) {
                    tallies.finish(part.output, table.outputs, counts);
                }
            }
        }
    }
}
