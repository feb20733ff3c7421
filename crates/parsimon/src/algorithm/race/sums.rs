//! Losses of several racers on the same rows: means, and standard errors of their differences.

use parsimon_core::State;
use parsimon_core::{StateError, StateWriter};

/// Sums over rows of the racers' losses and of their products.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sums {
    racers: usize,
    weight: f64,
    /// The sum of squared importances: weighted rows count less than as many rows.
    weight2: f64,
    losses: Vec<f64>,
    /// `sum h l_i l_j` for `j <= i`, row by row.
    products: Vec<f64>,
}

impl Sums {
    pub(super) fn new(racers: usize) -> Self {
        let products = vec![0.0; racers * (racers + 1) / 2];
        Self { racers, weight: 0.0, weight2: 0.0, losses: vec![0.0; racers], products }
    }

    /// Adds a row of importance `h`.
    pub(super) fn add(&mut self, losses: &[f64], h: f64) {
        self.weight += h;
        self.weight2 += h * h;
        let mut at = 0;
        for (i, &loss) in losses.iter().enumerate() {
            let weighted = h * loss;
            self.losses[i] += weighted;
            let row = &mut self.products[at..=at + i];
            row.iter_mut().zip(losses).for_each(|(sum, other)| *sum += weighted * other);
            at += i + 1;
        }
    }

    /// The sums of some of the racers, in this order.
    pub(super) fn keep(&self, racers: &[usize]) -> Self {
        let product = |(i, &a): (usize, &usize)| {
            racers[..=i].iter().map(move |&b| self.products[Self::place(a, b)]).collect::<Vec<_>>()
        };
        Self {
            racers: racers.len(),
            weight: self.weight,
            weight2: self.weight2,
            losses: racers.iter().map(|&k| self.losses[k]).collect(),
            products: racers.iter().enumerate().flat_map(product).collect(),
        }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let add = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect();
        Self {
            racers: self.racers,
            weight: self.weight + other.weight,
            weight2: self.weight2 + other.weight2,
            losses: add(&self.losses, &other.losses),
            products: add(&self.products, &other.products),
        }
    }

    pub(super) fn mean(&self, racer: usize) -> f64 {
        if self.weight > 0.0 { self.losses[racer] / self.weight } else { 0.0 }
    }

    fn place(a: usize, b: usize) -> usize {
        let (low, high) = (a.min(b), a.max(b));
        high * (high + 1) / 2 + low
    }

    fn product(&self, a: usize, b: usize) -> f64 {
        self.products[Self::place(a, b)] / self.weight
    }

    /// Returns the difference of the mean losses of `a` and `b` on the same rows, with its standard error.
    pub(super) fn difference(&self, a: usize, b: usize) -> (f64, f64) {
        let mean = self.mean(a) - self.mean(b);
        let square = self.product(a, a) - 2.0 * self.product(a, b) + self.product(b, b);
        let variance = (square - mean * mean).max(0.0);
        (mean, (variance * self.weight2).sqrt() / self.weight)
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        [self.weight, self.weight2].iter().for_each(|x| x.write(out));
        self.losses.iter().chain(&self.products).for_each(|x| x.write(out));
    }

    pub(super) fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        let mut sum = || f64::read(input).map_err(|e| e.in_field("the losses of the race"));
        (self.weight, self.weight2) = (sum()?, sum()?);
        for x in self.losses.iter_mut().chain(&mut self.products) {
            *x = sum()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_paired() {
        let mut sums = Sums::new(3);
        let rows = [[1.0, 2.0, 4.0], [3.0, 5.0, 2.0], [2.0, 3.0, 9.0], [0.0, 2.0, 1.0]];
        rows.iter().for_each(|row| sums.add(row, 1.0));
        // 1 - 0: 1, 2, 1, 2, of mean 1.5 and variance 0.25, so the standard error is 0.25.
        assert_eq!(sums.difference(1, 0), (1.5, 0.25));
        assert_eq!(sums.difference(0, 1), (-1.5, 0.25));
        let (mean, error) = sums.difference(2, 0);
        // 3, -1, 7, 1: mean 2.5, variance 8.75.
        assert!((mean - 2.5).abs() < 1e-15 && (error - (8.75f64 / 4.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn some_of_the_racers_are_as_if_the_others_had_not_been() {
        let (mut all, mut some) = (Sums::new(4), Sums::new(3));
        for i in 0..20 {
            let row = [0.3, 1.1, 0.7, 2.0].map(|x: f64| (x * f64::from(i)).sin());
            all.add(&row, 1.5);
            some.add(&[row[0], row[2], row[3]], 1.5);
        }
        assert_eq!(all.keep(&[0, 2, 3]), some);
    }

    #[test]
    fn two_halves_are_the_whole_and_survive_saving() {
        let (mut whole, mut first, mut second) = (Sums::new(2), Sums::new(2), Sums::new(2));
        for i in 0..10 {
            let row = [f64::from(i), f64::from(i * i % 7)];
            whole.add(&row, 2.0);
            if i < 4 { &mut first } else { &mut second }.add(&row, 2.0);
        }
        let put_together = first.plus(&second);
        assert_eq!(put_together, whole);
        let (mut bytes, mut read) = (StateWriter::new(), Sums::new(2));
        whole.save(&mut bytes);
        read.restore(&mut bytes.as_bytes()).unwrap();
        assert_eq!(read, whole);
    }
}
