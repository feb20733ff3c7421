//! Alarms with a stated rate of false ones.
//!
//! A stream is a number per row: a loss minus another loss, a prediction minus an outcome, an outcome. Rows are added up over a
//! *period* (a minute of logged time). The alarm is for a mean that has risen (or, with two sides, changed). It is raised at the end
//! of a period. Nothing is assumed about the distribution of the numbers but a range.
//!
//! # What is promised
//!
//! As long as the mean of a row, given everything before it, stays the same or falls, the mean number of periods until an alarm is at
//! least [`PERIODS`] (30 days of minutes). With two sides, as long as it stays the same. Rows need not be independent.
//!
//! # Why
//!
//! *Bets.* Let `x >= low` be a row, `m` a bound that is known before the period, and suppose that the mean of `x` is at most `m`. A factor with a
//! mean of at most 1 is a fair bet against that, and so is a product of such factors over the rows of a period:
//!
//! * for `x` in {0, 1}: the likelihood ratio of Bernoulli(q) to Bernoulli(m), `q > m`: `(q/m)^x ((1-q)/(1-m))^(1-x)`;
//! * for numbers: `1 + t (x - m)/(m - low)`, `0 < t < 1`.
//!
//! A fair bet to the power `1/f`, `f >= 1`, is fair (Jensen); `f` is the dispersion of periods beyond that of rows, as found in earlier
//! periods, so that rows of a minute that vary together do not look like a change.
//!
//! *Starts.* It is not known when the change comes. A bet begins at each period, and all are added up: `M <- (1 + M) * factor`, the
//! statistic of Shiryaev and Roberts. Without a change the mean of `M` after `n` periods is at most `n`, hence at the time `T` of the alarm
//! `M >= A` the mean of `T` is at least `A` (optional stopping): an e-detector of Shin, Ramdas and Rinaldo (2023). How large the change is
//! is not known either, so `M` is the weighted mean over a grid of `q` or `t`; with two sides, the mean over both.
//!
//! *The bound.* The mean before the change is not known. `m` is the upper end of a confidence sequence: bets in the other direction, against
//! a mean of `m` or more, multiplied over all periods, exceed `1/e` for the true `m` at any time with probability at most `e` (Ville).
//! For 0 and 1 these are likelihood ratios again. For numbers `x <= high` they are `exp(t (m - x)/c - psi(t) (x - g)^2/c^2)` with
//! `psi(t) = -ln(1-t) - t`, any guess `g` made before the period, and `c = high - g`, of which sums over rows are all that must be
//! kept: by Fan, Grama and Liu (2015), `exp(t y - psi(t) y^2) <= 1 + t y` for `y >= -1`; put `y = (g - x)/c` and take means:
//! `1 + t (g - m)/c <= exp(t (g - m)/c)`. The least bound so far is used: where the mean does not rise, what bounded it earlier bounds
//! it now. Further sequences begin after 30, 60, 120, ... periods, for streams that improve; their `e` add up to `RISK`. Let `S`
//! be the first time the bound fails. Up to `T` or `S`, whichever comes first, `M` is no larger than with the true mean, so
//! `E[T] >= E[min(T, S)] >= A P(T < S) >= A (1 - RISK)`. With `A = PERIODS / (1 - RISK)` the mean time to a false alarm is at least `PERIODS`.
//!
//! After an alarm the detector begins anew: the stream's new mean is what later ones are compared with.
//!
//! Methods: J. Shin, A. Ramdas, A. Rinaldo, "E-detectors: a nonparametric framework for sequential change detection", 2023; S. Shekhar,
//! A. Ramdas, "Reducing sequential change detection to sequential estimation", 2023; X. Fan, I. Grama, Q. Liu, "Exponential inequalities
//! for martingales with applications", 2015. Measured: record/alarms.md.

/// The mean number of periods between false alarms of a stream, at least: 30 days of minutes.
pub const PERIODS: f64 = 43_200.0;

/// The probability that the bound on the mean before a change fails, at most.
const RISK: f64 = 0.1;

/// Sizes of bets.
const BETS: usize = 12;

/// `t` for bounded rows: a factor of 0.6 from one to the next.
const SIZES: [f64; BETS] =
    [0.8, 0.48, 0.288, 0.173, 0.104, 0.062, 0.037, 0.022, 0.0134, 0.008, 0.0048, 0.0029];

