//! Notices of a training run in words, with the flags to try.

use parsimon::Settings;
use parsimon::job::{Advice, Notice, Way};

/// Puts notices into words for the person who typed the command.
pub(crate) struct Advisor {
    settings: Settings,
    /// The flag that leaves the choice of the method to the program.
    choice: &'static str,
}

impl Advisor {
    pub(crate) fn new(settings: &Settings, names_algorithm: bool) -> Self {
        let usual = parsimon::Spec::recommended().resolve().ok();
        let drops = names_algorithm && usual.as_ref().is_some_and(Settings::is_normalized);
        let choice = match drops {
            true => "drop -a to let parsimon choose",
            false => "-a auto to let parsimon choose",
        };
        Self { settings: settings.clone(), choice }
    }

    /// Returns the lines to print.
    pub(crate) fn words(&self, notice: &Notice) -> String {
        let Advice { fact, reason, ways } = Advice::of(notice, &self.settings);
        let is_error = matches!(notice, Notice::Diverged { .. });
        let warning = if is_error { "" } else { "warning: " };
        let ways: Vec<String> = ways.iter().map(|way| self.flag(way)).collect();
        match (notice, reason) {
            (Notice::SeveralPasses(_), _) => {
                format!("\n{fact}; --passes 1 leaves it at one pass")
            }
            (Notice::Refitted(_), _) => format!("\n{fact}"),
            (Notice::Widened(_) | Notice::MoreLabels { .. }, _)
            | (Notice::NoBetterThanConstant { .. } | Notice::Skipped { .. }, None) => fact,
            (Notice::Forgotten { rows, is_repeated: true, .. }, _) => format!(
                "\n{fact}\nthe order of the rows misleads, so they are learned again in random order, as with --shuffle {rows}; --no-shuffle keeps the order"
            ),
            (Notice::Forgotten { is_shuffled: false, .. }, _) => format!(
                "{warning}{fact}\n  try: {} if the order of the rows has no meaning",
                ways.concat()
            ),
            (Notice::Forgotten { .. }, _) => match &ways[..] {
                [first @ .., last] => {
                    format!("{warning}{fact}\n  try: {}, or {last}", first.join(", "))
                }
                [] => format!("{warning}{fact}"),
            },
            (Notice::Leak { .. }, _) => {
                format!(
                    "{warning}{fact}; {} if its value is known only after the label",
                    ways.concat()
                )
            }
            (Notice::Collisions { .. }, _) => format!("{fact}; {}", ways.concat()),
            (Notice::BehindLastLabel { .. } | Notice::ManyPasses { .. }, _) => {
                format!("{warning}{fact}\n  try: {}", ways.concat())
            }
            (_, Some(reason)) => {
                format!("{warning}{fact}\n  likely reason: {reason}\n  try: {}", ways.join(", or "))
            }
            (_, None) => format!("{warning}{fact}"),
        }
    }

    /// A way to react, as a flag.
    fn flag(&self, way: &Way) -> String {
        match way {
            Way::Shuffle(Some(rows)) => format!("--shuffle {rows}"),
            Way::Shuffle(None) => {
                "another order of the rows (--shuffle) if they are sorted".to_owned()
            }
            Way::CheckColumns => {
                "check that the label and the columns are the right ones".to_owned()
            }
            Way::Categories => "--categories COLUMNS if numbers are codes".to_owned(),
            Way::Normalize => "--normalize".to_owned(),
            Way::Rate(rate) => format!("--rate {rate}"),
            Way::SmallerRate => "a smaller --rate".to_owned(),
            Way::MorePasses => "--passes 2".to_owned(),
            Way::Ignore(_) => "leave it out with --ignore".to_owned(),
            Way::PenaltyPerRow => {
                "-a ftprl --metric adagrad --rate 1, with --l1 divided by the rows of all passes"
                    .to_owned()
            }
            Way::LastLabels => {
                "a column with the label of an earlier row, where it is known in time".to_owned()
            }
            Way::MoreBits => "use more --bits to avoid collisions".to_owned(),
            _ => self.choice.to_owned(),
        }
    }
}
