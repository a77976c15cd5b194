//! What learns within a score function: bits by their proxies, or floats.

use super::{Latent, Params, RealLatent, Scale};
use crate::Result;
use crate::kernels::{self, Isa, Weights};
use crate::model::Method;

/// The weights of one score function under training.
pub enum Learner {
    /// All weights are bits.
    Bits(Latent),
    /// Some or all are floats.
    Reals(RealLatent),
}

/// What a finished model needs of them.
pub enum Kept {
    /// Signs of w and of v, a bit each.
    Signs([Vec<u64>; 2]),
    /// All of them.
    Floats(Weights),
}

impl Learner {
    /// Begin with these weights; each start activates `tilings` rows.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(begin: Weights, tilings: usize, params: &Params, isa: Isa) -> Result<Self> {
        match params.method {
            Method::Bfm => Latent::new(begin, tilings, params, isa).map(Self::Bits),
            _ => RealLatent::new(begin, tilings, params, isa).map(Self::Reals),
        }
    }

    /// The scales now in use.
    pub fn scale(&self) -> Scale {
        match self {
            Self::Bits(latent) => latent.scale(),
            Self::Reals(latent) => latent.scale(),
        }
    }

    /// Parameter rows, and factors of each.
    pub fn sizes(&self) -> (usize, usize) {
        let Weights { w, v } = match self {
            Self::Bits(latent) => latent.proxies(),
            Self::Reals(latent) => latent.weights(),
        };
        (w.len(), v.len() / w.len().max(1))
    }

    /// Set the bias.
    pub fn set_bias(&mut self, bias: f64) {
        match self {
            Self::Bits(latent) => latent.set_bias(bias),
            Self::Reals(latent) => latent.set_bias(bias),
        }
    }

    /// Set the learning rate.
    pub fn set_rate(&mut self, rate: f64) {
        match self {
            Self::Bits(latent) => latent.set_rate(rate),
            Self::Reals(latent) => latent.set_rate(rate),
        }
    }

    /// Look at the sizes of the proxies again.
    pub fn refresh(&mut self) {
        match self {
            Self::Bits(latent) => latent.refresh(),
            Self::Reals(latent) => latent.refresh(),
        }
    }

    /// L and Q of a row of data; [`Learner::step`] may follow.
    #[inline]
    pub fn terms(&mut self, starts: &[u32], values: &[f32]) -> [f64; 2] {
        match self {
            Self::Bits(latent) => latent.terms(starts),
            Self::Reals(latent) => latent.terms(starts, values),
        }
    }

    /// Move what was active in the row that was scored last; `slope` is ℓ' there.
    #[inline]
    pub fn step(&mut self, starts: &[u32], values: &[f32], slope: f64) {
        match self {
            Self::Bits(latent) => latent.step(starts, slope),
            Self::Reals(latent) => latent.step(starts, values, slope),
        }
    }

    /// What a model of now would have.
    pub fn keep(&self) -> Kept {
        match self {
            Self::Bits(latent) => {
                let Weights { w, v } = latent.proxies();
                Kept::Signs([pack(w), pack(v)])
            }
            Self::Reals(latent) => Kept::Floats(latent.weights().clone()),
        }
    }
}

/// Signs as bits; a set one is +1.
pub fn pack(proxies: &[f32]) -> Vec<u64> {
    let word = |proxies: &[f32]| {
        proxies.iter().rev().fold(0, |bits, &proxy| bits << 1 | u64::from(kernels::positive(proxy)))
    };
    proxies.chunks(64).map(word).collect()
}
