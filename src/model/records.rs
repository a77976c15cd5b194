//! The pieces of a file that are not of one size: features and class labels.

use super::Labels;
use super::bytes::{Reader, int_size, put_count, put_int, put_text, wrong};
use crate::Result;
use crate::encoding::{Column, Edges, Feature, Levels, Values, keys};
use alloc::vec::Vec;

/// Kinds of a feature, in the lowest two bits of its first byte.
const UNUSED: u8 = 0;
const NUMBERS: u8 = 1;
const WHOLE: u8 = 2;
const TEXT: u8 = 3;
/// Cells share no rows.
const COPIES: u8 = 4;
/// NaN has a cell.
const MISSING: u8 = 8;
/// Where the width of edges or levels begins.
const WIDTH: u32 = 4;

/// Write how one column is encoded.
pub fn put_feature(out: &mut Vec<u8>, feature: &Feature) {
    let span = &feature.span;
    let copies = if span.tilings > 1 && span.stride == span.tilings { COPIES } else { 0 };
    let bits = copies | if span.missing { MISSING } else { 0 };
    match &feature.values {
        Values::Unused => out.push(UNUSED),
        Values::Numbers(edges) => {
            out.push(NUMBERS | bits | edges.bytes() << WIDTH);
            put_count(out, edges.len());
            for &key in edges.keys() {
                put_int(
                    out,
                    i64::from(keys::leading(key, edges.bytes())),
                    usize::from(edges.bytes()),
                );
            }
        }
        Values::Levels(Levels::Counting(levels)) => {
            out.push(WHOLE | bits);
            put_count(out, *levels as usize);
        }
        Values::Levels(Levels::Whole(levels)) => {
            let size = int_size(levels);
            out.push(WHOLE | bits | (size as u8) << WIDTH);
            put_count(out, levels.len());
            for &level in levels {
                put_int(out, level, size);
            }
        }
        Values::Levels(Levels::Text(levels)) => {
            out.push(TEXT | bits);
            put_count(out, levels.len());
            for level in levels {
                put_text(out, level);
            }
        }
    }
}

/// Read what [`put_feature`] writes.
pub fn read_feature(reader: &mut Reader, tilings: u32) -> Result<Column> {
    let at = reader.at();
    let tag = reader.u8()?;
    let (copies, missing) = (tag & COPIES != 0, tag & MISSING != 0);
    let width = usize::from(tag >> WIDTH);
    let values = match tag & 3 {
        UNUSED if tag == UNUSED => return Ok(Column { values: Values::Unused, copies, missing }),
        NUMBERS if width <= 4 => Values::Numbers(read_edges(reader, width)?),
        WHOLE if matches!(width, 0 | 1 | 2 | 4 | 8) => Values::Levels(read_whole(reader, width)?),
        TEXT if width == 0 => Values::Levels(read_texts(reader)?),
        _ => return wrong(at, "a feature is of no known kind"),
    };
    let categorical = matches!(values, Values::Levels(_));
    if (copies && tilings == 1) || (categorical && !copies && tilings > 1) {
        return wrong(at, "a feature has the wrong rows for its kind");
    }
    Ok(Column { values, copies, missing })
}

fn read_edges(reader: &mut Reader, width: usize) -> Result<Edges> {
    let at = reader.at();
    let count = reader.count(width)?;
    if (count == 0) != (width == 0) {
        return wrong(at, "edges and their width do not go together");
    }
    let edges = (0..count).map(|_| Ok(keys::from_leading(reader.uint(width)? as u32, width as u8)));
    let edges = edges.collect::<Result<Vec<_>>>()?;
    if !edges.is_sorted_by(|a, b| a < b) || edges.iter().any(|&key| keys::number(key).is_nan()) {
        return wrong(at, "edges do not ascend or are no numbers");
    }
    Ok(Edges::new(edges, width as u8))
}

/// Levels 0, 1, 2, … have width 0: only their number is written.
fn read_whole(reader: &mut Reader, width: usize) -> Result<Levels> {
    let at = reader.at();
    let count = reader.count(width)?;
    let levels = match width {
        0 => match u32::try_from(count) {
            Ok(count) => Levels::Counting(count),
            Err(_) => return wrong(at, "there are too many levels"),
        },
        _ => Levels::whole((0..count).map(|_| reader.int(width)).collect::<Result<Vec<_>>>()?),
    };
    let shortest = match &levels {
        Levels::Whole(levels) => levels.is_sorted_by(|a, b| a < b) && int_size(levels) == width,
        _ => width == 0,
    };
    if levels.is_empty() || !shortest {
        return wrong(at, "levels do not ascend or are not in their shortest form");
    }
    Ok(levels)
}

fn read_texts(reader: &mut Reader) -> Result<Levels> {
    let at = reader.at();
    let count = reader.count(1)?;
    let levels = (0..count).map(|_| reader.text()).collect::<Result<Vec<_>>>()?;
    if levels.is_empty() || !levels.is_sorted_by(|a, b| a < b) {
        return wrong(at, "levels do not ascend");
    }
    Ok(Levels::Text(levels))
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
