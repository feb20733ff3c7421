//! From a namespace and a feature's text to a slot. Stable forever: models depend on it.
//!
//! With `xxh3(text, seed)` the 64-bit XXH3 hash:
//!
//! ```text
//! namespace  n = 0                  for the anonymous one, else xxh3(name, 0)
//! feature    h = xxh3(text, n)
//! a*b        h = mix(mix(a) + b)    mix(x): x ^= x >> 32; x *= 0x9e3779b97f4a7c15; x ^= x >> 29
//! slot         = the lowest bits of h
//! ```

use std::sync::LazyLock;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The seed of a namespace's features.
///
/// ```
/// use parsimon_data::hash;
///
/// assert_eq!(hash::namespace(b""), 0);
/// let city = hash::feature(hash::namespace(b"user"), b"city=Paris");
/// assert_eq!(hash::slot(city, 22), (city & 0x3f_ffff) as u32);
/// ```
#[inline]
pub fn namespace(name: &[u8]) -> u64 {
    if name.is_empty() { 0 } else { xxh3_64(name) }
}

/// The hash of a feature in the namespace with this seed.
#[inline]
pub fn feature(namespace: u64, text: &[u8]) -> u64 {
    // PERF: the unseeded form is shorter and is the same function.
    if namespace == 0 { xxh3_64(text) } else { xxh3_64_with_seed(text, namespace) }
}

/// Seeds of the hashes of the words of a namespace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed {
    namespace: u64,
    /// Seeds for words of one to three letters, and of four to eight.
    short: u64,
    long: u64,
}

impl Seed {
    /// Creates the seeds of the namespace with this hash.
    #[inline]
    pub(crate) fn new(namespace: u64) -> Self {
        let mixed = namespace ^ u64::from((namespace as u32).swap_bytes()) << 32;
        let long = (0x1cad_21f7_2c81_017c_u64 ^ 0xdb97_9083_e96d_d4de).wrapping_sub(mixed);
        Self { namespace, short: (0x396c_feb8_u64 ^ 0xbe4b_a423).wrapping_add(namespace), long }
    }
}

/// The namespaces that are called by one letter, as [`namespace`] and as [`Seed`].
pub(crate) fn letters() -> &'static [(u64, Seed); 256] {
    static LETTERS: LazyLock<[(u64, Seed); 256]> = LazyLock::new(|| {
        std::array::from_fn(|letter| {
            let seed = namespace(&[letter as u8]);
            (seed, Seed::new(seed))
        })
    });
    &LETTERS
}

/// [`feature`] of the word between two places of a text, quicker for words of one to eight bytes; `None` if the places are not in
/// the text, or not in order.
///
/// PERF: most words of a log of hashed fields have eight letters. The general function asks for the length three times before it
/// does this.
#[inline(always)]
pub(crate) fn word(seed: &Seed, text: &[u8], start: usize, end: usize) -> Option<u64> {
    let word = text.get(start..end)?;
    let four = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    match (word.len(), word.first_chunk(), word.last_chunk()) {
        (4..=8, Some(first), Some(last)) => {
            const PRIME: u64 = 0x9fb2_1c65_1e98_df25;
            let h = (four(first) << 32 | four(last)) ^ seed.long;
            let h = (h ^ h.rotate_left(49) ^ h.rotate_left(24)).wrapping_mul(PRIME);
            let h = (h ^ (h >> 35).wrapping_add(word.len() as u64)).wrapping_mul(PRIME);
            Some(h ^ (h >> 28))
        }
        (len @ 1..=3, ..) => {
            let letter = |k: usize| u64::from(word[k]);
            let letters = letter(0) << 16 | letter(len / 2) << 24 | letter(len - 1);
            let h = (letters | (len as u64) << 8) ^ seed.short;
            let h = (h ^ h >> 33).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
            let h = (h ^ h >> 29).wrapping_mul(0x1656_67b1_9e37_79f9);
            Some(h ^ h >> 32)
        }
        _ => Some(other_word(seed, word)),
    }
}

#[inline(never)]
fn other_word(seed: &Seed, text: &[u8]) -> u64 {
    feature(seed.namespace, text)
}

/// The hash of two features together, in this order.
#[inline]
pub fn cross(a: u64, b: u64) -> u64 {
    mix(mix(a).wrapping_add(b))
}

/// The slot of a hash in a table of `2^bits`.
#[inline]
pub fn slot(hash: u64, bits: u8) -> u32 {
    (hash & ((1 << bits.min(31)) - 1)) as u32
}

#[inline]
fn mix(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^ (x >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Origin: XXH3_64bits of the empty input and of "a" as published with xxHash 0.8; the others
    // were computed with this code and are here so that it never changes.
    #[test]
    fn hashes_stay_what_they_are() {
        assert_eq!(feature(0, b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(feature(0, b"a"), 0xe6c6_32b6_1e96_4e1f);
        assert_eq!(namespace(b"a"), 0xe6c6_32b6_1e96_4e1f);
        assert_eq!(feature(namespace(b"user"), b"city=Paris"), 0x4bfd_1a83_ec2b_8339);
        assert_eq!(cross(feature(0, b"a"), feature(0, b"b")), 0x41d1_e31c_8385_d41a);
        assert_ne!(cross(1, 2), cross(2, 1));
        assert_eq!(slot(u64::MAX, 31), i32::MAX as u32);
    }

    proptest::proptest! {
        #[test]
        fn words_are_features(seed: u64, text in proptest::collection::vec(0u8.., 0..24), len in 0usize..12) {
            let (start, end) = (text.len().saturating_sub(len), text.len());
            for seed in [seed, 0] {
                let word = |start, end| word(&Seed::new(seed), &text, start, end);
                proptest::prop_assert_eq!(word(start, end), Some(feature(seed, &text[start..])));
                proptest::prop_assert_eq!(word(start, end + 1), None);
                proptest::prop_assert_eq!(word(end + 1, end), None);
            }
        }
    }

    #[test]
    fn slots_are_spread_evenly() {
        let mut counts = vec![0_u32; 1 << 10];
        for i in 0..(100 << 10) {
            let text = format!("{i}");
            counts[slot(cross(feature(0, text.as_bytes()), 7), 10) as usize] += 1;
        }
        // Poisson with mean 100: beyond six standard deviations once in 10^9.
        assert!(counts.iter().all(|&c| (40..=160).contains(&c)));
    }
}
