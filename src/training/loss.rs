//! Values, slopes and curvatures of the losses, for y = ±1 (classes) or a number in the units of [`Objective::units`].

use crate::data::Units;
use crate::model::Loss;

/// What is minimized: a loss and its parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// The loss.
    pub loss: Loss,
    /// Share of the targets that should lie below the score, for [`Loss::Quantile`].
    pub quantile: f64,
    /// Distance from which [`Loss::Huber`] is straight.
    pub delta: f64,
}

/// From this score on, exp(s) is replaced by its tangent: no target is 10^8 times the mean.
const MAX_LOG_MEAN: f64 = 20.0;
/// Bound on the slopes that pairs with rest values learn from, so that they do not learn from outliers: in standard
/// deviations of the target, and for counts, whose tails are long, in means.
const MAX_SLOPE: f64 = 3.0;
const MAX_SLOPE_OF_COUNTS: f64 = 30.0;
/// Distance below which the parabolas over the corner of the quantile loss get no narrower.
const CORNER: f64 = 0.01;

impl Objective {
    /// Returns the units of targets in which it is minimized.
    pub fn units(self) -> Units {
        match self.loss {
            Loss::Poisson => Units::Mean,
            Loss::Quantile => Units::Quantile(self.quantile),
            Loss::Huber => Units::Quantile(0.5),
            _ => Units::Standard,
        }
    }

    /// Returns it, or the logistic loss in place of one for classes that has no curvature.
    #[must_use]
    pub fn smooth(self) -> Self {
        let loss = if self.loss.is_regression() { self.loss } else { Loss::Logistic };
        Self { loss, ..self }
    }

    /// Returns the bound on slopes that pairs with rest values learn from.
    pub fn max_slope(self) -> f64 {
        if self.loss == Loss::Poisson { MAX_SLOPE_OF_COUNTS } else { MAX_SLOPE }
    }

    /// Returns ℓ(score, y); for the softmax, that of two classes.
    pub fn value(self, score: f64, y: f64) -> f64 {
        let margin = y * score;
        match self.loss {
            Loss::Logistic | Loss::Softmax => log1p_exp(-margin),
            Loss::Hinge => (1.0 - margin).max(0.0),
            Loss::SquaredHinge => square((1.0 - margin).max(0.0)),
            Loss::Squared => 0.5 * square(score - y),
            Loss::Poisson => {
                let own = if y > 0.0 { y * libm::log(y) - y } else { 0.0 };
                mean(score) * (1.0 + (score - MAX_LOG_MEAN).max(0.0)) - margin + own
            }
            Loss::Quantile => (self.quantile * (y - score)).max((self.quantile - 1.0) * (y - score)),
            Loss::Huber => {
                let (distance, delta) = ((score - y).abs(), self.delta);
                if distance < delta { 0.5 * square(distance) } else { delta * (distance - 0.5 * delta) }
            }
        }
    }

