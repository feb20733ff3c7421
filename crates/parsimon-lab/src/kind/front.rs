//! Fronts: AUC of a method on rows that it has not learned, against its number of weights.
//!
//! One pass over the rows for every strength of a method's penalty and every rate; for each strength the rate whose predictions on the way
//! have the largest AUC is taken, so that the held-out rows choose nothing. The curves run over the strengths; `front` runs over shares
//! of the features and compares at equal sparsity: it joins the points that no point with fewer weights beats, from no weights and an
//! AUC of 0.5 on, by lines over the logarithm of the weights.

use std::collections::BTreeMap;

use parsimon::LearnerOptions;
use parsimon::eval::{BinaryMetrics, Evaluation};
use parsimon::rows::Chunk;
use parsimon::settings::Loss;
use parsimon::survey::Found;
use parsimon::workspace::Evaluator;
use serde::Deserialize;

use super::{Curve, Run, Trial, spec};
use crate::data::rows::pick;
use crate::data::stand_in::rows_or_stand_in;
use crate::experiment::{Effort, Method, PerEffort};
use crate::peers;

/// The shares of the features a front is asked at: one half to the power of this, down to 0.
const HALVINGS: i32 = 12;

/// Swept settings, as in the file. `*` applies to methods that are not named.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Front {
    /// The set's name.
    set: String,
    /// Upper bound on the number of training rows; half as many are used for evaluation.
    #[serde(default)]
    rows: Option<PerEffort>,
    /// The share of rows to judge by, of a set that has none for it.
    #[serde(default = "fifth")]
    held: f64,
    /// Number of strengths.
    strengths: PerEffort,
    /// Number of rates.
    rates: PerEffort,
    /// Swept settings by method.
    sweep: BTreeMap<String, StrengthRange>,
    /// Rates, by method.
    rate: BTreeMap<String, Powers>,
    /// Programs of others to run beside.
    #[serde(default)]
    peers: Vec<String>,
}

/// A setting and the powers of two it takes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StrengthRange {
    setting: String,
    from: f64,
    to: f64,
}

/// Powers of two, evenly spaced from one to the other.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Powers {
    from: f64,
    to: f64,
}

fn fifth() -> f64 {
    0.2
}

impl Powers {
    /// Returns `count` evenly spaced points; a single point lies in the middle.
    fn spaced(self, count: u64) -> Vec<f64> {
        let step = |k: u64| match count {
            1 => 0.5,
            _ => k as f64 / (count - 1) as f64,
        };
        (0..count).map(|k| (self.from + step(k) * (self.to - self.from)).exp2()).collect()
    }
}

/// Weights put to the test.
struct FrontPoint {
    strength: f64,
    nonzeros: usize,
    auc: f64,
    log_loss: f64,
}

/// The rows of a trial.
struct TrialRows {
    train: Chunk,
    test: Chunk,
    features: usize,
    /// Generated replacement of a missing data set.
    stand_in: Option<String>,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let front: Front = run.settings()?;
    let split = front.read(run)?;
    let mut trial = Trial { stand_in: split.stand_in.clone(), ..Trial::default() };
    for method in run.experiment.methods_of(run.variant) {
        let points = front.points(run, method, &split)?;
        trial.curves.insert(method.name.clone(), curves(&points, split.features));
    }
    let mut absent = Vec::new();
    // Other programs start slowly: a quick run leaves them out.
    let wanted = if run.effort == Effort::Quick { &[][..] } else { &front.peers };
    if wanted.len() < front.peers.len() {
        absent.push("not run beside at quick effort".to_owned());
    }
    for name in wanted {
        let Some(peer) = peers::installed(name) else {
            absent.push(format!("{name} is not installed"));
            continue;
        };
        match front.beside(run, peer, &split) {
            Ok(points) => {
                trial.curves.insert(name.clone(), curves(&points, split.features));
            }
            Err(e) => absent.push(format!("{name} failed: {e}")),
        }
    }
    if !absent.is_empty() {
        trial.chosen.insert("peers".into(), absent.join(", "));
    }
    Ok(trial)
}

