//! The checksum of our files.

/// The 64-bit XXH3 hash: it detects damage, and is no protection against forgery.
///
/// ```
/// assert_eq!(parsimon_files::checksum(b""), 0x2d06_8005_38d3_94c2);
/// ```
pub fn checksum(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}
