//! The numeric features of sparse tables, as their kernel reads them.

use super::edges::key;
use super::encode::ABSENT;
use super::{ActiveRows, CellMap, EncodeScratch, Feature};
use crate::Result;
use crate::data::Csr;
use crate::kernels::{self, Isa, StoredColumn, StoredTable};
use crate::memory::{extend, filled, reserve, resize};
use core::ops::Range;

/// Columns per feature from which most are unused, and a table of all would take more memory than it is worth.
const MAX_UNUSED: usize = 4;

const UNUSED: StoredColumn =
    StoredColumn { start: ABSENT, missing: ABSENT, first_edge: 0, edges: 0, stride: 0 };

/// Returns the features of a table of `columns` columns, if all are numeric.
///
/// # Errors
/// If there is not enough memory.
pub fn stored_table(features: &[Feature], columns: usize) -> Result<Option<StoredTable>> {
    if columns > MAX_UNUSED * features.len() {
        return Ok(None);
    }
    let mut table = StoredTable { columns: filled(columns, UNUSED)?, ..StoredTable::default() };
    for feature in features {
        let stored = stored_column(feature, &mut table)?;
        let Some((place, stored)) = table.columns.get_mut(feature.column).zip(stored) else {
            return Ok(None);
        };
        *place = stored;
    }
    extend(&mut table.edges, [0; kernels::FEW])?;
    Ok(Some(table))
}

fn stored_column(feature: &Feature, table: &mut StoredTable) -> Result<Option<StoredColumn>> {
    let CellMap::Intervals(edges) = &feature.map else { return Ok(None) };
    let first_edge = if edges.is_empty() { 0 } else { table.edges.len() };
    extend(&mut table.edges, edges.keys().iter().copied())?;
    let column = || {
        Some(StoredColumn {
            start: feature.span.start(0),
            missing: feature.span.missing_start().unwrap_or(ABSENT),
            first_edge: first_edge.try_into().ok()?,
            edges: edges.len().try_into().ok()?,
            stride: feature.span.stride.try_into().ok()?,
        })
    };
    Ok(column())
}

/// Appends the active rows of some samples; a zero is absent.
///
/// # Errors
/// If there is not enough memory.
pub fn encode(
    isa: Isa,
    table: &StoredTable,
    csr: &Csr,
    samples: Range<usize>,
    scratch: &mut EncodeScratch,
    active: &mut ActiveRows,
) -> Result<()> {
    let EncodeScratch { numbers, columns, keys, starts, .. } = scratch;
    csr.copy_stored(samples.clone(), columns, numbers)?;
    keys.clear();
    extend(keys, numbers.iter().map(|&number| key(number)))?;
    resize(starts, columns.len(), ABSENT)?;
    kernels::find_starts(isa, table, columns, keys, starts);
    let has_absent = starts.contains(&ABSENT);
    let mut starts = starts.as_slice();
    reserve(&mut active.starts, starts.len())?;
    reserve(&mut active.ends, samples.len())?;
    for sample in samples {
        let (own, rest) = starts.split_at(csr.count(&(sample..sample + 1)));
        if has_absent {
            active.starts.extend(own.iter().filter(|&&start| start != ABSENT));
        } else {
            active.starts.extend_from_slice(own);
        }
        active.ends.push(active.starts.len() as u32);
        starts = rest;
    }
    Ok(())
}