impl Front {
    fn read(&self, run: &Run<'_>) -> Result<TrialRows, String> {
        let (rows, stand_in) = rows_or_stand_in(&self.set, run.data).map_err(|e| e.to_string())?;
        let features = rows.features as usize;
        let (train, test) = rows.split(self.held, run.seed);
        let most = self.rows.map_or(usize::MAX, |most| most.at(run.effort) as usize);
        let some = |chunk: Chunk, most| match most < chunk.len() {
            // Test rows keep their order in the file, which may be by class.
            true => pick(&chunk, (0..most).map(|k| k * chunk.len() / most)),
            false => chunk,
        };
        let (train, test) = (some(train, most), some(test, most / 2));
        Ok(TrialRows { train, test, features, stand_in })
    }

    fn of<'a, T>(by_method: &'a BTreeMap<String, T>, name: &str) -> Result<&'a T, String> {
        let found = by_method.get(name).or_else(|| by_method.get("*"));
        found.ok_or_else(|| format!("nothing says what is swept for {name}"))
    }

    fn points(
        &self,
        run: &Run<'_>,
        method: &Method,
        split: &TrialRows,
    ) -> Result<Vec<FrontPoint>, String> {
        let StrengthRange { setting, from, to } = Self::of(&self.sweep, &method.name)?;
        let rates = Self::of(&self.rate, &method.name)?.spaced(self.rates.at(run.effort));
        let strengths = Powers { from: *from, to: *to }.spaced(self.strengths.at(run.effort));
        let mut points = Vec::new();
        for strength in strengths {
            let mut best: Option<(f64, FrontPoint)> = None;
            for &rate in &rates {
                let (on_the_way, point) = learn(method, setting, strength, rate, split)?;
                if best.as_ref().is_none_or(|(known, _)| on_the_way > *known) {
                    best = Some((on_the_way, point));
                }
            }
            points.push(best.ok_or("there are no rates to try")?.1);
        }
        Ok(points)
    }

    /// Runs another program on the same rows.
    fn beside(
        &self,
        run: &Run<'_>,
        peer: &peers::Peer,
        split: &TrialRows,
    ) -> Result<Vec<FrontPoint>, String> {
        let StrengthRange { from, to, .. } = Self::of(&self.sweep, peer.name())?;
        let strengths = Powers { from: *from, to: *to }.spaced(self.strengths.at(run.effort));
        let rates = Self::of(&self.rate, peer.name())?.spaced(self.rates.at(run.effort));
        let mut points = Vec::new();
        for (strength, candidates) in
            peer.learn(&split.train, split.features, &strengths, &rates)?
        {
            let mut best: Option<(f64, FrontPoint)> = None;
            for candidate in candidates {
                let on_the_way = match &candidate.on_the_way {
                    Some(margins) => judged(margins, &split.train).auc.unwrap_or(0.5),
                    None => 0.5,
                };
                let margins = candidate.weights.margins(&split.test);
                let point =
                    FrontPoint::new(strength, candidate.weights.nonzeros(), &margins, split);
                if best.as_ref().is_none_or(|(known, _)| on_the_way > *known) {
                    best = Some((on_the_way, point));
                }
            }
            points.push(best.ok_or("it gave no weights")?.1);
        }
        Ok(points)
    }
}

impl FrontPoint {
    fn new(strength: f64, nonzeros: usize, margins: &[f64], split: &TrialRows) -> Self {
        let metrics = judged(margins, &split.test);
        let auc = metrics.auc.unwrap_or(0.5);
        Self { strength, nonzeros, auc, log_loss: metrics.log_loss.unwrap_or(f64::NAN) }
    }
}

