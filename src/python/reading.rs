//! What reading a model needs: where the cells of its features are, its whole-number scales, and the cells of a table.

use super::arrays::Arrays;
use super::door;
use super::model::PyModel;
use crate::Result;
use crate::encoding::{Active, Block, Table};
use crate::error::{filled, guard, room};
use crate::kernels::Isa;
use crate::model::{Model, Terms, Weights};
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
pub fn multipliers(model: &PyModel) -> Multipliers {
    let scales = match model.model().weights() {
        Weights::Bits { scales, .. } => scales,
        Weights::Reals(reals) => {
            let bias = reals.bias().iter().enumerate();
            let each = bias.map(|(function, &bias)| {
                let beta = reals.beta(function);
                (bias.into(), 1.0, beta * beta)
            });
            return Multipliers::Real((1.0, each.collect()));
        }
    };
    let each = (0..scales.functions()).map(|function| {
        let score = |linear, pairs| scales.score(function, Terms { linear, pairs });
        let bias = score(0, 0);
        (bias, score(1, 0) - bias, score(0, 1) - bias)
    });
    Multipliers::Whole((scales.unit(), each.collect()))
}

/// Unit, and what each score function has.
#[derive(IntoPyObject)]
pub enum Multipliers {
    Whole((f64, Vec<(i128, i128, i128)>)),
    Real((f64, Vec<(f64, f64, f64)>)),
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
    let mut counts = filled(model.encoder().rows() as usize, 0_i64)?;
    X.with(|table| {
        let count = |active: &Active| {
            for &start in &active.starts {
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

/// The sum over the rows of a table of what each parameter row is multiplied by, counted at a cell's first one.
#[pyfunction]
#[pyo3(signature = (model, X))]
pub fn sum_values<'py>(
    py: Python<'py>,
    model: &PyModel,
    #[allow(non_snake_case)] X: Arrays,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let model = model.model();
    let mut sums = filled(model.encoder().rows() as usize, 0.0)?;
    X.with(|table| {
        let add = |active: &Active| {
            for (i, &start) in active.starts.iter().enumerate() {
                if let Some(sum) = sums.get_mut(start as usize) {
                    *sum += active.values.get(i).map_or(1.0, |&value| f64::from(value));
                }
            }
        };
        let work = |stop: &Stop, _| each_block(model, table, stop, add);
        door::leave(py, work, |()| Ok(ControlFlow::Continue(())))
    })?;
    Ok(sums.into_pyarray(py))
}

/// Starts and what multiplies their rows.
type Valued<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>);

/// The first parameter rows of the cells that one row is in, one for each feature that is present, and what they are
/// multiplied by.
#[pyfunction]
#[pyo3(signature = (model, X))]
pub fn active_cells<'py>(
    py: Python<'py>,
    model: &PyModel,
    #[allow(non_snake_case)] X: Arrays,
) -> PyResult<Valued<'py>> {
    let (mut found, mut values) = (Vec::new(), Vec::new());
    X.with(|table| {
        let keep = |active: &Active| {
            found.extend_from_slice(&active.starts);
            values.extend_from_slice(&active.values);
        };
        Ok(guard(|| each_block(model.model(), table, &Stop::default(), keep))?)
    })?;
    values.resize(found.len(), 1.0);
    Ok((found.into_pyarray(py), values.into_pyarray(py)))
}

/// Encode a table block by block.
fn each_block(
    model: &Model,
    table: Table,
    stop: &Stop,
    mut on_active: impl FnMut(&Active),
) -> Result<()> {
    let encoder = model.encoder();
    encoder.check_width("X", table.columns())?;
    let isa = Isa::detect()?;
    let (mut block, mut active) = (Block::default(), Active::default());
    for first in (0..table.rows()).step_by(BLOCK) {
        stop.check()?;
        let rows = BLOCK.min(table.rows() - first);
        encoder.activate(isa, table, first, rows, &mut block, &mut active);
        on_active(&active);
    }
    Ok(())
}
