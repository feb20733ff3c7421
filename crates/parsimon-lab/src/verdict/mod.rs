//! Verdicts on claims: paired intervals, corrected for several comparisons, and the verdict on the core claim.
//!
//! Trials are paired: all methods of a trial meet the same draws. An expectation asks that a mean paired difference lies on one side of a boundary.
//! It holds if the whole interval is there, it is refuted if the whole interval is on the other side, and it is undecided in between.
//! The intervals of one experiment are 99% together, after Holm: the clearest of `m` comparisons is judged at 0.01/m, the next at 0.01/(m - 1), and the first
//! that is not separated ends it. A claim about every run (a theorem) takes no interval: one trial refutes it.

use parsimon::workspace::number::significant;
use serde::{Deserialize, Serialize};

use crate::experiment::{Category, Expectation, Experiment, Relation, Scale, Variant};
use crate::kind::Trial;
use crate::kind::search::{FEWEST, Searched};
use crate::place::{Place, Round};
use crate::student::{critical, two_sided};
use crate::summary::{mean_and_spread, values};

/// Fewer trials give no verdict.
pub const FEWEST_TRIALS: usize = 10;
/// The chance that one of an experiment's intervals misses, all taken together.
pub const CHANCE: f64 = 0.01;

/// An expectation, measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// In words.
    pub says: String,
    /// Whether it is part of the core claim, which decides.
    pub core: bool,
    /// The measured value: method, measure with its unit, place.
    pub quantity: String,
    /// The paper's number, if it prints one.
    pub paper: Option<f64>,
    /// Mean and standard deviation of the measured value.
    pub measured: Option<(f64, f64)>,
    /// Mean and standard deviation of the value it is compared with.
    pub against: Option<(f64, f64)>,
    /// The condition in signs: `< 0.1 × 0.12`.
    pub wanted: String,
    /// Whether the means satisfy the condition; `None` where they were not measured.
    pub leans: Option<bool>,
    /// Verdict of the trials.
    pub status: Status,
    /// The interval of the paired difference, where one decides.
    pub interval: Option<Interval>,
    /// Whether it has to hold in every run.
    pub must: bool,
    /// Number of searched configurations, if it is a search.
    #[serde(default)]
    pub configurations: Option<u64>,
}

/// Verdicts of the trials on an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The whole interval, or every trial, is on the side expected.
    Holds,
    /// The whole interval, or one trial of a claim about every run, is on the other side.
    Refuted,
    /// The interval does not separate.
    Undecided,
    /// The rival never learned, so the comparison says nothing.
    Empty,
    /// Too few trials for a verdict.
    Preview,
    /// A value is missing.
    NotMeasured,
}

/// An interval of the mean paired difference `left - factor * right`, or of the ratio where the scale is logarithmic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The level of this interval, after Holm: 0.998, say.
    pub level: f64,
    /// The scale of the comparison.
    pub scale: Scale,
}

/// Evidence of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The paper's data or construction, or a comparison of this project.
    Data,
    /// Other rows than the paper's.
    OtherData,
    /// A theorem: it holds only where a search has broken nothing.
    Search,
}

/// Verdicts of a run on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The core claim holds.
    Reproduces,
    /// Part of the core claim is refuted.
    Refuted,
    /// Neither.
    Undecided,
    /// It was run on other rows than the paper's: there is no verdict on the paper.
    OtherData,
    /// Too few trials for a verdict.
    Preview,
    /// It was not measured.
    NotRun,
}

impl Verdict {
    /// Every verdict, in the order of a tally.
    pub const ALL: [Verdict; 6] = [
        Verdict::Reproduces,
        Verdict::Refuted,
        Verdict::Undecided,
        Verdict::OtherData,
        Verdict::Preview,
        Verdict::NotRun,
    ];