/// The share of each size in the mean. A bet on a small change begins in many periods that are as good as the right one, which makes
/// up for a small share; a bet on a large change does not.
const SHARES: [f64; BETS] =
    [0.17, 0.14, 0.12, 0.11, 0.1, 0.09, 0.08, 0.06, 0.05, 0.035, 0.025, 0.02];

/// The factor by which the odds rise, for rows that are 0 or 1.
const ODDS: [f64; BETS] = [6.0, 3.0, 2.0, 1.6, 1.4, 1.25, 1.15, 1.08, 1.045, 1.025, 1.012, 1.006];

/// Periods and rows before the first bet. The range and the first guesses are found here.
const WARM_PERIODS: u64 = 10;
const WARM_ROWS: f64 = 200.0;

/// Periods after which a second confidence sequence begins; then after twice as many, and so on.
const SECOND_START: u64 = 30;

/// Limit on the deviation of a period in the dispersion, as a multiple of its variance, so that a change does not hide itself.
const MOST_DISPERSION: f64 = 25.0;

/// Kinds of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// 0 or 1.
    Binary,
    /// Numbers. The range is found in the first periods; what is beyond it counts as its end.
    Numbers,
}

/// Changes that raise an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A mean that has risen.
    Rise,
    /// A detected rise or fall of a mean.
    Either,
}

/// A change that was noticed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noticed {
    /// Whether the mean has risen.
    pub is_rise: bool,
    /// Estimate of the mean before: the average since the detector began.
    pub before: f64,
    /// The average of the periods since the change seems to have begun.
    pub now: f64,
    /// Number of these periods.
    pub periods: u64,
}

/// Watches the mean of a stream.
///
/// ```
/// use parsimon_serve::alarm::{Change, Detector, RowKind};
///
/// let mut detector = Detector::new(RowKind::Binary, Change::Rise);
/// let mut noticed = None;
/// for minute in 0..300 {
///     // One of ten rows, and from minute 200 on, one of four.
///     let every = if minute < 200 { 10 } else { 4 };
///     (0..100).for_each(|row| detector.record(f64::from(u8::from(row % every == 0))));
///     if let Some(change) = detector.close() {
///         noticed = noticed.or(Some((minute, change)));
///     }
/// }
/// let (minute, change) = noticed.unwrap();
/// assert!((200..205).contains(&minute) && change.is_rise);
/// ```
#[derive(Clone, Debug)]
pub struct Detector {
    rows: RowKind,
    sides: Vec<Side>,
    periods: u64,
    /// All rows since the detector began.
    all: Moments,
    /// The current period: rows, their sum, the squares of their distances from the mean before.
    period: (f64, f64, f64),
    least: f64,
    largest: f64,
    /// Deviations of periods, squared, in units of what rows alone would make; how many, and their sum.
    dispersion: (f64, f64),
}

/// Count, mean and squared distances from it.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Adds rows with a sum and with squares around a center.
    fn add(&mut self, n: f64, sum: f64, squares: f64, center: f64) {
        if n <= 0.0 {
            return;
        }
        let mean = sum / n;
        let within = (squares - n * (mean - center) * (mean - center)).max(0.0);
        let (total, step) = (self.n + n, mean - self.mean);
        self.squares += within + step * step * self.n * n / total;
        self.mean += step * n / total;
        self.n = total;
    }

    fn variance(&self) -> f64 {
        if self.n > 0.0 { self.squares / self.n } else { 0.0 }
    }
}

/// Sums over rows for the bets on a lower mean, each divided by the dispersion of its period.
#[derive(Clone, Copy, Debug, Default)]
struct WealthSums {
    /// Numbers: rows by c. Binary rows: ones.
    a: f64,
    /// Numbers: their sum by c. Binary rows: zeros.
    b: f64,
    /// Numbers: squares around the guess by c squared.
    q: f64,
}

/// The logarithms of the bets on a mean below `m`.
fn lower(rows: RowKind, m: f64, sums: &WealthSums) -> [f64; BETS] {
    std::array::from_fn(|bet| match rows {
        // A rise of the share of zeros.
        RowKind::Binary => ratio(ODDS[bet], 1.0 - m, sums.a, sums.b),
        RowKind::Numbers => {
            let t = SIZES[bet];
            let psi = -(-t).ln_1p() - t;
            t * (sums.a * m - sums.b) - psi * sums.q
        }
    })
}

