//! Lookup tables for scoring many samples at once: models whose features are numeric, with few cells.

use crate::Result;
use crate::encoding::{CellMap, Encoder, Feature};
use crate::kernels::lookup::{
    CELLS, CellTable, DIGIT_BITS, MAX_CELL_PLANES, MAX_PLANES, NAN, Part, Searched, Tree,
};
use crate::memory::{collect, extend, filled, push, with_capacity};
use crate::model::SignRows;
use alloc::vec::Vec;
use core::ops::Range;

/// Larger tables would not stay in a cache, and then one sample at a time is just as fast.
const MAX_BYTES: usize = 1 << 22;
/// Sparse samples with more columns are not looked up.
const MAX_SPARSE_COLUMNS: usize = 256;
/// Columns per octet.
const OCTET: usize = 8;

/// Cells of a feature in its first part, and in each further one: the other entries are for the cells before, the cells
/// after, and NaN.
const FIRST_CELLS: usize = CELLS - 2;
const MORE_CELLS: usize = CELLS - 3;

/// Returns the tables of a model, if its features allow them.
///
/// # Errors
/// If there is not enough memory.
pub fn cell_table(encoder: &Encoder, signs: &SignRows) -> Result<Option<CellTable>> {
    let tilings = encoder.tilings();
    let (cell_planes, planes) = (bits(tilings.into()), bits(encoder.max_active()));
    let squares = encoder.max_active().pow(2).saturating_mul(signs.factors() as u64);
    if encoder.features().is_empty()
        || encoder.zero_is_absent() && !looks_up_zeros(encoder)
        || cell_planes > MAX_CELL_PLANES
        || planes > MAX_PLANES
        || squares > u32::MAX.into()
    {
        return Ok(None);
    }
    let mut parts = Vec::new();
    for feature in encoder.features() {
        match &feature.map {
            CellMap::Intervals(edges) => extend(&mut parts, self::parts(feature, edges.keys())?)?,
            CellMap::Categories(_) | CellMap::Raw(_) => return Ok(None),
        }
    }
    let octets = octets(signs)?;
    let max_linear = u64::from(tilings) * signs.shape().max_w() as u64;
    let linear_digits = bits(max_linear).div_ceil(DIGIT_BITS);
    let tables = octets.len() * cell_planes + signs.outputs() * linear_digits;
    let size = tables * parts.len() * CELLS;
    if size > MAX_BYTES {
        return Ok(None);
    }
    let (mut features, mut starts) = (with_capacity(parts.len())?, with_capacity(parts.len())?);
    for (searched, own) in parts {
        features.push(searched);
        starts.push(own);
    }
    Ok(Some(CellTable {
        columns: encoder.columns(),
        active: encoder.max_active() as usize / tilings as usize,
        features,
        cell_planes,
        planes,
        factors: factors(signs, &starts, &octets, tilings as usize, cell_planes)?,
        linear_digits,
        linear: linear(signs, &starts, tilings as usize, linear_digits)?,
        octets: collect(octets.into_iter().map(|(parts, _)| parts))?,
        outputs: signs.outputs(),
    }))
}

/// Returns whether a model of sparse samples may have tables: those of many columns are mostly zeros, and tables know one
/// value only that may be absent, NaN, so that it must not have a cell.
fn looks_up_zeros(encoder: &Encoder) -> bool {
    encoder.columns() <= MAX_SPARSE_COLUMNS
        && encoder.features().iter().all(|feature| feature.span.missing_start().is_none())
}

/// The entries of a part's table, each with the start of its rows.
type Starts = Vec<(usize, u32)>;

