//! The loss, guessed from the labels.

use parsimon_data::{
    Format, Message, Options, Remedy, Setting, is_missing_word, is_written_number,
};

use super::scan::MOST_NUMBERED;
use super::{Found, LabelNeed, Needs, Opened, SeenLabels, Source, kinds, opened, scan};
use crate::error::Error;
use crate::settings::{Settings, Spec};

/// The kind of labels, as guessed from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// Two classes.
    Two,
    /// Several classes.
    Several,
    /// Numbers to be predicted.
    Numbers,
}

impl Guess {
    /// The setting for the guess, and its value.
    pub fn setting(self) -> (Setting, Option<&'static str>) {
        match self {
            Guess::Two => (Setting::Loss, Some("logistic")),
            Guess::Several => (Setting::Multiclass, None),
            Guess::Numbers => (Setting::Loss, Some("squared")),
        }
    }
}

/// The result of [`open_guessing`]: settings, opened data, and the guess.
pub struct Guessed {
    /// The settings, complete.
    pub settings: Settings,
    /// The guess; `None` if the spec has a loss.
    pub guess: Option<Guess>,
    /// The data.
    pub opened: Opened,
}

/// Opens data for a spec. Where the spec has no loss, and the method takes any, the labels decide: two values are two classes,
/// texts are classes, and so are up to 20 contiguous integers in svmlight and VW text, and small integers in a column of a table that is
/// called class, category, type, species or outcome; other numbers are numbers to be predicted.
/// Data that can be read only once, such as a pipe, is not inspected; the default loss of the method is used.
///
/// A cell that contradicts the kind of its column is an error, as in [`open`](super::open).
pub fn open_guessing<S: Source + ?Sized>(
    spec: &Spec,
    source: &S,
    options: &Options,
) -> Result<Guessed, Error> {
    let settings = spec.resolve()?;
    if !is_open(spec, &settings) || source.read_once().is_some() {
        let opened = opened::open(std::slice::from_ref(&settings), source, options)?;
        return Ok(Guessed { settings, guess: None, opened });
    }
    let needs = Needs { labels: LabelNeed::Guess, ..Needs::of(&settings) };
    let options = &kinds::with_kinds(source, options)?;
    let seen = scan(source, options, needs)?;
    let labels = seen.labels.unwrap_or(SeenLabels::Usual { from_zero: false });
    check_missing(&labels)?;
    check_written(&labels)?;
    let names_classes = options.reading.label_column.as_deref().is_some_and(is_class_name);
    let guess = guess_of(&labels, seen.format, seen.is_table, names_classes);
    let settings = match guess {
        Guess::Two => settings,
        Guess::Several => spec.clone().set("multiclass", true).resolve()?,
        Guess::Numbers => spec.clone().set("loss", "squared").resolve()?,
    };
    let classes = match guess {
        Guess::Numbers => Vec::new(),
        _ => opened::classes_of(&settings, labels, source, options)?,
    };
    let found = Found { classes, dimension: seen.dimension, rows: seen.rows, slot_bits: None };
    let opened = opened::reopen(std::slice::from_ref(&settings), found, source, options)?;
    Ok(Guessed { settings, guess: Some(guess), opened })
}

/// Whether the spec leaves the loss to the labels.
fn is_open(spec: &Spec, settings: &Settings) -> bool {
    let is_given = |name| spec.get(name).is_some_and(|value| !value.is_null());
    let takes = |loss: &str| {
        let parameter = settings.algorithm().parameter("loss");
        parameter.is_some_and(|p| p.check(&loss.into()).is_ok())
    };
    !["loss", "multiclass", "classes"].into_iter().any(is_given)
        && takes("logistic")
        && takes("squared")
}

/// Refuses numbers among which NA or another word for a missing value stands: it would be learned as a class.
fn check_missing(labels: &SeenLabels) -> Result<(), Error> {
    let SeenLabels::All(labels) = labels else { return Ok(()) };
    let (numbers, others): (Vec<&String>, Vec<&String>) =
        labels.iter().partition(|label| label.parse::<f64>().is_ok_and(f64::is_finite));
    match others[..] {
        [first, ..] if !numbers.is_empty() && others.iter().all(|other| is_missing_word(other)) => {
            let fact = format!(
                "labels are numbers, but some rows have the label {first:?}, which stands for a missing value"
            );
            let remove = Remedy::Advice("remove these rows".into());
            Err(Error::usage(Message::new(fact).or(remove).or(Remedy::NameClasses)))
        }
        _ => Ok(()),
    }
}

