//! Values and slopes of the losses, for y = ±1 (classes) or any y (squared).

use crate::model::Loss;

impl Loss {
    /// Returns ℓ(score, y); for the softmax, that of two classes.
    pub fn value(self, score: f64, y: f64) -> f64 {
        let margin = y * score;
        match self {
            Self::Logistic | Self::Softmax => log1p_exp(-margin),
            Self::Hinge => (1.0 - margin).max(0.0),
            Self::SquaredHinge => square((1.0 - margin).max(0.0)),
            Self::Squared => 0.5 * square(score - y),
        }
    }

    /// Returns ℓ and ∂ℓ/∂score, computing the exponential of the logistic loss once.
    pub fn value_and_slope(self, score: f64, y: f64) -> (f64, f64) {
        if !matches!(self, Self::Logistic | Self::Softmax) {
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
        match self {
            Self::Logistic | Self::Softmax => -y * sigmoid(-margin),
            Self::Hinge => {
                if margin < 1.0 {
                    -y
                } else {
                    0.0
                }
            }
            Self::SquaredHinge => -2.0 * y * (1.0 - margin).max(0.0),
            Self::Squared => score - y,
        }
    }
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
        for (_, loss) in Loss::NAMED {
            for y in [-1.0, 1.0] {
                for score in [-30.0, -1.7, -0.2, 0.3, 1.4, 8.0] {
                    let step = 1e-6;
                    let measured =
                        (loss.value(score + step, y) - loss.value(score - step, y)) / (2.0 * step);
                    assert!(
                        (measured - loss.slope(score, y)).abs() < 1e-4,
                        "{loss:?} at {score} for {y}"
                    );
                    let (value, slope) = loss.value_and_slope(score, y);
                    assert!((value - loss.value(score, y)).abs() < 1e-12);
                    assert!((slope - loss.slope(score, y)).abs() < 1e-12);
                }
            }
        }
    }
}