/// Splits the cells of a feature into parts, with the start of each entry of a part's table; entries without one stay
/// zero.
fn parts(feature: &Feature, edges: &[i32]) -> Result<Vec<(Searched, Starts)>> {
    let (span, cells) = (&feature.span, feature.span.cells as usize);
    let mut parts = Vec::new();
    let mut from = 0;
    while from < cells {
        let room = if from == 0 { FIRST_CELLS } else { MORE_CELLS };
        let to = cells.min(from + room);
        // An edge below each of the part's cells, except the very first, and one below the cells after them.
        let first_edge = from.saturating_sub(1);
        let entry = |cell: usize| cell - first_edge;
        let mut starts: Vec<_> =
            (from..to).map(|cell| (entry(cell), span.start(cell as u32))).collect();
        let missing = span.missing_start().filter(|_| from == 0);
        starts.extend(missing.map(|start| (NAN, start)));
        let absent = from == 0 && missing.is_none();
        let tree = Tree::new(&edges[first_edge..to.min(edges.len())]);
        push(&mut parts, (Searched { column: feature.column, tree, absent }, starts))?;
        from = to;
    }
    Ok(parts)
}

/// Returns the bits that a count up to `max` takes.
fn bits(max: u64) -> usize {
    (u64::BITS - max.leading_zeros()) as usize
}

/// Returns what each octet holds, and the first factor of each of its outputs.
fn octets(signs: &SignRows) -> Result<Vec<(Vec<Part>, Vec<usize>)>> {
    let (m, outputs) = (signs.factors(), signs.outputs());
    let mut octets = Vec::new();
    if m == 0 {
        return Ok(octets);
    }
    if m <= OCTET {
        let each = OCTET / m;
        for first in (0..outputs).step_by(each) {
            let held = first..outputs.min(first + each);
            let part = |output| Part {
                output,
                mask: (u8::MAX >> (OCTET - m)) << ((output - first) * m),
            };
            push(&mut octets, (held.clone().map(part).collect(), vec![0; held.len()]))?;
        }
        return Ok(octets);
    }
    for output in 0..outputs {
        for first in (0..m).step_by(OCTET) {
            let columns = OCTET.min(m - first);
            let part = Part { output, mask: u8::MAX >> (OCTET - columns) };
            push(&mut octets, (vec![part], vec![first]))?;
        }
    }
    Ok(octets)
}

/// Tabulates, for each octet, feature, plane and cell, that bit of the counts of the cell's rows in each column.
fn factors(
    signs: &SignRows,
    starts: &[Starts],
    octets: &[(Vec<Part>, Vec<usize>)],
    tilings: usize,
    cell_planes: usize,
) -> Result<Vec<u8>> {
    let mut out = filled(octets.len() * starts.len() * cell_planes * CELLS, 0)?;
    let features = out.chunks_exact_mut(cell_planes * CELLS);
    let wanted = octets.iter().flat_map(|octet| starts.iter().map(move |starts| (octet, starts)));
    for (planes, ((parts, firsts), starts)) in features.zip(wanted) {
        for &(cell, start) in starts {
            for (part, first) in parts.iter().zip(firsts) {
                for i in 0..part.mask.count_ones() as usize {
                    let is_positive = |&row: &usize| signs.is_positive(part.output, row, first + i);
                    let count = rows_of(start, tilings).filter(is_positive).count();
                    for plane in 0..cell_planes {
                        let bit = (count >> plane & 1) as u8;
                        planes[plane * CELLS + cell] |=
                            bit << (part.mask.trailing_zeros() as usize + i);
                    }
                }
            }
        }
    }
    Ok(out)
}

/// Tabulates, for each output, digit, feature and cell, that digit of the sum of u over the cell's rows.
fn linear(
    signs: &SignRows,
    starts: &[Starts],
    tilings: usize,
    digits: usize,
) -> Result<Vec<u8>> {
    let mut out = filled(signs.outputs() * digits * starts.len() * CELLS, 0)?;
    let features = out.chunks_exact_mut(CELLS);
    let places = (0..signs.outputs() * digits).map(|i| (i / digits, i % digits));
    let wanted = places.flat_map(|place| starts.iter().map(move |starts| (place, starts)));
    for (sums, ((output, digit), starts)) in features.zip(wanted) {
        for &(cell, start) in starts {
            let u = |row| u32::from(signs.stored_w(output, row));
            let sum: u32 = rows_of(start, tilings).map(u).sum();
            sums[cell] = (sum >> (DIGIT_BITS * digit) & ((1 << DIGIT_BITS) - 1)) as u8;
        }
    }
    Ok(out)
}

fn rows_of(start: u32, tilings: usize) -> Range<usize> {
    start as usize..start as usize + tilings
}
