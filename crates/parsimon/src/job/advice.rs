//! Notices in words, and the ways to react to them.

use parsimon_eval::Measure;
use parsimon_eval::number::{significant, thousands};

use super::notice::measure_of;
use crate::settings::Settings;
use crate::training::{Evidence, Evidenced, Notice, Reason};

/// A way to react to a notice. Each door writes it in its own way: as a flag, a keyword or a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Way {
    /// Shuffle the rows, in windows of this many if it is known how many there are.
    Shuffle(Option<u64>),
    /// Check that the label and the columns are the right ones.
    CheckColumns,
    /// Read columns of codes as categories.
    Categories,
    /// Bring features to a common scale.
    Normalize,
    /// Set this rate.
    Rate(f64),
    /// Set a smaller rate.
    SmallerRate,
    /// Learn the rows several times.
    MorePasses,
    /// Leave the choice of the method to the library.
    LeaveChoice,
    /// Leave a column out.
    Ignore(String),
    /// Use more hash slots.
    MoreBits,
    /// Use a method whose penalty counts once per row.
    PenaltyPerRow,
    /// Give each row the labels of earlier rows as columns.
    LastLabels,
}

/// A notice in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What was noticed.
    pub fact: String,
    /// The likely reason, where there is one.
    pub reason: Option<String>,
    /// The ways to react, the best first.
    pub ways: Vec<Way>,
}

impl Advice {
    /// Puts a notice into words. `settings` are those of the learner.
    ///
    /// ```
    /// use parsimon::Spec;
    /// use parsimon::job::{Advice, Notice, Reason, Way};
    ///
    /// let settings = Spec::new("sgd").set("rate", 5.0).resolve()?;
    /// let advice = Advice::of(&Notice::Diverged { row: 12, reason: Reason::Rate }, &settings);
    /// assert_eq!(advice.fact, "the weights diverged at row 12");
    /// assert_eq!(advice.reason.as_deref(), Some("the rate 5 is too large for this data"));
    /// assert_eq!(advice.ways, [Way::Normalize, Way::Rate(0.5), Way::LeaveChoice]);
    /// # Ok::<(), parsimon::BuildError>(())
    /// ```
    pub fn of(notice: &Notice, settings: &Settings) -> Self {
        let measure = measure_of(settings);
        let number = |x: f64, digits| significant(measure.factor * x, digits);
        let plain = |fact: String, ways: Vec<Way>| Self { fact, reason: None, ways };
        match notice {
            Notice::Widened(widening) => plain(widening.to_string(), Vec::new()),
            Notice::MoreLabels { input, line, label } => {
                plain(more_labels(input, *line, label), Vec::new())
            }
            Notice::WorseThanConstant { behind, reason } => Self {
                fact: format!(
                    "after {} rows the {} is {}; a constant prediction has {}",
                    thousands(behind.rows),
                    if measure.is_mse() { measure.name } else { "loss" },
                    number(behind.loss, 6),
                    number(behind.constant, 6),
                ),
                reason: Some(likely(reason, settings)),
                ways: ways_against(reason, settings),
            },
            Notice::Diverged { row, reason } => Self {
                fact: format!("the weights diverged at row {}", thousands(*row)),
                reason: Some(likely(reason, settings)),
                ways: ways_against(reason, settings),
            },
            Notice::Leak { feature, rows, evidence } => plain(
                format!("possible leak: {feature:?} alone {}", revealed(*rows, evidence)),
                vec![Way::Ignore(feature.clone())],
            ),
            Notice::Forgotten { found, rows, is_repeated, is_shuffled } => plain(
                format!(
                    "the final model has forgotten what it learned first: {} {} on {} rows of the whole file, {} when each row came, a constant prediction {}",
                    measure.name,
                    number(found.loss, 4),
                    thousands(found.rows),
                    number(found.progressive, 4),
                    number(found.constant, 4)
                ),
                match (is_repeated, is_shuffled) {
                    (true, _) => Vec::new(),
                    (false, false) => vec![Way::Shuffle(Some(*rows))],
                    (false, true) => {
                        vec![Way::Shuffle(Some(*rows)), Way::SmallerRate, Way::MorePasses]
                    }
                },
            ),
            Notice::BehindLastLabel { .. } | Notice::Refitted(_) => {
                let (fact, ways) = compared(notice, measure);
                plain(fact, ways)
            }
            Notice::SeveralPasses(found) => plain(repeated(found, measure.factor), Vec::new()),
            Notice::Remark(words) => plain(words.clone(), Vec::new()),
            Notice::Skipped { rows, first } => plain(skipped(*rows, first), Vec::new()),
            Notice::OneLabel => {
                plain("all rows have the same label; there is nothing to learn".into(), Vec::new())
            }
            Notice::NoBetterThanConstant { .. } => {
                plain("the model is no better than a constant prediction".into(), Vec::new())
            }
            Notice::ManyPasses { passes, method } => plain(
                format!(
                    "{passes} passes of {method} do not reach the minimum of the penalized loss: its penalty counts once, and early rounds keep their pull"
                ),
                vec![Way::PenaltyPerRow],
            ),
            Notice::Collisions { slots, names } => plain(
                format!(
                    "{} hash slot{} shared by several of the {} names",
                    thousands(*slots),
                    if *slots == 1 { " is" } else { "s are" },
                    thousands(*names)
                ),
                vec![Way::MoreBits],
            ),
        }
    }
}

