//! Sampling of negative rows, for data with many of them.

use parsimon_core::Chunk;

use crate::error::BuildError;
use crate::found::Found;
use crate::settings::Settings;

/// Keeps a share of the negative rows and divides their importance weight by that share. Weighted sums over the rows are unchanged
/// on average, and fewer rows are learned.
///
/// Whether a row is kept depends on what is in the row and on nothing else: a hash of its features (slot or id, and value), its
/// cells of number columns, its importance weight and its tag. So the same rows are kept for any chunks, threads and passes, and by
/// every method of a comparison. Equal rows are kept or skipped together.
///
/// ```
/// use parsimon::rows::{Chunk, Repeats};
/// use parsimon::Spec;
/// use parsimon::survey::Found;
/// use parsimon::train::NegativeSampler;
///
/// let mut rows = Chunk::new();
/// for j in 0..1000 {
///     rows.push_feature(j, 1.0);
///     rows.finish_row(Some(if j < 10 { 1.0 } else { -1.0 }), 1.0, Repeats::Refuse).unwrap();
/// }
/// let settings = Spec::new("ftrl").resolve()?;
/// let mut sampler = NegativeSampler::new(0.1, &settings, &Found::default())?;
/// let mut kept = Chunk::new();
/// (0..rows.len()).for_each(|i| { sampler.put(&rows, i, &mut kept); });
/// let (learned, met) = sampler.counts();
/// assert_eq!((kept.len() as u64, met), (10 + learned, 990));
/// assert!((60..140).contains(&learned));
/// assert_eq!((kept.weight(0), kept.weight(10)), (1.0, 10.0));
/// # Ok::<(), parsimon::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct NegativeSampler {
    share: f64,
    kept: u64,
    met: u64,
}

impl NegativeSampler {
    /// Keeps this share, above 0 and at most 1, of the negative rows. Refused unless the labels are two classes.
    pub fn new(share: f64, settings: &Settings, found: &Found) -> Result<Self, BuildError> {
        let refused = |message: String| Err(BuildError::new("sample_negatives", message));
        if !(share > 0.0 && share <= 1.0) {
            return refused(format!("the share of negatives must be > 0 and <= 1, got {share}"));
        }
        if settings.is_multiclass() || !settings.is_of_two_classes(found) {
            let task = if settings.is_multiclass() { "several classes" } else { "numbers" };
            return refused(format!("sampling negatives needs two classes; the labels are {task}"));
        }
        Ok(Self { share, kept: 0, met: 0 })
    }

    /// Copies row `i` of a chunk to `kept` if the row is drawn.
    pub fn put(&mut self, chunk: &Chunk, i: usize, into: &mut Chunk) -> bool {
        if chunk.label(i).is_none_or(|y| y > 0.0) {
            into.copy_row(chunk, i);
            return true;
        }
        self.met += 1;
        // The upper 53 bits as a number between 0 and 1.
        if (hash(chunk, i) >> 11) as f64 * f64::EPSILON / 2.0 >= self.share {
            return false;
        }
        self.kept += 1;
        let weight = (chunk.weight(i) / self.share).min(f64::MAX);
        into.copy_row_weighted(chunk, i, weight).is_ok()
    }

    /// The rows of a chunk that are kept.
    pub fn sample(&mut self, chunk: &Chunk, into: &mut Chunk) {
        into.clear();
        for i in 0..chunk.len() {
            self.put(chunk, i, into);
        }
    }

    /// The number of negative rows that were kept, and the number of all negative rows.
    pub fn counts(&self) -> (u64, u64) {
        (self.kept, self.met)
    }
}

/// A hash of what is in a row.
fn hash(chunk: &Chunk, i: usize) -> u64 {
    let mut state = 0;
    let mut mix = |word: u64| state = mixed(state ^ word);
    for (j, value) in chunk.row(i).iter() {
        mix(u64::from(j));
        mix(value.to_bits());
    }
    // Each part follows its length, so that the parts cannot be confused.
    mix(chunk.numbers(i).len() as u64);
    chunk.numbers(i).iter().for_each(|x| mix(x.to_bits()));
    mix(chunk.weight(i).to_bits());
    mix(chunk.tag(i).len() as u64);
    chunk.tag(i).iter().for_each(|byte| mix(u64::from(*byte)));
    state
}

/// The finalizer of SplitMix64.
fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