/// Refuses numbers with decimal commas, separators of thousands or currency signs: each would be learned as a class.
fn check_written(labels: &SeenLabels) -> Result<(), Error> {
    let SeenLabels::All(labels) = labels else { return Ok(()) };
    let is_plain = |label: &String| label.parse::<f64>().is_ok_and(f64::is_finite);
    let written = labels.iter().find(|label| is_written_number(label));
    match written {
        Some(first)
            if labels.len() > 2
                && labels.iter().all(|label| is_plain(label) || is_written_number(label)) =>
        {
            let fact =
                format!("the labels are numbers in a form that is not read, such as {first:?}");
            let rewrite = "write them with a decimal point and without separators or signs";
            let rewrite = Remedy::Advice(rewrite.into());
            Err(Error::usage(Message::new(fact).or(rewrite).or(Remedy::NameClasses)))
        }
        _ => Ok(()),
    }
}

/// Names of columns whose small integers are classes.
const CLASS_NAMES: [&str; 5] = ["class", "category", "type", "species", "outcome"];

/// Whether small integers in a column of this name are classes.
fn is_class_name(name: &str) -> bool {
    CLASS_NAMES.iter().any(|usual| name.trim().eq_ignore_ascii_case(usual))
}

fn guess_of(labels: &SeenLabels, format: Format, is_table: bool, names_classes: bool) -> Guess {
    let labels = match labels {
        SeenLabels::Usual { .. } => return Guess::Two,
        SeenLabels::Numbers => return Guess::Numbers,
        SeenLabels::All(labels) => labels,
    };
    let numbers: Option<Vec<f64>> = labels.iter().map(|label| label.parse().ok()).collect();
    match numbers {
        None if labels.len() > 2 => Guess::Several,
        None => Guess::Two,
        Some(numbers) if numbers.len() == 2 => Guess::Two,
        Some(numbers) => {
            let are_whole = numbers.iter().all(|y| y.fract() == 0.0);
            let are_contiguous = numbers.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
            let may_be =
                !is_table && matches!(format, Format::Svmlight | Format::Vw | Format::Cache);
            let are_few = (3..=MOST_NUMBERED).contains(&numbers.len());
            let is_numbering = may_be && are_contiguous;
            let are_small = numbers.iter().all(|y| (0.0..100.0).contains(y));
            let are_classes = are_whole && are_few && (is_numbering || names_classes && are_small);
            if are_classes { Guess::Several } else { Guess::Numbers }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(labels: &[&str], format: Format) -> Guess {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        guess_of(&SeenLabels::All(labels), format, format == Format::Csv, false)
    }

    #[test]
    fn small_integers_of_a_column_of_classes_are_classes() {
        let guess = |labels: &[&str]| {
            let labels = labels.iter().map(|&label| label.to_owned()).collect();
            guess_of(&SeenLabels::All(labels), Format::Csv, true, true)
        };
        assert_eq!(guess(&["1", "2", "4"]), Guess::Several);
        assert_eq!(guess(&["1", "2", "4.5"]), Guess::Numbers);
        assert_eq!(guess(&["100", "200", "400"]), Guess::Numbers);
        assert!(is_class_name("Species") && !is_class_name("quality"));
    }

    #[test]
    fn labels_decide() {
        assert_eq!(guess(&["no", "yes"], Format::Csv), Guess::Two);
        assert_eq!(guess(&["3", "7"], Format::Csv), Guess::Two);
        assert_eq!(guess(&["a", "b", "c"], Format::Csv), Guess::Several);
        assert_eq!(guess(&["1", "2", "3"], Format::Svmlight), Guess::Several);
        assert_eq!(guess(&["1", "2", "3"], Format::Csv), Guess::Numbers);
        assert_eq!(guess(&["1", "2", "4"], Format::Vw), Guess::Numbers);
        assert_eq!(guess(&["0.5", "1.5", "2.5"], Format::Vw), Guess::Numbers);
        assert_eq!(guess(&["5"], Format::Vw), Guess::Numbers);
    }

    #[test]
    fn numbers_with_decimal_commas_are_no_classes() {
        let check = |labels: &[&str]| {
            let labels = labels.iter().map(|&label| label.to_owned()).collect();
            check_written(&SeenLabels::All(labels))
        };
        let refused = ["100157,55", "7", "1.234,5"];
        assert!(check(&refused).unwrap_err().to_string().contains("such as \"100157,55\""));
        assert!(check(&["1,234.5", "$12", "13"]).is_err());
        assert!(check(&["1", "2", "3"]).is_ok() && check(&["1,5", "2,5"]).is_ok());
        assert!(check(&["1,5", "2,5", "other"]).is_ok());
    }

    #[test]
    fn a_missing_value_is_no_class_of_numbers() {
        let check = |labels: &[&str]| {
            let labels = labels.iter().map(|&label| label.to_owned()).collect();
            check_missing(&SeenLabels::All(labels))
        };
        assert!(check(&["0", "1", "NA"]).unwrap_err().to_string().contains("the label \"NA\""));
        assert!(check(&["0", "1"]).is_ok() && check(&["None", "gold", "silver"]).is_ok());
    }
}
