//! What scores a model: bits or floats, behind one face.

use crate::Result;
use crate::encoding::Table;
use crate::model::{Model, Terms, Weights};
use crate::scoring::{RealScorer, RealTerms, Scorer};
use crate::threads::{Stop, Threads};

/// A model made ready to score.
pub enum Engine {
    Bits(Scorer),
    Reals(RealScorer),
}

/// The terms of all score functions of one row.
#[derive(Clone, Copy)]
pub enum RowTerms<'a> {
    Bits(&'a Scorer, &'a [Terms]),
    Reals(&'a RealScorer, &'a [RealTerms]),
}

impl Engine {
    /// Make a model ready.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(model: Model) -> Result<Self> {
        match model.weights() {
            Weights::Bits { .. } => Scorer::new(model).map(Self::Bits),
            Weights::Reals(_) => RealScorer::new(model).map(Self::Reals),
        }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        match self {
            Self::Bits(scorer) => scorer.model(),
            Self::Reals(scorer) => scorer.model(),
        }
    }

    /// Write `out.len() / table.rows()` values a row.
    ///
    /// # Errors
    /// If the table has the wrong width, or it is stopped.
    #[inline(always)]
    pub fn each_row<T: Send>(
        &self,
        table: Table,
        threads: &Threads,
        stop: &Stop,
        out: &mut [T],
        write: impl Fn(RowTerms, &mut [T]) + Sync + Send,
    ) -> Result<()> {
        match self {
            Self::Bits(scorer) => scorer.each_row(table, threads, stop, out, |terms, out| {
                write(RowTerms::Bits(scorer, terms), out);
            }),
            Self::Reals(scorer) => scorer.each_row(table, threads, stop, out, |terms, out| {
                write(RowTerms::Reals(scorer, terms), out);
            }),
        }
    }
}

impl RowTerms<'_> {
    /// The score of each function.
    #[inline(always)]
    pub fn write_scores(self, out: &mut [f64]) {
        match self {
            Self::Bits(scorer, terms) => {
                let each = out.iter_mut().zip(terms).enumerate();
                each.for_each(|(function, (out, &terms))| *out = scorer.score(function, terms));
            }
            Self::Reals(scorer, terms) => {
                let each = out.iter_mut().zip(terms).enumerate();
                each.for_each(|(function, (out, &terms))| *out = scorer.score(function, terms));
            }
        }
    }

    /// The class.
    #[inline(always)]
    pub fn class(self) -> usize {
        match self {
            Self::Bits(scorer, terms) => scorer.class(terms),
            Self::Reals(scorer, terms) => scorer.class(terms),
        }
    }

    /// The probability of each class, if scores are log-odds.
    pub fn probabilities(self, out: &mut [f64]) {
        match self {
            Self::Bits(scorer, terms) => scorer.probabilities(terms, out),
            Self::Reals(scorer, terms) => scorer.probabilities(terms, out),
        }
    }

    /// L of all functions and then Q of all, of a model of bits.
    pub fn write_whole(self, out: &mut [i64]) {
        if let Self::Bits(_, terms) = self {
            let (linear, pairs) = out.split_at_mut(terms.len());
            for (terms, (linear, pairs)) in terms.iter().zip(linear.iter_mut().zip(pairs)) {
                (*linear, *pairs) = (terms.linear, terms.pairs);
            }
        }
    }

    /// L of all functions and then Q of all, of a model with floats.
    pub fn write_real(self, out: &mut [f64]) {
        if let Self::Reals(_, terms) = self {
            let (linear, pairs) = out.split_at_mut(terms.len());
            for (terms, (linear, pairs)) in terms.iter().zip(linear.iter_mut().zip(pairs)) {
                (*linear, *pairs) = (terms.linear, terms.pairs);
            }
        }
    }
}
