//! Merging cells that a finished model does not tell apart: fewer bytes, the same scores.

use crate::Result;
use crate::memory::{extend, push};
use crate::encoding::{CellMap, Column, Edges, Encoder, Feature, Span};
use crate::model::{Model, SignRows, SignShape, Weights};
use alloc::vec::Vec;
use core::ops::Range;

impl Model {
    /// Merges neighbouring cells of numeric features that have the same weights in all outputs, if that makes the file
    /// smaller. Cells of shifted tilings share rows with their neighbours and are left alone.
    ///
    /// # Errors
    /// None that building the model did not raise.
    pub fn compact(self) -> Result<Self> {
        let Weights::Signs { signs, scales } = self.weights() else { return Ok(self) };
        let encoder = self.encoder();
        let mut rows = Vec::new();
        let mut columns = Vec::new();
        for column in 0..encoder.columns() {
            let feature = encoder.feature_of(column);
            let merged = feature.map(|feature| merge_cells(feature, signs, &mut rows)).transpose()?;
            push(&mut columns, merged)?;
        }
        if rows.len() == signs.rows() {
            return Ok(self);
        }
        let encoder = Encoder::new(columns, encoder.tilings(), encoder.zero_is_absent())?;
        let shape = SignShape { rows: rows.len(), ..signs.shape() };
        let kept = |row: usize| rows.get(row).copied().unwrap_or(0);
        let w = |output, row| signs.w(output, kept(row));
        let is_positive = |output, row, factor| signs.is_positive(output, kept(row), factor);
        let signs = SignRows::new(shape, w, is_positive)?;
        let weights = Weights::Signs { signs, scales: scales.copied()? };
        let merged = self.with_weights(encoder, weights)?;
        // The remaining edges may have less in common with those of other features, and take more bytes.
        Ok(if merged.size() < self.size() { merged } else { self })
    }
}

/// Returns a feature as a column whose neighbouring cells differ, and appends the rows that it keeps to `rows`.
fn merge_cells(feature: &Feature, signs: &SignRows, rows: &mut Vec<usize>) -> Result<Column> {
    let span = feature.span;
    let column = |map| Column { map, copies: span.is_copied(), missing: span.missing };
    let CellMap::Intervals(edges) = &feature.map else {
        extend(rows, rows_from(span.first, span.rows()))?;
        return feature.map.copied().map(column);
    };
    if span.stride != span.tilings {
        extend(rows, rows_from(span.first, span.rows()))?;
        return feature.map.copied().map(column);
    }
    let mut kept = Vec::new();
    extend(rows, rows_of(span, 0))?;
    for (cell, &edge) in (1..).zip(edges.keys()) {
        let previous = rows_of(span, cell - 1);
        if !rows_of(span, cell).zip(previous).all(|(row, previous)| signs.are_alike(row, previous)) {
            push(&mut kept, edge)?;
            extend(rows, rows_of(span, cell))?;
        }
    }
    if let Some(start) = span.missing_start() {
        extend(rows, rows_from(start, span.tilings))?;
    }
    Ok(column(CellMap::Intervals(Edges::new(kept))))
}

fn rows_of(span: Span, cell: u32) -> Range<usize> {
    rows_from(span.start(cell), span.tilings)
}

fn rows_from(first: u32, count: u32) -> Range<usize> {
    first as usize..(first + count) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Matrix, Table};
    use crate::encoding::edges::key;
    use crate::model::{Labels, Loss, RealScale, Scales};
    use crate::scoring::{Scorer, Scratch};

    /// Two features of six cells, of which the first two and the last three are alike.
    fn model(tilings: u32, copies: bool, missing: bool) -> Result<Model> {
        let edges: Vec<i32> = [-2.0, -1.0, 0.0, 1.0, 2.0].map(key).to_vec();
        let column = Column { map: CellMap::Intervals(Edges::new(edges)), copies, missing };
        let encoder = Encoder::new(vec![Some(column.clone()), None, Some(column)], tilings, false)?;
        let kind = |row: u32| {
            let (lane, cell) = (row % tilings, row / tilings);
            lane + [0, 0, 1, 2, 2, 2, 3][cell as usize % 7]
        };
        let place = |output, row, column| {
            kind(row as u32 % (encoder.rows() / 2)) as usize * 5 + output * 3 + column
        };
        let shape = SignShape { rows: encoder.rows() as usize, outputs: 3, w_bits: 2, factors: 4 };
        let w = |output, row| [-3, -1, 1, 3][place(output, row, 0) % 4];
        let signs = SignRows::new(shape, w, |output, row, i| place(output, row, 1 + i) % 4 < 2)?;
        let real =
            [0.3, 0.5, 0.7].map(|x| RealScale { bias: x, alpha: x / 2.0, beta_squared: x / 3.0 });
        let weights = Weights::Signs { signs, scales: Scales::new(&real)? };
        Model::new(encoder, weights, Loss::Hinge, Labels::counting(3)?)
    }

    fn scores(model: &Model) -> Result<Vec<f64>> {
        let points = [-9.0, -2.0, -1.5, -1.0, -0.3, 0.0, 0.7, 1.0, 1.4, 2.0, 5.0, f32::NAN];
        let samples = points.iter().flat_map(|&x| points.iter().flat_map(move |&y| [x, 8.0, y]));
        let samples: Vec<f32> = samples.collect();
        let (scorer, table) = (Scorer::new(model.clone())?, Matrix::new(&samples, 3));
        let mut scratch = Scratch::default();
        let mut scores = Vec::new();
        for sample in 0..points.len() * points.len() {
            let terms = scorer.terms(Table::Dense(&table), sample, &mut scratch)?;
            scores.extend((0..3).map(|output| terms.score(output)));
        }
        Ok(scores)
    }

    #[test]
    fn cells_with_the_same_weights_are_merged_and_no_score_changes() -> Result<()> {
        for (tilings, copies) in [(1, false), (3, true)] {
            for missing in [false, true] {
                let all = model(tilings, copies, missing)?;
                let merged = all.clone().compact()?;
                let CellMap::Intervals(edges) = &merged.encoder().features()[1].map else {
                    continue;
                };
                assert_eq!(edges.keys(), [-1.0, 0.0].map(key));
                assert!(merged.size() < all.size());
                assert_eq!(scores(&merged)?, scores(&all)?);
                assert_eq!(Model::from_bytes(&merged.to_bytes()?)?, merged);
                assert_eq!(merged.clone().compact()?, merged);
            }
        }
        Ok(())
    }

    #[test]
    fn shifted_tilings_are_left_alone() -> Result<()> {
        let all = model(2, false, false)?;
        assert_eq!(all.clone().compact()?, all);
        Ok(())
    }
}
