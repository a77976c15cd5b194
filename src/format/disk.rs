//! Model files on disk. A path holds the old file or the complete new one, and no more is read than a model declares.

use super::Extras;
use super::frame::{PREFIX, declared_len};
use crate::model::Model;
use crate::{Error, Result};
use std::fs::{File, OpenOptions, metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

impl Model {
    /// Writes the model to a file. At any moment the path holds the old file or the complete new one.
    ///
    /// A pipe or a device has no old content to preserve and is written to directly.
    ///
    /// # Errors
    /// If the operating system refuses, or there is not enough memory.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.save_with(path, Extras::ALL)
    }

    /// Does the same with some of the extras.
    ///
    /// # Errors
    /// If the operating system refuses, or there is not enough memory.
    pub fn save_with(&self, path: &Path, extras: Extras) -> Result<()> {
        write_file(path, &self.to_bytes_with(extras)?)
    }

    /// Reads a model from a file.
    ///
    /// # Errors
    /// If the operating system refuses, or the file is not a model.
    pub fn load(path: &Path) -> Result<Self> {
        let failed = |source: io::Error| match source.kind() {
            ErrorKind::OutOfMemory => {
                Error::Memory(path.metadata().map_or(0, |file| file.len() as usize))
            }
            _ => Error::Io { path: path.display().to_string(), source },
        };
        let file = File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        (&file).take(PREFIX as u64).read_to_end(&mut bytes).map_err(failed)?;
        // One byte beyond the declared length reveals a file that is too long.
        let rest = (declared_len(&bytes)? as u64 + 1).saturating_sub(PREFIX as u64);
        file.take(rest).read_to_end(&mut bytes).map_err(failed)?;
        Self::from_bytes(&bytes)
    }
}

/// Writes a file. At any moment the path holds the old content or the complete new one.
///
/// A pipe or a device has no old content to preserve and is written to directly.
///
/// # Errors
/// If the operating system refuses.
pub fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    let is_stream = metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    let written = if is_stream {
        OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(content))
    } else {
        replace(&resolve_links(path), content)
    };
    written.map_err(|source| Error::Io { path: path.display().to_string(), source })
}

/// Writes a temporary file beside the target, syncs it, then renames it.
fn replace(target: &Path, content: &[u8]) -> io::Result<()> {
    let folder =
        target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Keep the system's error: tempfile's own lacks the error number that Python maps to an exception.
    let mut os_error = None;
    let create = |path: &Path| {
        let created = OpenOptions::new().write(true).create_new(true).open(path);
        created.inspect_err(|error| os_error = error.raw_os_error())
    };
    let created = tempfile::Builder::new().prefix(".binfm-").make_in(folder, create);
    let mut file = created.map_err(|error| os_error.map_or(error, io::Error::from_raw_os_error))?;
    if let Ok(old) = metadata(target) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file_mut().write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(target).map_err(|refused| refused.error)?;
    sync_folder(folder)
}

/// Follows links, so that a link stays a link and its target is replaced, even if that does not exist yet.
fn resolve_links(path: &Path) -> PathBuf {
    let link_target = || {
        let to = path.read_link().ok()?;
        Some(path.parent().map_or(to.clone(), |folder| folder.join(to)))
    };
    path.canonicalize().ok().or_else(link_target).unwrap_or_else(|| path.to_owned())
}

/// Syncs the new directory entry. Where a directory cannot be opened or synced, the file is in place all the same.
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
