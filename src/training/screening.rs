//! Which features are worth learning from, where there are too many for the samples to tell apart.
//!
//! A feature is judged alone: by how much the means of the target differ between its cells, and along a straight line
//! through them, both compared with what chance would do.

use super::linear::Linear;
use crate::Result;
use crate::memory::{collect, filled, try_collect};

/// Returns all features, the most informative first.
///
/// # Errors
/// If there is not enough memory.
pub fn rank(linear: &Linear) -> Result<Vec<usize>> {
    let outputs = linear.examples().target.outputs();
    let targets = try_collect((0..outputs).map(|output| Centered::new(linear, output)))?;
    let score = |feature| {
        let mut best = f64::MIN;
        for target in &targets {
            best = best.max(target.score(linear, feature)?);
        }
        Ok((best, feature))
    };
    let mut ranked = try_collect((0..linear.rows().features()).map(score))?;
    ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    collect(ranked.into_iter().map(|(_, feature)| feature))
}

/// The targets of one output without their mean.
struct Centered {
    y: Vec<f64>,
    weights: Vec<f64>,
    /// Weighted mean of the squares.
    variance: f64,
}

impl Centered {
    fn new(linear: &Linear, output: usize) -> Result<Self> {
        let examples = linear.examples();
        let samples = || examples.samples.iter().map(|&sample| sample as usize);
        let weights = collect(samples().map(|sample| examples.weight(sample)))?;
        let mut y = collect(samples().map(|sample| examples.target.at(output, sample)))?;
        let total: f64 = weights.iter().sum();
        let mean = y.iter().zip(&weights).map(|(y, weight)| y * weight).sum::<f64>() / total;
        for y in &mut y {
            *y -= mean;
        }
        let squares = y.iter().zip(&weights).map(|(y, weight)| y * y * weight).sum::<f64>();
        Ok(Self { y, weights, variance: (squares / total).max(f64::MIN_POSITIVE) })
    }

    /// Returns how many standard deviations above chance a feature is: χ² of its cells, or of the slope of a line.
    fn score(&self, linear: &Linear, feature: usize) -> Result<f64> {
        let line = linear.rows().line(feature);
        let tilings = linear.rows().tilings();
        let (mut cells, mut chi_squared) = (0.0, 0.0);
        let [mut weights, mut x, mut xx, mut xy] = [0.0; 4];
        for (cell, [weight, sum]) in self.sums(linear, feature)?.into_iter().enumerate() {
            if weight > 0.0 {
                cells += 1.0;
                chi_squared += sum * sum / (weight * self.variance);
                let end = (cell + tilings).min(line.len());
                let z: f64 = line.get(cell..end).map_or(0.0, |line| line.iter().sum());
                weights += weight;
                x += weight * z;
                xx += weight * z * z;
                xy += sum * z;
            }
        }
        let spread = xx - x * x / f64::max(weights, 1.0);
        let slope = if spread > 0.0 { xy * xy / (spread * self.variance) } else { 0.0 };
        let above_chance = |found: f64, expected: f64| (found - expected) / (2.0 * expected).sqrt();
        Ok(above_chance(slope, 1.0).max(above_chance(chi_squared, f64::max(cells - 1.0, 1.0))))
    }

    /// Returns the weight of the samples in each cell, and the weighted sum of their targets.
    fn sums(&self, linear: &Linear, feature: usize) -> Result<Vec<[f64; 2]>> {
        let (columns, cells) = (linear.columns(), linear.rows().range(feature).len());
        let mut sums = filled(cells + 1, [0.0; 2])?;
        for block in 0..self.y.len().div_ceil(columns.block()) {
            let first = block * columns.block();
            columns.each(feature, block, |i, cell| {
                let own = self.weights[first + i];
                let [weight, sum] = sums[cell];
                sums[cell] = [weight + own, sum + own * self.y[first + i]];
            });
        }
        sums.truncate(cells); // without the samples in no cell
        Ok(sums)
    }
}
