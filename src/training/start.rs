//! Where the proxies begin.
//!
//! The paper begins at zero, which is a fixed point: α = β = 0 and with them every gradient. Random signs break that.
//! Neighbouring bins of a numeric feature begin alike: each column is a wave of low random frequency along the bins.

use super::random::unit;
use crate::Result;
use crate::encoding::{Encoder, Feature, Values};
use crate::error::filled;
use crate::kernels::Weights;
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

/// Proxies begin within ± this at most: small beside the range [−1, 1] in which they can move.
const MOST_SIZE: f64 = 0.1;
/// A random model's score spreads like β² · (active rows), so its square root bounds the size: a start that is too loud
/// is never unlearned. Best of 0.4, 0.6 and 0.8, with one grid and with four, on average over phoneme, magic,
/// ringnorm, satimage, spambase, optdigits and texture.
const LOUDNESS: f64 = 0.8;
/// Most waves along all bins of a feature.
const WAVES: f64 = 2.0;

impl Start {
    /// Proxies of all rows with m factors; a row of data activates `active` of them.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn proxies(
        self,
        encoder: &Encoder,
        m: usize,
        active: f64,
        rng: &mut impl Rng,
        stop: &Stop,
    ) -> Result<Weights> {
        let size = (LOUDNESS / active.sqrt()).min(MOST_SIZE);
        let rows = encoder.rows() as usize;
        let mut proxies =
            Weights { w: filled(rows, 0.0)?, v: filled(rows.saturating_mul(m), 0.0)? };
        for feature in encoder.features() {
            stop.check()?;
            let (first, rows) = (feature.span.first as usize, feature.span.rows() as usize);
            self.begin(feature, &mut proxies.w[first..][..rows], 1, size, rng);
            self.begin(feature, &mut proxies.v[first * m..][..rows * m], m, size, rng);
        }
        Ok(proxies)
    }

    /// Proxies of one feature, `columns` a row.
    fn begin(
        self,
        feature: &Feature,
        own: &mut [f32],
        columns: usize,
        size: f64,
        rng: &mut impl Rng,
    ) {
        match self {
            Self::Zero => {}
            Self::Smooth if matches!(feature.values, Values::Numbers(_)) => {
                wave(feature, own, columns, size, rng);
            }
            Self::Noise | Self::Smooth => noise(own, size, rng),
        }
    }
}

fn noise(own: &mut [f32], size: f64, rng: &mut impl Rng) {
    own.fill_with(|| ((2.0 * unit(rng) - 1.0) * size) as f32);
}

/// Rows that stand side by side for one cell (copies) have waves of their own.
fn wave(feature: &Feature, own: &mut [f32], columns: usize, size: f64, rng: &mut impl Rng) {
    let lanes = feature.span.stride as usize;
    let steps = (own.len() / columns / lanes).max(1) as f64;
    for lane in 0..lanes * columns {
        let frequency = unit(rng) * WAVES;
        let phase = unit(rng);
        for (i, proxy) in own.iter_mut().skip(lane).step_by(lanes * columns).enumerate() {
            *proxy = (size * libm::cos(TAU * (frequency * i as f64 / steps + phase))) as f32;
        }
    }
}
