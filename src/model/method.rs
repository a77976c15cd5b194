//! The family of factorization machines: which features they see, and which weights are bits.

/// A member of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Binned features; w has one or some bits, V is bits.
    Bfm,
    /// Binned features; w and V are floats.
    Sefm,
    /// Raw features; w is floats, V is bits.
    Dfm,
    /// Raw features; w and V are floats.
    Fm,
}

impl Method {
    /// All methods, in the order of their numbers in a file, with the names by which users know them.
    pub const NAMED: [(&'static str, Self); 4] =
        [("bfm", Self::Bfm), ("sefm", Self::Sefm), ("dfm", Self::Dfm), ("fm", Self::Fm)];

    /// Returns the name by which users know it.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }

    /// Returns whether numbers are used raw, in standard units, instead of binned.
    pub fn is_raw(self) -> bool {
        matches!(self, Self::Dfm | Self::Fm)
    }

    /// Returns whether factors are ±1, with a scale.
    pub fn has_sign_factors(self) -> bool {
        matches!(self, Self::Bfm | Self::Dfm)
    }
}
