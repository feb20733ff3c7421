//! Generated streams for the alarms: how often a stable one raises an alarm, and how soon a change does, beside a CUSUM that
//! knows it.

use parsimon_serve::alarm::{Change, Detector, Noticed, RowKind};
use parsimon_testing::SplitMix64;

/// Rows of a minute.
pub(crate) const PER_MINUTE: usize = 50;
/// Numbers that rows are drawn from.
const POOL: usize = 1 << 17;

/// A kind of stream, before and after a change.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    rows: RowKind,
    change: Change,
    before: Vec<f64>,
    after: Vec<f64>,
    /// The means of both.
    means: [f64; 2],
    /// How much minutes vary beyond their rows: the standard deviation of a minute's factor on the chance of a one.
    unrest: f64,
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn log_loss(margin: f64, y: bool) -> f64 {
    (if y { -margin } else { margin }).exp().ln_1p()
}

/// Clicks with their true log odds.
fn clicks(random: &mut SplitMix64, row: impl Fn(&mut SplitMix64, f64, bool) -> f64) -> Vec<f64> {
    let click = |_| {
        let odds = -2.2 + 1.2 * random.normal();
        let y = random.chance(logistic(odds));
        row(random, odds, y)
    };
    (0..POOL).map(click).collect()
}

fn ones(random: &mut SplitMix64, share: f64) -> Vec<f64> {
    // Shuffled, with exactly this share.
    let count = (share * POOL as f64).round() as usize;
    let mut pool: Vec<f64> = (0..POOL).map(|k| f64::from(u8::from(k < count))).collect();
    for k in (1..POOL).rev() {
        pool.swap(k, random.below(k as u64 + 1) as usize);
    }
    pool
}

/// The five streams of a model, and two whose minutes vary more than their rows.
pub(crate) fn kinds() -> Vec<Kind> {
    let mut random = SplitMix64::new(7);
    let r = &mut random;
    let constant = |y: bool| log_loss(-1.72, y);
    let worse = |noise: f64| move |r: &mut SplitMix64, odds: f64| odds + noise * r.normal();
    let against_constant = |r: &mut SplitMix64, noise: f64| {
        let margin = worse(noise);
        clicks(r, |r, odds, y| log_loss(margin(r, odds), y) - constant(y))
    };
    let against_reference = |r: &mut SplitMix64, noise: f64| {
        let (margin, reference) = (worse(noise), worse(0.5));
        clicks(r, |r, odds, y| log_loss(margin(r, odds), y) - log_loss(reference(r, odds), y))
    };
    let calibration = |r: &mut SplitMix64, shift: f64| {
        clicks(r, |_, odds, y| logistic(odds + shift) - f64::from(u8::from(y)))
    };
    let kind = |name, rows, change, before: Vec<f64>, after: Vec<f64>| {
        let means = [mean(&before), mean(&after)];
        Kind { name, rows, change, before, after, means, unrest: 0.0 }
    };
    let (binary, numbers) = (RowKind::Binary, RowKind::Numbers);
    let (rise, either) = (Change::Rise, Change::Either);
    let labels = [ones(r, 0.1), ones(r, 0.13), ones(r, 0.07)];
    vec![
        kind(
            "loss minus constant",
            numbers,
            rise,
            against_constant(r, 0.3),
            against_constant(r, 1.2),
        ),
        kind(
            "loss minus reference",
            numbers,
            rise,
            against_reference(r, 0.3),
            against_reference(r, 1.0),
        ),
        kind(
            "calibration, predictions too high",
            numbers,
            either,
            calibration(r, 0.0),
            calibration(r, 0.35),
        ),
        kind(
            "calibration, predictions too low",
            numbers,
            either,
            calibration(r, 0.0),
            calibration(r, -0.45),
        ),
        kind("label rate, 10% to 13%", binary, either, labels[0].clone(), labels[1].clone()),
        kind("label rate, 10% to 7%", binary, either, labels[0].clone(), labels[2].clone()),
        kind("refused share, 1% to 3%", binary, rise, ones(r, 0.01), ones(r, 0.03)),
        kind("refused share, 1% to 10%", binary, rise, ones(r, 0.01), ones(r, 0.1)),
        Kind {
            unrest: 0.3,
            ..kind("label rate, restless minutes", binary, either, labels[0].clone(), ones(r, 0.15))
        },
    ]
}

/// Changes of small shares, of which few ones are seen a minute. Their delays are about twice those of the CUSUM.
pub(crate) fn rare_kinds() -> Vec<Kind> {
    let mut random = SplitMix64::new(8);
    let mut kind = |name, before, after| {
        let (before, after) = (ones(&mut random, before), ones(&mut random, after));
        let means = [mean(&before), mean(&after)];
        let (rows, change) = (RowKind::Binary, Change::Rise);
        Kind { name, rows, change, before, after, means, unrest: 0.0 }
    };
    vec![
        kind("refused share, 0.2% to 1%", 0.002, 0.01),
        kind("refused share, 0.5% to 3%", 0.005, 0.03),
    ]
}

