//! Facts about the data that training needs beforehand.

use crate::settings::Settings;

/// Facts about the data that are needed before the first row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The labels.
    pub labels: LabelNeed,
    /// The number of features.
    pub dimension: bool,
    /// The number of rows.
    pub rows: bool,
}

/// Facts about the labels that are needed before the first row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelNeed {
    /// No scan: the labels are numbers, or the classes are declared.
    #[default]
    Nothing,
    /// All of them, unless the first rows have the usual -1, 0 and 1.
    Unusual,
    /// All of them, unless there are more than two.
    Two,
    /// All of them.
    All,
    /// The rows needed to guess the loss.
    Guess,
}

impl Needs {
    /// Returns the needs of a learner with these settings.
    pub fn of(settings: &Settings) -> Self {
        let labels = match settings.classes() {
            None if settings.is_multiclass() => LabelNeed::All,
            None if settings.is_binary() => LabelNeed::Unusual,
            None if settings.may_find_two_classes() => LabelNeed::Two,
            _ => LabelNeed::Nothing,
        };
        Self { labels, dimension: settings.needs_dimension(), rows: settings.needs_rows() }
    }

    /// Returns the needs of several learners on the same rows. The labels are of the kind that the first learner expects.
    pub fn of_all(settings: &[Settings]) -> Self {
        let all = || settings.iter().map(Self::of);
        Self {
            labels: all().next().unwrap_or_default().labels,
            dimension: all().any(|needs| needs.dimension),
            rows: all().any(|needs| needs.rows),
        }
    }

    /// Whether no fact is needed.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Whether nothing but labels is needed: features can be skipped.
    pub(crate) fn is_of_labels_only(self) -> bool {
        !self.dimension && !self.rows
    }
}
