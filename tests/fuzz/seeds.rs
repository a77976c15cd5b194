//! Files to begin with: the golden models of every version.

use binfm::Model;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// Bytes of the checksum.
pub const CHECKSUM: usize = 4;
/// Where the length of the file stands.
pub const LENGTH: Range<usize> = 6..10;

/// A model and where its parts are.
#[derive(Clone)]
pub struct Seed {
    pub name: String,
    pub bytes: Vec<u8>,
    /// Header, scales, features, …; the checksum is none of them, and none is empty.
    pub parts: Vec<Range<usize>>,
    /// The one of them that has the weights, in which nearly every value is a model's.
    pub bits: Range<usize>,
}

impl Seed {
    /// From a file, if it is a model.
    pub fn new(name: &str, bytes: Vec<u8>) -> Option<Self> {
        let report = Model::from_bytes(&bytes).ok()?.size_report();
        let mut end = 0;
        let mut seed = Self { name: name.to_owned(), bytes, parts: vec![], bits: 0..0 };
        for (name, size) in report {
            let part = end..end + size;
            end = part.end;
            if matches!(name, "bits" | "weights") {
                seed.bits = part.clone();
            }
            if name != "checksum" && size > 0 {
                seed.parts.push(part);
            }
        }
        Some(seed)
    }

    /// Everything but the checksum.
    pub fn body(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - CHECKSUM]
    }
}

/// The file with this body: its length and its checksum are right.
pub fn signed(mut body: Vec<u8>) -> Vec<u8> {
    let length = (body.len() + CHECKSUM) as u32;
    if let Some(told) = body.get_mut(LENGTH) {
        told.copy_from_slice(&length.to_le_bytes());
    }
    let checksum = crc32c::crc32c(&body);
    body.extend(checksum.to_le_bytes());
    body
}

/// All golden models.
pub fn seeds() -> Vec<Seed> {
    let versions = fs::read_dir(tests().join("golden")).unwrap().map(|entry| entry.unwrap().path());
    let folders = versions.filter(|path| path.is_dir() && !path.ends_with("__pycache__"));
    let files = folders.flat_map(|folder| files(&folder));
    let seeds: Vec<_> = files.map(|(name, bytes)| Seed::new(&name, bytes).expect(&name)).collect();
    assert!(seeds.len() > 10, "make golden writes them");
    seeds
}

/// Files that once were a failure.
pub fn found() -> Vec<(String, Vec<u8>)> {
    files(&tests().join("fuzz/found"))
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "binfm"));
    paths.sort();
    let read = |path: &std::path::PathBuf| (path.display().to_string(), fs::read(path).unwrap());
    paths.iter().map(read).collect()
}

fn tests() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}
