//! How strongly the effects of categories are pulled to zero, field by field.
//!
//! If the effects w_c of the N cells of a field have the variance τ², and each is known up to the noise σ² of the samples,
//! then λ = σ²/τ² is the right pull. Both follow from each other, round by round:
//!
//! ```text
//! λ = σ² · N / Σ ( w_c² + σ² / (h_c + λ) )        h_c: curvature of the loss in cell c
//! ```

use super::rows::Rows;
use crate::Result;
use crate::memory::{filled, push};

/// Features whose cells have rows of their own, by the λ that they share.
pub struct Fields(Vec<Vec<usize>>);

/// Features of fewer cells say too little about their λ alone, and share one.
const MIN_CELLS: usize = 4;
/// Limits of λ.
const LIMITS: [f64; 2] = [0.05, 1e5];

impl Fields {
    /// Divides the features into fields.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(rows: &Rows) -> Result<Self> {
        let cells = |&feature: &usize| rows.spans()[feature].own_cells();
        let (mut small, mut all) = (Vec::new(), Vec::new());
        for feature in (0..rows.features()).filter(|feature| cells(feature) > 0) {
            if cells(&feature) < MIN_CELLS {
                push(&mut small, feature)?;
            } else {
                push(&mut all, filled(1, feature)?)?;
            }
        }
        if !small.is_empty() {
            push(&mut all, small)?;
        }
        Ok(Self(all))
    }

    /// Returns the features of each field.
    pub fn all(&self) -> &[Vec<usize>] {
        &self.0
    }
}

/// Returns the λ with which the effects of some cells are most likely, given the last one. Each cell has a curvature, which
/// is zero if nobody visits it, and an effect.
pub fn most_likely(cells: &[[f64; 2]], noise: f64, before: f64) -> f64 {
    let visited = cells.iter().filter(|[curvature, _]| *curvature > 0.0);
    let (count, sizes) = visited.fold((0.0, 0.0), |(count, sizes), [curvature, effect]| {
        (count + 1.0, sizes + effect * effect + noise / (curvature + before))
    });
    (noise * count / f64::max(sizes, f64::MIN_POSITIVE)).clamp(LIMITS[0], LIMITS[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns λ after many rounds, for effects of a known size and a curvature, each solved with the λ before.
    fn found(size: f64, curvature: f64) -> f64 {
        let truth = (0..400).map(|i| size * f64::from(i * 37 % 41 - 20) / 11.83); // their root mean square is `size`
        let noisy: Vec<f64> = (0..).zip(truth).map(|(i, w)| w + f64::from(i * 53 % 97 - 48) / 28.0 / curvature.sqrt()).collect();
        (0..50).fold(30.0, |lambda, _| {
            let cells: Vec<_> = noisy.iter().map(|w| [curvature, w * curvature / (curvature + lambda)]).collect();
            most_likely(&cells, 1.0, lambda)
        })
    }

    #[test]
    fn the_pull_follows_from_how_much_effects_differ() {
        for size in [0.2, 0.5, 2.0] {
            let ratio = found(size, 50.0) * size * size;
            assert!((0.7..1.5).contains(&ratio), "{size}: {ratio}");
        }
        assert!(found(0.0, 50.0) > 300.0);
        assert!((most_likely(&[[0.0, 3.0]], 1.0, 30.0) - LIMITS[0]).abs() < 1e-12, "nobody visits it");
    }
}