/// The rows of a stream, a minute at a time.
pub(crate) struct Stream<'a> {
    kind: &'a Kind,
    random: SplitMix64,
    pub(crate) sum: f64,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(kind: &'a Kind, seed: u64) -> Self {
        Self { kind, random: SplitMix64::new(seed.wrapping_mul(0x9E37_79B9)), sum: 0.0 }
    }

    /// The next minute.
    pub(crate) fn minute(&mut self, has_changed: bool, mut each: impl FnMut(f64)) {
        let pool = if has_changed { &self.kind.after } else { &self.kind.before };
        self.sum = 0.0;
        let factor =
            (self.kind.unrest * self.random.normal() - 0.5 * self.kind.unrest.powi(2)).exp();
        for _ in 0..PER_MINUTE {
            let mut x = pool[self.random.bits() as usize % POOL];
            if self.kind.unrest > 0.0 {
                let share = self.kind.means[usize::from(has_changed)];
                x = f64::from(u8::from(self.random.chance((share * factor).min(1.0))));
            }
            self.sum += x;
            each(x);
        }
    }
}

impl Kind {
    pub(crate) fn detector(&self) -> Detector {
        Detector::new(self.rows, self.change)
    }

    /// Alarms of a stable stream.
    pub(crate) fn false_alarms(&self, seed: u64, minutes: u64) -> u64 {
        let (mut stream, mut detector) = (Stream::new(self, seed), self.detector());
        let mut alarms = 0;
        for _ in 0..minutes {
            stream.minute(false, |x| detector.record(x));
            alarms += u64::from(detector.close().is_some());
        }
        alarms
    }

    /// Minutes from a change to the alarm; `None` if an alarm came before.
    pub(crate) fn delay(&self, seed: u64, minutes_before: u64) -> Option<(u64, Noticed)> {
        let (mut stream, mut detector) = (Stream::new(self, seed), self.detector());
        for _ in 0..minutes_before {
            stream.minute(false, |x| detector.record(x));
            if detector.close().is_some() {
                return None;
            }
        }
        (1..100_000).find_map(|minute| {
            stream.minute(true, |x| detector.record(x));
            detector.close().map(|noticed| (minute, noticed))
        })
    }

    fn moments(&self) -> (f64, f64, f64) {
        let sums = |has_changed| {
            let mut stream = Stream::new(self, 99);
            let sums: Vec<f64> = (0..20_000)
                .map(|_| {
                    stream.minute(has_changed, |_| {});
                    stream.sum
                })
                .collect();
            let m = mean(&sums);
            (m, sums.iter().map(|s| (s - m) * (s - m)).sum::<f64>() / sums.len() as f64)
        };
        let ((before, variance), (after, _)) = (sums(false), sums(true));
        (before, after, variance)
    }

    /// The threshold with which a stable stream has a mean time between alarms of so many minutes, found on that many times
    /// 40 minutes; and the mean delay of a change.
    pub(crate) fn cusum(&self, minutes_between: f64) -> f64 {
        let moments = self.moments();
        let thresholds: Vec<f64> = (0..40).map(|k| 3.0 + 0.25 * f64::from(k)).collect();
        let mut values = vec![0.0_f64; thresholds.len()];
        let mut alarms = vec![0_u32; thresholds.len()];
        let minutes = (40.0 * minutes_between) as u64;
        let mut stream = Stream::new(self, 5);
        for _ in 0..minutes {
            stream.minute(false, |_| {});
            let step = step(stream.sum, &moments);
            for ((value, threshold), count) in values.iter_mut().zip(&thresholds).zip(&mut alarms) {
                *value = (*value + step).max(0.0);
                if *value >= *threshold {
                    (*value, *count) = (0.0, *count + 1);
                }
            }
        }
        let is_rare = |count: &u32| f64::from(*count) * minutes_between <= minutes as f64;
        let place = alarms.iter().position(is_rare).unwrap_or(thresholds.len() - 1);
        let threshold = thresholds[place];
        let delay = |seed: u64| {
            let (mut stream, mut value) = (Stream::new(self, 1000 + seed), 0.0_f64);
            // The value that the CUSUM has when the change comes is that of a long stable stream.
            for _ in 0..200 {
                stream.minute(false, |_| {});
                value = (value + step(stream.sum, &moments)).max(0.0);
                if value >= threshold {
                    value = 0.0;
                }
            }
            let mut minutes = 0;
            while value < threshold {
                stream.minute(true, |_| {});
                value += step(stream.sum, &moments);
                value = value.max(0.0);
                minutes += 1;
            }
            f64::from(minutes)
        };
        (0..500).map(delay).sum::<f64>() / 500.0
    }
}

pub(crate) fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len() as f64
}

/// The step of the CUSUM of the sums of minutes that knows the mean before and after and the variance.
fn step(sum: f64, (before, after, variance): &(f64, f64, f64)) -> f64 {
    (after - before) / variance * (sum - 0.5 * (before + after))
}
