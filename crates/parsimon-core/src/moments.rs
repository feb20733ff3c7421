//! Running moments that a learner keeps besides its weights, and their merging.
//!
//! Learners that are merged began at one state. What each has seen since is a sample: its size, its mean and its
//! squared deviations. Samples are put together by the formula of Chan, Golub and LeVeque (1979), which does not
//! subtract large sums, and are then added to the moments of the common start.

use crate::columns::{ColumnMoments, remaining, united};
use crate::state::{State, StateError, StateWriter, read_unbounded};

/// The most importance that a feature's root mean square remembers. Beyond it, old values are forgotten exponentially.
///
/// NUMERICS: a sum of ones in `f32` stops growing at `2^24`. A horizon far below that loses no accuracy.
pub(crate) const HORIZON: f64 = 4096.0;

/// The weighted mean of the labels and their squared deviations, with the range of the labels.
///
/// ```
/// use parsimon_core::TargetMoments;
///
/// let mut all = TargetMoments::default();
/// [1.0, 2.0, 6.0].iter().for_each(|&y| all.push(y, 1.0));
/// assert_eq!((all.mean, all.low, all.high), (3.0, 1.0, 6.0));
/// assert!((all.deviation() - (14.0f64 / 3.0).sqrt()).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetMoments {
    /// The sum of importance weights.
    pub weight: f64,
    /// The weighted mean.
    pub mean: f64,
    /// The weighted sum of squared deviations from the mean.
    pub squares: f64,
    /// The smallest label; infinite before the first.
    pub low: f64,
    /// The largest label; minus infinity before the first.
    pub high: f64,
}

impl State for TargetMoments {
    fn write(&self, out: &mut StateWriter) {
        [self.weight, self.mean, self.squares].iter().for_each(|x| x.write(out));
        // Infinite before the first label.
        out.unbounded(self.low);
        out.unbounded(self.high);
    }
    fn read(input: &mut &[u8]) -> Result<Self, StateError> {
        let named = |field| move |e: StateError| e.in_field(field);
        Ok(Self {
            weight: f64::read(input).map_err(named("TargetMoments.weight"))?,
            mean: f64::read(input).map_err(named("TargetMoments.mean"))?,
            squares: f64::read(input).map_err(named("TargetMoments.squares"))?,
            low: read_unbounded(input).map_err(named("TargetMoments.low"))?,
            high: read_unbounded(input).map_err(named("TargetMoments.high"))?,
        })
    }
}

impl Default for TargetMoments {
    fn default() -> Self {
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { weight: 0.0, mean: 0.0, squares: 0.0, low, high }
    }
}

impl TargetMoments {
    /// Adds a label of importance `h > 0` (West 1979).
    pub fn push(&mut self, y: f64, h: f64) {
        self.weight += h;
        let d = y - self.mean;
        self.mean += h / self.weight * d;
        // NUMERICS: both factors have the same sign except for rounding errors.
        self.squares += (h * d * (y - self.mean)).max(0.0);
        (self.low, self.high) = (self.low.min(y), self.high.max(y));
    }

    /// The standard deviation; 1 while all labels are the same.
    pub fn deviation(&self) -> f64 {
        let variance = self.squares / self.weight;
        if variance > 0.0 { variance.sqrt() } else { 1.0 }
    }

    /// Whether the numbers are valid moments of labels: no negative sums, and a finite range unless there is no label.
    pub fn is_sound(&self) -> bool {
        let is_empty = self.weight == 0.0 && self.low == f64::INFINITY;
        let has_range = self.low.is_finite() && self.high.is_finite() && self.low <= self.high;
        self.weight >= 0.0
            && self.squares >= 0.0
            && (has_range || (is_empty && self.high == f64::NEG_INFINITY))
    }

    /// Adds the labels of another sample.
    pub fn add(&mut self, other: &Self) {
        (self.low, self.high) = (self.low.min(other.low), self.high.max(other.high));
        if other.weight <= 0.0 {
            return;
        }
        let own = [self.weight, self.mean, self.squares];
        let added = [other.weight, other.mean, other.squares];
        [self.weight, self.mean, self.squares] = united(own, added);
    }

