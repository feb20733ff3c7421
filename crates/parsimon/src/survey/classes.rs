//! Classes of a learner from the labels of the data.

use parsimon_core::Loss;
use parsimon_data::{Message, Remedy, Setting, listed};

use super::SeenLabels;
use crate::error::Error;
use crate::settings::Settings;

/// The classes that the settings declare, if they do.
pub(super) fn declared(settings: &Settings) -> Result<Option<Vec<String>>, Error> {
    match settings.classes() {
        Some(classes) if settings.is_binary() && classes.len() != 2 => Err(Error::usage(format!(
            "classes names {} labels; set multiclass for more than two",
            classes.len()
        ))),
        classes => Ok(classes.map(<[String]>::to_vec)),
    }
}

/// The classes among the labels of the data. Two labels come back negative first: smaller numbers before larger ones, texts
/// in alphabetical order. Nothing comes back when the labels are the usual -1 and 1.
pub(super) fn of_labels(settings: &Settings, seen: SeenLabels) -> Result<Vec<String>, Error> {
    let classes = match seen {
        SeenLabels::Usual { from_zero: true } => return Ok(vec!["0".into(), "1".into()]),
        SeenLabels::Usual { from_zero: false } | SeenLabels::Numbers => return Ok(Vec::new()),
        SeenLabels::All(labels) => labels,
    };
    if classes.len() < 2 {
        return Err(Error::usage(format!(
            "all rows have the label {:?}; nothing to learn",
            classes.concat()
        )));
    }
    if !settings.is_multiclass() && classes.len() > 2 {
        let name = settings.algorithm().name;
        let (who, numbers) = match settings.loss_name() {
            // Its loss is squared, like that of lms, which takes numbers.
            _ if settings.loss() == Loss::Adaline => (name.to_owned(), (Setting::Algorithm, "lms")),
            "halfspace" => ("the loss halfspace".into(), (Setting::Loss, "projection")),
            loss => (format!("the loss {loss}"), (Setting::Loss, "squared")),
        };
        let fact = format!(
            "{who} is for two classes and the data has {} labels ({})",
            classes.len(),
            listed(classes.iter(), 5)
        );
        let message = Message::new(fact)
            .or(Remedy::Pass(Setting::Multiclass, None))
            .or(Remedy::ForNumbers(numbers.0, numbers.1.to_owned()));
        return Err(Error::usage(message));
    }
    Ok(classes)
}
