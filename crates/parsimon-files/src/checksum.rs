//! The checksum of our files.

/// The 64-bit XXH3 hash: it detects damage, and is no protection against forgery.
///
/// ```
/// assert_eq!(parsimon_files::checksum(b""), 0x2d06_8005_38d3_94c2);
/// ```
pub fn checksum(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// An incremental checksum, for bytes that arrive in pieces.
pub(crate) struct Checksum(xxhash_rust::xxh3::Xxh3);

impl Checksum {
    pub(crate) fn new() -> Self {
        Self(xxhash_rust::xxh3::Xxh3::new())
    }
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    pub(crate) fn finish(&self) -> u64 {
        self.0.digest()
    }
}
