//! The family of factorization machines: which features they see and which weights are bits.

/// Which of the family a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Bins; w and V are bits.
    Bfm,
    /// Bins; w and V are floats.
    Sefm,
    /// Raw values; w is floats and V bits.
    Dfm,
    /// Raw values; w and V are floats.
    Fm,
}

impl Method {
    /// All of them, in the order of their numbers in the file.
    pub const ALL: [Self; 4] = [Self::Bfm, Self::Sefm, Self::Dfm, Self::Fm];

    /// The name by which the user calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bfm => "bfm",
            Self::Sefm => "sefm",
            Self::Dfm => "dfm",
            Self::Fm => "fm",
        }
    }

    /// Whether numbers are used as they are, in standard units, instead of by their bins.
    pub fn is_raw(self) -> bool {
        matches!(self, Self::Dfm | Self::Fm)
    }

    /// Whether factors are ±1, with a scale.
    pub fn has_signs(self) -> bool {
        matches!(self, Self::Bfm | Self::Dfm)
    }
}
