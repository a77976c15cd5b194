//! What reading a model needs: where the cells of its features are, its whole-number scales, and the cells of a table.

use super::arrays::Arrays;
use super::door;
use super::model::PyModel;
use crate::Result;
use crate::encoding::{Active, Block, Table};
use crate::error::{filled, guard, room};
use crate::kernels::Isa;
use crate::model::{Model, Terms};
use crate::threads::Stop;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use std::ops::ControlFlow;

/// Rows that are encoded in one go.
const BLOCK: usize = 256;

/// First row, cells, stride and first row of the missing cell (or −1) of each column; one that is of no use has no cells.
#[pyfunction]
pub fn spans<'py>(py: Python<'py>, model: &PyModel) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let encoder = model.model().encoder();
    let mut spans = room(encoder.columns().saturating_mul(4))?;
    for column in 0..encoder.columns() {
        let span = encoder.of_column(column).map(|feature| feature.span);
        spans.extend_from_slice(&span.map_or([0, 0, 1, -1], |span| {
            let missing = span.missing_start().map_or(-1, i64::from);
            [span.first.into(), span.cells.into(), span.stride.into(), missing]
        }));
    }
    PyArray1::from_vec(py, spans).reshape([encoder.columns(), 4])
}

/// The unit 2^−e of scores, and bias and what L and Q are multiplied by in that unit, of each score function.
#[pyfunction]
pub fn multipliers(model: &PyModel) -> (f64, Vec<(i128, i128, i128)>) {
    let scales = model.model().scales();
    let each = (0..scales.functions()).map(|function| {
        let score = |linear, pairs| scales.score(function, Terms { linear, pairs });
        let bias = score(0, 0);
        (bias, score(1, 0) - bias, score(0, 1) - bias)
    });
    (scales.unit(), each.collect())
}

/// How many rows of a table are in each cell, counted at the cell's first parameter row.
#[pyfunction]
#[pyo3(signature = (model, X))]
pub fn count_cells<'py>(
    py: Python<'py>,
    model: &PyModel,
    #[allow(non_snake_case)] X: Arrays,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let model = model.model();
    let mut counts = filled(model.signs().rows(), 0_i64)?;
    X.with(|table| {
        let count = |starts: &[u32]| {
            for &start in starts {
                if let Some(count) = counts.get_mut(start as usize) {
                    *count += 1;
                }
            }
        };
        let work = |stop: &Stop, _| each_block(model, table, stop, count);
        door::leave(py, work, |()| Ok(ControlFlow::Continue(())))
    })?;
    Ok(counts.into_pyarray(py))
}

/// The first parameter rows of the cells that one row is in, one for each feature that is present.
#[pyfunction]
#[pyo3(signature = (model, X))]
pub fn active_cells<'py>(
    py: Python<'py>,
    model: &PyModel,
    #[allow(non_snake_case)] X: Arrays,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let mut found = Vec::new();
    X.with(|table| {
        let keep = |starts: &[u32]| found.extend_from_slice(starts);
        Ok(guard(|| each_block(model.model(), table, &Stop::default(), keep))?)
    })?;
    Ok(found.into_pyarray(py))
}

/// Encode a table block by block.
fn each_block(
    model: &Model,
    table: Table,
    stop: &Stop,
    mut on_starts: impl FnMut(&[u32]),
) -> Result<()> {
    let encoder = model.encoder();
    encoder.check_width("X", table.columns())?;
    let isa = Isa::detect()?;
    let (mut block, mut active) = (Block::default(), Active::default());
    for first in (0..table.rows()).step_by(BLOCK) {
        stop.check()?;
        let rows = BLOCK.min(table.rows() - first);
        encoder.activate(isa, table, first, rows, &mut block, &mut active);
        on_starts(&active.starts);
    }
    Ok(())
}
