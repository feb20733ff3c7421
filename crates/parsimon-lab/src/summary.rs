//! From trials to numbers: means, spreads, and whether what the paper says is so.

use std::collections::BTreeMap;

use parsimon::eval::number::significant;
use serde::Serialize;

pub use crate::place::{Place, Round};

use crate::experiment::{Expectation, Relation};
use crate::kind::Trial;

/// A measure of a method, averaged over trials.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// Round, mean, standard deviation over the trials.
    pub points: Vec<(f64, f64, f64)>,
    /// How many trials.
    pub trials: usize,
}

impl Mean {
    /// The point at a round: the last one not beyond it.
    pub fn at(&self, place: Round) -> Option<(f64, f64)> {
        let point = match place {
            Round::End => self.points.last(),
            Round::At(x) => self.points.iter().rev().find(|p| p.0 <= x),
        };
        point.map(|p| (p.1, p.2))
    }
}

/// By method, then by measure.
pub type Means = BTreeMap<String, BTreeMap<String, Mean>>;

/// Averages the curves of all trials, which have the same rounds.
pub fn average(trials: &[Trial]) -> Means {
    let mut means = Means::new();
    let Some(first) = trials.first() else { return means };
    for (method, measures) in &first.curves {
        for (measure, curve) in measures {
            let all: Vec<_> =
                trials.iter().filter_map(|t| t.curves.get(method)?.get(measure)).collect();
            let point = |(k, &(x, _)): (usize, &(f64, f64))| {
                let values: Vec<f64> = all.iter().filter_map(|c| Some(c.get(k)?.1)).collect();
                let n = values.len() as f64;
                let mean = values.iter().sum::<f64>() / n;
                let square = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
                (x, mean, if n > 1.0 { (square / (n - 1.0)).sqrt() } else { 0.0 })
            };
            let points = curve.iter().enumerate().map(point).collect();
            let mean = Mean { points, trials: all.len() };
            means.entry(method.clone()).or_default().insert(measure.clone(), mean);
        }
    }
    means
}

/// Mean and spread at a place.
fn read(means: &Means, place: &Place) -> Option<(f64, f64)> {
    means.get(&place.method)?.get(&place.measure)?.at(place.round)
}

/// An expectation, measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// In words.
    pub says: String,
    /// The paper's number, if it prints one.
    pub paper: Option<f64>,
    /// Mean and spread of what was measured.
    pub measured: Option<(f64, f64)>,
    /// Mean and spread of what it is compared with.
    pub against: Option<(f64, f64)>,
    /// What it has to be, in signs: `< 0.1 × 0.12`.
    pub wanted: String,
    /// Whether it is so; `None` where it was not measured.
    pub holds: Option<bool>,
    /// Whether it has to hold in every run.
    pub must: bool,
}

/// Compares, in a variant of this name.
pub fn judge(expectation: &Expectation, variant: &str, means: &Means) -> Finding {
    let read = |text: &str| Place::parse(text).ok().and_then(|place| read(means, &place));
    let measured = read(&expectation.left);
    let against = match &expectation.right {
        Some(right) => read(right),
        None => expectation.paper.or(expectation.bound).map(|x| (x, 0.0)),
    };
    let factor = expectation.factor.unwrap_or(1.0);
    let holds = measured.zip(against).map(|((left, _), (right, _))| {
        let (right, margin) = (factor * right, expectation.margin);
        match expectation.is {
            Relation::Below => left < right - margin,
            Relation::Above => left > right + margin,
            Relation::Near => (left - right).abs() <= margin,
        }
    });
    Finding {
        says: expectation.says.clone(),
        paper: expectation.paper,
        measured,
        against: expectation.right.as_ref().and(against),
        wanted: wanted(expectation, against.map(|a| a.0)),
        holds,
        must: expectation.must.covers(variant),
    }
}