    /// From the findings of one variant: the core claim decides. A theorem holds only where a search of enough configurations has broken nothing.
    pub fn of(findings: &[Finding], basis: Basis) -> Self {
        let is_searched =
            findings.iter().any(|f| f.core && f.configurations.is_some_and(|n| n >= FEWEST));
        let core: Vec<Status> = findings.iter().filter(|f| f.core).map(|f| f.status).collect();
        let has = |status| core.contains(&status);
        if core.iter().all(|s| *s == Status::NotMeasured) {
            Verdict::NotRun
        } else if has(Status::Preview) {
            Verdict::Preview
        } else if basis == Basis::OtherData {
            Verdict::OtherData
        } else if has(Status::Refuted) {
            Verdict::Refuted
        } else if core.iter().all(|s| *s == Status::Holds)
            && (is_searched || basis != Basis::Search)
        {
            Verdict::Reproduces
        } else {
            Verdict::Undecided
        }
    }

    /// The verdict in words for a claim of this sort: a theorem holds, an experiment reproduces.
    pub fn said_of(self, category: Category) -> &'static str {
        match (self, category) {
            (Verdict::Reproduces, Category::Theorem) => "holds",
            _ => self.words(),
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Reproduces => "reproduces",
            Verdict::Refuted => "refuted",
            Verdict::Undecided => "undecided",
            Verdict::OtherData => "other data",
            Verdict::Preview => "preview",
            Verdict::NotRun => "not run",
        }
    }
}

impl Status {
    /// The verdict in words; a preview describes the means.
    pub fn words(self, leans: Option<bool>) -> &'static str {
        match (self, leans) {
            (Status::Holds, _) => "holds",
            (Status::Refuted, _) => "refuted",
            (Status::Undecided, _) => "undecided",
            (Status::Empty, _) => "says nothing: the rival did not learn",
            (Status::Preview, Some(true)) => "preview: so far yes",
            (Status::Preview, _) => "preview: so far no",
            (Status::NotMeasured, _) => "not measured",
        }
    }
}

/// One comparison before Holm: the distance of the mean from the boundary on the expected side, and its standard error.
struct Comparison {
    gap: f64,
    error: f64,
    mean: f64,
    degrees: f64,
    scale: Scale,
}

impl Comparison {
    /// The chance of being so far from the boundary by luck.
    fn chance(&self) -> f64 {
        match (self.gap, self.error) {
            (gap, _) if gap.is_nan() => 1.0,
            (0.0, _) => 1.0,
            (_, 0.0) => 0.0,
            (gap, error) => two_sided(gap / error, self.degrees),
        }
    }

    fn interval(&self, chance: f64) -> Interval {
        let half =
            if self.error == 0.0 { 0.0 } else { critical(chance, self.degrees) * self.error };
        let (mean, low, high) = (self.mean, self.mean - half, self.mean + half);
        let shown = |v: f64| if self.scale == Scale::Log { v.exp() } else { v };
        Interval {
            mean: shown(mean),
            low: shown(low),
            high: shown(high),
            level: 1.0 - chance,
            scale: self.scale,
        }
    }
}

/// Findings of the searches of all trials, one for each statement.
pub(crate) fn searched(trials: &[Trial], decides: bool) -> Vec<Finding> {
    let mut all: Vec<Searched> = Vec::new();
    for part in trials.iter().flat_map(|t| &t.searched) {
        match all.iter_mut().find(|s| s.statement == part.statement) {
            Some(known) => known.join(part),
            None => all.push(part.clone()),
        }
    }
    let finding = |s: Searched| Finding {
        says: format!("searched: {}", s.says),
        core: s.core,
        quantity: format!(
            "largest excess of the left side, relative to the terms, in {} configurations ({} beyond); the worst: {}",
            s.configurations, s.broken, s.at
        ),
        paper: None,
        measured: Some((s.worst, 0.0)),
        against: None,
        wanted: "≤ 0, in every configuration".into(),
        leans: Some(s.broken == 0),
        status: match s.broken {
            _ if !decides => Status::Preview,
            0 if s.configurations >= FEWEST => Status::Holds,
            0 => Status::Undecided,
            _ => Status::Refuted,
        },
        interval: None,
        must: false,
        configurations: Some(s.configurations),
    };
    all.into_iter().map(finding).collect()
}

