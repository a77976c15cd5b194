//! The record of training, and when it is over.

/// What happened in an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// Counted from 1.
    pub number: usize,
    /// Mean training loss of the rows as they were visited.
    pub loss: f64,
    /// Mean loss on the held-out rows after it, if there are any.
    pub held_out: Option<f64>,
}

impl Epoch {
    /// The mean over score functions of their losses.
    pub fn mean(number: usize, losses: &[(f64, Option<f64>)]) -> Self {
        let functions = losses.len() as f64;
        let loss = losses.iter().map(|(loss, _)| loss).sum::<f64>() / functions;
        let held_out = losses.iter().map(|(_, held_out)| *held_out).sum::<Option<f64>>();
        Self { number, loss, held_out: held_out.map(|sum| sum / functions) }
    }
}

/// Epochs so far.
pub struct History {
    records: Vec<Epoch>,
    best: usize,
    lowest: f64,
    choosing: bool,
    patience: usize,
}

impl History {
    /// The best epoch is chosen if there are rows to choose it on; otherwise it is the last.
    pub fn new(choosing: bool, patience: usize) -> Self {
        Self { records: Vec::new(), best: 0, lowest: f64::INFINITY, choosing, patience }
    }

    /// Note an epoch; true if it is the best so far.
    pub fn push(&mut self, epoch: Epoch) -> bool {
        self.records.push(epoch);
        let loss = epoch.held_out.unwrap_or(epoch.loss);
        let better = !self.choosing || loss < self.lowest || self.best == 0;
        if better {
            self.best = epoch.number;
            self.lowest = loss;
        }
        better
    }

    /// Whether waiting longer is in vain.
    pub fn is_over(&self) -> bool {
        self.choosing && self.records.len() - self.best >= self.patience
    }

    /// The best epoch.
    pub fn best(&self) -> usize {
        self.best
    }

    /// All records.
    pub fn into_records(self) -> Vec<Epoch> {
        self.records
    }
}
