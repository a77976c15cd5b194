//! Losses and their slopes in the score, for y = ±1 (classes) or any y (squared).

use crate::model::Loss;

impl Loss {
    /// ℓ(score, y)
    pub fn value(self, score: f64, y: f64) -> f64 {
        let margin = y * score;
        match self {
            Self::Logistic => log1p_exp(-margin),
            Self::Hinge => (1.0 - margin).max(0.0),
            Self::SquaredHinge => square((1.0 - margin).max(0.0)),
            Self::Squared => 0.5 * square(score - y),
        }
    }

    /// ∂ℓ/∂score
    pub fn slope(self, score: f64, y: f64) -> f64 {
        let margin = y * score;
        match self {
            Self::Logistic => -y * sigmoid(-margin),
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
    fn slopes_are_those_of_the_values() {
        for loss in Loss::ALL {
            for y in [-1.0, 1.0] {
                for score in [-30.0, -1.7, -0.2, 0.3, 1.4, 8.0] {
                    let step = 1e-6;
                    let measured =
                        (loss.value(score + step, y) - loss.value(score - step, y)) / (2.0 * step);
                    assert!(
                        (measured - loss.slope(score, y)).abs() < 1e-4,
                        "{loss:?} at {score} for {y}"
                    );
                }
            }
        }
    }
}