/// Judges the expectations of every variant; the intervals of all of them are corrected together. `decides` is false in a run that gives previews only.
pub fn judge(
    experiment: &Experiment,
    variants: &[(&Variant, &[Trial])],
    decides: bool,
) -> Vec<Vec<Finding>> {
    let mut all: Vec<Vec<(Finding, Option<Comparison>)>> = variants
        .iter()
        .map(|(variant, trials)| {
            let one = |e: &Expectation| measure(experiment, e, variant, trials, decides);
            experiment.expectations.iter().map(one).collect()
        })
        .collect();
    let compared = all.iter_mut().flatten().filter_map(|(f, c)| Some((f, c.take()?)));
    holm(compared.collect());
    all.into_iter().map(|findings| findings.into_iter().map(|(f, _)| f).collect()).collect()
}

/// The chance of luck below which an interval is far from its boundary: so small that neither the number of looks nor the number of
/// comparisons matters.
const FAR: f64 = 1e-7;

/// Whether these trials decide every expectation of a variant by far, so that more of them change no verdict. What is claimed of every
/// run is decided by a counterexample only.
pub(crate) fn is_far(experiment: &Experiment, variant: &Variant, trials: &[Trial]) -> bool {
    let is_decided = |e: &Expectation| match measure(experiment, e, variant, trials, true) {
        (_, Some(comparison)) => comparison.chance() < FAR,
        (finding, None) => matches!(finding.status, Status::Refuted | Status::NotMeasured),
    };
    !experiment.expectations.is_empty()
        && experiment.searches.is_empty()
        && experiment.expectations.iter().all(is_decided)
}

/// Holm's steps, from the clearest comparison on.
fn holm(mut compared: Vec<(&mut Finding, Comparison)>) {
    compared.sort_by(|a, b| a.1.chance().total_cmp(&b.1.chance()));
    let mut left = compared.len();
    let mut is_over = false;
    for (finding, comparison) in compared {
        let chance = CHANCE / left as f64;
        is_over |= comparison.chance() > chance;
        finding.interval = Some(comparison.interval(chance));
        finding.status = match (is_over, comparison.gap > 0.0) {
            (true, _) => Status::Undecided,
            (false, true) => Status::Holds,
            (false, false) => Status::Refuted,
        };
        // Comparisons after the last step are shown at the level of that step.
        left -= usize::from(!is_over);
    }
}

/// A finding, and the comparison that decides it, if an interval does.
fn measure(
    experiment: &Experiment,
    expectation: &Expectation,
    variant: &Variant,
    trials: &[Trial],
    decides: bool,
) -> (Finding, Option<Comparison>) {
    let read = |text: &str| Place::parse(text).ok().and_then(|place| values(trials, &place));
    let left = read(&expectation.left).filter(|v| !v.is_empty());
    let right = match &expectation.right {
        Some(right) => read(right).filter(|v| !v.is_empty()),
        None => {
            let number = expectation.paper.or(expectation.bound);
            number.map(|x| vec![x; trials.len()])
        }
    };
    let against = right.as_deref().map(mean_and_spread);
    let mut finding = Finding {
        says: expectation.says.clone(),
        core: experiment.is_core(expectation),
        quantity: quantity(experiment, &expectation.left),
        paper: expectation.paper,
        measured: left.as_deref().map(mean_and_spread),
        against: expectation.right.as_ref().and(against),
        wanted: wanted(expectation, against.map(|a| a.0)),
        leans: None,
        status: Status::NotMeasured,
        interval: None,
        // A stand-in is not what the paper's numbers are about.
        must: expectation.must.covers(&variant.name) && trials.iter().all(|t| t.stand_in.is_none()),
        configurations: None,
    };
    let Some((left, right)) = left.zip(right).filter(|(l, r)| l.len() == r.len()) else {
        return (finding, None);
    };
    let scale = scale(experiment, expectation, &left, &right);
    let comparison = compare(expectation, scale, &left, &right);
    finding.leans = Some(match expectation.every {
        true => left.iter().zip(&right).all(|(l, r)| is_so(expectation, *l, *r)),
        false => {
            let means = (mean_and_spread(&left).0, mean_and_spread(&right).0);
            is_so(expectation, means.0, means.1)
        }
    });
    let rival = against.map_or(0.0, |a| a.0);
    let is_empty = expectation.rival_below.is_some_and(|most| rival >= most);
    finding.status = match finding.leans {
        _ if !decides || left.len() < FEWEST_TRIALS => Status::Preview,
        _ if is_empty => Status::Empty,
        Some(true) if expectation.every => Status::Holds,
        Some(false) if expectation.every => Status::Refuted,
        // Holm decides.
        _ => return (finding, Some(comparison)),
    };
    (finding, None)
}

