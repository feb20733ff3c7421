//! Where the separators of a text are, found before it is parsed.
//!
//! A parser that looks for the end of each token as it goes must wait for one to know where the next begins. With all
//! separators known beforehand tokens are independent of each other, and the processor reads several at once. Measured
//! in `record/`.

#![allow(unsafe_code)]

use memchr::{memchr, memrchr};

/// The most text looked at in one go: it and its separators stay in the near caches.
const SPAN: usize = 16 << 10;

/// Whether a byte separates: everything up to a blank (newlines, tabs, control characters), a colon, a bar.
#[inline]
fn is_separator(b: u8) -> bool {
    b <= b' ' || b == b':' || b == b'|'
}

/// The separators of some whole lines.
#[derive(Debug, Default)]
pub(crate) struct Separators {
    places: Vec<u32>,
    len: usize,
}

impl Separators {
    /// Looks at whole lines from `at` on, as many as fit; `None` where even one is too long.
    ///
    /// INVARIANT: `text` ends with a newline.
    pub(crate) fn look(&mut self, text: &[u8], at: usize) -> Option<usize> {
        let most = text.len().min(at + SPAN);
        let end = at + memrchr(b'\n', &text[at..most])? + 1;
        // Room for a block more than there is text: see `write`.
        self.places.resize(SPAN + BLOCK, 0);
        self.len = find(&text[at..end], &mut self.places);
        Some(end)
    }

    /// Where they are, counted from where [`look`](Self::look) began.
    pub(crate) fn places(&self) -> &[u32] {
        &self.places[..self.len]
    }
}

/// The end of the line that begins at `at`, without its newline.
#[inline]
pub(crate) fn line_end(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n)
}

const BLOCK: usize = 64;

/// Writes the positions of all separators to the front of `places`, which has room for a block more than there is text.
fn find(text: &[u8], places: &mut [u32]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_wide() {
        // SAFETY: the machine has what was asked for just now.
        return unsafe { find_wide(text, places) };
    }
    find_narrow(text, 0, places, 0)
}

/// Whether the machine has the wide registers, and what comes with them, that the fast copies are compiled for.
#[cfg(target_arch = "x86_64")]
pub(crate) fn is_wide() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("popcnt")
}

/// The same, byte by byte, from `at` on and behind the `len` found before.
fn find_narrow(text: &[u8], at: usize, places: &mut [u32], mut len: usize) -> usize {
    for (k, &b) in text.iter().enumerate().skip(at) {
        places[len] = k as u32;
        len += usize::from(is_separator(b));
    }
    len
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn find_wide(text: &[u8], places: &mut [u32]) -> usize {
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let mut len = 0;
    for (k, block) in blocks.iter().enumerate() {
        len = write(separator_bits(block), (k * BLOCK) as u32, places, len);
    }
    find_narrow(text, text.len() - rest.len(), places, len)
}

/// A bit for every byte of a block that separates.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn separator_bits(block: &[u8; BLOCK]) -> u64 {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8,
    };
    let half = |at: usize| -> u64 {
        // SAFETY: 32 bytes from 0 and from 32 are inside of the block of 64; the load needs no alignment.
        let bytes = unsafe { _mm256_loadu_si256(block.as_ptr().add(at).cast::<__m256i>()) };
        let is = |b: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b.cast_signed()));
        let blank = _mm256_set1_epi8(b' '.cast_signed());
        let low = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, blank), bytes);
        let any = _mm256_or_si256(low, _mm256_or_si256(is(b':'), is(b'|')));
        u64::from(_mm256_movemask_epi8(any).cast_unsigned())
    };
    half(0) | half(32) << 32
}

/// Writes the positions of a block's bits behind the `len` found before.
///
/// PERF: eight at a time whether there are as many or not; a loop that ends at the last bit is guessed wrong in every
/// block. What is written too much is written over by the next block.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,popcnt")]
#[inline]
fn write(mut bits: u64, base: u32, places: &mut [u32], len: usize) -> usize {
    let count = bits.count_ones() as usize;
    let mut at = len;
    loop {
        let Some(eight) = places.get_mut(at..).and_then(|p| p.first_chunk_mut::<8>()) else {
            return len;
        };
        for place in eight {
            *place = base + bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
        }
        at += 8;
        if at >= len + count {
            return len + count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn both(text: &[u8]) -> [Vec<u32>; 2] {
        let mut places = [vec![0; text.len() + BLOCK], vec![0; text.len() + BLOCK]];
        let len = [find(text, &mut places[0]), find_narrow(text, 0, &mut places[1], 0)];
        places.iter_mut().zip(len).for_each(|(p, len)| p.truncate(len));
        places
    }

    proptest! {
        #[test]
        fn wide_and_narrow_find_the_same(text in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b' ')], 0..300)) {
            let [wide, narrow] = both(&text);
            prop_assert_eq!(&wide, &narrow);
            prop_assert_eq!(wide.len(), text.iter().filter(|b| is_separator(**b)).count());
        }
    }

    #[test]
    fn a_span_is_whole_lines() {
        let mut separators = Separators::default();
        let line = [&[b'x'; 99][..], b"\n"].concat();
        let text = line.repeat(1000);
        let (mut at, mut lines) = (0, 0);
        while at < text.len() {
            at = separators.look(&text, at).unwrap();
            assert_eq!(text[at - 1], b'\n');
            lines += separators.places().len();
        }
        assert_eq!(lines, 1000);
        let long = [&vec![b'x'; SPAN][..], b"\n"].concat();
        assert_eq!(separators.look(&long, 0), None);
        assert_eq!(line_end(&long, 0), SPAN);
    }
}
