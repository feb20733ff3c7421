//! Points on a line: the knots of a curve, and the cuts between bins.

/// The most points of a column.
pub(crate) const MOST_POINTS: usize = 256;

/// Finite numbers in ascending order, each once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points(Vec<f64>);

// INVARIANT: `new` refuses NaN, so each value equals itself.
impl Eq for Points {}

impl Points {
    /// Checks points that a person may have edited: finite, in ascending order, at most 256.
    ///
    /// ```
    /// use parsimon_data::Points;
    ///
    /// assert_eq!(Points::new(vec![1.0, 2.5]).unwrap().values(), [1.0, 2.5]);
    /// assert!(Points::new(vec![2.5, 1.0]).is_err());
    /// assert!(Points::new(vec![f64::NAN]).is_err());
    /// ```
    pub fn new(values: Vec<f64>) -> Result<Self, String> {
        if values.len() > MOST_POINTS {
            return Err(format!(
                "{} points are too many; at most {MOST_POINTS} are allowed",
                values.len()
            ));
        }
        if let Some(odd) = values.iter().find(|value| value.is_nan() || value.abs() > 1e150) {
            return Err(format!("the point {odd} is not a number of at most 1e150"));
        }
        if let Some((before, after)) =
            values.iter().zip(values.iter().skip(1)).find(|(a, b)| a >= b)
        {
            return Err(format!("the point {after} comes after {before}; points must ascend"));
        }
        // One zero has one name.
        Ok(Self(values.into_iter().map(|value| value + 0.0).collect()))
    }

    /// The points.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns at most `count` knots for a sample of a column: a value that is at least as frequent as a share of 1 / `count` is a
    /// knot, and the others are quantiles of the rest, the least and the largest among them. Fewer than three different values
    /// have no knots. Values that are not finite are left out.
    ///
    /// ```
    /// use parsimon_data::Points;
    ///
    /// let even: Vec<f64> = (0..=100).map(f64::from).collect();
    /// assert_eq!(Points::knots(&even, 5).values(), [0.0, 25.0, 50.0, 75.0, 100.0]);
    /// // Nine tenths are zeros, which take one knot.
    /// let tied: Vec<f64> = (0..100).map(|i| f64::from(i.max(90) - 90)).collect();
    /// assert_eq!(Points::knots(&tied, 4).values(), [0.0, 1.0, 5.0, 9.0]);
    /// assert!(Points::knots(&[0.0, 1.0, 1.0], 8).is_empty());
    /// ```
    #[must_use]
    pub fn knots(sample: &[f64], count: usize) -> Self {
        let count = count.min(MOST_POINTS);
        let mut sorted: Vec<f64> =
            sample.iter().filter(|value| value.abs() <= 1e150).map(|value| value + 0.0).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let runs: Vec<&[f64]> = sorted.chunk_by(|a, b| a == b).collect();
        if runs.len() < 3 || count < 3 {
            return Self::default();
        }
        if runs.len() <= count {
            return Self(runs.iter().map(|run| run[0]).collect());
        }
        let is_heavy = |run: &&[f64]| run.len() * count >= sorted.len();
        let mut knots: Vec<f64> =
            runs.iter().filter(|run| is_heavy(run)).map(|run| run[0]).collect();
        let rest: Vec<f64> =
            runs.iter().filter(|run| !is_heavy(run)).flat_map(|run| run.iter().copied()).collect();
        let left = count.saturating_sub(knots.len());
        if let Some(last) = rest.len().checked_sub(1) {
            knots.extend((0..left).map(|i| match left {
                1 => rest[last / 2],
                _ => rest[(last * i + (left - 1) / 2) / (left - 1)],
            }));
        }
        knots.sort_unstable_by(f64::total_cmp);
        knots.dedup();
        if knots.len() < 3 { Self::default() } else { Self(knots) }
    }

    /// Returns the cuts that part a sample into at most `count` bins of similar size: a value is in the bin of the number of
    /// cuts that are not above it. Each bin has a value of the sample. Empty for fewer than two different values.
    ///
    /// ```
    /// use parsimon_data::Points;
    ///
    /// let even: Vec<f64> = (0..8).map(f64::from).collect();
    /// assert_eq!(Points::cuts(&even, 4).values(), [2.0, 4.0, 6.0]);
    /// assert_eq!(Points::cuts(&[0.0, 0.0, 0.0, 7.0], 8).values(), [7.0]);
    /// ```
    #[must_use]
    pub fn cuts(sample: &[f64], count: usize) -> Self {
        let count = count.clamp(1, MOST_POINTS);
        let mut sorted: Vec<f64> =
            sample.iter().filter(|value| value.abs() <= 1e150).map(|value| value + 0.0).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let Some(&least) = sorted.first() else { return Self::default() };
        let mut cuts: Vec<f64> = Vec::new();
        for i in 1..count {
            let mut at = sorted.len() * i / count;
            // A cut at a value that the bin before has, too, would part equal values.
            let before = cuts.last().copied().unwrap_or(least);
            while at < sorted.len() && sorted[at] <= before {
                at += 1;
            }
            match sorted.get(at) {
                Some(&value) => cuts.push(value),
                None => break,
            }
        }
        Self(cuts)
    }
}
