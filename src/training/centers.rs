//! Where the cells of numeric features are: the mean of the values in each, in standard units.
//!
//! Sums are of whole numbers, so that they do not depend on the order of the samples.

use super::Context;
use crate::Result;
use crate::data::{Dense, Table};
use crate::encoding::{CellMap, Edges, Encoder};
use crate::memory::{collect, filled};

/// Values are counted in this many steps of the range of a feature.
const STEPS: f64 = (1_u64 << 40) as f64;

/// Returns the centers of the cells of each feature among some samples, or nothing for features without overlapping rows.
///
/// # Errors
/// If it is stopped, or there is not enough memory.
pub fn centers(
    encoder: &Encoder,
    table: Table,
    samples: &[u32],
    context: Context,
) -> Result<Vec<Vec<f64>>> {
    let features = encoder.features();
    let Table::Dense(dense) = table else { return filled(features.len(), Vec::new()) };
    context.threads.map(features, || (), |(), feature| {
        context.stop.check()?;
        match &feature.map {
            CellMap::Intervals(edges) if !feature.span.is_copied() => {
                cell_means(&values(dense, feature.column, samples)?, edges)
            }
            _ => Ok(Vec::new()),
        }
    })
}

/// Returns the finite values of some samples in a column.
fn values(dense: &dyn Dense, column: usize, samples: &[u32]) -> Result<Vec<f32>> {
    let mut all = filled(dense.samples(), 0.0)?;
    dense.copy_column(column, 0, &mut all);
    let some = samples.iter().map(|&sample| all[sample as usize]);
    collect(some.filter(|value: &f32| value.is_finite()))
}

/// Returns the mean of the values in each cell, in standard units. An empty cell is where the one before it is.
fn cell_means(values: &[f32], edges: &Edges) -> Result<Vec<f64>> {
    let bounds = values.iter().fold((f32::MAX, f32::MIN), |(low, high), &x| (low.min(x), high.max(x)));
    let (low, range) = (f64::from(bounds.0), f64::from(bounds.1) - f64::from(bounds.0));
    let mut cells = filled(edges.len() + 1, (0_u32, 0_i64))?;
    let (mut sum, mut squares) = (0_i128, 0_i128);
    for &value in values {
        let steps = ((f64::from(value) - low) / range * STEPS) as i64;
        let cell = &mut cells[edges.cell(value) as usize];
        *cell = (cell.0 + 1, cell.1 + steps);
        sum += i128::from(steps);
        squares += i128::from(steps) * i128::from(steps);
    }
    let count = values.len().max(1) as f64;
    let mean = sum as f64 / count;
    let spread = (squares as f64 / count - mean * mean).max(1.0).sqrt();
    let mut last = 0.0;
    let center = |&(count, sum): &(u32, i64)| {
        if count > 0 {
            last = (sum as f64 / f64::from(count) - mean) / spread;
        }
        last
    };
    collect(cells.iter().map(center))
}
