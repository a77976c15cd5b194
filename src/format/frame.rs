//! What surrounds the content of a file: magic, version, length and checksum.

use crate::{Error, Result};

pub const MAGIC: [u8; 4] = *b"\xb1FM\n";
pub const VERSION: u8 = 1;
/// Bytes of the checksum.
pub const CHECKSUM: usize = 4;
/// Offset of the file's length, after magic, version and flags.
const LENGTH_AT: usize = 6;
/// CRC-32C (Castagnoli), with a table of 16 KB or without one.
#[cfg(feature = "std")]
type Crc = crc::Crc<u32, crc::Table<16>>;
#[cfg(not(feature = "std"))]
type Crc = crc::Crc<u32, crc::NoTable>;
static CRC: Crc = Crc::new(&crc::CRC_32_ISCSI);

/// Returns the CRC-32C of some bytes.
#[cfg(feature = "python")]
pub fn checksum(bytes: &[u8]) -> u32 {
    CRC.checksum(bytes)
}

/// Bytes that identify a model and declare its length.
pub const PREFIX: usize = 10;

/// Fills in the length and the checksum, the last bytes of a file.
pub fn seal(bytes: &mut [u8]) {
    let length = (bytes.len() as u32).to_le_bytes();
    bytes.iter_mut().skip(LENGTH_AT).zip(length).for_each(|(to, byte)| *to = byte);
    if let Some((content, checksum)) = bytes.split_last_chunk_mut::<CHECKSUM>() {
        *checksum = CRC.checksum(content).to_le_bytes();
    }
}

/// Returns the length that the first bytes of a model declare.
pub fn declared_len(bytes: &[u8]) -> Result<usize> {
    let Some(magic) = bytes.get(..4) else {
        return Err(Error::format(bytes.len(), "the file ends early"));
    };
    if magic != MAGIC {
        return Err(Error::format(0, "the first four bytes are not a model's"));
    }
    let Some((&prefix, _)) = bytes.split_first_chunk::<PREFIX>() else {
        return Err(Error::format(bytes.len(), "the file ends early"));
    };
    if prefix[4] != VERSION {
        let reason = format!("format version {} is not supported, only {VERSION} is,", prefix[4]);
        return Err(Error::format(4, reason));
    }
    let length = u32::from_le_bytes([prefix[6], prefix[7], prefix[8], prefix[9]]);
    Ok(usize::try_from(length).unwrap_or(usize::MAX))
}

/// Checks magic, version, length and checksum, and returns everything before the checksum: `min_len` bytes or more.
pub fn open(bytes: &[u8], min_len: usize) -> Result<&[u8]> {
    let length = declared_len(bytes)?;
    if length != bytes.len() || length < min_len + CHECKSUM {
        let but = if length < bytes.len() { "longer" } else { "shorter" };
        return Err(Error::format(6, format!("the declared length is {length}, but the file is {but},")));
    }
    let (content, checksum) = bytes.split_at(length - CHECKSUM);
    if CRC.checksum(content).to_le_bytes() != *checksum {
        return Err(Error::format(length - CHECKSUM, "the checksum is wrong: the file is damaged"));
    }
    Ok(content)
}