/// A comparison of models on rows that none of them has learned.
fn compared(notice: &Notice, measure: Measure) -> (String, Vec<Way>) {
    let number = |x: f64, digits| significant(measure.factor * x, digits);
    let name = if measure.is_mse() { measure.name } else { "loss" };
    match notice {
        Notice::BehindLastLabel { loss, last } => {
            let fact = format!(
                "repeating the last label predicts the next row better: {name} {}, the learner {}",
                number(*last, 6),
                number(*loss, 6)
            );
            (fact, vec![Way::LastLabels])
        }
        Notice::Refitted(found) => {
            let fact = format!(
                "fitting the weights that the penalty has kept again without it: the {name} on {} rows that were held out is {}, with the penalty {}",
                thousands(found.rows),
                number(found.loss, 4),
                number(found.one_pass, 4),
            );
            (fact, Vec::new())
        }
        _ => (String::new(), Vec::new()),
    }
}

/// What several passes gain.
fn repeated(found: &Evidenced, factor: f64) -> String {
    let number = |loss: f64| significant(factor * loss, 4);
    format!(
        "learning the rows again in random order, {} pass{}: the loss on {} rows that were held out is {}, after one pass {}",
        found.passes,
        if found.passes == 1 { "" } else { "es" },
        thousands(found.rows),
        number(found.loss),
        number(found.one_pass),
    )
}

/// A label that none of the first rows has.
fn more_labels(input: &str, line: u64, label: &str) -> String {
    format!(
        "{input}:{line}: the label {label:?} is none of those of the first rows; starting again with all labels"
    )
}

/// The number of bad rows, and the first errors.
fn skipped(rows: u64, first: &[String]) -> String {
    let s = if rows == 1 { "" } else { "s" };
    let errors: String = first.iter().map(|error| format!("\n  {error}")).collect();
    format!("skipped {} bad row{s}:{errors}", thousands(rows))
}

/// How well a feature predicts the label.
fn revealed(rows: u64, evidence: &Evidence) -> String {
    match evidence {
        Evidence::Errors(errors) => format!(
            "separates the two classes with {} error{} in {} rows",
            thousands(*errors as u64),
            if *errors == 1 { "" } else { "s" },
            thousands(rows)
        ),
        Evidence::Correlation(r) => {
            format!("has a correlation of {r:.4} with the label in {} rows", thousands(rows))
        }
    }
}

fn likely(reason: &Reason, settings: &Settings) -> String {
    match reason {
        Reason::Magnitude { feature, times } => format!(
            "the values of {feature:?} are {} times larger than those of other features",
            thousands(*times as u64)
        ),
        Reason::LabelScale { typical } => {
            let typical = significant(*typical, 3);
            format!("the labels are as large as {typical}, and predictions begin at 0")
        }
        Reason::Rate => match rate(settings) {
            Some(rate) => format!("the rate {rate} is too large for this data"),
            None => "the steps are too large for this data".to_owned(),
        },
        Reason::Labels => "nothing in the rows predicts the label".to_owned(),
    }
}

fn ways_against(reason: &Reason, settings: &Settings) -> Vec<Way> {
    let is_auto = settings.algorithm().name == "auto";
    let mut ways = Vec::new();
    if matches!(reason, Reason::Labels | Reason::Rate) && is_auto {
        ways.push(Way::Shuffle(None));
    }
    if *reason == Reason::Labels {
        ways.extend([Way::CheckColumns, Way::Categories]);
    }
    if !settings.is_normalized() && !settings.is_kernel() {
        ways.push(Way::Normalize);
    }
    if let Some(rate) = rate(settings).filter(|_| *reason == Reason::Rate) {
        // Two digits, without zeros at the end.
        ways.push(Way::Rate(significant(rate / 10.0, 2).parse().unwrap_or(rate)));
    }
    if !is_auto {
        ways.push(Way::LeaveChoice);
    }
    ways
}

/// The rate, if the method has one and it is set.
fn rate(settings: &Settings) -> Option<f64> {
    settings.to_json().get("rate").and_then(serde_json::Value::as_f64)
}
