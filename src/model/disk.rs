//! Models on the disk. A path holds the old file or the whole new one, and no more is read than a model has.

use super::Model;
use super::frame::{FRAME, told_length};
use crate::{Error, Result};
use std::fs::{File, OpenOptions, metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

impl Model {
    /// Write a file; at any moment the path holds the old file or the whole new one.
    ///
    /// A pipe or a device has no old content to keep: it is written to.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = self.to_bytes();
        let is_stream = metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        let written = if is_stream {
            OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(&bytes))
        } else {
            replace(&meant(path), &bytes)
        };
        written.map_err(|source| Error::Io { path: path.display().to_string(), source })
    }

    /// Read a file.
    ///
    /// # Errors
    /// If the system refuses or it is no model.
    pub fn load(path: &Path) -> Result<Self> {
        let failed = |source: io::Error| match source.kind() {
            ErrorKind::OutOfMemory => {
                Error::Memory(path.metadata().map_or(0, |file| file.len() as usize))
            }
            _ => Error::Io { path: path.display().to_string(), source },
        };
        let file = File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        (&file).take(FRAME as u64).read_to_end(&mut bytes).map_err(failed)?;
        // One byte more than there should be tells that there is more.
        let rest = (told_length(&bytes)? as u64 + 1).saturating_sub(FRAME as u64);
        file.take(rest).read_to_end(&mut bytes).map_err(failed)?;
        Self::from_bytes(&bytes)
    }
}

/// Write beside the target, see it on the disk, then take its name.
fn replace(target: &Path, content: &[u8]) -> io::Result<()> {
    let folder =
        target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The system's own error: tempfile's has lost the number by which Python knows it.
    let mut refused = None;
    let create = |path: &Path| {
        let created = OpenOptions::new().write(true).create_new(true).open(path);
        created.inspect_err(|error| refused = error.raw_os_error())
    };
    let created = tempfile::Builder::new().prefix(".binfm-").make_in(folder, create);
    let mut file = created.map_err(|error| refused.map_or(error, io::Error::from_raw_os_error))?;
    if let Ok(old) = metadata(target) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file_mut().write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(target).map_err(|refused| refused.error)?;
    sync_folder(folder)
}

/// A link stays a link: what it points to is meant, even if that is not there yet.
fn meant(path: &Path) -> PathBuf {
    let of_link = || {
        let to = path.read_link().ok()?;
        Some(path.parent().map_or(to.clone(), |folder| folder.join(to)))
    };
    path.canonicalize().ok().or_else(of_link).unwrap_or_else(|| path.to_owned())
}

/// See the new name on the disk. Where a folder may not be read, or knows no such thing, the file is there all the same.
fn sync_folder(folder: &Path) -> io::Result<()> {
    let Ok(folder) = File::open(folder) else {
        return Ok(());
    };
    match folder.sync_all() {
        Err(error) if !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Err(error)
        }
        _ => Ok(()),
    }
}
