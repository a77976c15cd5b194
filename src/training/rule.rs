//! Constraints of parameters: how a value is read, and what must hold for it.

use crate::{Error, Result};
use std::fmt;

/// A value as the user gave it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or False.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// None.
    None,
    /// Anything else, as it prints itself; and whether it is a number.
    Other(String, bool),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(number) => number.fmt(f),
            Self::Float(number) if number.is_nan() => f.write_str("nan"),
            Self::Float(number) => number.fmt(f),
            Self::None => f.write_str("None"),
            Self::Text(text) => write!(f, "'{text}'"),
            Self::Other(text, _) => f.write_str(text),
        }
    }
}

/// A constraint on values of type `T`.
pub trait Rule<T> {
    /// Returns the constraint in words, as it follows "must be".
    fn must_be(&self) -> String;

    /// Converts a value, if it meets the constraint; `Err` says whether its type is wrong.
    fn convert(&self, value: &Value) -> std::result::Result<T, Wrong>;

    /// Returns a parameter as a value.
    fn show(&self, parameter: &T) -> Value;

    /// Reads a parameter.
    ///
    /// # Errors
    /// [`Error::Type`] or [`Error::Value`].
    fn read(&self, name: &'static str, value: &Value) -> Result<T> {
        let must = || format!("be {}", self.must_be());
        self.convert(value).map_err(|wrong| match wrong {
            Wrong::Type => Error::type_of(name, must(), value),
            Wrong::Value => Error::value(name, must(), value),
        })
    }
}

/// Why a value was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Its type is wrong.
    Type,
    /// It is out of range.
    Value,
}

/// A whole number from the first to the second.
pub struct Whole(pub i64, pub i64);

impl<T: Copy + TryFrom<i128> + TryInto<i128>> Rule<T> for Whole {
    fn must_be(&self) -> String {
        match self {
            Self(min, i64::MAX) => format!("a whole number from {min} to 2**63 - 1"),
            Self(min, max) => format!("a whole number from {min} to {max}"),
        }
    }

    fn convert(&self, value: &Value) -> std::result::Result<T, Wrong> {
        match value {
            Value::Int(number) if (self.0.into()..=self.1.into()).contains(number) => {
                T::try_from(*number).map_err(|_| Wrong::Value)
            }
            Value::Int(_) | Value::Other(_, true) => Err(Wrong::Value),
            _ => Err(Wrong::Type),
        }
    }

    fn show(&self, parameter: &T) -> Value {
        Value::Int((*parameter).try_into().unwrap_or(i128::MAX))
    }
}

/// True or False.
pub struct Flag;

impl Rule<bool> for Flag {
    fn must_be(&self) -> String {
        "True or False".into()
    }

    fn convert(&self, value: &Value) -> std::result::Result<bool, Wrong> {
        match value {
            Value::Bool(flag) => Ok(*flag),
            _ => Err(Wrong::Type),
        }
    }

    fn show(&self, parameter: &bool) -> Value {
        Value::Bool(*parameter)
    }
}

/// None, or what another rule accepts.
pub struct OrNone<R>(pub R);

impl<T, R: Rule<T>> Rule<Option<T>> for OrNone<R> {
    fn must_be(&self) -> String {
        format!("None or {}", self.0.must_be())
    }

    fn convert(&self, value: &Value) -> std::result::Result<Option<T>, Wrong> {
        if *value == Value::None { Ok(None) } else { self.0.convert(value).map(Some) }
    }

    fn show(&self, parameter: &Option<T>) -> Value {
        parameter.as_ref().map_or(Value::None, |parameter| self.0.show(parameter))
    }
}

/// `'auto'`, which is none, or what another rule accepts.
pub struct OrAuto<R>(pub R);

const AUTO: &str = "auto";

impl<T, R: Rule<T>> Rule<Option<T>> for OrAuto<R> {
    fn must_be(&self) -> String {
        format!("'{AUTO}' or {}", self.0.must_be())
    }

    fn convert(&self, value: &Value) -> std::result::Result<Option<T>, Wrong> {
        match value {
            Value::Text(text) if text == AUTO => Ok(None),
            Value::Text(_) => Err(Wrong::Value),
            _ => self.0.convert(value).map(Some),
        }
    }

    fn show(&self, parameter: &Option<T>) -> Value {
        parameter.as_ref().map_or(Value::Text(AUTO.into()), |parameter| self.0.show(parameter))
    }
}

/// One of several named choices.
pub struct OneOf<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Copy + PartialEq> Rule<T> for OneOf<T> {
    fn must_be(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|(name, _)| format!("'{name}'")).collect();
        match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    fn convert(&self, value: &Value) -> std::result::Result<T, Wrong> {
        let Value::Text(text) = value else { return Err(Wrong::Type) };
        let found = self.0.iter().find(|(name, _)| name == text);
        found.map(|(_, choice)| *choice).ok_or(Wrong::Value)
    }

    fn show(&self, parameter: &T) -> Value {
        let found = self.0.iter().find(|(_, choice)| choice == parameter);
        Value::Text(found.map_or("", |(name, _)| name).into())
    }
}

/// Implements [`Rule`] for constraints on finite numbers.
macro_rules! number_rule {
    ($rule:ty, $self:ident, $must_be:expr, $holds:expr) => {
        impl Rule<f64> for $rule {
            fn must_be(&$self) -> String {
                $must_be
            }

            fn convert(&$self, value: &Value) -> std::result::Result<f64, Wrong> {
                let number = match value {
                    Value::Float(number) => *number,
                    Value::Int(number) => *number as f64,
                    Value::Bool(flag) => f64::from(u8::from(*flag)),
                    Value::Text(_) | Value::None | Value::Other(..) => f64::NAN,
                };
                let holds: fn(&Self, f64) -> bool = $holds;
                if number.is_finite() && holds($self, number) { Ok(number) } else { Err(Wrong::Value) }
            }

            fn show(&$self, parameter: &f64) -> Value {
                Value::Float(*parameter)
            }
        }
    };
}

/// Any finite number.
pub struct Finite;
/// A finite number above this one.
pub struct Above(pub f64);
/// A finite number of at least this one.
pub struct AtLeast(pub f64);
/// A number from 0 to below 1.
pub struct Share;
/// A number between 0 and 1.
pub struct Between;

number_rule!(Finite, self, "a finite number".into(), |_, _| true);
number_rule!(Above, self, format!("a finite number above {}", self.0), |rule, x| x > rule.0);
number_rule!(AtLeast, self, format!("a finite number of at least {}", self.0), |rule, x| x >= rule.0);
number_rule!(Between, self, "a number between 0 and 1".into(), |_, x| 0.0 < x && x < 1.0);
number_rule!(Share, self, "a number from 0 to below 1".into(), |_, x| (0.0..1.0).contains(&x));