    /// Returns ℓ and ∂ℓ/∂score, computing the exponential of the logistic loss once.
    pub fn value_and_slope(self, score: f64, y: f64) -> (f64, f64) {
        if !matches!(self.loss, Loss::Logistic | Loss::Softmax) {
            return (self.value(score, y), self.slope(score, y));
        }
        let margin = y * score;
        let small = libm::exp(-margin.abs());
        // σ(−margin)
        let wrong = if margin > 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) };
        ((-margin).max(0.0) + libm::log1p(small), -y * wrong)
    }

    /// Returns ∂ℓ/∂score.
    pub fn slope(self, score: f64, y: f64) -> f64 {
        let margin = y * score;
        match self.loss {
            Loss::Logistic | Loss::Softmax => -y * sigmoid(-margin),
            Loss::Hinge => {
                if margin < 1.0 {
                    -y
                } else {
                    0.0
                }
            }
            Loss::SquaredHinge => -2.0 * y * (1.0 - margin).max(0.0),
            Loss::Squared => score - y,
            Loss::Poisson => mean(score) - y,
            Loss::Quantile => {
                if score < y {
                    -self.quantile
                } else if score > y {
                    1.0 - self.quantile
                } else {
                    0.0
                }
            }
            Loss::Huber => (score - y).clamp(-self.delta, self.delta),
        }
    }

    /// Returns the curvature of a parabola that touches the loss at the score, where its slope is known: ∂²ℓ/∂score² of
    /// a smooth loss. The parabolas of the quantile and the Huber loss lie above them, so that their bottom is an
    /// improvement (D. R. Hunter and K. Lange, Quantile regression via an MM algorithm, 2000).
    pub fn curvature(self, score: f64, y: f64, slope: f64) -> f64 {
        match self.loss {
            Loss::Squared => 1.0,
            Loss::Poisson => mean(score),
            Loss::Quantile => 0.5 / ((score - y).abs() + CORNER),
            Loss::Huber => self.delta / (score - y).abs().max(self.delta),
            _ => slope.abs() * (1.0 - slope.abs()),
        }
    }
}

/// exp(score), bounded.
fn mean(score: f64) -> f64 {
    libm::exp(score.min(MAX_LOG_MEAN))
}

fn square(x: f64) -> f64 {
    x * x
}

/// 1 / (1 + exp(−x))
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// log(1 + exp(x)), without overflow.
fn log1p_exp(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_derivatives_of_the_values() {
        for (objective, y, score) in cases() {
            let step = 1e-6;
            let value = |score| objective.value(score, y);
            let measured = (value(score + step) - value(score - step)) / (2.0 * step);
            let slope = objective.slope(score, y);
            let error = (measured - slope).abs() / slope.abs().max(1.0);
            assert!(error < 1e-4, "{objective:?} at {score} for {y}");
            let both = objective.value_and_slope(score, y);
            assert!((both.0 - value(score)).abs() < 1e-12);
            assert!((both.1 - slope).abs() < 1e-12);
        }
    }

    #[test]
    fn parabolas_of_losses_with_corners_lie_above_them() {
        let bent = |loss| matches!(loss, Loss::Quantile | Loss::Huber | Loss::Squared);
        for (objective, y, score) in cases().filter(|(objective, ..)| bent(objective.loss)) {
            let (value, slope) = objective.value_and_slope(score, y);
            let curvature = objective.curvature(score, y, slope);
            for step in [-9.0, -1.0, -0.3, 0.2, 0.7, 5.0] {
                let parabola = value + slope * step + 0.5 * curvature * step * step;
                let above = parabola - objective.value(score + step, y);
                assert!(above > -0.5 * CORNER, "{objective:?} at {score} for {y}: {above}");
            }
        }
    }

    #[test]
    fn curvatures_are_derivatives_of_the_slopes() {
        for (objective, y, score) in cases().filter(|&(.., score)| score < MAX_LOG_MEAN) {
            if matches!(objective.loss, Loss::Logistic | Loss::Squared | Loss::Poisson) {
                let slope = |score| objective.slope(score, y);
                let measured = (slope(score + 1e-6) - slope(score - 1e-6)) / 2e-6;
                let curvature = objective.curvature(score, y, slope(score));
                assert!((measured - curvature).abs() < 1e-4 * curvature.max(1.0), "{objective:?} at {score} for {y}");
            }
        }
    }

    /// Returns each loss with targets and scores.
    fn cases() -> impl Iterator<Item = (Objective, f64, f64)> {
        Loss::NAMED.into_iter().flat_map(|(_, loss)| {
            let objective = Objective { loss, quantile: 0.8, delta: 0.5 };
            let low = if loss == Loss::Poisson { 0.0 } else { -1.0 };
            let scores = [-30.0, -1.7, -0.2, 0.3, 1.4, 8.0, 21.0];
            [low, 1.0].into_iter().flat_map(move |y| scores.map(|score| (objective, y, score)))
        })
    }
}
