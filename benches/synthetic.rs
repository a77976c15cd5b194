//! A table as wide as ijcnn1, and models of it.
#![allow(dead_code)] // each bench uses some of it

use binfm::data::{Dataset, Labels, Matrix, Schema, Table, Target};
use binfm::encoding::Encoder;
use binfm::model::{Loss, Model, RealScale, Scales, SignRows, Weights};
use binfm::scoring::Scorer;
use binfm::threads::{Stop, Threads};
use binfm::training::Params;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Columns of the table.
pub const FEATURES: usize = 22;

/// Returns numbers in [0, 1), sample by sample.
pub fn numbers(samples: usize) -> Vec<f32> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    (0..samples * FEATURES).map(|_| (rng.next_u32() >> 8) as f32 / (1 << 24) as f32).collect()
}

/// Fits an encoder to the numbers, with the default number of bins.
pub fn encoder(numbers: &[f32], tilings: usize) -> Encoder {
    let matrix = Matrix::new(numbers, FEATURES);
    let target = Target::numbers(&[], None);
    let dataset = Dataset { table: Table::Dense(&matrix), target, weight: None };
    let schema = Schema::numeric(Labels::counting(2));
    let params = Params { tilings, ..Params::default() }.encoding();
    Encoder::fit(&dataset, &schema, &params, &Threads::single(), &Stop::default()).unwrap()
}

/// Prepares a model of signs without pattern.
pub fn scorer(numbers: &[f32], tilings: usize, m: usize) -> Scorer {
    let encoder = encoder(numbers, tilings);
    let signs = SignRows::new(encoder.rows() as usize, 1, m, |_, row, column| {
        (row * 37 + column * 101) % 7 < 3
    });
    let scales = Scales::new(&[RealScale { bias: 0.1, alpha: 0.05, beta_squared: 0.002 }]);
    let weights = Weights::Signs { signs, scales };
    let model = Model::new(encoder, weights, Loss::Logistic, Labels::counting(2)).unwrap();
    Scorer::new(model).unwrap()
}
