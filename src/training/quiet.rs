//! Quiet training: weights that have learned nothing say nothing.
//!
//! Of the T consecutive rows of a cell half may be + and half −: they cancel. A pattern of signs with period T cancels in
//! every window of shifted tilings. So each proxy has a *rest value* ρ, from a balanced pattern; it starts close to rest,
//! and a penalty pulls it back, once an epoch for each row:
//!
//! ```text
//! g_v = β·Σ ℓ'·(s − v) + λ·μ·q·(ṽ − ρ)        q = visits in the batch / visits in the epoch
//! ```
//!
//! μ is the relevance of a feature for a factor: where nothing is learned, the pull grows.
//!
//! Factors that are rounded to [`levels`](super::levels) rest at zero, and are pulled at each visit too.

use super::rng::{shuffle, unit};
use super::rows::Rows;
use super::Params;
use super::levels::Levels;
use crate::Result;
use crate::aligned::Aligned;
use crate::encoding::{CellMap, Encoder, Feature};
use crate::kernels::{Pull, RowWeights};
use crate::memory::{collect, copied, filled};
use rand_xoshiro::rand_core::Rng;
use std::f64::consts::TAU;
use std::sync::Arc;

/// How strongly weights are pulled towards rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// λ of the factors.
    pub v: f64,
    /// λ of the distance of w from straight lines, where it is solved.
    pub w: f64,
    /// Loudness of the pairs: what mean |ṽ| is multiplied by.
    pub pairs: f64,
    /// How factors become levels, if they do.
    pub levels: Option<Levels>,
}

impl Strength {
    /// Returns the strength that the parameters ask for; none if they have no rest values.
    pub fn of(params: &Params) -> Option<Self> {
        params.is_quiet().then(|| Self {
            v: params.regularization.unwrap_or(USUAL_STRENGTH),
            w: params.linear_strength.unwrap_or(USUAL_LINEAR_STRENGTH),
            pairs: params.loudness,
            levels: params.levels.then_some(Levels { rare: params.rare_visits, distance: params.coarseness }),
        })
    }

    /// Returns parameters that ask for it: without factors if they would be silent.
    pub fn put_into(self, params: &Params) -> Params {
        Params {
            m: if self.pairs > 0.0 { params.m } else { 0 },
            regularization: Some(self.v),
            linear_strength: Some(self.w),
            loudness: if self.pairs > 0.0 { self.pairs } else { 1.0 },
            levels: self.levels.is_some(),
            rare_visits: self.levels.map_or(params.rare_visits, |levels| levels.rare),
            coarseness: self.levels.map_or(params.coarseness, |levels| levels.distance),
            ..params.clone()
        }
    }
}

/// Strengths where nothing was chosen.
const USUAL_STRENGTH: f64 = 30.0;
const USUAL_LINEAR_STRENGTH: f64 = 30.0;
/// Strength of the pull on w while it learns from batches, for each of the T rows of a cell.
const LINEAR_PULL: f32 = 4.0;

/// The pull on the weights of one output.
#[derive(Debug)]
pub struct Quiet {
    rows: Arc<Rows>,
    /// Rest values of the factors, m per pattern.
    rest: Arc<Vec<f32>>,
    /// λ·μ of the factors, m per feature.
    pulls: Vec<f32>,
    /// Rest values of w, one per row: zero, or where it was solved.
    w_rest: Vec<f32>,
    strength: Strength,
}

/// Rest values are within ± this.
const REST: f64 = 0.1;
/// Size of the waves that are added to rest values at the beginning, as a share of [`REST`].
const WAVES: f64 = 0.3;
/// Maximum number of waves along all cells of a feature.
const MAX_WAVES: f64 = 1.0;
/// Maximum number of categories that have a wave; more have noise.
const MAX_WAVE_CATEGORIES: u32 = 40;
/// Size of what a relevant feature has learned: with it, μ is about 1.
const RELEVANT: f64 = 0.05;

