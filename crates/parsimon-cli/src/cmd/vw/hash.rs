//! The hash functions of Vowpal Wabbit, so that the same names meet in the same slots.

/// Factor of the hash of a pair.
pub(super) const PAIR: u64 = 16_777_619;
/// Factor of the hash of an n-gram.
pub(super) const GRAM: u64 = 27_942_141;
/// Part of the hash of an affix.
pub(super) const AFFIX: u64 = 13_903_957;
/// The hash of the constant feature.
pub(super) const CONSTANT: u64 = 11_650_396;

/// MurmurHash3 for 32 bits (Appleby, public domain), of which the seed's lower half counts.
pub(super) fn murmur(bytes: &[u8], seed: u64) -> u64 {
    let scramble = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut h = seed as u32;
    let (blocks, tail) = bytes.as_chunks::<4>();
    for block in blocks {
        h ^= scramble(u32::from_le_bytes(*block));
        h = h.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let rest = tail.iter().rev().fold(0, |k, byte| (k << 8) | u32::from(*byte));
    if rest != 0 || !tail.is_empty() {
        h ^= scramble(rest);
    }
    h ^= bytes.len() as u32;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    u64::from(h ^ (h >> 16))
}

/// The hash of a name: a number stands for itself unless `all` names are hashed.
pub(super) fn name(text: &[u8], seed: u64, all: bool) -> u64 {
    if all {
        return murmur(text, seed);
    }
    let text = text.trim_ascii();
    let mut number = 0u64;
    for byte in text {
        if !byte.is_ascii_digit() {
            return murmur(text, seed);
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
    }
    number.wrapping_add(seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn murmur_has_its_published_values() {
        for (text, seed, hash) in [
            ("", 0, 0),
            ("", 1, 0x514e_28b7),
            ("test", 0, 0xba6b_d213),
            ("Hello, world!", 0x9747_b28c, 0x2488_4cba),
            ("aaa", 0x9747_b28c, 0x283e_0130),
        ] {
            assert_eq!(murmur(text.as_bytes(), seed), hash, "{text}");
        }
    }

    #[test]
    fn a_number_stands_for_itself() {
        assert_eq!(name(b"13", 5, false), 18);
        assert_eq!(name(b" 13", 0, false), 13);
        assert_ne!(name(b"13", 0, true), 13);
        assert_eq!(name(b"13a", 7, false), murmur(b"13a", 7));
    }
}
