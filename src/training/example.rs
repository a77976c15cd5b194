//! A small table and machines that learned it, for the tests of this folder.

use super::machine::Seat;
use super::{Examples, Machine, Params, Run, Targets};
use crate::Result;
use crate::encoding::{Binning, Cells, Encoder, EncodingParams, Matrix, Rows, Table};
use crate::kernels::Isa;
use crate::threads::{Stop, Threads};
use std::collections::{BTreeMap, BTreeSet};

/// Two features, and rows whose class depends on both.
pub struct Example {
    pub encoder: Encoder,
    pub targets: Targets,
    cells: Cells,
}

impl Example {
    /// 2,000 rows of `classes` classes, in so many bins and grids.
    pub fn new(class: impl Fn(&[f32]) -> f64, classes: usize, grid: [u32; 2]) -> Result<Self> {
        let x: Vec<f32> =
            (0..4000).map(|i| ((i * 7919 + 13) % 2003) as f32 / 1001.5 - 1.0).collect();
        let targets = Targets::classes(&x.chunks_exact(2).map(class).collect::<Vec<_>>(), classes);
        let matrix = Matrix::new(&x, 2);
        let encoding = EncodingParams {
            bins: grid[0],
            tilings: grid[1],
            binning: Binning::Quantile,
            categorical: vec![],
            vocabularies: BTreeMap::new(),
            min_count: 1.0,
            raw: false,
            leave_out: BTreeSet::new(),
        };
        let (threads, stop) = (Threads::one(), Stop::default());
        let rows = Rows { table: Table::Dense(&matrix), truth: targets.truth(), weight: None };
        let encoder = Encoder::fit(rows, &encoding, &threads, &stop)?;
        let cells = Cells::new(&encoder, Isa::detect()?, rows.table, &threads, &stop)?;
        Ok(Self { encoder, targets, cells })
    }

    /// The rows.
    pub fn examples(&self) -> Examples<'_> {
        Examples::all(&self.cells, &self.targets, None)
    }

    /// A machine after some passes.
    pub fn trained(&self, seat: Seat, params: &Params, passes: usize) -> Result<Machine> {
        let (threads, stop) = (Threads::one(), Stop::default());
        let run = Run { threads: &threads, isa: Isa::detect()?, stop: &stop };
        let examples = self.examples();
        let mut machine = Machine::new(&self.encoder, &examples, seat, params, run)?;
        for _ in 0..passes {
            machine.epoch(1.0, &examples, &examples.rows, None, &stop)?;
        }
        machine.keep();
        Ok(machine)
    }
}
