//! Initial weights.
//!
//! The paper starts at zero, which is a fixed point: α = β = 0, and with them every gradient. Random signs break it.
//! Neighbouring cells of a numeric feature start alike: each column is a wave of low random frequency along the cells.

use super::rng::unit;
use crate::Result;
use crate::encoding::{CellMap, Encoder, Feature};
use crate::aligned::Aligned;
use crate::kernels::RowWeights;
use crate::memory::filled;
use crate::threads::Stop;
use rand_xoshiro::rand_core::Rng;
use std::f64::consts::TAU;

/// How weights are initialized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Init {
    /// A smooth random wave along the cells of a numeric feature, noise for categories.
    Smooth,
    /// Independent noise.
    Noise,
    /// Zero, as in the paper; cannot learn.
    Zero,
}

/// Initial weights are within ± this: small compared with the range [−1, 1] in which proxies can move.
const MAX_SIZE: f64 = 0.1;
/// The score of a random model spreads like β² · (active rows), so the square root of that number bounds the size: an
/// init that is too loud is never unlearned. Best of 0.4, 0.6 and 0.8, with one tiling and with four, on average over
/// phoneme, magic, ringnorm, satimage, spambase, optdigits and texture.
const LOUDNESS: f64 = 0.8;
/// Maximum number of waves along all cells of a feature.
const MAX_WAVES: f64 = 2.0;

impl Init {
    /// Returns the weights of all rows with m factors, where a sample activates `active` rows on average.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn weights(
        self,
        encoder: &Encoder,
        m: usize,
        active: f64,
        rng: &mut impl Rng,
        stop: &Stop,
    ) -> Result<RowWeights> {
        let size = (LOUDNESS / active.sqrt()).min(MAX_SIZE);
        let rows = encoder.rows() as usize;
        let mut weights =
            RowWeights { w: filled(rows, 0.0)?, v: Aligned::filled(rows.saturating_mul(m), 0.0)? };
        for feature in encoder.features() {
            stop.check()?;
            let (first, rows) = (feature.span.first as usize, feature.span.rows() as usize);
            self.fill(feature, &mut weights.w[first..][..rows], 1, size, rng);
            self.fill(feature, &mut weights.v[first * m..][..rows * m], m, size, rng);
        }
        Ok(weights)
    }

    /// Fills the weights of one feature, `columns` per row.
    fn fill(
        self,
        feature: &Feature,
        own: &mut [f32],
        columns: usize,
        size: f64,
        rng: &mut impl Rng,
    ) {
        match self {
            Self::Zero => {}
            Self::Smooth if matches!(feature.map, CellMap::Intervals(_)) => {
                fill_waves(feature, own, columns, size, rng);
            }
            Self::Noise | Self::Smooth => fill_noise(own, size, rng),
        }
    }
}

fn fill_noise(own: &mut [f32], size: f64, rng: &mut impl Rng) {
    own.fill_with(|| ((2.0 * unit(rng) - 1.0) * size) as f32);
}

/// Fills each column with a wave; where a cell has several rows of its own, each of them has its own wave.
fn fill_waves(feature: &Feature, own: &mut [f32], columns: usize, size: f64, rng: &mut impl Rng) {
    if columns == 0 {
        return;
    }
    let lanes = feature.span.stride as usize;
    let steps = (own.len() / columns / lanes).max(1) as f64;
    for lane in 0..lanes * columns {
        let frequency = unit(rng) * MAX_WAVES;
        let phase = unit(rng);
        for (i, weight) in own.iter_mut().skip(lane).step_by(lanes * columns).enumerate() {
            *weight = (size * libm::cos(TAU * (frequency * i as f64 / steps + phase))) as f32;
        }
    }
}