/// The logarithm of the likelihood ratio of odds that are `r` times those of a share `m`.
fn ratio(r: f64, m: f64, zeros: f64, ones: f64) -> f64 {
    // With q the larger share, q/m = r/(1 - m + r m) and (1 - q)/(1 - m) = 1/(1 - m + r m).
    let norm = (m.clamp(1e-9, 1.0 - 1e-9) * (r - 1.0)).ln_1p();
    ones * (r.ln() - norm) - zeros * norm
}

/// A rise, as seen from one side: of the stream, or of the stream upside down.
#[derive(Clone, Debug)]
struct Side {
    rows: RowKind,
    is_mirrored: bool,
    risk: f64,
    /// Rows beyond the range count as its end.
    low: f64,
    high: f64,
    /// The sum of what each bet has become that began in some period.
    bets: [f64; BETS],
    /// Value of each bet over the rows of the period: a product, and the logarithm of earlier products.
    products: [f64; BETS],
    logs: [f64; BETS],
    in_product: u32,
    /// The mean is at most this.
    bound: f64,
    /// One by the distance of the bound from the low end of the range.
    scale: f64,
    sequences: Vec<Sequence>,
    /// Rows of the period: number, sum, and sum of squares around the guess.
    period: (f64, f64, f64),
    all: Moments,
    /// Best start of each bet.
    runs: [Run; BETS],
}

/// Periods since a bet was last at its lowest: the change seems to have begun there.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    /// The logarithm of what the bet has become since.
    log: f64,
    periods: u64,
    n: f64,
    sum: f64,
}

/// A confidence sequence.
#[derive(Clone, Debug)]
struct Sequence {
    sums: WealthSums,
    /// The logarithm of one over its risk.
    level: f64,
    periods: u64,
    due: u64,
}

impl Side {
    fn new(rows: RowKind, is_mirrored: bool, risk: f64) -> Self {
        Self {
            rows,
            is_mirrored,
            risk,
            low: 0.0,
            high: 1.0,
            bets: [0.0; BETS],
            products: [1.0; BETS],
            logs: [0.0; BETS],
            in_product: 0,
            bound: f64::INFINITY,
            scale: 0.0,
            sequences: Vec::new(),
            period: (0.0, 0.0, 0.0),
            all: Moments::default(),
            runs: [Run::default(); BETS],
        }
    }

    /// The range, from the first rows. Bets are larger the nearer `low` is, so few rows far below the mean are cut off; rows far
    /// above it are what a change may be made of.
    fn find_range(&mut self, all: &Moments, least: f64, largest: f64) {
        let deviation = all.variance().sqrt().max(1e-9 * (1.0 + all.mean.abs()));
        let sign = if self.is_mirrored { -1.0 } else { 1.0 };
        let (mean, least) = (sign * all.mean, if self.is_mirrored { -largest } else { least });
        self.low = (mean - 2.0 * deviation).max(least - 0.1 * deviation);
        self.high = mean + 10.0 * deviation;
    }

    #[inline]
    fn record(&mut self, x: f64) {
        let x = if self.is_mirrored { -x } else { x };
        let x = x.clamp(self.low, self.high);
        let from_guess = x - self.all.mean;
        self.period.0 += 1.0;
        self.period.1 += x;
        self.period.2 += from_guess * from_guess;
        if self.bound.is_finite() {
            let y = (x - self.bound) * self.scale;
            for (product, t) in self.products.iter_mut().zip(SIZES) {
                *product *= 1.0 + t * y;
            }
            // Before a product of numbers from 0.2 to 100 leaves the range of f64.
            self.in_product += 1;
            if self.in_product == 64 {
                self.fold();
            }
        }
    }

    fn record_counts(&mut self, n: f64, ones: f64) {
        let ones = if self.is_mirrored { n - ones } else { ones };
        self.period.0 += n;
        self.period.1 += ones;
    }

    fn fold(&mut self) {
        for (log, product) in self.logs.iter_mut().zip(&mut self.products) {
            *log += product.ln();
            *product = 1.0;
        }
        self.in_product = 0;
    }

