//! Seed inputs: the golden models of every version.

use binfm::Model;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// Size of the checksum at the end of a file.
pub const CHECKSUM_BYTES: usize = 4;
/// Position of the file length in the header.
pub const LENGTH: Range<usize> = 6..10;

/// A model file and the positions of its parts.
#[derive(Clone)]
pub struct Seed {
    pub name: String,
    pub bytes: Vec<u8>,
    /// Header, scales, features and so on, excluding empty parts and the checksum.
    pub parts: Vec<Range<usize>>,
    /// The part with the weights, in which nearly any bits are valid.
    pub weights: Range<usize>,
}

impl Seed {
    /// Returns `None` if the bytes are not a model.
    pub fn new(name: &str, bytes: Vec<u8>) -> Option<Self> {
        let report = Model::from_bytes(&bytes).ok()?.size_report();
        let mut end = 0;
        let mut seed = Self { name: name.to_owned(), bytes, parts: vec![], weights: 0..0 };
        for (name, size) in report {
            let part = end..end + size;
            end = part.end;
            if matches!(name, "bits" | "weights") {
                seed.weights = part.clone();
            }
            if name != "checksum" && size > 0 {
                seed.parts.push(part);
            }
        }
        Some(seed)
    }

    /// The file without its checksum.
    pub fn body(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - CHECKSUM_BYTES]
    }
}

/// Completes a file: sets its length and appends its checksum.
pub fn sealed(mut body: Vec<u8>) -> Vec<u8> {
    let length = (body.len() + CHECKSUM_BYTES) as u32;
    if let Some(field) = body.get_mut(LENGTH) {
        field.copy_from_slice(&length.to_le_bytes());
    }
    let checksum = crc32c::crc32c(&body);
    body.extend(checksum.to_le_bytes());
    body
}

/// Reads all golden models.
pub fn seeds() -> Vec<Seed> {
    let versions = fs::read_dir(tests().join("golden")).unwrap().map(|entry| entry.unwrap().path());
    let folders = versions.filter(|path| path.is_dir() && !path.ends_with("__pycache__"));
    let files = folders.flat_map(|folder| files(&folder));
    let seeds: Vec<_> = files.map(|(name, bytes)| Seed::new(&name, bytes).expect(&name)).collect();
    assert!(seeds.len() > 10, "golden models are missing: run `make -C benches golden`");
    seeds
}

/// Reads the files that once made a check fail.
pub fn regressions() -> Vec<(String, Vec<u8>)> {
    files(&tests().join("fuzz/found"))
}

/// Reads the model files in a folder: their paths and contents, sorted by path.
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
