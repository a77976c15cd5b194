//! What a fit costs, so that a search can tell how much of it is left.
//!
//! With n samples of d values in batches of B, each head takes in an epoch
//!
//! ```text
//! n · (sample + d · value) + n / B · d · min(b, B + T) · (row + m · factor)        nanoseconds:
//! ```
//!
//! samples are scored, and each batch moves the rows that it has touched. The constants were fitted to the 1,900 fits of
//! five searches on synthetic data of 2 to 10 classes; the sums over the rungs of a search were off by a tenth, and by a
//! quarter in one of them. Only ratios matter.

use super::{ValidParams, batches};

const SAMPLE: f64 = 25.0;
const VALUE: f64 = 1.6;
const ROW: f64 = 27.0;
const FACTOR: f64 = 0.4;
/// Of each value and factor in a pass over the signs.
const POLISH: f64 = 14.0;

/// Returns roughly how long a thread trains on samples with some values each, in nanoseconds: a whole number, so that sums are exact.
pub fn cost(params: &ValidParams, samples: usize, values: f64, outputs: usize) -> u64 {
    let (n, m) = (samples as f64, params.factors_per_member() as f64);
    let batch = batches::size(params, samples, outputs);
    let rows = values * params.b.min(batch + params.tilings) as f64;
    let epoch = n * (SAMPLE + values * VALUE) + n / batch as f64 * rows * (ROW + m * FACTOR);
    let polish = n * values * m * POLISH;
    let heads = (outputs * params.ensemble) as f64;
    (heads * (params.epochs as f64 * epoch + params.polish as f64 * polish)) as u64
}