    /// Ends a period.
    fn close(&mut self, period: u64, dispersion: f64) {
        let f = dispersion;
        let (n, sum, squares) = std::mem::take(&mut self.period);
        if self.bound.is_finite() {
            self.fold();
            for (bet, wealth) in self.bets.iter_mut().enumerate() {
                let log = match self.rows {
                    RowKind::Binary => ratio(ODDS[bet], self.bound, n - sum, sum),
                    RowKind::Numbers => self.logs[bet],
                };
                let log = log / f;
                *wealth = ((1.0 + *wealth) * log.min(600.0).exp()).min(1e200);
                let run = &mut self.runs[bet];
                if run.log + log <= 0.0 {
                    *run = Run::default();
                } else {
                    let Run { log: before, periods, n: rows, sum: total } = *run;
                    *run = Run {
                        log: before + log,
                        periods: periods + 1,
                        n: rows + n,
                        sum: total + sum,
                    };
                }
            }
            self.logs = [0.0; BETS];
        }
        let guess = self.all.mean;
        let c = (self.high - guess).max(1e-12);
        let sums = match self.rows {
            RowKind::Binary => WealthSums { a: sum / f, b: (n - sum) / f, q: 0.0 },
            RowKind::Numbers => {
                WealthSums { a: n / (c * f), b: sum / (c * f), q: squares / (c * c * f) }
            }
        };
        self.lower_bound(period, &sums);
        self.all.add(n, sum, squares, guess);
    }

    /// The bound for the next period.
    fn lower_bound(&mut self, period: u64, sums: &WealthSums) {
        let begun = self.sequences.len() as u32;
        let is_start = begun == 0 || period >= SECOND_START << (begun - 1);
        if is_start && begun < 24 {
            let j = f64::from(begun);
            let level = ((j + 1.0) * (j + 2.0) / self.risk).ln();
            self.sequences.push(Sequence {
                sums: WealthSums::default(),
                level,
                periods: 0,
                due: 1,
            });
        }
        for sequence in &mut self.sequences {
            sequence.sums.a += sums.a;
            sequence.sums.b += sums.b;
            sequence.sums.q += sums.q;
            sequence.periods += 1;
            if sequence.periods >= sequence.due {
                sequence.due = sequence.periods + 1 + sequence.periods / 8;
                self.bound = self.bound.min(sequence.bound(self.rows, self.high));
            }
        }
        // A bound at the end of the range leaves no bet.
        let least = self.low + 1e-6 * (self.high - self.low);
        if self.bound.is_finite() {
            self.bound = self.bound.max(least);
            self.scale = 1.0 / (self.bound - self.low);
        }
    }

    /// The run of the bet that has become most.
    fn run(&self) -> Run {
        let value = |bet: &usize| SHARES[*bet] * self.bets[*bet];
        let most = (0..BETS).max_by(|a, b| value(a).total_cmp(&value(b)));
        most.map_or(Run::default(), |bet| self.runs[bet])
    }

    fn value(&self) -> f64 {
        self.bets.iter().zip(SHARES).map(|(bet, share)| share * bet).sum()
    }
}

impl Sequence {
    /// The least mean that is excluded with everything above it; infinite if none is.
    fn bound(&self, rows: RowKind, top: f64) -> f64 {
        let log_wealth = |m: f64| {
            let bets = lower(rows, m, &self.sums);
            let most = bets.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = bets.iter().map(|bet| (bet - most).exp()).sum();
            most + (sum / BETS as f64).ln()
        };
        // From the mean, where a bet cannot gain, up to the largest.
        let WealthSums { a, b, .. } = self.sums;
        let mut low = match rows {
            RowKind::Binary if a + b > 0.0 => a / (a + b),
            RowKind::Numbers if a > 0.0 => b / a,
            _ => return f64::INFINITY,
        };
        let mut high = top;
        if log_wealth(high) < self.level {
            return f64::INFINITY;
        }
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            match log_wealth(middle) < self.level {
                true => low = middle,
                false => high = middle,
            }
        }
        high
    }
}

impl Detector {
    /// Before the first row.
    pub fn new(rows: RowKind, change: Change) -> Self {
        let sides: &[bool] = if change == Change::Rise { &[false] } else { &[false, true] };
        let risk = RISK / sides.len() as f64;
        Self {
            rows,
            sides: sides.iter().map(|is_mirrored| Side::new(rows, *is_mirrored, risk)).collect(),
            periods: 0,
            all: Moments::default(),
            period: (0.0, 0.0, 0.0),
            least: f64::INFINITY,
            largest: f64::NEG_INFINITY,
            dispersion: (0.0, 0.0),
        }
    }

