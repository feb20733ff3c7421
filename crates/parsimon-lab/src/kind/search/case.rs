//! A configuration of the search: its coordinates on the grid and the rows they mean.

use std::fmt;

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::kind::hindsight::{DenseRows, dot};

const DIMENSIONS: [usize; 4] = [1, 2, 5, 20];
const LENGTHS: [f64; 5] = [1.0, 3.0, 10.0, 30.0, 100.0];
const ROUNDS: [usize; 6] = [1, 2, 10, 50, 200, 500];
const STEPS: [f64; 3] = [0.0, 0.5, 1.0];
const ORDERS: [Order; 4] = [Order::Drawn, Order::Sorted, Order::Alternating, Order::Greedy];
const NOISES: [f64; 3] = [0.0, 0.45, 10.0];
/// Number of values of each coordinate.
const RADICES: [usize; 6] =
    [DIMENSIONS.len(), LENGTHS.len(), ROUNDS.len(), STEPS.len(), ORDERS.len(), NOISES.len()];
/// A stride that has no factor in common with the size of the grid, so that every part of the grid has all values.
const STRIDE: u64 = 1009;

/// The grid in words.
pub(crate) const GRID: &str = "dimension 1, 2, 5, 20; length of the truth 1, 3, 10, 30, 100; rounds 1, 2, 10, 50, 200, 500; step at both ends of what is \
     allowed and between them; rows as drawn, sorted by target, largest and smallest in turn, and the row with the largest loss next; noise of deviation \
     0, 0.45, 10";

/// Order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The drawn values.
    Drawn,
    /// From the smallest target to the largest.
    Sorted,
    /// The largest target, the smallest, the second largest and so on.
    Alternating,
    /// An adversary that sees the weights picks the row with the largest loss.
    Greedy,
}

/// A configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Case {
    digits: [usize; 6],
    seed: u64,
}

impl Case {
    /// The `k`-th configuration of the grid; after its end the grid begins again.
    pub(crate) fn of_grid(k: u64, seed: u64) -> Self {
        let size: u64 = RADICES.iter().map(|r| *r as u64).product();
        let mut rest = (k % size) * STRIDE % size;
        let digits = RADICES.map(|radix| {
            let digit = rest % radix as u64;
            rest /= radix as u64;
            digit as usize
        });
        Self { digits, seed }
    }

    /// The `k`-th move of a climb: every third draws new rows, the others move a coordinate by one.
    pub(crate) fn neighbor(&self, k: u64, seed: u64) -> Self {
        let mut moved = *self;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ !k);
        if k.is_multiple_of(3) {
            moved.seed = random.random();
            return moved;
        }
        let place = random.random_range(0..RADICES.len());
        let by = if random.random() { 1 } else { RADICES[place] - 1 };
        moved.digits[place] = (moved.digits[place] + by) % RADICES[place];
        moved
    }

    pub(crate) fn n(&self) -> usize {
        DIMENSIONS[self.digits[0]]
    }

    /// Euclidean norm of the true weights.
    pub(crate) fn length(&self) -> f64 {
        LENGTHS[self.digits[1]]
    }

    pub(crate) fn rounds(&self) -> usize {
        ROUNDS[self.digits[2]]
    }

    /// An allowed step: one end of the range, or the geometric mean of both.
    pub(crate) fn step(&self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(STEPS[self.digits[3]])
    }

    pub(crate) fn order(&self) -> Order {
        ORDERS[self.digits[4]]
    }

    /// The standard deviation of the noise.
    pub(crate) fn noise(&self) -> f64 {
        NOISES[self.digits[5]]
    }

    /// Index of the noise's value, for statements without noise.
    pub(crate) fn third(&self) -> usize {
        self.digits[5]
    }

    pub(crate) fn random(&self) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.seed)
    }

    /// A normal vector of the given length.
    pub(crate) fn vector(random: &mut Xoshiro256PlusPlus, n: usize, length: f64) -> Vec<f64> {
        let mut v: Vec<f64> = (0..n).map(|_| StandardNormal.sample(random)).collect();
        let norm = dot(&v, &v).sqrt().max(1e-300);
        v.iter_mut().for_each(|v| *v *= length / norm);
        v
    }

    /// Rows of a bias coordinate and features uniform in `[0, 1]`, and targets of a truth with noise, in their order but for [`Order::Greedy`].
    pub(super) fn uniform_rows(&self) -> DenseRows {
        let mut random = self.random();
        let truth = Self::vector(&mut random, self.n() + 1, self.length());
        self.ordered(&mut random, &truth, |random| {
            (0..=self.n()).map(|j| if j == 0 { 1.0 } else { random.random() }).collect()
        })
    }

    /// Normal rows of length 1.
    pub(super) fn unit_rows(&self) -> DenseRows {
        let mut random = self.random();
        let truth = Self::vector(&mut random, self.n(), self.length());
        self.ordered(&mut random, &truth, |random| Self::vector(random, self.n(), 1.0))
    }

    fn ordered(
        &self,
        random: &mut Xoshiro256PlusPlus,
        truth: &[f64],
        row: impl Fn(&mut Xoshiro256PlusPlus) -> Vec<f64>,
    ) -> DenseRows {
        let mut all: Vec<(Vec<f64>, f64)> = Vec::new();
        for _ in 0..self.rounds() {
            let x = row(random);
            let noise: f64 = StandardNormal.sample(random);
            let y = dot(&x, truth) + self.noise() * noise;
            all.push((x, y));
        }
        match self.order() {
            Order::Drawn | Order::Greedy => {}
            Order::Sorted => all.sort_by(|a, b| a.1.total_cmp(&b.1)),
            Order::Alternating => {
                all.sort_by(|a, b| a.1.total_cmp(&b.1));
                let half = all.len() / 2;
                let low: Vec<_> = all.drain(..half).collect();
                let mut turns = Vec::new();
                let mut low = low.into_iter();
                for high in all.into_iter().rev() {
                    turns.push(high);
                    turns.extend(low.next());
                }
                all = turns;
            }
        }
        let mut rows = DenseRows { n: truth.len(), ..DenseRows::default() };
        for (x, y) in all {
            rows.x.extend(x);
            rows.y.push(y);
        }
        rows
    }

    /// The place of the next row among those that are left.
    pub(crate) fn next(&self, left: &mut Vec<usize>, loss: impl Fn(usize) -> f64) -> usize {
        let place = match self.order() {
            Order::Greedy => {
                let largest = |best: (usize, f64), (k, i): (usize, &usize)| {
                    let loss = loss(*i);
                    if loss > best.1 { (k, loss) } else { best }
                };
                left.iter().enumerate().fold((0, f64::NEG_INFINITY), largest).0
            }
            _ => 0,
        };
        left.remove(place)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.order() {
            Order::Drawn => "as drawn",
            Order::Sorted => "sorted by target",
            Order::Alternating => "largest and smallest in turn",
            Order::Greedy => "largest loss next",
        };
        let step = ["at its lower end", "in the middle", "at its upper end"][self.digits[3]];
        write!(
            f,
            "dimension {}, truth of length {}, {} rounds, step {step}, rows {order}, noise {}",
            self.n(),
            self.length(),
            self.rounds(),
            self.noise()
        )
    }
}
