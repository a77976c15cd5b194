//! Class labels and column names in a file.

use super::bytes::{Reader, int_size, put_int, put_text, wrong};
use crate::Result;
use crate::model::{Labels, are_distinct};
use alloc::{string::String, vec::Vec};

const INTS: u8 = 1;
const FLOATS: u8 = 2;
const BOOL: u8 = 3;
const TEXTS: u8 = 4;

/// Writes class labels.
pub fn put_labels(out: &mut Vec<u8>, labels: &Labels) {
    match labels {
        Labels::None => {}
        Labels::Ints(labels) => {
            let size = int_size(labels);
            out.extend([INTS, size as u8]);
            for &label in labels {
                put_int(out, label, size);
            }
        }
        Labels::Floats(labels) => {
            out.push(FLOATS);
            for label in labels {
                out.extend(label.to_le_bytes());
            }
        }
        Labels::Bool => out.push(BOOL),
        Labels::Texts(labels) => {
            out.push(TEXTS);
            for label in labels {
                put_text(out, label);
            }
        }
    }
}

/// Reads what [`put_labels`] writes.
pub fn read_labels(reader: &mut Reader, classes: usize) -> Result<Labels> {
    let at = reader.at();
    match reader.u8()? {
        INTS => {
            let size = usize::from(reader.u8()?);
            if !matches!(size, 1 | 2 | 4 | 8) {
                return wrong(at + 1, "the size of the labels is impossible");
            }
            let labels = (0..classes).map(|_| reader.int(size)).collect::<Result<Vec<_>>>()?;
            if int_size(&labels) != size {
                return wrong(at + 1, "labels are not in their shortest form");
            }
            Ok(Labels::Ints(labels))
        }
        FLOATS => {
            let labels = (0..classes).map(|_| reader.array().map(f64::from_le_bytes));
            Ok(Labels::Floats(labels.collect::<Result<_>>()?))
        }
        BOOL if classes == 2 => Ok(Labels::Bool),
        TEXTS => Ok(Labels::Texts((0..classes).map(|_| reader.text()).collect::<Result<_>>()?)),
        _ => wrong(at, "labels are of an unknown kind"),
    }
}

/// Writes column names.
pub fn put_names(out: &mut Vec<u8>, names: &[String]) {
    for name in names {
        put_text(out, name);
    }
}

/// Reads what [`put_names`] writes.
pub fn read_names(reader: &mut Reader, columns: usize) -> Result<Vec<String>> {
    let at = reader.at();
    let names = (0..columns).map(|_| reader.text()).collect::<Result<Vec<_>>>()?;
    if !are_distinct(&names) {
        return wrong(at, "two columns have the same name");
    }
    Ok(names)
}
