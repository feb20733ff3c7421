//! Positions of the separators of a text, found before it is parsed.
//!
//! A parser that looks for the end of each token as it goes must wait for one to know where the next begins. With all
//! separators known beforehand tokens are independent of each other, and the processor reads several at once. Measured
//! in `record/`.

#![allow(unsafe_code)]

use memchr::{memchr, memrchr};

/// The usual amount of text looked at in one go: it and its separators stay in the near caches.
const SPAN: usize = 16 << 10;

/// Whether a byte separates: everything up to a blank (newlines, tabs, control characters), a colon, a bar.
#[inline]
fn is_separator(b: u8) -> bool {
    b <= b' ' || b == b':' || b == b'|'
}

/// Finds the separators of some whole lines at a time.
#[derive(Debug, Default)]
pub(crate) struct Separators {
    places: Vec<u32>,
}

impl Separators {
    /// Looks at whole lines from `at` on, as many as fit into a span, but one at least.
    pub(crate) fn look<'a>(&'a mut self, text: &'a [u8], at: usize) -> Lines<'a> {
        let most = text.len().min(at + SPAN);
        let text = match memrchr(b'\n', &text[at..most]) {
            Some(newline) => &text[at..=at + newline],
            None => &text[at..text.len().min(line_end(text, at) + 1)],
        };
        let found = if text.len() <= SPAN {
            SPAN
        } else {
            text.iter().filter(|b| is_separator(**b)).count()
        };
        // Room for a block more than there can be: see `write`.
        if self.places.len() < found + BLOCK {
            self.places.resize(found + BLOCK, 0);
        } else if self.places.len() > 4 * (found + BLOCK) {
            // A giant line has passed; its memory goes with it.
            self.places.truncate(found + BLOCK);
            self.places.shrink_to_fit();
        }
        let len = find(text, &mut self.places);
        Lines { text, places: &self.places[..len], next: 0, at: 0 }
    }
}

/// Some whole lines, where their separators are, the next of these, and the place reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) places: &'a [u32],
    pub(crate) next: usize,
    pub(crate) at: usize,
}

impl<'a> Lines<'a> {
    /// Whether all separators have been read.
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.text.len()
    }

    /// The current line, without its newline.
    pub(crate) fn line(&self) -> &'a [u8] {
        &self.text[self.at..line_end(self.text, self.at)]
    }

    /// Goes to the line after the one at hand.
    pub(crate) fn skip_line(&mut self) {
        self.at = line_end(self.text, self.at) + 1;
        while self.places.get(self.next).is_some_and(|&place| (place as usize) < self.at) {
            self.next += 1;
        }
    }

    /// Separator `k`: where, and which. At the end of the text the line ends.
    #[inline(always)]
    pub(crate) fn separator(&self, k: usize) -> (usize, u8) {
        match self.places.get(k) {
            Some(&place) if (place as usize) < self.text.len() => {
                (place as usize, self.text[place as usize])
            }
            _ => (self.text.len(), b'\n'),
        }
    }
}

/// The end of the line that begins at `at`, without its newline.
#[inline]
fn line_end(text: &[u8], at: usize) -> usize {
    memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n)
}

const BLOCK: usize = 64;