/// AUC of the predictions made while learning, and AUC of the weights at the end.
fn learn(
    method: &Method,
    setting: &str,
    strength: f64,
    rate: f64,
    split: &TrialRows,
) -> Result<(f64, FrontPoint), String> {
    let spec = spec(method).set("rate", rate).set(setting, strength);
    let online = spec
        .resolve()
        .and_then(|settings| settings.build(LearnerOptions::default(), &Found::default()));
    let mut online = online.map_err(|e| format!("{}: {e}", method.name))?;
    let mut margins = Vec::new();
    online.learn(&split.train, &mut margins);
    let on_the_way = judged(&margins, &split.train).auc.unwrap_or(0.5);
    margins.clear();
    online.predict(&split.test, &mut margins);
    Ok((on_the_way, FrontPoint::new(strength, online.nonzeros(), &margins, split)))
}

fn judged(margins: &[f64], rows: &Chunk) -> BinaryMetrics {
    let mut evaluator = Evaluator::new(Loss::Logistic);
    for (i, &p) in margins.iter().enumerate() {
        // A learner that diverged ranks nothing.
        let p = if p.is_finite() { p } else { 0.0 };
        evaluator.record(p, rows.label(i).unwrap_or(-1.0), rows.weight(i));
    }
    match evaluator.finish() {
        Evaluation::Binary(metrics) => metrics,
        _ => unreachable!("the logistic loss is about two classes"),
    }
}

fn curves(points: &[FrontPoint], features: usize) -> BTreeMap<String, Curve> {
    let curve =
        |value: fn(&FrontPoint) -> f64| points.iter().map(|p| (p.strength, value(p))).collect();
    BTreeMap::from([
        ("auc".to_owned(), curve(|p| p.auc)),
        ("log_loss".to_owned(), curve(|p| p.log_loss)),
        ("nonzeros".to_owned(), curve(|p| p.nonzeros as f64)),
        ("front".to_owned(), envelope(points, features)),
    ])
}

fn envelope(points: &[FrontPoint], features: usize) -> Curve {
    let place = |nonzeros: f64| nonzeros.ln_1p();
    let mut sorted: Vec<(usize, f64)> = points.iter().map(|p| (p.nonzeros, p.auc)).collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut corners = vec![(0.0, 0.5)];
    for (nonzeros, auc) in sorted {
        if corners.last().is_some_and(|last| auc > last.1) && nonzeros > 0 {
            corners.push((place(nonzeros as f64), auc));
        }
    }
    let at = |halvings: i32| {
        let share = f64::from(-halvings).exp2();
        let x = place(share * features as f64);
        let after = corners.partition_point(|corner| corner.0 <= x);
        let (x0, y0) = corners[after - 1];
        let y = match corners.get(after) {
            Some((x1, y1)) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
            None => y0,
        };
        (share, y)
    };
    (0..=HALVINGS).rev().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_spaced_evenly() {
        let powers = Powers { from: -2.0, to: 2.0 };
        assert_eq!(powers.spaced(3), [0.25, 1.0, 4.0]);
        assert_eq!(powers.spaced(1), [1.0]);
        assert!(powers.spaced(0).is_empty());
    }

    #[test]
    fn a_front_never_falls_and_begins_with_nothing() {
        let point = |nonzeros, auc| FrontPoint { strength: 1.0, nonzeros, auc, log_loss: 0.0 };
        let points = [point(1, 0.6), point(49, 0.9), point(100, 0.8)];
        let front = envelope(&points, 98);
        assert!(front.windows(2).all(|w| w[0].1 <= w[1].1 && w[0].0 < w[1].0));
        let at = |share: f64| front.iter().find(|p| p.0 == share).unwrap().1;
        assert_eq!((at(0.5), at(1.0)), (0.9, 0.9));
        // 6.125 weights lie between 1 and 49.
        let between = (7.125_f64.ln() - 2_f64.ln()) / (50_f64.ln() - 2_f64.ln());
        assert!((at(0.0625) - (0.6 + 0.3 * between)).abs() < 1e-12);
        assert!(at(f64::from(-HALVINGS).exp2()) < 0.51);
        assert!(envelope(&[], 98).iter().all(|p| p.1 == 0.5));
    }
}
