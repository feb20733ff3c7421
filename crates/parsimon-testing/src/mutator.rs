//! Damaged copies of good inputs, the same for the same seed on every machine.

use crate::SplitMix64;

/// Numbers in text that readers get wrong.
const NUMBERS: [&str; 24] = [
    "0",
    "-0",
    "1e400",
    "-1e400",
    "1e-400",
    "5e-324",
    "1e308",
    "1e100",
    "1e101",
    "nan",
    "inf",
    "4294967294",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "0x10",
    "1_000",
    "+1",
    "1.",
    ".5",
    "1e",
    "99999999999999999999999999999999999999999",
];

/// Makes damaged copies of seeds.
///
/// ```
/// use parsimon_testing::Mutator;
///
/// let seeds = vec![b"1 2:3\n".to_vec()];
/// let all = |seed| {
///     let mut mutator = Mutator::new(seed, &seeds, &[]);
///     (0..50).map(|_| mutator.next()).collect::<Vec<_>>()
/// };
/// assert_eq!(all(1), all(1));
/// assert_ne!(all(1), all(2));
/// ```
#[derive(Clone, Debug)]
pub struct Mutator<'a> {
    random: SplitMix64,
    seeds: &'a [Vec<u8>],
    words: &'a [Vec<u8>],
}

impl<'a> Mutator<'a> {
    /// Mutates copies of these seeds, at least one, and inserts words of the format at random places.
    pub fn new(seed: u64, seeds: &'a [Vec<u8>], words: &'a [Vec<u8>]) -> Self {
        Self { random: SplitMix64::new(seed), seeds, words }
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n.max(1) as u64) as usize
    }

    /// The next damaged copy: mostly one change, at most eight.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> Vec<u8> {
        let which = self.below(self.seeds.len());
        let mut bytes = self.seeds[which].clone();
        let changes = 1 << self.below(8).saturating_sub(4);
        for _ in 0..changes {
            self.change(&mut bytes);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len());
        if bytes.is_empty() {
            bytes.push(self.random.bits() as u8);
            return;
        }
        match self.below(15) {
            0 | 1 => bytes[at] ^= 1 << self.below(8),
            2 => bytes[at] = self.random.bits() as u8,
            3 => {
                let byte = *b"\0 \n\r\t,;:|\"'\\{}[]#-+.eE019".get(self.below(26)).unwrap_or(&0xff);
                bytes[at] = byte;
            }
            4 => bytes.truncate(at),
            5 => self.remove(bytes, at),
            6 => self.repeat(bytes, at),
            7 => self.binary_number(bytes, at),
            8 => self.binary_float(bytes, at),
            9 | 10 => self.text_number(bytes, at),
            11 => self.word(bytes, at, 0),
            12 => {
                let len = self.below(8);
                self.word(bytes, at, len);
            }
            13 => self.splice(bytes, at),
            _ => self.swap(bytes, at),
        }
    }

    fn remove(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let len = 1 + self.below(16.min(bytes.len() - at));
        bytes.drain(at..(at + len).min(bytes.len()));
    }

    fn repeat(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let len = (1 + self.below(24)).min(bytes.len() - at);
        let piece = bytes[at..at + len].to_vec();
        let times = 1 + self.below(3);
        bytes.splice(at..at, piece.repeat(times));
    }

    /// A whole number, little-endian, over what is there.
    fn binary_number(&mut self, bytes: &mut [u8], at: usize) {
        let width = [1, 2, 4, 8][self.below(4)].min(bytes.len() - at);
        let near = 1_u64 << self.below(64);
        let number = match self.below(6) {
            0 => 0,
            1 => u64::MAX,
            2 => near,
            3 => near.wrapping_sub(1),
            4 => bytes.len() as u64,
            _ => u64::from(bytes[at]).wrapping_add(self.random.below(5)).wrapping_sub(2),
        };
        bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
    }

    fn binary_float(&mut self, bytes: &mut [u8], at: usize) {
        const ODD: [f64; 9] = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -0.0,
            5e-324,
            1e300,
            -1e300,
            f64::MAX,
            1e-300,
        ];
        let number = ODD[self.below(ODD.len())];
        // Numbers of files lie on multiples of four.
        let at = at & !3;
        let narrow = (number as f32).to_le_bytes();
        let wide = number.to_le_bytes();
        let number: &[u8] = if self.random.chance(0.5) { &narrow } else { &wide };
        if let Some(place) = bytes.get_mut(at..at + number.len()) {
            place.copy_from_slice(number);
        }
    }

    /// Another number for one in text, at or behind a place.
    fn text_number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let is_digit = |b: &u8| b.is_ascii_digit();
        let Some(start) = bytes[at..].iter().position(is_digit).map(|k| at + k) else { return };
        let is_part = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E');
        let len = bytes[start..].iter().position(|b| !is_part(b)).unwrap_or(bytes.len() - start);
        let number = NUMBERS[self.below(NUMBERS.len())];
        bytes.splice(start..start + len, number.bytes());
    }

    fn word(&mut self, bytes: &mut Vec<u8>, at: usize, over: usize) {
        if self.words.is_empty() {
            return;
        }
        let word = self.words[self.below(self.words.len())].iter().copied();
        let end = (at + over).min(bytes.len());
        bytes.splice(at..end, word);
    }

    /// The rest of another seed.
    fn splice(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let other = &self.seeds[self.below(self.seeds.len())];
        let from = self.below(other.len());
        bytes.truncate(at);
        bytes.extend_from_slice(&other[from..]);
    }

    fn swap(&mut self, bytes: &mut [u8], at: usize) {
        let len = (1 + self.below(8)).min(bytes.len() - at);
        let other = self.below(bytes.len() - len + 1);
        for k in 0..len {
            bytes.swap(at + k, other + k);
        }
    }
}
