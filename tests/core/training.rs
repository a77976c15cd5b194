//! The gradients are those of the loss, and why we do not begin at zero as the paper does.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use binfm::encoding::{Binning, EncodingParams, Matrix, Table};
use binfm::kernels::{Isa, Weights};
use binfm::model::{self, Labels, Loss, Method};
use binfm::threads::{Stop, Threads};
use binfm::training::{
    Latent, Optimizer, Params, RealLatent, Request, Run, Set, Start, Targets, Trained,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

const M: usize = 5;
const TILINGS: usize = 3;
const ROWS: usize = 14;
const STARTS: [u32; 3] = [0, 4, 9];
const RATE: f64 = 0.25;

fn proxies() -> Vec<f32> {
    let wave = |i: usize| ((i * i * 7 + 3 * i) as f32).sin() * 0.8;
    (0..ROWS * (M + 1)).map(wave).collect()
}

/// w and v of all rows, as the kernels have them.
fn apart(rows: &[f32]) -> Weights {
    let rows = rows.chunks_exact(M + 1);
    let w = rows.clone().map(|row| row[0]).collect();
    Weights { w, v: rows.flat_map(|row| &row[1..]).copied().collect() }
}

/// Row by row again.
fn together(weights: &Weights) -> Vec<f32> {
    let rows = weights.w.iter().zip(weights.v.chunks_exact(M));
    rows.flat_map(|(&w, v)| [&[w], v].concat()).collect()
}

fn latent(loss: Loss, lambda_w: f64, lambda_v: f64) -> Latent {
    let params =
        Params { m: M, loss, optimizer: Optimizer::Sgd, lambda_w, lambda_v, ..Params::default() };
    let mut latent = Latent::new(apart(&proxies()), TILINGS, &params, Isa::available()[0]).unwrap();
    latent.set_bias(0.3);
    latent.set_rate(RATE);
    latent
}

/// The score with the active parameters as real numbers instead of signs, pair by pair.
fn relaxed_score(latent: &Latent, parameters: &[f64]) -> f64 {
    let scale = latent.scale();
    let active: Vec<usize> =
        STARTS.iter().flat_map(|&s| s as usize..s as usize + TILINGS).collect();
    let mut score = scale.bias;
    for (i, &row) in active.iter().enumerate() {
        score += scale.alpha * parameters[row * (M + 1)];
        for &other in &active[..i] {
            for f in 1..=M {
                score += scale.beta.powi(2)
                    * parameters[row * (M + 1) + f]
                    * parameters[other * (M + 1) + f];
            }
        }
    }
    score
}

#[test]
fn gradients_are_finite_differences_of_the_relaxed_loss() {
    for loss in Loss::ALL {
        for y in [-1.0, 1.0] {
            let mut latent = latent(loss, 0.0, 0.0);
            let signs: Vec<f64> =
                proxies().iter().map(|&p| if p >= 0.0 { 1.0 } else { -1.0 }).collect();
            let score = latent.score(&STARTS);
            assert!((score - relaxed_score(&latent, &signs)).abs() < 1e-12);
            let value = |parameters: &[f64]| loss.value(relaxed_score(&latent, parameters), y);
            let differences: Vec<f64> = (0..signs.len())
                .map(|i| {
                    let at = |step: f64| {
                        value(&[&signs[..i], &[signs[i] + step], &signs[i + 1..]].concat())
                    };
                    (at(1e-5) - at(-1e-5)) / 2e-5
                })
                .collect();
            latent.step(&STARTS, loss.slope(score, y));
            for ((before, after), difference) in
                proxies().iter().zip(together(latent.proxies())).zip(differences)
            {
                let gradient = f64::from(before - after) / RATE;
                assert!(
                    (gradient - difference).abs() < 1e-5,
                    "{loss:?}: {gradient} is not {difference}"
                );
            }
        }
    }
}

/// What multiplies the rows of each start.
const VALUES: [f32; 3] = [0.7, -1.3, 2.0];

/// The score of floats as they are used, pair by pair.
fn float_score(latent: &RealLatent, parameters: &[f64]) -> f64 {
    let scale = latent.scale();
    let rows = |(&start, &x): (&u32, &f32)| {
        (start as usize..start as usize + TILINGS).map(move |row| (row, f64::from(x)))
    };
    let active: Vec<(usize, f64)> = STARTS.iter().zip(&VALUES).flat_map(rows).collect();
    let mut score = scale.bias;
    for (i, &(row, x)) in active.iter().enumerate() {
        score += x * parameters[row * (M + 1)];
        for &(other, y) in &active[..i] {
            for f in 1..=M {
                let pair = parameters[row * (M + 1) + f] * parameters[other * (M + 1) + f];
                score += scale.beta.powi(2) * x * y * pair;
            }
        }
    }
    score
}

#[test]
fn gradients_of_floats_are_finite_differences_of_the_loss() {
    for method in [Method::Sefm, Method::Dfm] {
        let optimizer = Optimizer::Sgd;
        let params = Params { method, m: M, optimizer, ..Params::default() };
        for isa in Isa::available() {
            let mut latent = RealLatent::new(apart(&proxies()), TILINGS, &params, isa).unwrap();
            latent.set_bias(0.3);
            latent.set_rate(RATE);
            let sign = |p: f64| if p >= 0.0 { 1.0 } else { -1.0 };
            let used: Vec<f64> = proxies()
                .iter()
                .enumerate()
                .map(|(i, &p)| {
                    let through_sign = method.has_signs() && i % (M + 1) > 0;
                    if through_sign { sign(p.into()) } else { p.into() }
                })
                .collect();
            let score = latent.score(&STARTS, &VALUES);
            assert!((score - float_score(&latent, &used)).abs() < 1e-5);
            let differences: Vec<f64> = (0..used.len())
                .map(|i| {
                    let at = |step: f64| {
                        let moved = [&used[..i], &[used[i] + step], &used[i + 1..]].concat();
                        Loss::Logistic.value(float_score(&latent, &moved), 1.0)
                    };
                    (at(1e-5) - at(-1e-5)) / 2e-5
                })
                .collect();
            latent.step(&STARTS, &VALUES, Loss::Logistic.slope(score, 1.0));
            for ((before, after), difference) in
                proxies().iter().zip(together(latent.weights())).zip(differences)
            {
                let gradient = f64::from(before - after) / RATE;
                assert!(
                    (gradient - difference).abs() < 1e-5,
                    "{method:?}: {gradient} is not {difference}"
                );
            }
        }
    }
}

#[test]
fn regularization_pulls_active_rows_as_the_paper_says() {
    let (lambda_w, lambda_v) = (0.3, 0.7);
    let mut pulled = latent(Loss::Logistic, lambda_w, lambda_v);
    let scale = pulled.scale();
    pulled.score(&STARTS);
    pulled.step(&STARTS, 0.0);
    for (i, (before, after)) in proxies().iter().zip(together(pulled.proxies())).enumerate() {
        let (row, column) = (i / (M + 1), i % (M + 1));
        let active = STARTS.iter().any(|&s| (s as usize..s as usize + TILINGS).contains(&row));
        let strength = if column == 0 { lambda_w * scale.alpha } else { lambda_v * scale.beta };
        let wanted = if active { RATE * strength * f64::from(before.signum()) } else { 0.0 };
        assert!((f64::from(before - after) - wanted).abs() < 1e-6);
    }
}

/// Two features whose product decides; also the share of the positive class.
fn train_product(start: Start) -> (Trained, f64) {
    let x: Vec<f32> = (0..4000).map(|i| ((i * 7919 + 13) % 2003) as f32 / 1001.5 - 1.0).collect();
    let y: Vec<f64> = x.chunks_exact(2).map(|row| f64::from(row[0] * row[1] > 0.0)).collect();
    let matrix = Matrix::new(&x, 2);
    let encoding = EncodingParams {
        bins: 20,
        tilings: 4,
        binning: Binning::Quantile,
        categorical: vec![],
        vocabularies: BTreeMap::new(),
        min_count: 1.0,
        raw: false,
        leave_out: BTreeSet::new(),
    };
    let request = Request {
        data: Set { table: Table::Dense(&matrix), targets: Targets::classes(&y, 2), weight: None },
        valid: None,
        labels: Labels::counting(2),
        encoding,
        params: Params { m: 8, start, ..Params::default() },
        holdout: 0.0,
    };
    let mut go_on = |_: &_| ControlFlow::Continue(());
    let run = Run { threads: &Threads::one(), isa: Isa::available()[0], stop: &Stop::default() };
    let trained = request.fit(run, &mut go_on).unwrap();
    (trained, y.iter().sum::<f64>() / y.len() as f64)
}

#[test]
fn the_papers_zero_start_cannot_learn_and_ours_can() {
    let (stuck, share) = train_product(Start::Zero);
    let entropy = -share * share.ln() - (1.0 - share) * (1.0 - share).ln();
    let model::Weights::Bits { scales, .. } = stuck.model.weights() else { panic!("not bits") };
    let real = scales.real(0);
    assert_eq!((real.alpha, real.beta_squared), (0.0, 0.0));
    let last = |trained: &Trained| trained.history.last().map_or(f64::NAN, |epoch| epoch.loss);
    assert!(last(&stuck) > 0.99 * entropy, "a constant score cannot do better");
    for start in [Start::Smooth, Start::Noise] {
        let (learned, _) = train_product(start);
        assert!(last(&learned) < 0.5 * entropy, "{start:?}: {}", last(&learned));
    }
}
