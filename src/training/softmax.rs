//! The outputs of all classes trained together: each learns from what the others say about the same sample.

use super::Examples;
use super::head::{Head, Learner};
use crate::Result;
use crate::threads::Stop;

/// Makes a pass with one head per class, as [`Head::epoch`] does with a single head.
///
/// # Errors
/// If it is stopped.
pub fn epoch<L: Learner>(
    heads: &mut [Head<L>],
    rate_factor: f64,
    examples: &Examples,
    order: &[u32],
    valid: Option<&Examples>,
    stop: &Stop,
) -> Result<(f64, Option<f64>)> {
    let mut scores = vec![0.0; heads.len()];
    let (mut total, mut weights) = (0.0, 0.0);
    for head in &mut *heads {
        head.begin_pass(rate_factor);
    }
    for sample in examples.visits(order) {
        stop.check()?;
        for (score, head) in scores.iter_mut().zip(&mut *heads) {
            *score = head.forward(examples, sample);
        }
        let (class, weight) = (examples.target.class(sample) as usize, examples.weight(sample));
        total += loss_and_slopes(&mut scores, class) * weight;
        weights += weight;
        for (slope, head) in scores.iter().zip(&mut *heads) {
            head.backward(examples, sample, slope * weight);
        }
    }
    for head in &mut *heads {
        head.end_pass(examples, order, stop)?;
    }
    let held_out = valid.map(|valid| mean_loss(heads, valid, stop)).transpose()?;
    Ok((total / weights, held_out))
}

fn mean_loss<L: Learner>(heads: &mut [Head<L>], examples: &Examples, stop: &Stop) -> Result<f64> {
    let mut scores = vec![0.0; heads.len()];
    let (mut total, mut weights) = (0.0, 0.0);
    for &sample in &examples.samples {
        stop.check()?;
        let sample = sample as usize;
        for (score, head) in scores.iter_mut().zip(&mut *heads) {
            *score = head.score(examples, sample);
        }
        let class = examples.target.class(sample) as usize;
        total += loss_and_slopes(&mut scores, class) * examples.weight(sample);
        weights += examples.weight(sample);
    }
    Ok(total / weights)
}

/// Scores are clamped to ± this: the difference of two infinities would be NaN.
const MAX_SCORE: f64 = 1e300;

/// Returns log Σ exp(s) − s of the true class, and replaces the scores by the slopes of that loss.
fn loss_and_slopes(scores: &mut [f64], class: usize) -> f64 {
    for score in &mut *scores {
        *score = score.clamp(-MAX_SCORE, MAX_SCORE);
    }
    let max = scores.iter().fold(f64::NEG_INFINITY, |max, &score| max.max(score));
    let own = scores[class] - max;
    let sum: f64 = scores.iter().map(|score| libm::exp(score - max)).sum();
    for score in &mut *scores {
        *score = libm::exp(*score - max) / sum;
    }
    scores[class] -= 1.0;
    libm::log(sum) - own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_derivatives_of_the_loss() {
        let scores = [1.3, -0.4, 700.0, 699.5];
        let loss = |mut scores: [f64; 4]| loss_and_slopes(&mut scores, 3);
        let mut slopes = scores;
        loss_and_slopes(&mut slopes, 3);
        assert!(slopes.iter().sum::<f64>().abs() < 1e-12);
        assert!(loss([f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, 0.0]).is_finite());
        for i in 0..scores.len() {
            let moved = |by: f64| {
                let mut moved = scores;
                moved[i] += by;
                loss(moved)
            };
            let measured = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((measured - slopes[i]).abs() < 1e-6, "{i}: {measured} {}", slopes[i]);
        }
    }
}
