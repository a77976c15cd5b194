//! The weights of the best epoch so far, as a finished model needs them.

use super::state::State;
use crate::aligned::Aligned;
use crate::kernels::{self, Kind, RowWeights};
use crate::memory::{collect, copied, filled};
use crate::model::Method;
use crate::Result;

/// Weights that were kept.
#[derive(Debug)]
pub enum Kept {
    /// The signs of v, and w.
    Signs(KeptSigns),
    /// The numbers; v may be proxies of signs.
    Floats(RowWeights),
}

/// Signs of v, one bit each, and w as it is used: ±1, or a number that is still to be rounded.
#[derive(Clone, Debug, Default)]
pub struct KeptSigns {
    w: Vec<f32>,
    factors: usize,
    v: Vec<u64>,
}

impl Kept {
    /// Keeps the weights of a state.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(method: Method, w_kind: Kind, state: &State) -> Result<Self> {
        let RowWeights { w, v } = &state.weights;
        Ok(match method {
            Method::Bfm => {
                Self::Signs(KeptSigns::new(collect(w.iter().map(|&w| w_kind.value(w)))?, v)?)
            }
            _ => Self::Floats(RowWeights { w: copied(w)?, v: Aligned::copied(v)? }),
        })
    }
}

impl KeptSigns {
    /// Takes w, and packs the signs of m factors per row.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(w: Vec<f32>, v: &[f32]) -> Result<Self> {
        Ok(Self { factors: v.len() / w.len().max(1), v: pack(v)?, w })
    }

    /// Returns w of all rows.
    pub fn w(&self) -> &[f32] {
        &self.w
    }

    /// Returns whether a sign of v is +1; `index` counts through all rows.
    pub fn v(&self, index: usize) -> bool {
        bit(&self.v, index)
    }

    /// Returns w, and the signs of v, ±1.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn unpack(&self) -> Result<(Vec<f32>, Vec<f32>)> {
        let mut v = filled(self.w.len() * self.factors, -1.0)?;
        (0..v.len()).filter(|&index| self.v(index)).for_each(|index| v[index] = 1.0);
        Ok((copied(&self.w)?, v))
    }
}

/// Packs signs into bits; a set one is +1.
fn pack(proxies: &[f32]) -> Result<Vec<u64>> {
    let word = |proxies: &[f32]| {
        let bit = |&proxy: &f32| u64::from(kernels::is_positive(proxy));
        proxies.iter().rev().fold(0, |bits, proxy| bits << 1 | bit(proxy))
    };
    collect(proxies.chunks(64).map(word))
}

fn bit(words: &[u64], index: usize) -> bool {
    words[index / 64] >> (index % 64) & 1 == 1
}
