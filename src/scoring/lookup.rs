//! Models that are looked up many rows at a time: numeric features with few cells.

use crate::encoding::Values;
use crate::kernels::lookup::{
    CELLS, CellTable, MOST_CELL_PLANES, MOST_PLANES, NAN, Part, Searched, Tree,
};
use crate::model::{Model, SignRows};

/// Larger tables would be read from memory rather than from a cache, and then a row at a time is as good.
const MOST_BYTES: usize = 1 << 22;
/// Columns of an octet.
const OCTET: usize = 8;

/// The tables of a model, if it is of that kind.
pub fn cell_table(model: &Model) -> Option<CellTable> {
    let (encoder, signs) = (model.encoder(), model.signs());
    let tilings = encoder.tilings();
    let (cell_planes, planes) = (bits(tilings.into()), bits(encoder.most_active()));
    if encoder.zero_is_absent() || cell_planes > MOST_CELL_PLANES || planes > MOST_PLANES {
        return None;
    }
    let mut features = Vec::new();
    let mut starts = Vec::new();
    for (column, feature) in encoder.features().iter().enumerate() {
        match &feature.values {
            Values::Unused => {}
            Values::Numbers(edges) if edges.len() < NAN => {
                let missing = feature.span.missing_start();
                features.push(Searched {
                    column,
                    tree: Tree::new(edges.keys()),
                    missing: missing.is_some(),
                });
                let of_cells =
                    (0..feature.span.cells).map(|cell| (cell as usize, feature.span.start(cell)));
                let of_nan = missing.map(|start| (NAN, start));
                starts.push(of_cells.chain(of_nan).collect::<Vec<_>>());
            }
            _ => return None,
        }
    }
    let octets = octets(signs);
    let size = (octets.len() * cell_planes + signs.functions()) * features.len() * CELLS;
    if size > MOST_BYTES {
        return None;
    }
    Some(CellTable {
        columns: encoder.features().len(),
        features,
        cell_planes,
        planes,
        factors: factors(signs, &starts, &octets, tilings as usize, cell_planes),
        linear: linear(signs, &starts, tilings as usize),
        octets: octets.into_iter().map(|(parts, _)| parts).collect(),
        functions: signs.functions(),
    })
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
