//! A table as wide as ijcnn1, and models of it.
#![allow(dead_code)] // each bench uses some of it

use binfm::data::{Dataset, Labels, Matrix, Schema, Table, Target, Units};
use binfm::encoding::Encoder;
use binfm::model::{Loss, Model, RealScale, Scales, SignRows, SignShape, Weights};
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
    let target = Target::numbers(&[], None, Units::Standard).unwrap();
    let dataset = Dataset { table: Table::Dense(&matrix), target, weight: None };
    let schema = Schema::numeric(Labels::counting(2).unwrap());
    let params = Params { tilings, ..Params::default() }.encoding();
    Encoder::fit(&dataset, &schema, &params, &Threads::single(), &Stop::default()).unwrap()
}

/// Prepares a model of bits without pattern.
pub fn scorer(numbers: &[f32], tilings: usize, [w_bits, m]: [usize; 2]) -> Scorer {
    let encoder = encoder(numbers, tilings);
    let shape = SignShape { rows: encoder.rows() as usize, outputs: 1, w_bits, factors: m };
    let w = |_, row| 2 * ((row as i16 * 37) & shape.max_w()) - shape.max_w();
    let signs = SignRows::new(shape, w, |_, row, i| (row * 37 + i * 101) % 7 < 3).unwrap();
    let scales = Scales::new(&[RealScale { bias: 0.1, alpha: 0.05, beta_squared: 0.002 }]).unwrap();
    let weights = Weights::Signs { signs, scales };
    let model = Model::new(encoder, weights, Loss::Logistic, Labels::counting(2).unwrap()).unwrap();
    Scorer::new(model).unwrap()
}