/// Whether two numbers compare as expected.
fn is_so(expectation: &Expectation, left: f64, right: f64) -> bool {
    let (right, margin) = (expectation.factor.unwrap_or(1.0) * right, expectation.tolerance());
    match expectation.is {
        Relation::Below => left < right - margin,
        Relation::Above => left > right + margin,
        Relation::Near => (left - right).abs() <= margin,
    }
}

/// Logarithmic where the figure is, unless a margin is in the units of the measure or a value has no logarithm.
fn scale(experiment: &Experiment, e: &Expectation, left: &[f64], right: &[f64]) -> Scale {
    let drawn = Place::parse(&e.left).map_or(Scale::Linear, |p| experiment.scale_of(&p.measure));
    let has_logs = left.iter().chain(right).all(|v| *v > 0.0) && e.factor.is_none_or(|f| f > 0.0);
    match e.scale.unwrap_or(drawn) {
        Scale::Log if has_logs && e.tolerance() == 0.0 && e.is != Relation::Near => Scale::Log,
        _ => Scale::Linear,
    }
}

fn compare(e: &Expectation, scale: Scale, left: &[f64], right: &[f64]) -> Comparison {
    let factor = e.factor.unwrap_or(1.0);
    let difference = |(l, r): (&f64, &f64)| match scale {
        Scale::Linear => l - factor * r,
        Scale::Log => (l / (factor * r)).ln(),
    };
    let differences: Vec<f64> = left.iter().zip(right).map(difference).collect();
    let (mean, spread) = mean_and_spread(&differences);
    let n = differences.len() as f64;
    let gap = match e.is {
        Relation::Below => -mean - e.tolerance(),
        Relation::Above => mean - e.tolerance(),
        Relation::Near => e.tolerance() - mean.abs(),
    };
    Comparison { gap, error: spread / n.sqrt(), mean, degrees: n - 1.0, scale }
}

/// Method, measure with its unit, and place.
fn quantity(experiment: &Experiment, place: &str) -> String {
    let Ok(place) = Place::parse(place) else { return place.to_owned() };
    let axis = experiment.axes.get(&place.measure).unwrap_or(&place.measure);
    match place.round {
        Round::End => format!("{}: {axis}; at the end", place.method),
        Round::At(round) => format!("{}: {axis}; at {round}", place.method),
    }
}

/// The comparison in signs.
fn wanted(expectation: &Expectation, right: Option<f64>) -> String {
    let Some(right) = right else { return "-".into() };
    let mut side = significant(right, 4);
    if let Some(factor) = expectation.factor {
        side = format!("{factor} × {side}");
    }
    // 1e-10 is read at a glance, 0.0000000001 is not.
    let margin = match expectation.tolerance() {
        small if small != 0.0 && small.abs() < 1e-3 => format!("{small:e}"),
        margin => significant(margin, 4),
    };
    let side = match (expectation.is, expectation.tolerance() == 0.0) {
        (Relation::Below, true) => format!("< {side}"),
        (Relation::Below, false) => format!("< {side} − {margin}"),
        (Relation::Above, true) => format!("> {side}"),
        (Relation::Above, false) => format!("> {side} + {margin}"),
        (Relation::Near, true) => format!("= {side}"),
        (Relation::Near, false) => format!("{side} ± {margin}"),
    };
    let side = side.replace("− -", "+ ").replace("+ -", "− ");
    if expectation.every { format!("{side}, in every trial") } else { side }
}

#[cfg(test)]
mod tests;
