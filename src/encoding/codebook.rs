//! Edges of one byte.
//!
//! The two leading bytes of a float hold its sign, its exponent and seven bits of its mantissa. An edge of one byte is a
//! code into a small book of such two-byte keys, spaced to suit the feature:
//!
//! ```text
//! unsigned      q · 2^e          q = 0 … 255        x ≥ edge
//! signed        q · 2^e          q = −128 … 127     x ≥ edge, and x > edge where q is negative
//! logarithmic   16 steps between successive powers of two, for 16 powers from 2^(B − 127) on
//! ```
//!
//! So a device needs only the two leading bytes of a value and a shift to compare it with all edges of a feature.

use super::edges::{key, number};

/// How the edges of a codebook are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly, from zero up.
    Unsigned,
    /// Evenly, around zero.
    Signed,
    /// By exponent.
    Logarithmic,
}

/// At most 256 edges, one for each code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codebook {
    /// How the edges are spaced.
    pub spacing: Spacing,
    /// The exponent e as a signed byte; for [`Spacing::Logarithmic`] B, the exponent field of the first edge.
    pub parameter: u8,
}

/// Exponents for which every edge is zero or a normal number.
const EXPONENTS: core::ops::RangeInclusive<i32> = -126..=119;
/// Low bits that are zero in the key of an edge.
const ZERO_BITS: u32 = 16;
/// Low bits that are zero in the key of a logarithmic edge.
const STEP_BITS: u32 = ZERO_BITS + 3;
/// Bits of a float's mantissa.
const MANTISSA_BITS: u32 = 23;

impl Spacing {
    /// All spacings, in the order of their numbers in a file.
    pub const ALL: [Self; 3] = [Self::Unsigned, Self::Signed, Self::Logarithmic];

    /// Returns the spacings that ascending edges can have, given the first one.
    pub fn candidates(first: i32) -> &'static [Self] {
        match first {
            ..0 => &[Self::Signed],
            0 => &[Self::Unsigned],
            1.. => &[Self::Unsigned, Self::Logarithmic],
        }
    }
}

impl Codebook {
    /// Returns the finest codebook that covers the range of some ascending keys, if there is one.
    pub fn covering(spacing: Spacing, keys: &[i32]) -> Option<Self> {
        let (&first, &last) = (keys.first()?, keys.last()?);
        if spacing == Spacing::Logarithmic {
            return Some(Self { spacing, parameter: (first >> MANTISSA_BITS) as u8 })
                .filter(|book| book.is_valid());
        }
        let largest = f64::from(number(first).abs().max(number(last).abs()));
        let bits = if spacing == Spacing::Signed { 7 } else { 8 };
        Self::linear(spacing, libm::frexp(largest).1 - bits)
    }

    /// Returns the coarsest codebook that contains all of these edges, if there is one.
    pub fn containing(spacing: Spacing, edges: &[i32]) -> Option<Self> {
        let book = if spacing == Spacing::Logarithmic {
            Self::covering(spacing, edges)?
        } else {
            let finest = edges.iter().filter(|&&edge| edge != 0).map(|&edge| lowest_bit(edge)).min();
            Self::linear(spacing, finest.unwrap_or(0).min(*EXPONENTS.end()))?
        };
        book.contains(edges).then_some(book)
    }

    fn linear(spacing: Spacing, exponent: i32) -> Option<Self> {
        EXPONENTS.contains(&exponent).then_some(Self { spacing, parameter: exponent as i8 as u8 })
    }

    /// Returns whether the parameter is in range.
    pub fn is_valid(self) -> bool {
        match self.spacing {
            Spacing::Logarithmic => self.parameter < u8::MAX,
            _ => EXPONENTS.contains(&self.exponent()),
        }
    }

    /// Returns whether all of these edges have a code.
    pub fn contains(self, edges: &[i32]) -> bool {
        edges.iter().all(|&edge| self.code(edge).is_some())
    }

