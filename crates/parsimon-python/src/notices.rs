//! Notices of the library as warnings of Python: the words, with keywords for what can be changed.

use parsimon::Settings;
use parsimon::job::{Advice, Notice, Reason, Way};

/// A kind of notice, and the words.
pub(crate) type Warning = (&'static str, String);

/// Puts a notice into words.
pub(crate) fn warning(notice: &Notice, settings: &Settings) -> Warning {
    let Advice { fact, reason, ways } = Advice::of(notice, settings);
    let ways: Vec<String> = ways.iter().map(keyword).collect();
    let words = match (notice, reason) {
        (Notice::Forgotten { is_repeated: true, .. }, _) => format!(
            "{fact}; the order of the rows misleads, so they are learned again in random order; shuffle=False keeps the order"
        ),
        (Notice::Leak { .. }, _) => {
            format!("{fact}; {} if its value is known only after the label", ways.concat())
        }
        (_, Some(reason)) => {
            format!("{fact}; likely reason: {reason}; try: {}", ways.join(", or "))
        }
        (_, None) if ways.is_empty() => fact,
        (_, None) => format!("{fact}; try: {}", ways.join(", or ")),
    };
    (kind(notice), words)
}

/// The name of a notice's kind, by which programs distinguish warnings.
fn kind(notice: &Notice) -> &'static str {
    match notice {
        Notice::Widened(_) => "widened",
        Notice::MoreLabels { .. } => "labels",
        Notice::WorseThanConstant { .. } => "worse-than-constant",
        Notice::Diverged { .. } => "diverged",
        Notice::Leak { .. } => "leak",
        Notice::Forgotten { .. } => "order",
        Notice::BehindLastLabel { .. } => "behind-last-label",
        Notice::Skipped { .. } => "skipped",
        Notice::OneLabel => "one-label",
        Notice::NoBetterThanConstant { .. } => "no-better-than-constant",
        Notice::Collisions { .. } => "collisions",
        Notice::ManyPasses { .. } => "many-passes",
        _ => "rows",
    }
}

/// A way to react, as a keyword.
fn keyword(way: &Way) -> String {
    match way {
        Way::Shuffle(_) => "shuffle the rows if their order has no meaning".to_owned(),
        Way::CheckColumns => "check that the label and the columns are the right ones".to_owned(),
        Way::Categories => "categories=[...] if numbers are codes".to_owned(),
        Way::Normalize => "normalize=True".to_owned(),
        Way::Rate(rate) => format!("rate={rate}"),
        Way::SmallerRate => "a smaller rate".to_owned(),
        Way::MorePasses => "passes=2".to_owned(),
        Way::LeaveChoice => {
            "ParsimonClassifier or ParsimonRegressor, which choose the method and its settings"
                .to_owned()
        }
        Way::Ignore(_) => "leave it out".to_owned(),
        Way::MoreBits => "more bits to avoid collisions".to_owned(),
        Way::PenaltyPerRow => {
            "FTPRLClassifier(metric='adagrad', rate=1) with l1 divided by the rows of all passes"
                .to_owned()
        }
        Way::LastLabels => {
            "a column with the label of an earlier row, where it is known in time".to_owned()
        }
        _ => String::new(),
    }
}

/// Calls features of an array by their columns. The feature `j + 1` is the column `j`.
pub(crate) fn by_column(notice: &mut Notice) {
    let (Notice::Leak { feature, .. }
    | Notice::Diverged { reason: Reason::Magnitude { feature, .. }, .. }
    | Notice::WorseThanConstant { reason: Reason::Magnitude { feature, .. }, .. }) = notice
    else {
        return;
    };
    if let Some(column) = feature.parse::<u32>().ok().and_then(|id| id.checked_sub(1)) {
        *feature = format!("column {column}");
    }
}
