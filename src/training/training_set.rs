//! A dataset encoded once, from which any number of trainers start.

use super::trainer::{OnEpoch, Trained, Trainer};
use super::{Context, EncodedSamples, Schedule, ValidParams};
use crate::data::{Dataset, Schema};
use crate::encoding::{Encoder, EncodingParams};
use crate::{Error, Result};
use std::sync::Arc;

/// Encoded samples with the encoder that they taught. Several threads may train on it at the same time.
pub struct TrainingSet {
    encoder: Arc<Encoder>,
    schema: Arc<Schema>,
    encoding: EncodingParams,
    samples: EncodedSamples<'static>,
}

impl TrainingSet {
    /// Learns how to encode a dataset, and encodes it.
    ///
    /// # Errors
    /// If a column cannot be encoded, there is not enough memory, or it is stopped.
    pub fn new(
        dataset: &Dataset,
        schema: Schema,
        encoding: EncodingParams,
        context: Context,
    ) -> Result<Self> {
        let encoder = Encoder::fit(dataset, &schema, &encoding, context.threads, context.stop)?;
        let samples = EncodedSamples::new(&encoder, "X", dataset, context)?.into_owned()?;
        Ok(Self { encoder: Arc::new(encoder), schema: Arc::new(schema), encoding, samples })
    }

    /// Trains a model from the beginning.
    ///
    /// # Errors
    /// If the parameters ask for another encoding, there is not enough memory, training diverges, or it is stopped.
    pub fn fit(
        &self,
        params: ValidParams,
        schedule: Schedule,
        context: Context,
        on_epoch: &mut OnEpoch,
    ) -> Result<Trained> {
        if params.encoding() != self.encoding {
            let must = format!("have the encoding of the training set, {:?}", self.encoding);
            return Err(Error::value("params", must, format!("{:?}", params.encoding())));
        }
        let (encoder, schema) = (Arc::clone(&self.encoder), Arc::clone(&self.schema));
        let units = self.samples.examples().target.like(&[])?;
        let mut trainer = Trainer::with_encoder(encoder, schema, units, params);
        trainer.fit_encoded(&self.samples, None, schedule, context, on_epoch)
    }

    /// Returns roughly the bytes that the samples take.
    pub fn bytes(&self) -> usize {
        self.samples.bytes()
    }
}
