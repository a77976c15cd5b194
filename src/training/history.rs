//! The record of training, and when to stop early.

/// What happened in an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochReport {
    /// Counted from 1.
    pub number: usize,
    /// Mean training loss of the samples as they were visited.
    pub loss: f64,
    /// Mean loss on the held-out samples afterwards, if there are any.
    pub held_out: Option<f64>,
    /// What decides which epoch is best instead of that loss, if the caller has measured it; lower is better.
    pub metric: Option<f64>,
}

/// What the model of an epoch says about the held-out samples.
pub struct HeldOut {
    /// Numbers of the samples, in the dataset that they were held out of or in the one to evaluate on.
    pub samples: Vec<u32>,
    /// Their scores in the units of the target: one for each output, sample by sample.
    pub scores: Vec<f64>,
}

impl EpochReport {
    /// Averages the losses of heads that were trained apart.
    pub fn mean(number: usize, losses: &[(f64, Option<f64>)]) -> Self {
        let heads = losses.len() as f64;
        let loss = losses.iter().map(|(loss, _)| loss).sum::<f64>() / heads;
        let held_out = losses.iter().map(|(_, held_out)| *held_out).sum::<Option<f64>>();
        Self { number, loss, held_out: held_out.map(|sum| sum / heads), metric: None }
    }
}

/// The epochs so far.
pub struct History {
    reports: Vec<EpochReport>,
    best: usize,
    lowest: f64,
    chooses_best: bool,
    patience: usize,
}

impl History {
    /// Starts a record. With held-out samples the best epoch is chosen, otherwise it is the last.
    pub fn new(chooses_best: bool, patience: usize) -> Self {
        Self { reports: Vec::new(), best: 0, lowest: f64::INFINITY, chooses_best, patience }
    }

    /// Returns whether the best epoch is chosen; otherwise it is the last.
    pub fn chooses_best(&self) -> bool {
        self.chooses_best
    }

    /// Appends an epoch and returns whether it is the best so far.
    pub fn push(&mut self, report: EpochReport) -> bool {
        self.reports.push(report);
        let value = report.metric.or(report.held_out).unwrap_or(report.loss);
        let is_best = !self.chooses_best || value < self.lowest || self.best == 0;
        if is_best {
            self.best = report.number;
            self.lowest = if value.is_nan() { f64::INFINITY } else { value };
        }
        is_best
    }

    /// Returns the number of epochs so far.
    pub fn len(&self) -> usize {
        self.reports.len()
    }

    /// Returns whether patience is exhausted.
    pub fn is_over(&self) -> bool {
        self.chooses_best && self.reports.len() - self.best >= self.patience
    }

    /// Returns the number of the best epoch.
    pub fn best(&self) -> usize {
        self.best
    }

    /// Returns all reports.
    pub fn into_reports(self) -> Vec<EpochReport> {
        self.reports
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the best of some epochs, and how many there were before patience was exhausted.
    fn best(metrics: &[Option<f64>]) -> (usize, usize) {
        let mut history = History::new(true, 2);
        for (number, &metric) in (1..).zip(metrics) {
            let held_out = Some(number as f64); // rises
            history.push(EpochReport { number, loss: 0.0, held_out, metric });
            if history.is_over() {
                break;
            }
        }
        (history.best(), history.into_reports().len())
    }

    #[test]
    fn a_metric_decides_instead_of_the_loss() {
        assert_eq!(best(&[None; 5]), (1, 3));
        assert_eq!(best(&[Some(3.0), Some(2.0), Some(1.0), Some(1.0), Some(2.0), Some(0.0)]), (3, 5));
    }

    #[test]
    fn any_number_is_better_than_none() {
        let nan = Some(f64::NAN);
        assert_eq!(best(&[nan, Some(9.0), nan, nan, Some(1.0)]), (2, 4));
        assert_eq!(best(&[nan, nan, nan, nan]), (1, 3));
    }
}
