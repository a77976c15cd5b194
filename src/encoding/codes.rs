//! Bin edges in one byte each.
//!
//! The two leading bytes of a float hold its sign, its exponent and seven bits of its mantissa. An edge in one byte is
//! one of those two-byte keys, on a grid that suits the feature:
//!
//! ```text
//! unsigned      q · 2^e          q = 0 … 255        x ≥ edge
//! signed        q · 2^e          q = −128 … 127     x ≥ edge, and x > edge where q is negative
//! logarithmic   16 steps from each power of two to the next, for 16 powers from 2^(B − 127) on
//! ```
//!
//! So a device needs the two leading bytes of a value and a shift to compare it with all edges of a feature.

use super::keys::{key, number};

/// How the codes of a grid are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Evenly from zero up.
    Unsigned,
    /// Evenly around zero.
    Signed,
    /// By the exponent.
    Logarithmic,
}

/// A grid of 256 edges at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codes {
    /// How they are spaced.
    pub form: Form,
    /// The exponent e as a signed byte; for [`Form::Logarithmic`] B, the exponent field of the first edge.
    pub parameter: u8,
}

/// Exponents for which every edge is zero or an ordinary number.
const EXPONENTS: core::ops::RangeInclusive<i32> = -126..=119;
/// Bits of a key that an edge leaves zero.
const LOW: u32 = 16;
/// Bits of a key below a step of the logarithmic form.
const STEP: u32 = LOW + 3;
/// Bits of a key below its exponent.
const MANTISSA: u32 = 23;

impl Form {
    /// All of them, in the order of their numbers in a file.
    pub const ALL: [Self; 3] = [Self::Unsigned, Self::Signed, Self::Logarithmic];

    /// The forms that edges can have, by the first of them, the smallest.
    pub fn candidates(first: i32) -> &'static [Self] {
        match first {
            ..0 => &[Self::Signed],
            0 => &[Self::Unsigned],
            1.. => &[Self::Unsigned, Self::Logarithmic],
        }
    }
}

impl Codes {
    /// The finest grid of a form that reaches from the first to the last of some ascending keys, if there is one.
    pub fn spanning(form: Form, keys: &[i32]) -> Option<Self> {
        let (&first, &last) = (keys.first()?, keys.last()?);
        if form == Form::Logarithmic {
            return Some(Self { form, parameter: (first >> MANTISSA) as u8 })
                .filter(Self::is_valid);
        }
        let largest = f64::from(number(first).abs().max(number(last).abs()));
        let bits = if form == Form::Signed { 7 } else { 8 };
        Self::linear(form, libm::frexp(largest).1 - bits)
    }

    /// The coarsest grid of a form on which all of these edges lie, if there is one.
    pub fn holding(form: Form, edges: &[i32]) -> Option<Self> {
        let codes = if form == Form::Logarithmic {
            Self::spanning(form, edges)?
        } else {
            let finest = edges.iter().filter(|&&edge| edge != 0).map(|&edge| last_bit(edge)).min();
            Self::linear(form, finest.unwrap_or(0).min(*EXPONENTS.end()))?
        };
        codes.hold(edges).then_some(codes)
    }

    fn linear(form: Form, exponent: i32) -> Option<Self> {
        EXPONENTS.contains(&exponent).then_some(Self { form, parameter: exponent as i8 as u8 })
    }

    /// Whether there is a grid with this parameter.
    pub fn is_valid(&self) -> bool {
        match self.form {
            Form::Logarithmic => self.parameter < u8::MAX,
            _ => EXPONENTS.contains(&self.exponent()),
        }
    }

    /// Whether all of these edges have a code.
    pub fn hold(&self, edges: &[i32]) -> bool {
        edges.iter().all(|&edge| self.code(edge).is_some())
    }

