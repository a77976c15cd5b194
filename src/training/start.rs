//! Where the proxies begin.
//!
//! The paper begins at zero, which is a fixed point: α = β = 0 and with them every gradient. Random signs break that.
//! Neighbouring bins of a numeric feature begin alike: each column is a wave of low random frequency along the bins.

use super::random::unit;
use crate::Result;
use crate::encoding::{Encoder, Feature, Values};
use crate::threads::Stop;
use rand_xoshiro::rand_core::Rng;
use std::f64::consts::TAU;

/// How proxies begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A smooth random wave along the bins of a numeric feature, noise for categories.
    Smooth,
    /// Independent noise.
    Noise,
    /// The paper's; it cannot learn.
    Zero,
}

/// Proxies begin within ± this: small beside the range [−1, 1] in which they can move, large enough to break the tie.
/// Of 0.02, 0.03, 0.05 and 0.1 the best on average over phoneme, magic, ringnorm, satimage, spambase, optdigits and
/// texture; 0.1 makes the random start of a table of many features so loud that training cannot unlearn it.
const SIZE: f64 = 0.05;
/// Most waves along all bins of a feature.
const WAVES: f64 = 2.0;

impl Start {
    /// Proxies of all rows, `columns` a row.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn proxies(
        self,
        encoder: &Encoder,
        columns: usize,
        rng: &mut impl Rng,
        stop: &Stop,
    ) -> Result<Vec<f32>> {
        let mut proxies = vec![0.0; encoder.rows() as usize * columns];
        for feature in encoder.features() {
            stop.check()?;
            let first = feature.span.first as usize * columns;
            let own = &mut proxies[first..][..feature.span.rows() as usize * columns];
            match self {
                Self::Zero => {}
                Self::Smooth if matches!(feature.values, Values::Numbers(_)) => {
                    wave(feature, own, columns, rng);
                }
                Self::Noise | Self::Smooth => noise(own, rng),
            }
        }
        Ok(proxies)
    }
}

fn noise(own: &mut [f32], rng: &mut impl Rng) {
    own.fill_with(|| ((2.0 * unit(rng) - 1.0) * SIZE) as f32);
}

/// Rows that stand side by side for one cell (copies) have waves of their own.
fn wave(feature: &Feature, own: &mut [f32], columns: usize, rng: &mut impl Rng) {
    let lanes = feature.span.stride as usize;
    let steps = (own.len() / columns / lanes).max(1) as f64;
    for lane in 0..lanes * columns {
        let frequency = unit(rng) * WAVES;
        let phase = unit(rng);
        for (i, proxy) in own.iter_mut().skip(lane).step_by(lanes * columns).enumerate() {
            *proxy = (SIZE * libm::cos(TAU * (frequency * i as f64 / steps + phase))) as f32;
        }
    }
}