impl Quiet {
    /// Creates rest values and initial weights.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(
        encoder: &Encoder,
        rows: Arc<Rows>,
        m: usize,
        strength: Strength,
        rng: &mut impl Rng,
    ) -> Result<(Self, RowWeights)> {
        let rest = match strength.levels {
            Some(_) => filled(rows.features() * rows.tilings() * m, 0.0_f32)?,
            None => rest_values(&rows, m, rng)?,
        };
        let mut weights =
            RowWeights { w: filled(rows.len(), 0.0)?, v: Aligned::filled(rows.len() * m, 0.0)? };
        for (v, row) in weights.v.chunks_exact_mut(m.max(1)).zip(rows.pulled()) {
            v.copy_from_slice(&rest[row.pattern as usize * m..][..m]);
        }
        for feature in encoder.features() {
            add_waves(feature, &rows, strength.levels.is_some(), &mut weights.v, m, rng);
        }
        let w_rest = filled(rows.len(), 0.0)?;
        let mut quiet = Self { rest: Arc::new(rest), pulls: Vec::new(), w_rest, strength, rows };
        quiet.pulls = filled(quiet.rows.features() * m, quiet.usual_pull() as f32)?;
        Ok((quiet, weights))
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        let (rows, rest) = (Arc::clone(&self.rows), Arc::clone(&self.rest));
        Ok(Self { rows, rest, pulls: copied(&self.pulls)?, w_rest: copied(&self.w_rest)?, ..*self })
    }

    /// Returns the pull as kernels read it.
    pub fn pull(&self) -> Pull<'_> {
        Pull {
            rows: self.rows.pulled(),
            rest: &self.rest,
            strength: &self.pulls,
            often: self.strength.levels.map_or([0.0, 1.0], |levels| [1.0, levels.rare as f32]),
            w_rest: &self.w_rest,
            w_strength: LINEAR_PULL * self.rows.tilings() as f32,
        }
    }

    /// Returns λ. The T rows of a level share its pull.
    fn usual_pull(&self) -> f64 {
        let rows = if self.strength.levels.is_some() { self.rows.tilings() } else { 1 };
        self.strength.v * rows as f64
    }

    /// Returns how strong the pull is.
    pub fn strength(&self) -> Strength {
        self.strength
    }

    /// Lets w rest where it is.
    pub fn rest_at(&mut self, w: &[f32]) {
        self.w_rest.copy_from_slice(w);
    }

    /// Replaces the visits, for other samples.
    pub fn set_rows(&mut self, rows: Arc<Rows>) {
        self.rows = rows;
    }

    /// Recomputes the relevance μ of each feature for each factor: (s / (r + s/10))², where r is the root mean square of
    /// what was learned, ṽ − ρ, over all visits, and s is [`RELEVANT`].
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn update_relevance(&mut self, weights: &RowWeights) -> Result<()> {
        let m = self.pulls.len() / self.rows.features().max(1);
        if m == 0 {
            return Ok(());
        }
        if self.strength.levels.is_some() {
            return self.compare_features(weights, m);
        }
        let mut squares = filled(self.pulls.len(), 0.0_f64)?;
        let mut visits = filled(self.rows.features(), 0.0_f64)?;
        for (v, row) in weights.v.chunks_exact(m).zip(self.rows.pulled()) {
            if row.per_visit > 0.0 {
                let (own, feature) = (1.0 / f64::from(row.per_visit), row.feature as usize);
                visits[feature] += own;
                let rest = &self.rest[row.pattern as usize * m..][..m];
                let sums = &mut squares[feature * m..][..m];
                for ((sum, v), rest) in sums.iter_mut().zip(v).zip(rest) {
                    *sum += own * f64::from((v - rest) * (v - rest));
                }
            }
        }
        for (feature, pulls) in self.pulls.chunks_exact_mut(m).enumerate() {
            for (pull, square) in pulls.iter_mut().zip(&squares[feature * m..]) {
                let size = (square / visits[feature].max(1.0)).sqrt();
                let relevance = RELEVANT / (size + 0.1 * RELEVANT);
                *pull = (self.strength.v * relevance * relevance) as f32;
            }
        }
        Ok(())
    }
}

impl Quiet {
    /// Recomputes the relevance μ of each feature for all factors together: √(1.1 r² / (r_j² + r²/10)), where r is the
    /// root mean square of the factors over all visits, and r_j that of feature j.
    ///
    /// # Errors
    /// If there is not enough memory.
    fn compare_features(&mut self, weights: &RowWeights, m: usize) -> Result<()> {
        let mut squares = filled(self.rows.features(), 0.0_f64)?;
        let mut visits = filled(self.rows.features(), 0.0_f64)?;
        for (v, row) in weights.v.chunks_exact(m).zip(self.rows.pulled()) {
            if row.per_visit > 0.0 {
                let (own, feature) = (1.0 / f64::from(row.per_visit), row.feature as usize);
                visits[feature] += own;
                squares[feature] += own * v.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>();
            }
        }
        let all = squares.iter().sum::<f64>() / visits.iter().sum::<f64>().max(1.0);
        let usual = self.usual_pull();
        for ((pulls, square), visits) in self.pulls.chunks_exact_mut(m).zip(squares).zip(visits) {
            let own = square / visits.max(1.0);
            let relevance = (1.1 * all / (own + 0.1 * all)).sqrt();
            pulls.fill((usual * if all > 0.0 { relevance } else { 1.0 }) as f32);
        }
        Ok(())
    }
}

/// Returns rest values for each pattern: for each feature and factor, a permutation of T balanced numbers.
fn rest_values(rows: &Rows, m: usize, rng: &mut impl Rng) -> Result<Vec<f32>> {
    let tilings = rows.tilings();
    let mut rest = filled(rows.features() * tilings * m, 0.0_f32)?;
    let mut order = collect(0..tilings)?;
    for own in rest.chunks_exact_mut((tilings * m).max(1)) {
        for factor in 0..m {
            shuffle(&mut order, rng);
            for (t, &place) in order.iter().enumerate() {
                let level = (2 * place + 1) as f64 / tilings as f64 - 1.0;
                own[t * m + factor] = (REST * level) as f32;
            }
        }
    }
    Ok(rest)
}

/// Adds a wave along the cells of a feature to each factor, or noise where it has many categories.
fn add_waves(
    feature: &Feature,
    rows: &Rows,
    has_levels: bool,
    v: &mut [f32],
    m: usize,
    rng: &mut impl Rng,
) {
    let span = feature.span;
    let copies = if span.is_copied() { span.tilings } else { 1 };
    let steps = span.rows() / copies;
    let is_noise = matches!(feature.map, CellMap::Categories(_)) && steps > MAX_WAVE_CATEGORIES;
    let size = REST * WAVES;
    // A number that nobody visits is never pulled to zero.
    let is_visited = |start: u32| !has_levels || copies == 1 || rows.visits(start as usize) > 0;
    for factor in 0..m {
        let (frequency, phase) = (unit(rng) * MAX_WAVES, unit(rng));
        for step in 0..steps {
            let start = span.first + step * copies;
            let wave = if is_noise {
                2.0 * unit(rng) - 1.0
            } else {
                libm::cos(TAU * (frequency * f64::from(step) / f64::from(steps) + phase))
            };
            if !rows.is_silent(start) && is_visited(start) {
                for row in start..start + copies {
                    v[row as usize * m + factor] += (size * wave) as f32;
                }
            }
        }
    }
}
