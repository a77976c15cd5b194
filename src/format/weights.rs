//! Scales and weights in a file.

use super::bytes::{Reader, wrong};
use super::header::{Header, OUTPUTS_AT};
use super::output::Output;
use crate::Result;
use crate::memory::{collect, try_collect, with_capacity};
use crate::model::{
    Factors, FloatWeights, Method, Multipliers, Scales, SignRows, SignShape, Weights,
};
use alloc::vec::Vec;

/// Returns the bytes of bias, a and c of all outputs: eight for a single output, two for each of several.
pub fn scales_size(outputs: usize) -> usize {
    if outputs == 1 { 8 } else { 2 * outputs }
}

/// Writes the scales of all outputs.
pub fn put_scales(out: &mut Output, weights: &Weights) {
    match weights {
        Weights::Signs { scales, .. } => {
            let is_single = scales.outputs() == 1;
            for &Multipliers { bias, linear, pairs } in &scales.outputs {
                if is_single {
                    out.put_int(bias.into(), 4);
                    out.put_int(linear.into(), 2);
                    out.put_int(pairs.into(), 2);
                } else {
                    out.put_int(bias.into(), 1);
                    out.push(linear as u8 | (pairs as u8) << 4);
                }
            }
        }
        Weights::Floats(floats) => {
            for (output, bias) in floats.bias().iter().enumerate() {
                out.put(bias.to_le_bytes());
                out.put(floats.betas().get(output).into_iter().flat_map(|b| b.to_le_bytes()));
            }
        }
    }
}

/// Writes the weights: bits; or for each row and output w and its factors; or, where factors are signs, first all w and
/// then all bits.
pub fn put_weights(out: &mut Output, weights: &Weights) {
    let floats = match weights {
        Weights::Signs { signs, .. } => return out.put(signs.bytes().iter().copied()),
        Weights::Floats(floats) => floats,
    };
    match floats.stored_factors() {
        Factors::Signs(signs) => {
            out.put(floats.w().iter().flat_map(|w| w.to_le_bytes()));
            out.put(signs.bytes().iter().copied());
        }
        Factors::Floats(numbers) => {
            let mut numbers = numbers.iter();
            for w in floats.w() {
                out.put(w.to_le_bytes());
                let factors = numbers.by_ref().take(floats.factors());
                out.put(factors.flat_map(|v| v.to_le_bytes()));
            }
        }
    }
}

/// The scales, which precede the features in a file.
pub enum ReadScales {
    Signs(Scales),
    /// Bias and β.
    Floats((Vec<f32>, Vec<f32>)),
}

impl Header {
    pub fn read_scales(&self, reader: &mut Reader) -> Result<ReadScales> {
        if self.method != Method::Bfm {
            let per_output = if self.method.has_sign_factors() { 2 } else { 1 };
            let numbers = reader.f32s(self.outputs * per_output)?;
            let every = |from: usize| collect(numbers.iter().skip(from).step_by(per_output).copied());
            let beta = if per_output == 2 { every(1)? } else { Vec::new() };
            return Ok(ReadScales::Floats((every(0)?, beta)));
        }
        if scales_size(self.outputs) > reader.left() {
            return wrong(OUTPUTS_AT, "there are more outputs than the file can hold");
        }
        let outputs = (0..self.outputs).map(|_| {
            if self.outputs == 1 {
                let bias = reader.int(4)? as i32;
                return Ok(Multipliers { bias, linear: reader.u16()?, pairs: reader.u16()? });
            }
            let (bias, both) = (reader.int(1)? as i32, u16::from(reader.u8()?));
            Ok(Multipliers { bias, linear: both & 15, pairs: both >> 4 })
        });
        let outputs = try_collect(outputs)?;
        let [linear_shift, pairs_shift, bias_shift] = self.shifts;
        let exponent = self.exponent;
        Ok(ReadScales::Signs(Scales { linear_shift, pairs_shift, bias_shift, exponent, outputs }))
    }

    pub fn read_weights(
        &self,
        reader: &mut Reader,
        scales: ReadScales,
        rows: usize,
    ) -> Result<Weights> {
        match scales {
            ReadScales::Signs(scales) => {
                Ok(Weights::Signs { signs: self.read_signs(reader, rows, self.w_bits)?, scales })
            }
            ReadScales::Floats(scales) => {
                self.read_floats(reader, scales, rows).map(Weights::Floats)
            }
        }
    }

    fn read_signs(&self, reader: &mut Reader, rows: usize, w_bits: usize) -> Result<SignRows> {
        let shape = SignShape { rows, outputs: self.outputs, w_bits, factors: self.factors };
        let bytes = reader.bytes(shape.bytes().unwrap_or(usize::MAX))?;
        match SignRows::from_bytes(shape, bytes) {
            Some(signs) => Ok(signs),
            None => wrong(reader.at().saturating_sub(1), "a bit after the last weight is set"),
        }
    }

    fn read_floats(
        &self,
        reader: &mut Reader,
        scales: (Vec<f32>, Vec<f32>),
        rows: usize,
    ) -> Result<FloatWeights> {
        let at = reader.at();
        let (all, m) = (rows.saturating_mul(self.outputs), self.factors);
        let (w, factors) = if self.method.has_sign_factors() {
            let w = reader.f32s(all)?;
            (w, Factors::Signs(self.read_signs(reader, rows, 0)?))
        } else {
            let numbers = reader.f32s(all.saturating_mul(m + 1))?;
            let rows = numbers.chunks_exact(m + 1);
            let (mut w, mut v) = (with_capacity(all)?, with_capacity(all.saturating_mul(m))?);
            for row in rows {
                w.extend(row.first());
                v.extend(row.iter().skip(1));
            }
            (w, Factors::Floats(v))
        };
        let floats = FloatWeights::from_parts(self.method, m, scales, w, factors);
        if !floats.are_finite() || floats.betas().iter().any(|&beta| beta < 0.0) {
            return wrong(at, "a weight or scale is out of range");
        }
        Ok(floats)
    }
}
