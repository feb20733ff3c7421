//! IDX, the format of MNIST: a magic number, the dimensions, the bytes.

use std::io::{self, Read};

/// An array of bytes with up to 255 dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idx {
    dimensions: Vec<usize>,
    bytes: Vec<u8>,
}

/// Why bytes are not IDX.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdxError {
    /// They cannot be read or decompressed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// They are of something else.
    #[error("not idx: it begins with {0:02x?}, expected [00, 00, 08] and the number of dimensions")]
    Magic(Vec<u8>),
    /// The dimensions are incomplete, or exceed every possible size.
    #[error("its dimensions are torn")]
    Torn,
    /// The dimensions exceed those of every set of the list.
    #[error("its dimensions {0:?} ask for more than {LARGEST} bytes")]
    Large(Vec<usize>),
    /// There are fewer or more bytes than the dimensions say.
    #[error("{found} bytes follow its dimensions {dimensions:?}")]
    Length {
        /// The dimensions.
        dimensions: Vec<usize>,
        /// Number of following bytes, or that there are too many.
        found: String,
    },
}

/// Four times the training images of MNIST.
const LARGEST: usize = 1 << 28;

impl Idx {
    /// Reads plain IDX of bytes to the end of the stream; memory is allocated for the bytes in the stream, not for the size in its header.
    pub fn read(mut from: impl Read) -> Result<Self, IdxError> {
        let magic = some_bytes(&mut from, 4)?;
        let &[0, 0, 8, rank] = magic.as_slice() else { return Err(IdxError::Magic(magic)) };
        let header = some_bytes(&mut from, 4 * usize::from(rank))?;
        if header.len() != 4 * usize::from(rank) {
            return Err(IdxError::Torn);
        }
        let number = |b: &[u8]| b.iter().fold(0, |n, &b| n << 8 | usize::from(b));
        let dimensions: Vec<usize> = header.chunks_exact(4).map(number).collect();
        let length = dimensions.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        let Some(length) = length.filter(|&length| length <= LARGEST) else {
            return Err(IdxError::Large(dimensions));
        };
        let bytes = some_bytes(&mut from, length + 1)?;
        if bytes.len() != length {
            let found = bytes.len().min(length).to_string();
            let found = if bytes.len() > length { format!("more than {found}") } else { found };
            return Err(IdxError::Length { dimensions, found });
        }
        Ok(Self { dimensions, bytes })
    }

    /// The dimensions, the slowest first.
    pub fn dimensions(&self) -> &[usize] {
        &self.dimensions
    }

    /// All bytes, the last dimension together.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads up to `most` bytes.
fn some_bytes(from: &mut impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(dimensions: &[u32], bytes: &[u8]) -> Vec<u8> {
        let mut all = vec![0, 0, 8, dimensions.len() as u8];
        dimensions.iter().for_each(|d| all.extend(d.to_be_bytes()));
        all.extend(bytes);
        all
    }

    fn error(bytes: &[u8]) -> String {
        Idx::read(bytes).unwrap_err().to_string()
    }

    #[test]
    fn each_fault_has_its_words() {
        assert!(error(b"").starts_with("not idx: it begins with []"));
        assert!(
            error(&[0, 0, 13, 1, 0, 0, 0, 0])
                .starts_with("not idx: it begins with [00, 00, 0d, 01]")
        );
        assert_eq!(error(&[0, 0, 8, 2, 0, 0, 0, 1]), "its dimensions are torn");
        assert!(
            error(&written(&[u32::MAX; 3], &[])).ends_with("ask for more than 268435456 bytes")
        );
        assert_eq!(error(&written(&[2, 3], &[1; 5])), "5 bytes follow its dimensions [2, 3]");
        assert_eq!(
            error(&written(&[2, 3], &[1; 9])),
            "more than 6 bytes follow its dimensions [2, 3]"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            dimensions in prop::collection::vec(0u32..6, 0..4),
            seed in any::<u8>(),
        ) {
            let length: u32 = dimensions.iter().product();
            let bytes: Vec<u8> = (0..length).map(|i| (i as u8).wrapping_mul(seed)).collect();
            let idx = Idx::read(&written(&dimensions, &bytes)[..]).unwrap();
            prop_assert_eq!(idx.bytes(), &bytes[..]);
            let read: Vec<u32> = idx.dimensions().iter().map(|&d| d as u32).collect();
            prop_assert_eq!(read, dimensions);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(idx) = Idx::read(&bytes[..]) {
                prop_assert_eq!(idx.dimensions().iter().product::<usize>(), idx.bytes().len());
            }
        }

        #[test]
        fn a_changed_file_is_read_in_full_or_refused(
            dimensions in prop::collection::vec(0u32..5, 1..4),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            cut in any::<prop::sample::Index>(),
        ) {
            let length: u32 = dimensions.iter().product();
            let mut bytes = written(&dimensions, &vec![7; length as usize]);
            let place = at.index(bytes.len());
            bytes[place] = byte;
            bytes.truncate(cut.index(bytes.len() + 1));
            if let Ok(idx) = Idx::read(&bytes[..]) {
                let header = 4 + 4 * idx.dimensions().len();
                prop_assert_eq!(idx.bytes(), &bytes[header..]);
            }
        }
    }
}
