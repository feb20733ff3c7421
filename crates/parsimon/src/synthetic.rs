//! Sparse systems for identification, generated as in the PDA thesis (Ushio 2018, section 4.2.1).

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::BuildError;

/// The kind of regressors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regressors {
    /// A fresh vector every round, as in the thesis.
    Vectors,
    /// The last samples of one signal, as behind a delay line.
    Signal,
}

/// A system with `round(zeros n)` zero coefficients; the others are uniform in `[-amplitude, amplitude]`.
///
/// ```
/// use parsimon::study::Synthetic;
///
/// let synthetic = Synthetic::parse("n=100,zeros=0.9,seed=7")?;
/// let mut system = synthetic.start();
/// assert_eq!(system.truth().iter().filter(|w| **w == 0.0).count(), 90);
/// let mut x = [0.0; 100];
/// let y = system.next_row(&mut x);
/// let clean: f64 = x.iter().zip(system.truth()).map(|(x, w)| x * w).sum();
/// assert!((y - clean).abs() < 0.6); // noise of variance 0.01
/// # Ok::<(), parsimon::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Synthetic {
    /// The number of coefficients.
    pub n: usize,
    /// The share of zeros.
    pub zeros: f64,
    /// The largest coefficient.
    pub amplitude: f64,
    /// The variance of the noise.
    pub noise: f64,
    /// Inputs are uniform in `[-input, input]`.
    pub input: f64,
    /// The number of rounds.
    pub samples: u64,
    /// The kind of regressors.
    pub regressors: Regressors,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Default for Synthetic {
    fn default() -> Self {
        Self {
            n: 1000,
            zeros: 0.8,
            amplitude: 4.0,
            noise: 0.01,
            input: 2.0,
            samples: 20_000,
            regressors: Regressors::Vectors,
            seed: 1,
        }
    }
}

impl Synthetic {
    /// Reads `n=1000,zeros=0.9,...`; the other values are the defaults, as in the thesis.
    pub fn parse(text: &str) -> Result<Self, BuildError> {
        let mut synthetic = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let fail = |expected: &str| {
                let message = format!("{name} must be {expected}, got {value:?}");
                BuildError::new("synthetic", message)
            };
            let number = |low: f64, high: f64, words: &str| match value.parse::<f64>() {
                Ok(x) if (low..=high).contains(&x) => Ok(x),
                _ => Err(fail(words)),
            };
            let whole = |least: u64, words: &str| match value.parse::<u64>() {
                Ok(n) if n >= least => Ok(n),
                _ => Err(fail(words)),
            };
            match name {
                "n" => {
                    let n = whole(1, "a whole number from 1 to 1000000")?;
                    synthetic.n = usize::try_from(n)
                        .ok()
                        .filter(|n| *n <= 1_000_000)
                        .ok_or_else(|| fail("a whole number from 1 to 1000000"))?;
                }
                "zeros" => synthetic.zeros = number(0.0, 1.0, "a share from 0 to 1")?,
                "amplitude" => synthetic.amplitude = number(1e-9, 1e9, "a number > 0")?,
                "noise" => synthetic.noise = number(0.0, 1e9, "a variance >= 0")?,
                "input" => synthetic.input = number(1e-9, 1e9, "a number > 0")?,
                "samples" => synthetic.samples = whole(1, "a whole number >= 1")?,
                "seed" => synthetic.seed = whole(0, "a whole number >= 0")?,
                "regressors" => {
                    synthetic.regressors = match value {
                        "vectors" => Regressors::Vectors,
                        "signal" => Regressors::Signal,
                        _ => return Err(fail("vectors or signal")),
                    }
                }
                _ => {
                    let known = [
                        "n",
                        "zeros",
                        "amplitude",
                        "noise",
                        "input",
                        "samples",
                        "seed",
                        "regressors",
                    ];
                    return Err(BuildError::new(
                        "synthetic",
                        format!(
                            "a synthetic system has no {name:?} (it has {}){}",
                            known.join(", "),
                            crate::suggestion::did_you_mean(name, known.into_iter())
                        ),
                    ));
                }
            }
        }
        Ok(synthetic)
    }

    /// The mean squared length of a row.
    pub fn energy(&self) -> f64 {
        self.n as f64 * self.input * self.input / 3.0
    }

    /// The system, before its first round.
    pub fn start(&self) -> System {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let zeros = (self.zeros * self.n as f64).round() as usize;
        let mut truth: Vec<f64> =
            (0..self.n).map(|_| uniform(&mut random, self.amplitude)).collect();
        // The first `zeros` places of a random order.
        let mut order: Vec<usize> = (0..self.n).collect();
        for k in 0..zeros {
            order.swap(k, random.random_range(k..self.n));
            truth[order[k]] = 0.0;
        }
        System { settings: self.clone(), truth, random, line: vec![0.0; self.n] }
    }
}

/// A generated system, with its random numbers.
#[derive(Clone, Debug)]
pub struct System {
    settings: Synthetic,
    truth: Vec<f64>,
    random: Xoshiro256PlusPlus,
    line: Vec<f64>,
}

impl System {
    /// The coefficients.
    pub fn truth(&self) -> &[f64] {
        &self.truth
    }

    /// Writes the next regressor and returns what is observed.
    ///
    /// # Panics
    /// `x` is not as long as the system.
    pub fn next_row(&mut self, x: &mut [f64]) -> f64 {
        assert_eq!(x.len(), self.truth.len(), "a regressor is as long as the system");
        let input = self.settings.input;
        match self.settings.regressors {
            Regressors::Vectors => x.fill_with(|| uniform(&mut self.random, input)),
            Regressors::Signal => {
                self.line.rotate_right(1);
                self.line[0] = uniform(&mut self.random, input);
                x.copy_from_slice(&self.line);
            }
        }
        let clean: f64 = x.iter().zip(&self.truth).map(|(x, w)| x * w).sum();
        let noise: f64 = StandardNormal.sample(&mut self.random);
        clean + self.settings.noise.sqrt() * noise
    }
}

/// Uniform in `[-most, most)`.
fn uniform(random: &mut impl Rng, most: f64) -> f64 {
    (2.0 * random.random::<f64>() - 1.0) * most
}
