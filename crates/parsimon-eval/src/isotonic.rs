//! Isotonic regression: the nondecreasing step function of the margins that is nearest to the labels.
//!
//! Pool adjacent violators (Ayer, Brunk, Ewing, Reid and Silverman, 1955): rows in the order of their margins are blocks, and
//! while a block has a higher rate than the next, both become one. Rows of equal margins are one block from the start.

use crate::sum::Sum;

/// A block of margins with one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) weight: f64,
    /// The weighted share of positives.
    pub(crate) rate: f64,
}

impl Block {
    fn joined(self, next: Self) -> Self {
        let weight = self.weight + next.weight;
        let rate = (self.weight * self.rate + next.weight * next.rate) / weight;
        Self { low: self.low, high: next.high, weight, rate }
    }
}

/// Returns the blocks of margins with increasing rates, from margins, labels (positive or not) and importance weights.
pub(crate) fn fit(rows: &[(f64, bool, f64)]) -> Vec<Block> {
    let mut sorted: Vec<_> = rows.iter().copied().filter(|row| row.2 > 0.0).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut blocks: Vec<Block> = Vec::new();
    for ties in sorted.chunk_by(|a, b| a.0 == b.0) {
        let weight = ties.iter().map(|row| row.2).collect::<Sum>().value();
        let positive = ties.iter().filter(|row| row.1).map(|row| row.2).collect::<Sum>().value();
        let (low, high) = (ties[0].0, ties[0].0);
        let mut block = Block { low, high, weight, rate: positive / weight };
        while let Some(last) = blocks.last().copied()
            && last.rate >= block.rate
        {
            blocks.pop();
            block = last.joined(block);
        }
        blocks.push(block);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsimon_testing::SplitMix64;

    /// The definition by minima and maxima: the rate of a margin is the largest over all starts up to it of the smallest
    /// mean from there to any end behind it.
    fn twin(rows: &[(f64, bool, f64)], margin: f64) -> f64 {
        let mut margins: Vec<f64> = rows.iter().map(|row| row.0).collect();
        margins.sort_by(f64::total_cmp);
        margins.dedup();
        let mean = |from: f64, to: f64| {
            let within = || rows.iter().filter(|row| from <= row.0 && row.0 <= to);
            let positive: f64 = within().filter(|row| row.1).map(|row| row.2).sum();
            positive / within().map(|row| row.2).sum::<f64>()
        };
        let starts = margins.iter().filter(|m| **m <= margin);
        starts
            .map(|&from| {
                let ends = margins.iter().filter(|m| **m >= margin);
                ends.map(|&to| mean(from, to)).fold(f64::INFINITY, f64::min)
            })
            .fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn pooling_is_the_minimum_of_maxima() {
        let mut random = SplitMix64::new(5);
        for levels in [3, 12, 1000] {
            let row = |_| {
                let margin = random.below(levels) as f64 / levels as f64;
                (margin, random.unit() < 0.2 + 0.5 * margin, 0.25 + random.unit())
            };
            let rows: Vec<_> = (0..60).map(row).collect();
            let blocks = fit(&rows);
            assert!(blocks.windows(2).all(|w| w[0].rate < w[1].rate && w[0].high < w[1].low));
            for row in &rows {
                let block = blocks.iter().find(|b| b.low <= row.0 && row.0 <= b.high).unwrap();
                assert!((block.rate - twin(&rows, row.0)).abs() < 1e-12, "{levels}");
            }
        }
    }

    #[test]
    fn by_hand() {
        let rows = [(1.0, false, 1.0), (2.0, true, 1.0), (3.0, false, 3.0), (4.0, true, 2.0)];
        let blocks = fit(&rows);
        let rates: Vec<_> = blocks.iter().map(|b| (b.low, b.high, b.rate)).collect();
        assert_eq!(rates, [(1.0, 1.0, 0.0), (2.0, 3.0, 0.25), (4.0, 4.0, 1.0)]);
        assert!(fit(&[(1.0, true, 0.0)]).is_empty());
    }
}
