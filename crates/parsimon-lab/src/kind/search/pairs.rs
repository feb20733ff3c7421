//! Search over the pairs of an experiment: methods that should be equal, on rows of every dimension, scale and order.

use parsimon::rows::{Chunk, Repeats};

use super::{Case, Searched, find};
use crate::experiment::{Expectation, Pair, Relation};
use crate::kind::Run;
use crate::kind::equivalence::apart_at_the_end;
use crate::kind::hindsight::DenseRows;

/// The name by which a file asks for it.
pub(super) const NAME: &str = "pairs";

const SAYS: &str = "both sides have the same weights after every round, to a part in 10^7 of the largest; with hinge loss up to the first margin at the kink, where the subgradient is not unique";

pub(super) fn search(run: &Run<'_>, configurations: usize) -> Result<Searched, String> {
    let is_claimed = |pair: &&Pair| {
        let of =
            |e: &&Expectation| e.core && e.is == Relation::Near && e.left.starts_with(&pair.name);
        run.experiment.expectations.iter().any(|e| of(&e))
    };
    let pairs: Vec<&Pair> = run.experiment.pairs.iter().filter(is_claimed).collect();
    if pairs.is_empty() {
        return Err("a search over pairs needs pairs in the core claim".into());
    }
    let excess = |case: &Case| {
        let rows = chunk(&case.unit_rows());
        let mut worst = f64::NEG_INFINITY;
        // The configurations are distributed: each tests one pair, with all of its losses.
        let pair = pairs[(case.n() * 7 + case.rounds() * 3 + case.third()) % pairs.len()];
        let losses: Vec<Option<&str>> = match pair.losses.is_empty() {
            true => vec![None],
            false => pair.losses.iter().map(|loss| Some(loss.as_str())).collect(),
        };
        for loss in losses {
            match apart_at_the_end(pair, loss, &rows) {
                Ok((difference, largest)) => worst = worst.max(difference / (1.0 + largest) - 1e-7),
                Err(_) => return 1.0,
            }
        }
        worst
    };
    Ok(find(&excess, run.number, run.seed, configurations, NAME, SAYS))
}

/// The rows with their classes.
fn chunk(rows: &DenseRows) -> Chunk {
    let mut chunk = Chunk::new();
    for i in 0..rows.y.len() {
        (1..).zip(rows.row(i)).for_each(|(j, &v)| chunk.push_feature(j, v));
        let label = if rows.y[i] > 0.0 { 1.0 } else { -1.0 };
        if chunk.finish_row(Some(label), 1.0, Repeats::Refuse).is_err() {
            unreachable!("generated rows are finite");
        }
    }
    chunk
}
