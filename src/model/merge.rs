//! Cells that a finished model does not tell apart: neighbours with the same signs become one, and no score changes.
#![allow(clippy::indexing_slicing)] // rows of the model itself

use super::{Model, SignRows, Weights};
use crate::Result;
use crate::encoding::{Column, Edges, Encoder, Feature, Span, Values};
use alloc::vec::Vec;

impl Model {
    /// The same in fewer bytes, if neighbouring cells of a number have the same signs in all score functions. Cells of
    /// shifted grids share rows with their neighbours, so they stay.
    ///
    /// # Errors
    /// None that the model itself did not have.
    pub fn merged(self) -> Result<Self> {
        let Weights::Bits { signs, scales } = &self.weights else { return Ok(self) };
        let mut rows = Vec::new();
        let mut columns = Vec::new();
        for column in 0..self.encoder.columns() {
            let feature = self.encoder.of_column(column);
            columns.push(feature.map(|feature| without_twins(feature, signs, &mut rows)));
        }
        if rows.len() == signs.rows() {
            return Ok(self);
        }
        let zero_is_absent = self.encoder.zero_is_absent();
        let encoder = Encoder::new(columns, self.encoder.tilings(), zero_is_absent)?;
        let sign = |function, row: usize, column| signs.positive(function, rows[row], column);
        let signs = SignRows::new(rows.len(), signs.functions(), signs.factors(), sign);
        let merged = Self {
            weights: Weights::Bits { signs, scales: scales.clone() },
            encoder,
            loss: self.loss,
            labels: self.labels.clone(),
            names: self.names.clone(),
        };
        // Edges that are left may share less with those of other features.
        Ok(if merged.size() < self.size() { merged } else { self })
    }
}

/// A feature as a column whose neighbouring cells differ; the rows that it keeps are added to `rows`.
fn without_twins(feature: &Feature, signs: &SignRows, rows: &mut Vec<usize>) -> Column {
    let span = feature.span;
    let copies = span.tilings > 1 && span.stride == span.tilings;
    let column = |values| Column { values, copies, missing: span.missing };
    let all = span.first as usize..(span.first + span.rows()) as usize;
    let Values::Numbers(edges) = &feature.values else {
        rows.extend(all);
        return column(feature.values.clone());
    };
    if span.stride != span.tilings {
        rows.extend(all);
        return column(feature.values.clone());
    }
    let mut kept = Vec::new();
    rows.extend(rows_of(span, 0));
    for (cell, &edge) in (1..).zip(edges.keys()) {
        if !are_alike(signs, span, cell) {
            kept.push(edge);
            rows.extend(rows_of(span, cell));
        }
    }
    rows.extend(span.missing_start().map(|start| run(start, span)).into_iter().flatten());
    column(Values::Numbers(Edges::new(kept)))
}

/// Whether a cell has the signs of the one before it.
fn are_alike(signs: &SignRows, span: Span, cell: u32) -> bool {
    rows_of(span, cell).zip(rows_of(span, cell - 1)).all(|(row, before)| {
        (0..signs.functions()).all(|function| {
            (0..=signs.factors()).all(|column| {
                signs.positive(function, row, column) == signs.positive(function, before, column)
            })
        })
    })
}

fn rows_of(span: Span, cell: u32) -> core::ops::Range<usize> {
    run(span.start(cell), span)
}

fn run(start: u32, span: Span) -> core::ops::Range<usize> {
    start as usize..(start + span.tilings) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::{Matrix, Table, keys};
    use crate::model::{Labels, Loss, Real, Scales};
    use crate::scoring::{Scorer, Scratch};

    /// Two features of six cells, of which the first two and the last three are alike.
    fn model(tilings: u32, copies: bool, missing: bool) -> Result<Model> {
        let edges: Vec<i32> = [-2.0, -1.0, 0.0, 1.0, 2.0].map(keys::key).to_vec();
        let values = Values::Numbers(Edges::new(edges));
        let column = Column { values, copies, missing };
        let encoder = Encoder::new(vec![Some(column.clone()), None, Some(column)], tilings, false)?;
        let kind = |row: u32| {
            let (lane, cell) = (row % tilings, row / tilings);
            lane + [0, 0, 1, 2, 2, 2, 3][cell as usize % 7]
        };
        let sign = |function, row, column| {
            (kind(row as u32 % (encoder.rows() / 2)) as usize * 5 + function * 3 + column) % 4 < 2
        };
        let signs = SignRows::new(encoder.rows() as usize, 3, 4, sign);
        let real = [0.3, 0.5, 0.7].map(|x| Real { bias: x, alpha: x / 2.0, beta_squared: x / 3.0 });
        Model::new(encoder, signs, Scales::new(&real), Loss::Hinge, Labels::counting(3))
    }

    fn scores(model: &Model) -> Result<Vec<f64>> {
        let grid = [-9.0, -2.0, -1.5, -1.0, -0.3, 0.0, 0.7, 1.0, 1.4, 2.0, 5.0, f32::NAN];
        let rows = grid.iter().flat_map(|&x| grid.iter().flat_map(move |&y| [x, 8.0, y]));
        let rows: Vec<f32> = rows.collect();
        let (scorer, table) = (Scorer::new(model.clone())?, Matrix::new(&rows, 3));
        let mut scratch = Scratch::default();
        let terms = scorer.terms(Table::Dense(&table), 0..grid.len() * grid.len(), &mut scratch)?;
        Ok(terms.iter().enumerate().map(|(i, &terms)| scorer.score(i % 3, terms)).collect())
    }

    #[test]
    fn cells_with_the_same_signs_become_one_and_no_score_changes() -> Result<()> {
        for (tilings, copies) in [(1, false), (3, true)] {
            for missing in [false, true] {
                let all = model(tilings, copies, missing)?;
                let merged = all.clone().merged()?;
                let Values::Numbers(edges) = &merged.encoder().features()[1].values else {
                    continue;
                };
                assert_eq!(edges.keys(), [-1.0, 0.0].map(keys::key));
                assert!(merged.size() < all.size());
                assert_eq!(scores(&merged)?, scores(&all)?);
                assert_eq!(Model::from_bytes(&merged.to_bytes())?, merged);
                assert_eq!(merged.clone().merged()?, merged);
            }
        }
        Ok(())
    }

    #[test]
    fn shifted_grids_stay() -> Result<()> {
        let all = model(2, false, false)?;
        assert_eq!(all.clone().merged()?, all);
        Ok(())
    }
}
