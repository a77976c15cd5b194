//! Names of the columns, for whoever gives a table: scores do not need them, and a file may leave them out.

use super::Model;
use super::bytes::{Reader, put_text, wrong};
use crate::{Error, Result};
use alloc::{string::String, vec::Vec};

impl Model {
    /// The names of the columns, if they have any.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The same model with names of its columns.
    ///
    /// # Errors
    /// If there is not one for each column, or two are the same.
    pub fn with_names(self, names: Vec<String>) -> Result<Self> {
        let columns = self.encoder.columns();
        if names.len() != columns {
            let accepted = format!("are {columns}, one for each column");
            return Err(Error::value("names", names.len(), accepted));
        }
        if !distinct(&names) {
            return Err(Error::value("names", "the same name twice", "are distinct names"));
        }
        Ok(Self { names: Some(names), ..self })
    }

    /// The same model without names.
    #[must_use]
    pub fn without_names(&self) -> Self {
        Self { names: None, ..self.clone() }
    }
}

/// Write the names.
pub fn put_names(out: &mut Vec<u8>, names: &[String]) {
    for name in names {
        put_text(out, name);
    }
}

/// Read what [`put_names`] writes.
pub fn read_names(reader: &mut Reader, columns: usize) -> Result<Vec<String>> {
    let at = reader.at();
    let names = (0..columns).map(|_| reader.text()).collect::<Result<Vec<_>>>()?;
    if !distinct(&names) {
        return wrong(at, "two columns have the same name");
    }
    Ok(names)
}

fn distinct(names: &[String]) -> bool {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    sorted.is_sorted_by(|a, b| a < b)
}
