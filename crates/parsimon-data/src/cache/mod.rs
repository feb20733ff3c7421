//! The project's own binary format: examples parsed once, read again at the speed of memory.
//!
//! ```text
//! header   "PARSIMC", version, space (0 ids, 1 hashed), bits, 6 zeros, checksum of these 16 bytes
//! block*   payload length, row count, checksum of the payload, then the payload
//! trailer  label texts, names of slots, 1 and the schema of the table or 0
//! footer   "PARSIMCE", trailer offset, trailer length, trailer checksum, row count, checksum of these 40 bytes
//! ```
//!
//! Numbers are little-endian and of 64 bits, checksums are XXH3 of 64 bits. In payloads lengths and
//! counts are varints (seven bits a byte, low first), and a row is
//!
//! ```text
//! flags    1-2: values 0 all ones, 1 f32, 2 f64; 4: label; 8: the label is one signed byte; 16: weight; 32: tag; 64: numbers
//! [label] [weight] [tag length, tag] count, indices of 32 bits, [a bit per value: whether it is not 1, those that are not]
//! [a bit per number column of the table: whether its cell has a value, the values as f64]
//! ```
//!
//! The schema is there if the columns of the table have kinds. A cache of another version is refused: it is made again from its
//! source.
//!
//! Indices are not packed tighter: taking them apart again would cost more than reading them. Values are kept as f32 only
//! where that loses nothing. A label that is a text is kept as its code
//! (see [`LabelTexts`](crate::LabelTexts)) and the text once, in the trailer: whatever loss is used later, the label can
//! still be judged. A row without a label stays one. A file without its footer is one whose writing did not end, and is refused.

mod block;
mod file;
mod schema;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use block::decode;
pub(crate) use file::{BlockHead, Blocks, Contents, Seekable};
pub use writer::Writer;

/// The end of every cache.
const FOOTER_MAGIC: &[u8; 8] = b"PARSIMCE";
const HEADER_LEN: u64 = 24;
const BLOCK_HEADER_LEN: u64 = 24;
const FOOTER_LEN: u64 = 48;

/// Appends a varint.
fn put_varint(out: &mut Vec<u8>, mut v: u64) {
    while v >= 0x80 {
        out.push(v as u8 | 0x80);
        v >>= 7;
    }
    out.push(v as u8);
}

/// Takes a varint off the front.
#[inline]
fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(u64::from(first));
    }
    let mut v = 0;
    for (i, &b) in bytes.iter().enumerate().take(10) {
        v |= u64::from(b & 0x7f).checked_shl(7 * i as u32)?;
        if b < 0x80 {
            *bytes = &bytes[i + 1..];
            return Some(v);
        }
    }
    None
}

/// Takes bytes off the front.
#[inline]
fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (front, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(front)
}

fn take_u64(bytes: &mut &[u8]) -> Option<u64> {
    take(bytes, 8)?.try_into().ok().map(u64::from_le_bytes)
}

#[cfg(test)]
mod varint_tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn varints_round_trip(v in any::<u64>(), shift in 0_u32..64) {
            let v = v >> shift;
            let mut bytes = Vec::new();
            put_varint(&mut bytes, v);
            let mut rest = &bytes[..];
            prop_assert_eq!(take_varint(&mut rest), Some(v));
            prop_assert!(rest.is_empty());
        }
    }
}
