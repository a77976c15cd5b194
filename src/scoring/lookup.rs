//! Models that are looked up many rows at a time: numeric features with few cells.

use crate::encoding::{Encoder, Feature, Values};
use crate::kernels::lookup::{
    CELLS, CellTable, MOST_CELL_PLANES, MOST_PLANES, NAN, Part, Searched, Tree,
};
use crate::model::SignRows;
use alloc::vec::Vec;

/// Larger tables would be read from memory rather than from a cache, and then a row at a time is as good.
const MOST_BYTES: usize = 1 << 22;
/// Columns of an octet.
const OCTET: usize = 8;

/// Cells of a feature that its first part holds, and each of the others: beside them there is room for those before,
/// those behind and NaN.
const FIRST_CELLS: usize = CELLS - 2;
const MORE_CELLS: usize = CELLS - 3;

/// The tables of a model, if it is of that kind.
pub fn cell_table(encoder: &Encoder, signs: &SignRows) -> Option<CellTable> {
    let tilings = encoder.tilings();
    let (cell_planes, planes) = (bits(tilings.into()), bits(encoder.most_active()));
    let squares = encoder.most_active().pow(2).saturating_mul(signs.factors() as u64);
    if encoder.features().is_empty()
        || encoder.zero_is_absent()
        || cell_planes > MOST_CELL_PLANES
        || planes > MOST_PLANES
        || squares > u32::MAX.into()
    {
        return None;
    }
    let mut parts = Vec::new();
    for feature in encoder.features() {
        match &feature.values {
            Values::Numbers(edges) => parts.extend(self::parts(feature, edges.keys())),
            Values::Levels(_) | Values::Raw(_) => return None,
        }
    }
    let octets = octets(signs);
    let size = (octets.len() * cell_planes + signs.functions()) * parts.len() * CELLS;
    if size > MOST_BYTES {
        return None;
    }
    let (features, starts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    Some(CellTable {
        columns: encoder.columns(),
        active: encoder.most_active() as usize / tilings as usize,
        features,
        cell_planes,
        planes,
        factors: factors(signs, &starts, &octets, tilings as usize, cell_planes),
        linear: linear(signs, &starts, tilings as usize),
        octets: octets.into_iter().map(|(parts, _)| parts).collect(),
        functions: signs.functions(),
    })
}

/// The cells of a feature by parts, and where each entry of a part's table starts; entries without a start are zero.
fn parts(feature: &Feature, edges: &[i32]) -> Vec<(Searched, Vec<(usize, u32)>)> {
    let (span, cells) = (&feature.span, feature.span.cells as usize);
    let mut parts = Vec::new();
    let mut from = 0;
    while from < cells {
        let room = if from == 0 { FIRST_CELLS } else { MORE_CELLS };
        let to = cells.min(from + room);
        // An edge below each of the part's cells, but for the first of all, and one below those behind.
        let first_edge = from.saturating_sub(1);
        let entry = |cell: usize| cell - first_edge;
        let mut starts: Vec<_> =
            (from..to).map(|cell| (entry(cell), span.start(cell as u32))).collect();
        let missing = span.missing_start().filter(|_| from == 0);
        starts.extend(missing.map(|start| (NAN, start)));
        let absent = from == 0 && missing.is_none();
        let tree = Tree::new(&edges[first_edge..to.min(edges.len())]);
        parts.push((Searched { column: feature.column, tree, absent }, starts));
        from = to;
    }
    parts
}

/// Bits that a count up to this takes.
fn bits(most: u64) -> usize {
    (u64::BITS - most.leading_zeros()) as usize
}

/// What each octet holds, and for each of its functions the first factor.
fn octets(signs: &SignRows) -> Vec<(Vec<Part>, Vec<usize>)> {
    let (m, functions) = (signs.factors(), signs.functions());
    let mut octets = Vec::new();
    if m <= OCTET {
        let each = OCTET / m;
        for first in (0..functions).step_by(each) {
            let held = first..functions.min(first + each);
            let part = |function| Part {
                function,
                mask: (u8::MAX >> (OCTET - m)) << ((function - first) * m),
            };
            octets.push((held.clone().map(part).collect(), vec![0; held.len()]));
        }
        return octets;
    }
    for function in 0..functions {
        for first in (0..m).step_by(OCTET) {
            let columns = OCTET.min(m - first);
            octets.push((vec![Part { function, mask: u8::MAX >> (OCTET - columns) }], vec![first]));
        }
    }
    octets
}

/// For each octet, feature, plane and cell: that bit of the counts of the cell's rows, in each column.
fn factors(
    signs: &SignRows,
    starts: &[Vec<(usize, u32)>],
    octets: &[(Vec<Part>, Vec<usize>)],
    tilings: usize,
    cell_planes: usize,
) -> Vec<u8> {
    let mut out = vec![0; octets.len() * starts.len() * cell_planes * CELLS];
    let features = out.chunks_exact_mut(cell_planes * CELLS);
    let wanted = octets.iter().flat_map(|octet| starts.iter().map(move |starts| (octet, starts)));
    for (planes, ((parts, firsts), starts)) in features.zip(wanted) {
        for &(cell, start) in starts {
            for (part, first) in parts.iter().zip(firsts) {
                for i in 0..part.mask.count_ones() as usize {
                    let count = positives(signs, part.function, start, tilings, 1 + first + i);
                    for plane in 0..cell_planes {
                        let bit = (count >> plane & 1) as u8;
                        planes[plane * CELLS + cell] |=
                            bit << (part.mask.trailing_zeros() as usize + i);
                    }
                }
            }
        }
    }
    out
}

/// For each function, feature and cell: how many w of the cell's rows are +1.
fn linear(signs: &SignRows, starts: &[Vec<(usize, u32)>], tilings: usize) -> Vec<u8> {
    let mut out = vec![0; signs.functions() * starts.len() * CELLS];
    let features = out.chunks_exact_mut(CELLS);
    let wanted = (0..signs.functions())
        .flat_map(|function| starts.iter().map(move |starts| (function, starts)));
    for (counts, (function, starts)) in features.zip(wanted) {
        for &(cell, start) in starts {
            counts[cell] = positives(signs, function, start, tilings, 0) as u8;
        }
    }
    out
}

/// How many of the rows from a start on have +1 in a column.
fn positives(
    signs: &SignRows,
    function: usize,
    start: u32,
    tilings: usize,
    column: usize,
) -> usize {
    let rows = start as usize..start as usize + tilings;
    rows.filter(|&row| signs.positive(function, row, column)).count()
}