    /// Returns the edge of a code; `None` if it is not finite.
    pub fn edge(self, code: u8) -> Option<i32> {
        let at = |q: i32| key(libm::scalbn(f64::from(q), self.exponent()) as f32);
        match self.spacing {
            Spacing::Unsigned => Some(at(code.into())),
            Spacing::Signed => {
                let q = i32::from(code) - 128;
                Some(at(q) + i32::from(q < 0))
            }
            Spacing::Logarithmic => {
                let exponent = u32::from(self.parameter) << MANTISSA_BITS;
                let key = exponent + (u32::from(code) << STEP_BITS);
                i32::try_from(key).ok().filter(|&key| number(key).is_finite())
            }
        }
    }

    /// Returns the code of an edge, if it has one.
    pub fn code(self, edge: i32) -> Option<u8> {
        let code = self.last_not_above(edge)?;
        (self.edge(code) == Some(edge)).then_some(code)
    }

    /// Returns the largest code whose edge is not above a key.
    pub fn last_not_above(self, key: i32) -> Option<u8> {
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

/// Returns the exponent of the lowest set bit in the number that an edge stands for.
fn lowest_bit(edge: i32) -> i32 {
    let bits = if edge < 0 { !(edge - 1) } else { edge } as u32 & (i32::MAX as u32);
    let (exponent, mantissa) = (
        (bits >> MANTISSA_BITS) as i32,
        bits & ((1 << MANTISSA_BITS) - 1) | 1 << MANTISSA_BITS,
    );
    exponent - 127 - MANTISSA_BITS as i32 + mantissa.trailing_zeros() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_ascend_and_fit_two_bytes() {
        for spacing in Spacing::ALL {
            for parameter in 0..=u8::MAX {
                let book = Codebook { spacing, parameter };
                if !book.is_valid() {
                    continue;
                }
                let edges: Vec<i32> = (0..=u8::MAX).map_while(|code| book.edge(code)).collect();
                assert!(edges.len() > 15 && edges.is_sorted_by(|a, b| a < b), "{book:?}");
                assert!(edges.iter().all(|edge| edge.trailing_zeros() >= ZERO_BITS), "{book:?}");
                for (code, &edge) in edges.iter().enumerate() {
                    assert_eq!(book.code(edge), Some(code as u8), "{book:?}");
                    assert_eq!(book.last_not_above(edge - 1), (code as u8).checked_sub(1));
                }
            }
        }
    }

    #[test]
    fn the_coarsest_codebook_contains_the_edges() {
        let signed = Codebook { spacing: Spacing::Signed, parameter: -3_i8 as u8 };
        let edges: Vec<i32> =
            [3, 120, 129, 200].iter().map(|&q| signed.edge(q).unwrap_or(0)).collect();
        assert_eq!(Codebook::containing(Spacing::Signed, &edges), Some(signed));
        let finest = Codebook::covering(Spacing::Signed, &edges);
        assert_eq!(finest, Some(signed));
        assert_eq!(
            Codebook::containing(Spacing::Unsigned, &[key(0.0)]).map(|book| book.parameter),
            Some(0)
        );
        assert_eq!(
            Codebook::containing(Spacing::Unsigned, &[key(2.0_f32.powi(121))]).map(|book| book.parameter),
            Some(119),
            "the largest exponent"
        );
        assert_eq!(Codebook::containing(Spacing::Unsigned, &[key(1.0), key(257.0)]), None);
        assert_eq!(Codebook::containing(Spacing::Unsigned, &[key(f32::INFINITY)]), None);
        let wide = [key(0.001), key(0.5), key(60.0)].map(|key| key >> STEP_BITS << STEP_BITS);
        assert!(Codebook::containing(Spacing::Logarithmic, &wide).is_some());
        assert_eq!(Codebook::containing(Spacing::Unsigned, &wide), None);
    }
}