    /// The moments of the labels since `start`.
    #[must_use]
    pub fn since(&self, start: &Self) -> Self {
        let weight = self.weight - start.weight;
        if weight <= 0.0 || start.weight <= 0.0 {
            return if weight > 0.0 { *self } else { Self::default() };
        }
        let all = [self.weight, self.mean, self.squares];
        let [weight, mean, squares] = remaining(all, [start.weight, start.mean, start.squares]);
        // The range of the whole stream, which includes that of the start.
        Self { weight, mean, squares, low: self.low, high: self.high }
    }
}

/// The moments of a learner at one point of its stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    /// The importance of all rows, `T`.
    pub weight: f64,
    /// The importance times the squared length of all normalized rows, `S`.
    pub energy: f64,
    /// The labels.
    pub target: TargetMoments,
    /// Ids in ascending order, each with the importance `n` it has occurred with and its root mean square `s`, which has a minus
    /// sign while one row had the feature.
    pub features: Vec<(u32, [f64; 2])>,
    /// The number columns, in the order in which they were met.
    pub columns: Vec<ColumnMoments>,
}

/// Change of the moments since the state at which learners began. Deltas of one start can be added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MomentsDelta {
    /// See [`Moments::weight`].
    pub weight: f64,
    /// See [`Moments::energy`].
    pub energy: f64,
    /// The labels seen since the start.
    pub target: TargetMoments,
    /// Ids in ascending order, each with the importance of its sample, that times the mean square of the sample, and
    /// how many learners have reached the horizon, so that their sample replaces the start instead of adding to it. The
    /// second has a minus sign if the sample is one row.
    pub features: Vec<(u32, [f64; 3])>,
    /// The cells of number columns seen since the start, in the order in which the columns were met.
    pub columns: Vec<ColumnMoments>,
}

impl Moments {
    /// Returns the change since the moments were `start`.
    pub fn since(&self, start: &Moments) -> MomentsDelta {
        let mut features = Vec::new();
        let mut before = start.features.iter().peekable();
        for &(id, [n, s]) in &self.features {
            while before.next_if(|(other, _)| *other < id).is_some() {}
            let [n0, s0] = before.next_if(|(other, _)| *other == id).map_or([0.0; 2], |f| f.1);
            if [n, s] == [n0, s0] {
                continue;
            }
            // The new part of a mean that has reached the horizon is not known, so the means of the learners are averaged.
            let sample = if n >= HORIZON {
                [n, n * s * s, 1.0]
            } else {
                let squares = (n * s * s - n0 * s0 * s0).max(0.0);
                [n - n0, if s < 0.0 { -squares } else { squares }, 0.0]
            };
            features.push((id, sample));
        }
        MomentsDelta {
            weight: self.weight - start.weight,
            energy: self.energy - start.energy,
            target: self.target.since(&start.target),
            features,
            columns: ColumnMoments::all_since(&self.columns, &start.columns),
        }
    }
}

impl MomentsDelta {
    /// Adds what another learner has seen since the same start.
    pub fn add(&mut self, other: &MomentsDelta) {
        self.weight += other.weight;
        self.energy += other.energy;
        self.target.add(&other.target);
        let (mut a, mut b) = (self.features.iter().peekable(), other.features.iter().peekable());
        let mut features = Vec::with_capacity(self.features.len().max(other.features.len()));
        while let Some(&&(id, _)) = [a.peek(), b.peek()].into_iter().flatten().min_by_key(|f| f.0) {
            let mut sample = [0.0; 3];
            for side in [&mut a, &mut b] {
                if let Some((_, more)) = side.next_if(|f| f.0 == id) {
                    let both = sample[0] > 0.0;
                    sample = [
                        sample[0] + more[0],
                        if both { sample[1].abs() + more[1].abs() } else { more[1] },
                        sample[2] + more[2],
                    ];
                }
            }
            features.push((id, sample));
        }
        self.features = features;
        ColumnMoments::add_all(&mut self.columns, &other.columns);
    }
}

/// A feature's `n` and `s` after samples were added to those of the start.
pub(crate) fn combined([n0, s0]: [f64; 2], &[n, squares, replacing]: &[f64; 3]) -> [f64; 2] {
    let n0 = if replacing > 0.0 { 0.0 } else { n0 };
    let weight = n0 + n;
    if weight > 0.0 {
        let root = ((n0 * s0 * s0 + squares.abs()) / weight).sqrt();
        let is_single = squares < 0.0 && n0 <= 0.0;
        [weight.min(HORIZON), if is_single { -root } else { root }]
    } else {
        [n0, s0]
    }
}
