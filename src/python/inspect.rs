//! What explanations and exports need: where cells and scales are, how features are stored, and the cells of a table.

use super::arrays::Arrays;
use super::interrupt;
use super::model::PyModel;
use crate::Result;
use crate::data::Table;
use crate::encoding::{ActiveRows, EncodeScratch};
use crate::format::stored_features;
use crate::kernels::Isa;
use crate::memory::{collect, extend, filled, resize, with_capacity};
use crate::model::{Model, Terms, Weights};
use crate::panics;
use crate::threads::Stop;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Samples per block of encoding.
const BLOCK: usize = 256;

/// Returns first row, number of cells, stride and first row of the missing cell (or −1) of each column; unused columns
/// have no cells.
#[pyfunction]
pub fn spans<'py>(py: Python<'py>, model: &PyModel) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let encoder = model.model().encoder();
    let mut spans = with_capacity(encoder.columns().saturating_mul(4))?;
    for column in 0..encoder.columns() {
        let span = encoder.feature_of(column).map(|feature| feature.span);
        spans.extend_from_slice(&span.map_or([0, 0, 1, -1], |span| {
            let missing = span.missing_start().map_or(-1, i64::from);
            [span.first.into(), span.cells.into(), span.stride.into(), missing]
        }));
    }
    PyArray1::from_vec(py, spans).reshape([encoder.columns(), 4])
}

/// Writes a file that appears once it is complete.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, content: &[u8]) -> PyResult<()> {
    Ok(py.detach(|| panics::catch(|| crate::format::write_file(&path, content)))?)
}

/// Returns the CRC-32C of some bytes.
#[pyfunction]
pub fn checksum(py: Python<'_>, bytes: PyReadonlyArray1<'_, u8>) -> PyResult<u32> {
    let bytes = bytes.as_slice()?;
    Ok(py.detach(|| crate::format::checksum(bytes)))
}

/// Returns the unit 2^−e of scores and, in that unit, bias and the multipliers of L and Q of each output.
#[pyfunction]
pub fn multipliers(model: &PyModel) -> Result<Multipliers> {
    let scales = match model.model().weights() {
        Weights::Signs { scales, .. } => scales,
        Weights::Floats(floats) => {
            let bias = floats.bias().iter().enumerate();
            let each = bias.map(|(output, &bias)| {
                let beta = floats.beta(output);
                (bias.into(), 1.0, beta * beta)
            });
            return Ok(Multipliers::Floats((1.0, collect(each)?)));
        }
    };
    let each = (0..scales.outputs()).map(|output| {
        let score = |linear, pairs| scales.score(output, Terms { linear, pairs });
        let bias = score(0, 0);
        (bias, score(1, 0) - bias, score(0, 1) - bias)
    });
    Ok(Multipliers::Ints((scales.unit(), collect(each)?)))
}

/// Unit, and bias and multipliers of each output.
#[derive(IntoPyObject)]
pub enum Multipliers {
    Ints((f64, Vec<(i128, i128, i128)>)),
    Floats((f64, Vec<(f64, f64, f64)>)),
}

/// Kind, bytes and number of the edges or categories of a feature.
type Stored = (&'static str, usize, usize);

/// Returns the exponent of the unit of scores, and how each used feature is stored in the file.
#[pyfunction]
pub fn layout(model: &PyModel) -> Result<(i16, Vec<Stored>)> {
    let model = model.model();
    let exponent = match model.weights() {
        Weights::Signs { scales, .. } => scales.exponent,
        Weights::Floats(_) => 0,
    };
    let stored = stored_features(model.encoder())?;
    let features = stored.iter().map(|feature| (feature.kind, feature.width, feature.count));
    Ok((exponent, collect(features)?))
}

/// Counts the samples of a table in each cell, at the cell's first parameter row.
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
        let count = |active: &ActiveRows| {
            for &start in &active.starts {
                if let Some(count) = counts.get_mut(start as usize) {
                    *count += 1;
                }
            }
            Ok(())
        };
        interrupt::detach(py, |stop| each_block(model, table, stop, count))
    })?;
    Ok(counts.into_pyarray(py))
}

/// Sums the values of each cell over the samples of a table, at the cell's first parameter row.
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
        let add = |active: &ActiveRows| {
            for (i, &start) in active.starts.iter().enumerate() {
                if let Some(sum) = sums.get_mut(start as usize) {
                    *sum += active.values.get(i).map_or(1.0, |&value| f64::from(value));
                }
            }
            Ok(())
        };
        interrupt::detach(py, |stop| each_block(model, table, stop, add))
    })?;
    Ok(sums.into_pyarray(py))
}

/// Starts and their values.
type StartsAndValues<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>);

/// Returns start and value of each present feature of a sample.
#[pyfunction]
#[pyo3(signature = (model, X))]
pub fn active_cells<'py>(
    py: Python<'py>,
    model: &PyModel,
    #[allow(non_snake_case)] X: Arrays,
) -> PyResult<StartsAndValues<'py>> {
    let (mut found, mut values) = (Vec::new(), Vec::new());
    X.with(|table| {
        let keep = |active: &ActiveRows| {
            extend(&mut found, active.starts.iter().copied())?;
            extend(&mut values, active.values.iter().copied())
        };
        Ok(panics::catch(|| each_block(model.model(), table, &Stop::default(), keep))?)
    })?;
    resize(&mut values, found.len(), 1.0)?;
    Ok((found.into_pyarray(py), values.into_pyarray(py)))
}

/// Encodes a table block by block.
fn each_block(
    model: &Model,
    table: Table,
    stop: &Stop,
    mut on_active: impl FnMut(&ActiveRows) -> Result<()>,
) -> Result<()> {
    let encoder = model.encoder();
    encoder.check_width("X", table.columns())?;
    let isa = Isa::detect()?;
    let (mut scratch, mut active) = (EncodeScratch::default(), ActiveRows::default());
    for first in (0..table.samples()).step_by(BLOCK) {
        stop.check()?;
        let samples = first..table.samples().min(first + BLOCK);
        encoder.encode(isa, table, samples, &mut scratch, &mut active)?;
        on_active(&active)?;
    }
    Ok(())
}
