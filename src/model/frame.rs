//! What stands around the content of a file: magic, version, length and checksum.

use crate::{Error, Result};
use alloc::vec::Vec;

pub const MAGIC: [u8; 4] = *b"\xb1FM\n";
pub const VERSION: u8 = 1;
/// Bytes of the checksum.
pub const CHECKSUM: usize = 4;
/// Where the length of the file stands, after magic, version and flags.
const LENGTH_AT: usize = 6;
/// CRC-32C, Castagnoli's: by a table of 16 KB, or by none.
#[cfg(feature = "std")]
type Crc = crc::Crc<u32, crc::Table<16>>;
#[cfg(not(feature = "std"))]
type Crc = crc::Crc<u32, crc::NoTable>;
static CRC: Crc = Crc::new(&crc::CRC_32_ISCSI);

/// Bytes that tell whether a file is a model, and how long it is.
pub const FRAME: usize = 10;

/// Put the length where it belongs, and the checksum behind.
pub fn close(content: &mut Vec<u8>) {
    let length = ((content.len() + CHECKSUM) as u32).to_le_bytes();
    content.iter_mut().skip(LENGTH_AT).zip(length).for_each(|(to, byte)| *to = byte);
    let checksum = CRC.checksum(content);
    content.extend_from_slice(&checksum.to_le_bytes());
}

/// The length that the first bytes of a file tell, if they are a model's.
pub fn told_length(bytes: &[u8]) -> Result<usize> {
    let Some(magic) = bytes.get(..4) else {
        return Err(Error::format(bytes.len(), "the file ends early"));
    };
    if magic != MAGIC {
        return Err(Error::format(0, "the first four bytes are not a model's"));
    }
    let Some((&header, _)) = bytes.split_first_chunk::<FRAME>() else {
        return Err(Error::format(bytes.len(), "the file ends early"));
    };
    if header[4] != VERSION {
        let reason = format!("format version {} is not {VERSION}, the one known here", header[4]);
        return Err(Error::format(4, reason));
    }
    let length = u32::from_le_bytes([header[6], header[7], header[8], header[9]]);
    Ok(usize::try_from(length).unwrap_or(usize::MAX))
}

/// Check magic, version, length and checksum; what is left is everything before the checksum, `least` bytes or more.
pub fn open(bytes: &[u8], least: usize) -> Result<&[u8]> {
    let length = told_length(bytes)?;
    if length != bytes.len() || length < least + CHECKSUM {
        let but = if length < bytes.len() { "ends later" } else { "ends early" };
        return Err(Error::format(6, format!("the length is {length}, but the file {but},")));
    }
    let (content, checksum) = bytes.split_at(length - CHECKSUM);
    if CRC.checksum(content).to_le_bytes() != *checksum {
        return Err(Error::format(length - CHECKSUM, "the checksum is wrong: the file is damaged"));
    }
    Ok(content)
}