/// The comparison in signs.
fn wanted(expectation: &Expectation, right: Option<f64>) -> String {
    let Some(right) = right else { return "-".into() };
    let mut side = significant(right, 4);
    if let Some(factor) = expectation.factor {
        side = format!("{factor} × {side}");
    }
    let margin = expectation.margin;
    match (expectation.is, margin == 0.0) {
        (Relation::Below, true) => format!("< {side}"),
        (Relation::Below, false) => format!("< {side} − {margin}"),
        (Relation::Above, true) => format!("> {side}"),
        (Relation::Above, false) => format!("> {side} + {margin}"),
        (Relation::Near, true) => format!("= {side}"),
        (Relation::Near, false) => format!("{side} ± {margin}"),
    }
}

/// What a run says about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All that was expected is so.
    Reproduces,
    /// Some of it.
    InPart,
    /// None of it.
    NotAsPrinted,
    /// It was not measured.
    NotRun,
}

impl Verdict {
    /// From the findings of one variant.
    pub fn of(findings: &[Finding]) -> Self {
        let known: Vec<bool> = findings.iter().filter_map(|f| f.holds).collect();
        match (known.iter().filter(|h| **h).count(), known.len()) {
            (_, 0) => Verdict::NotRun,
            (held, all) if held == all => Verdict::Reproduces,
            (0, _) => Verdict::NotAsPrinted,
            _ => Verdict::InPart,
        }
    }

    /// In words, said of so many.
    pub(crate) fn words_for(self, n: usize) -> &'static str {
        match (self, n) {
            (Verdict::Reproduces, n) if n != 1 => "reproduce",
            _ => self.words(),
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Reproduces => "reproduces",
            Verdict::InPart => "in part",
            Verdict::NotAsPrinted => "not as printed",
            Verdict::NotRun => "not run",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Must;

    fn trial(values: &[f64]) -> Trial {
        let curve = values.iter().enumerate().map(|(k, v)| (10.0 * (k + 1) as f64, *v)).collect();
        let measures = BTreeMap::from([("loss".to_owned(), curve)]);
        Trial { curves: BTreeMap::from([("a.b".to_owned(), measures)]), ..Trial::default() }
    }

    #[test]
    fn means_spreads_and_places() {
        let means = average(&[trial(&[1.0, 3.0]), trial(&[3.0, 5.0])]);
        let at = |text: &str| read(&means, &Place::parse(text).unwrap());
        let place = |text: &str| at(text).unwrap();
        assert_eq!(place("a.b.loss@end"), (4.0, 2f64.sqrt()));
        assert_eq!(place("a.b.loss@19"), (2.0, 2f64.sqrt()));
        assert!(at("a.b.loss@5").is_none());
        assert!(Place::parse("loss").is_err() && Place::parse("a.loss@x").is_err());
    }

    #[test]
    fn expectations_hold_or_do_not() {
        let means = average(&[trial(&[1.0, 3.0])]);
        let expect = |is, paper, margin| Expectation {
            says: String::new(),
            left: "a.b.loss@end".into(),
            is,
            right: None,
            paper: Some(paper),
            margin,
            factor: None,
            bound: None,
            must: Must::default(),
        };
        let holds = |e: Expectation| judge(&e, "as printed", &means).holds.unwrap();
        assert!(
            holds(expect(Relation::Near, 3.5, 0.5)) && !holds(expect(Relation::Near, 4.0, 0.5))
        );
        assert!(
            holds(expect(Relation::Below, 4.0, 0.5)) && !holds(expect(Relation::Below, 3.2, 0.5))
        );
        assert!(
            holds(expect(Relation::Above, 2.0, 0.5)) && !holds(expect(Relation::Above, 3.0, 0.0))
        );
        let findings: Vec<_> =
            [expect(Relation::Above, 2.0, 0.0), expect(Relation::Above, 9.0, 0.0)]
                .iter()
                .map(|e| judge(e, "as printed", &means))
                .collect();
        assert_eq!(findings[0].wanted, "> 2.000");
        assert_eq!(Verdict::of(&findings), Verdict::InPart);
        assert_eq!(Verdict::of(&findings[..1]), Verdict::Reproduces);
        assert_eq!(Verdict::of(&findings[1..]), Verdict::NotAsPrinted);
        assert_eq!(Verdict::of(&[]), Verdict::NotRun);
    }
}
