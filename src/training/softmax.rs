//! The outputs of all classes trained together: each learns from what the others say about the same sample.

/// Scores are clamped to ± this: the difference of two infinities would be NaN.
const MAX_SCORE: f64 = 1e300;

/// Returns log Σ exp(s) − s of the true class, and replaces the scores by the slopes of that loss.
pub fn loss_and_slopes(scores: &mut [f64], class: usize) -> f64 {
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
