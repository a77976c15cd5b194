//! The choice of the instruction set.

#[cfg(feature = "std")]
use crate::Error;
use crate::Result;
use alloc::vec::Vec;
#[cfg(all(target_arch = "aarch64", feature = "std"))]
use std::arch::is_aarch64_feature_detected;
#[cfg(feature = "std")]
use std::sync::OnceLock;

/// Environment variable that selects a tier, for tests and bug reports.
#[cfg(feature = "std")]
const FORCE: &str = "BINFM_ISA";

/// Proof that this CPU supports an instruction set; created only by [`Isa::detect`] and [`Isa::available`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(Tier);

/// Passes the list of tiers to a macro, after the arguments given here.
///
/// A tier has a name, which is also that of its registers in `arch`, and a list of target features. The tier is available
/// if the CPU has all of them, and its kernels are compiled with all of them.
macro_rules! for_tiers {
    ($macro:ident! $arguments:tt) => {
        $macro! {
            $arguments

            // Every x86-64 server since 2015.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Avx2 = avx2, is_x86_feature_detected["avx2", "popcnt", "bmi1", "bmi2", "lzcnt"];

            // Ice Lake, Zen 4 and later.
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Avx512 = avx512, is_x86_feature_detected[
                "avx2", "popcnt", "bmi1", "bmi2", "lzcnt",
                "avx512f", "avx512vl", "avx512bw", "avx512bitalg", "avx512vpopcntdq"
            ];

            #[cfg(all(target_arch = "aarch64", feature = "std"))]
            Neon = neon, is_aarch64_feature_detected["neon"];
        }
    };
}
pub(super) use for_tiers;

/// Generates [`Tier`], the names of the tiers, and their detection.
macro_rules! define_tiers {
    (
        ()
        $($(#[$cfg:meta])* $tier:ident = $name:ident, $is_detected:ident[$($feature:tt),+];)*
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Tier {
            Portable,
            $($(#[$cfg])* $tier,)*
        }

        impl Isa {
            /// Names of all tiers of this architecture, fastest last.
            pub const NAMES: &[&str] = &["portable", $($(#[$cfg])* stringify!($name),)*];

            /// Returns all tiers that this CPU supports, fastest last.
            pub fn available() -> Vec<Self> {
                #[allow(unused_mut)] // no other tier on some architectures
                let mut tiers = vec![Self(Tier::Portable)];
                $(
                    $(#[$cfg])*
                    if $($is_detected!($feature))&&+ {
                        tiers.push(Self(Tier::$tier));
                    }
                )*
                tiers
            }

            /// Returns the name of the tier, as in `BINFM_ISA`.
            pub fn name(self) -> &'static str {
                match self.0 {
                    Tier::Portable => "portable",
                    $($(#[$cfg])* Tier::$tier => stringify!($name),)*
                }
            }
        }
    };
}

for_tiers!(define_tiers!());

impl Isa {
    /// Returns the fastest tier that this CPU supports, or the one named by `BINFM_ISA`.
    ///
    /// # Errors
    /// If `BINFM_ISA` names a tier that this CPU does not support.
    #[cfg(feature = "std")]
    pub fn detect() -> Result<Self> {
        static CHOSEN: OnceLock<std::result::Result<Isa, String>> = OnceLock::new();
        let choose = || match std::env::var(FORCE) {
            Ok(name) => Self::available().into_iter().find(|isa| isa.name() == name).ok_or(name),
            Err(_) => Ok(Self::available().pop().unwrap_or(Self(Tier::Portable))),
        };
        CHOSEN.get_or_init(choose).clone().map_err(|name| {
            let names: Vec<_> = Self::available().iter().map(|isa| isa.name()).collect();
            Error::value(FORCE, format!("be one of {}", names.join(", ")), format!("'{name}'"))
        })
    }

    /// Returns the portable tier: detecting others takes the standard library.
    ///
    /// # Errors
    /// Never.
    #[cfg(not(feature = "std"))]
    pub fn detect() -> Result<Self> {
        Ok(Self(Tier::Portable))
    }

    /// Returns the tier, which this CPU is known to support.
    #[inline(always)]
    pub(super) fn tier(self) -> Tier {
        self.0
    }

    /// Returns true if [`count_samples`](super::count_samples) is faster than
    /// [`tally_samples`](super::tally_samples) on this tier.
    pub fn has_lookup(self) -> bool {
        self.0 != Tier::Portable
    }
}