    /// Takes a row. Numbers that are not finite are left out.
    #[inline]
    pub fn record(&mut self, x: f64) {
        if self.rows == RowKind::Binary {
            return self.record_counts(1, u64::from(x > 0.5));
        }
        if !x.is_finite() {
            return;
        }
        let from_mean = x - self.all.mean;
        self.period.0 += 1.0;
        self.period.1 += x;
        self.period.2 += from_mean * from_mean;
        match self.is_warm() {
            true => self.sides.iter_mut().for_each(|side| side.record(x)),
            false => (self.least, self.largest) = (self.least.min(x), self.largest.max(x)),
        }
    }

    /// Takes rows that are 0 or 1: how many there are, and how many of them are 1.
    #[inline]
    pub fn record_counts(&mut self, rows: u64, ones: u64) {
        let (n, ones) = (rows as f64, ones.min(rows) as f64);
        let mean = self.all.mean;
        self.period.0 += n;
        self.period.1 += ones;
        self.period.2 += ones * (1.0 - mean) * (1.0 - mean) + (n - ones) * mean * mean;
        if self.is_warm() {
            self.sides.iter_mut().for_each(|side| side.record_counts(n, ones));
        }
    }

    /// A period is over. Gives the change if this raises an alarm; the detector begins anew then.
    pub fn close(&mut self) -> Option<Noticed> {
        let (n, sum, squares) = std::mem::take(&mut self.period);
        if n <= 0.0 {
            return None;
        }
        let was_warm = self.is_warm();
        let dispersion = self.dispersion();
        self.note_dispersion(n, sum);
        self.periods += 1;
        if was_warm {
            for side in &mut self.sides {
                side.close(self.periods - WARM_PERIODS, dispersion);
            }
        }
        self.all.add(n, sum, squares, self.all.mean);
        if !was_warm && self.is_warm() && self.rows == RowKind::Numbers {
            for side in &mut self.sides {
                side.find_range(&self.all, self.least, self.largest);
                side.all.mean = if side.is_mirrored { -self.all.mean } else { self.all.mean };
            }
        }
        (self.value() >= PERIODS / (1.0 - RISK)).then(|| self.notice())
    }

    fn is_warm(&self) -> bool {
        self.periods >= WARM_PERIODS && self.all.n >= WARM_ROWS
    }

    /// The variance of periods in units of what rows alone would make; at least 1.
    fn dispersion(&self) -> f64 {
        let (n, sum) = self.dispersion;
        if n < 5.0 { 1.0 } else { (sum / n).max(1.0) }
    }

    fn note_dispersion(&mut self, n: f64, sum: f64) {
        let variance = self.all.variance();
        if self.periods > 5 && variance > 0.0 {
            let by = sum - n * self.all.mean;
            self.dispersion.0 += 1.0;
            self.dispersion.1 += (by * by / (n * variance)).min(MOST_DISPERSION);
        }
    }

    fn value(&self) -> f64 {
        self.sides.iter().map(Side::value).sum::<f64>() / self.sides.len() as f64
    }

    fn notice(&mut self) -> Noticed {
        let value = |side: &&Side| side.value();
        let largest = self.sides.iter().max_by(|a, b| value(a).total_cmp(&value(b)));
        let (is_mirrored, run) =
            largest.map_or((false, Run::default()), |side| (side.is_mirrored, side.run()));
        let Run { periods, n, sum, .. } = run;
        let upright = |mean: f64| match (is_mirrored, self.rows) {
            (false, _) => mean,
            (true, RowKind::Binary) => 1.0 - mean,
            (true, RowKind::Numbers) => -mean,
        };
        let now = if n > 0.0 { upright(sum / n) } else { self.all.mean };
        let earlier = self.all.n - n;
        let before = match earlier > 0.0 {
            true => (self.all.mean * self.all.n - now * n) / earlier,
            false => self.all.mean,
        };
        let change = if self.sides.len() == 1 { Change::Rise } else { Change::Either };
        *self = Self::new(self.rows, change);
        Noticed { is_rise: !is_mirrored, before, now, periods }
    }

    /// Returns the distance to an alarm from 0 to 1: the logarithm of the evidence divided by that of the threshold.
    pub fn evidence(&self) -> f64 {
        (self.value().max(1.0).ln() / PERIODS.ln()).min(1.0)
    }

    /// The mean since the detector began; `None` before the first period.
    pub fn mean(&self) -> Option<f64> {
        (self.all.n > 0.0).then_some(self.all.mean)
    }

    /// Whether the first periods are over and changes can be noticed.
    pub fn is_watching(&self) -> bool {
        self.is_warm()
    }
}
