//! Class labels and column names in a file.

use super::bytes::{Reader, int_size, wrong};
use super::output::Output;
use crate::Result;
use crate::memory::try_collect;
use crate::model::{Labels, are_distinct};
use alloc::{string::String, vec::Vec};

const INTS: u8 = 1;
const FLOATS: u8 = 2;
const BOOL: u8 = 3;
const TEXTS: u8 = 4;

/// Writes class labels.
pub fn put_labels(out: &mut Output, labels: &Labels) {
    match labels {
        Labels::None => {}
        Labels::Ints(labels) => {
            let size = int_size(labels);
            out.put([INTS, size as u8]);
            for &label in labels {
                out.put_int(label, size);
            }
        }
        Labels::Floats(labels) => {
            out.push(FLOATS);
            for label in labels {
                out.put(label.to_le_bytes());
            }
        }
        Labels::Bool => out.push(BOOL),
        Labels::Texts(labels) => {
            out.push(TEXTS);
            for label in labels {
                out.put_text(label);
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
            let labels = try_collect((0..classes).map(|_| reader.int(size)))?;
            if int_size(&labels) != size {
                return wrong(at + 1, "labels are not in their shortest form");
            }
            Ok(Labels::Ints(labels))
        }
        FLOATS => {
            let labels = (0..classes).map(|_| reader.array().map(f64::from_le_bytes));
            try_collect(labels).map(Labels::Floats)
        }
        BOOL if classes == 2 => Ok(Labels::Bool),
        TEXTS => try_collect((0..classes).map(|_| reader.text())).map(Labels::Texts),
        _ => wrong(at, "labels are of an unknown kind"),
    }
}

/// Writes column names.
pub fn put_names(out: &mut Output, names: &[String]) {
    for name in names {
        out.put_text(name);
    }
}

/// Reads what [`put_names`] writes.
pub fn read_names(reader: &mut Reader, columns: usize) -> Result<Vec<String>> {
    let at = reader.at();
    let names = try_collect((0..columns).map(|_| reader.text()))?;
    if !are_distinct(&names)? {
        return wrong(at, "two columns have the same name");
    }
    Ok(names)
}
