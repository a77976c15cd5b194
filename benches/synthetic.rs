//! A table of ijcnn1's width for the benches, and models of it.
#![allow(dead_code)] // each bench uses some of it

use binfm::encoding::{Binning, Encoder, EncodingParams, Matrix, Rows, Table, Truth};
use binfm::model::{Labels, Loss, Model, Real, Scales, SignRows};
use binfm::scoring::Scorer;
use binfm::threads::{Stop, Threads};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};

/// Columns of the table.
pub const FEATURES: usize = 22;

/// Numbers in [0, 1), row by row.
pub fn numbers(rows: usize) -> Vec<f32> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    (0..rows * FEATURES).map(|_| (rng.next_u32() >> 8) as f32 / (1 << 24) as f32).collect()
}

/// The encoder learned from the numbers, with the default number of rows a feature.
pub fn encoder(numbers: &[f32], tilings: u32) -> Encoder {
    let params = EncodingParams {
        bins: 20,
        tilings,
        binning: Binning::Quantile,
        categorical: Vec::new(),
        vocabularies: BTreeMap::new(),
        min_count: 1.0,
        raw: false,
        leave_out: BTreeSet::new(),
    };
    let matrix = Matrix::new(numbers, FEATURES);
    let rows = Rows { table: Table::Dense(&matrix), truth: Truth::Numbers(&[]), weight: None };
    Encoder::fit(rows, &params, &Threads::one(), &Stop::default()).unwrap()
}

/// A model of signs without pattern.
pub fn scorer(numbers: &[f32], tilings: u32, m: usize) -> Scorer {
    let encoder = encoder(numbers, tilings);
    let signs = SignRows::new(encoder.rows() as usize, 1, m, |_, row, column| {
        (row * 37 + column * 101) % 7 < 3
    });
    let scales = Scales::new(&[Real { bias: 0.1, alpha: 0.05, beta_squared: 0.002 }]);
    let model = Model::new(encoder, signs, scales, Loss::Logistic, Labels::counting(2)).unwrap();
    Scorer::new(model).unwrap()
}