/// Writes the positions of all separators to the front of `places`, which has room for a block more than there is text.
fn find(text: &[u8], places: &mut [u32]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_widest() {
        // SAFETY: the machine has what was asked for just now.
        return unsafe { find_widest(text, places) };
    } else if is_wide() {
        // SAFETY: likewise.
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

/// Whether the machine also collects bytes of the widest registers by a mask.
#[cfg(target_arch = "x86_64")]
fn is_widest() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vbmi2")
        && std::arch::is_x86_feature_detected!("popcnt")
}

/// Like the function above, byte by byte, from `at` on and behind the `len` positions found before.
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

/// PERF: sixteen positions at a time. Most blocks have no more, so that the loop that writes them ends where it is expected to.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
#[expect(clippy::cast_ptr_alignment, reason = "loads and stores need no alignment")]
fn find_widest(text: &[u8], places: &mut [u32]) -> usize {
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi32, _mm512_castsi512_si128, _mm512_cmpeq_epi8_mask,
        _mm512_cmple_epu8_mask, _mm512_cvtepu8_epi32, _mm512_loadu_si512,
        _mm512_maskz_compress_epi8, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_storeu_si512,
    };
    const SIXTEEN: usize = 16;
    static BYTES: [u8; BLOCK] = {
        let mut bytes = [0; BLOCK];
        let mut k = 0;
        while k < BLOCK {
            bytes[k] = k as u8;
            k += 1;
        }
        bytes
    };
    // SAFETY: a block is 64 bytes, and the load needs no alignment.
    let load =
        |block: &[u8; BLOCK]| unsafe { _mm512_loadu_si512(block.as_ptr().cast::<__m512i>()) };
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let (each, mut len) = (load(&BYTES), 0);
    for (k, block) in blocks.iter().enumerate() {
        let bytes = load(block);
        let is = |b: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b.cast_signed()));
        let low = _mm512_cmple_epu8_mask(bytes, _mm512_set1_epi8(b' '.cast_signed()));
        let mut bits = low | is(b':') | is(b'|');
        let (base, end) = (_mm512_set1_epi32((k * BLOCK) as i32), len + bits.count_ones() as usize);
        loop {
            let Some(sixteen) = places.get_mut(len..).and_then(|p| p.first_chunk_mut::<SIXTEEN>())
            else {
                return len;
            };
            let found = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(bits, each));
            let found = _mm512_add_epi32(base, _mm512_cvtepu8_epi32(found));
            // SAFETY: sixteen places are 64 bytes, and the store needs no alignment.
            unsafe { _mm512_storeu_si512(sixteen.as_mut_ptr().cast::<__m512i>(), found) };
            len += SIXTEEN;
            if len >= end {
                break;
            }
            for _ in 0..SIXTEEN {
                bits &= bits.wrapping_sub(1);
            }
        }
        len = end;
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
    #[expect(clippy::cast_ptr_alignment, reason = "the load needs no alignment")]
    let half = |at: usize| -> u64 {
        // SAFETY: 32 bytes from 0 and from 32 are inside of the block of 64.
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

    /// Results of this machine, of a machine with AVX2, and byte by byte.
    fn all(text: &[u8]) -> [Vec<u32>; 3] {
        let mut places = [(); 3].map(|()| vec![0; text.len() + BLOCK]);
        let with_avx2 = |places: &mut [u32]| {
            #[cfg(target_arch = "x86_64")]
            if is_wide() {
                // SAFETY: the machine has what was asked for just now.
                return unsafe { find_wide(text, places) };
            }
            find_narrow(text, 0, places, 0)
        };
        let len = [
            find(text, &mut places[0]),
            with_avx2(&mut places[1]),
            find_narrow(text, 0, &mut places[2], 0),
        ];
        places.iter_mut().zip(len).for_each(|(p, len)| p.truncate(len));
        places
    }

    proptest! {
        #[test]
        fn wide_and_narrow_find_the_same(text in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b' ')], 0..300)) {
            let [widest, wide, narrow] = all(&text);
            prop_assert_eq!(&widest, &narrow);
            prop_assert_eq!(&wide, &narrow);
            prop_assert_eq!(wide.len(), text.iter().filter(|b| is_separator(**b)).count());
        }
    }

    #[test]
    fn a_look_is_at_whole_lines_however_long() {
        let mut separators = Separators::default();
        let line = [&[b'x'; 99][..], b"\n"].concat();
        let text = [line.repeat(1000), vec![b' '; 9 * SPAN], b"\n".to_vec(), line].concat();
        let (mut at, mut found, mut most) = (0, 0, 0);
        while at < text.len() {
            let lines = separators.look(&text, at);
            assert_eq!(lines.text.last(), Some(&b'\n'));
            (at, found, most) =
                (at + lines.text.len(), found + lines.places.len(), most.max(lines.places.len()));
        }
        assert_eq!((found, most), (1002 + 9 * SPAN, 9 * SPAN + 1));
        assert!(separators.places.len() < 2 * SPAN, "a long line's memory goes with it");
    }
}
