//! Class labels, and how they stand in a file.

use super::Model;
use super::bytes::{Reader, int_size, put_int, put_text, wrong};
use crate::Result;
use alloc::{string::String, vec::Vec};

/// The labels of the classes, ascending.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// Regression has none.
    None,
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Finite numbers.
    Number(Vec<f64>),
    /// False and True.
    Bool,
    /// Texts.
    Text(Vec<String>),
}

impl Labels {
    /// The labels 0, 1, …, which take no room in the file.
    pub fn counting(classes: usize) -> Self {
        Self::Whole((0..classes as i64).collect())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Whole(labels) => labels.len(),
            Self::Number(labels) => labels.len(),
            Self::Bool => 2,
            Self::Text(labels) => labels.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether each is greater than the one before, and all are finite.
    pub fn ascend(&self) -> bool {
        match self {
            Self::None | Self::Bool => true,
            Self::Whole(labels) => labels.is_sorted_by(|a, b| a < b),
            Self::Number(labels) => {
                labels.iter().all(|x| x.is_finite()) && labels.is_sorted_by(|a, b| a < b)
            }
            Self::Text(labels) => labels.is_sorted_by(|a, b| a < b),
        }
    }
}

impl Model {
    /// The same model with the classes 0, 1, …, which take no room in a file.
    #[must_use]
    pub fn without_labels(&self) -> Self {
        let labels = match &self.labels {
            Labels::None => Labels::None,
            labels => Labels::counting(labels.len()),
        };
        Self { labels, ..self.clone() }
    }
}

const INT_LABELS: u8 = 1;
const FLOAT_LABELS: u8 = 2;
const BOOL_LABELS: u8 = 3;
const TEXT_LABELS: u8 = 4;

/// Write class labels.
pub fn put_labels(out: &mut Vec<u8>, labels: &Labels) {
    match labels {
        Labels::None => {}
        Labels::Whole(labels) => {
            let size = int_size(labels);
            out.extend([INT_LABELS, size as u8]);
            for &label in labels {
                put_int(out, label, size);
            }
        }
        Labels::Number(labels) => {
            out.push(FLOAT_LABELS);
            for label in labels {
                out.extend(label.to_le_bytes());
            }
        }
        Labels::Bool => out.push(BOOL_LABELS),
        Labels::Text(labels) => {
            out.push(TEXT_LABELS);
            for label in labels {
                put_text(out, label);
            }
        }
    }
}

/// Read what [`put_labels`] writes.
pub fn read_labels(reader: &mut Reader, classes: usize) -> Result<Labels> {
    let at = reader.at();
    match reader.u8()? {
        INT_LABELS => {
            let size = usize::from(reader.u8()?);
            if !matches!(size, 1 | 2 | 4 | 8) {
                return wrong(at + 1, "labels of that many bytes cannot be");
            }
            let labels = (0..classes).map(|_| reader.int(size)).collect::<Result<Vec<_>>>()?;
            if int_size(&labels) != size {
                return wrong(at + 1, "labels are not in their shortest form");
            }
            Ok(Labels::Whole(labels))
        }
        FLOAT_LABELS => {
            let labels = (0..classes).map(|_| reader.array().map(f64::from_le_bytes));
            Ok(Labels::Number(labels.collect::<Result<_>>()?))
        }
        BOOL_LABELS if classes == 2 => Ok(Labels::Bool),
        TEXT_LABELS => {
            Ok(Labels::Text((0..classes).map(|_| reader.text()).collect::<Result<_>>()?))
        }
        _ => wrong(at, "labels are of no known kind"),
    }
}