    /// The edge with a code; None if that is no number.
    pub fn edge(&self, code: u8) -> Option<i32> {
        let at = |q: i32| key(libm::scalbn(f64::from(q), self.exponent()) as f32);
        match self.form {
            Form::Unsigned => Some(at(code.into())),
            Form::Signed => {
                let q = i32::from(code) - 128;
                Some(at(q) + i32::from(q < 0))
            }
            Form::Logarithmic => {
                let key = (u32::from(self.parameter) << MANTISSA) + (u32::from(code) << STEP);
                i32::try_from(key).ok().filter(|&key| number(key).is_finite())
            }
        }
    }

    /// The code of an edge, if it has one.
    pub fn code(&self, edge: i32) -> Option<u8> {
        let code = self.last_not_above(edge)?;
        (self.edge(code) == Some(edge)).then_some(code)
    }

    /// The greatest code whose edge is not above a key.
    pub fn last_not_above(&self, key: i32) -> Option<u8> {
        let (mut low, mut high) = (0_u16, 256_u16);
        while low < high {
            let middle = u16::midpoint(low, high);
            match self.edge(middle as u8) {
                Some(edge) if edge <= key => low = middle + 1,
                _ => high = middle,
            }
        }
        low.checked_sub(1).map(|code| code as u8)
    }

    fn exponent(self) -> i32 {
        (self.parameter as i8).into()
    }
}

/// The exponent of the lowest bit that is set in the number an edge stands for.
fn last_bit(edge: i32) -> i32 {
    let bits = if edge < 0 { !(edge - 1) } else { edge } as u32 & (i32::MAX as u32);
    let (exponent, mantissa) =
        ((bits >> MANTISSA) as i32, bits & ((1 << MANTISSA) - 1) | 1 << MANTISSA);
    exponent - 127 - MANTISSA as i32 + mantissa.trailing_zeros() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_ascend_and_keep_two_bytes() {
        for form in Form::ALL {
            for parameter in 0..=u8::MAX {
                let codes = Codes { form, parameter };
                if !codes.is_valid() {
                    continue;
                }
                let edges: Vec<i32> = (0..=u8::MAX).map_while(|code| codes.edge(code)).collect();
                assert!(edges.len() > 15 && edges.is_sorted_by(|a, b| a < b), "{codes:?}");
                assert!(edges.iter().all(|edge| edge.trailing_zeros() >= LOW), "{codes:?}");
                for (code, &edge) in edges.iter().enumerate() {
                    assert_eq!(codes.code(edge), Some(code as u8), "{codes:?}");
                    assert_eq!(codes.last_not_above(edge - 1), (code as u8).checked_sub(1));
                }
            }
        }
    }

    #[test]
    fn the_coarsest_grid_holds_the_edges() {
        let signed = Codes { form: Form::Signed, parameter: -3_i8 as u8 };
        let edges: Vec<i32> =
            [3, 120, 129, 200].iter().map(|&q| signed.edge(q).unwrap_or(0)).collect();
        assert_eq!(Codes::holding(Form::Signed, &edges), Some(signed));
        let finest = Codes::spanning(Form::Signed, &edges);
        assert_eq!(finest, Some(signed));
        assert_eq!(
            Codes::holding(Form::Unsigned, &[key(0.0)]).map(|codes| codes.parameter),
            Some(0)
        );
        assert_eq!(
            Codes::holding(Form::Unsigned, &[key(2.0_f32.powi(121))]).map(|codes| codes.parameter),
            Some(119),
            "the greatest exponent that there is"
        );
        assert_eq!(Codes::holding(Form::Unsigned, &[key(1.0), key(257.0)]), None);
        assert_eq!(Codes::holding(Form::Unsigned, &[key(f32::INFINITY)]), None);
        let wide = [key(0.001), key(0.5), key(60.0)].map(|key| key >> STEP << STEP);
        assert!(Codes::holding(Form::Logarithmic, &wide).is_some());
        assert_eq!(Codes::holding(Form::Unsigned, &wide), None);
    }
}
