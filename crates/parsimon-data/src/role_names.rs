//! Names by which a column or a field is taken for the label or the weight, in every format.

/// Names of the label, in any case. Of several in a row the earlier in this list is taken; a table with several is refused, but for `y`,
/// which is often a coordinate and gives way to the others.
const LABELS: [&str; 6] = ["label", "target", "click", "class", "outcome", "y"];

/// Names of the importance weight, in any case. A column `weight` is a feature: mostly it is that of a body, a fruit or a car.
const WEIGHTS: [&str; 3] = ["sample_weight", "importance", "example_weight"];

/// The name of the importance weight in JSON rows whose features are in an object of their own.
pub(crate) const BESIDE_FEATURES: &str = "weight";

/// Word that is passed instead of a column's name for no importance weight.
pub(crate) const NO_COLUMN: &str = "none";

/// Vowpal Wabbit's names of the label and the weight in JSON rows. They go before all others: beside them, `class` may be a namespace.
pub(crate) const VW_LABEL: &str = "_label";
pub(crate) const VW_WEIGHT: &str = "_weight";

/// The name that gives way to every other name of a label.
pub(crate) const WEAK_LABEL: &str = "y";

/// Returns the position of a name in a list, ignoring the case of ASCII letters.
fn rank(list: &[&str], name: &str) -> Option<usize> {
    list.iter().position(|usual| name.eq_ignore_ascii_case(usual))
}

/// Returns the name that comes first in a list, of those that are in it.
fn first<'a>(list: &[&str], names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names.filter_map(|name| Some((rank(list, name)?, name))).min().map(|(_, name)| name)
}

/// Returns the name that is taken for the label among the columns of a table or the fields of a row.
///
/// ```
/// use parsimon_data::label_name;
///
/// assert_eq!(label_name(["y", "Target", "x"].into_iter()), Some("Target"));
/// assert_eq!(label_name(["x", "z"].into_iter()), None);
/// ```
pub fn label_name<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    first(&LABELS, names)
}

/// Returns the name that is taken for the importance weight.
pub(crate) fn weight_name<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    first(&WEIGHTS, names)
}

/// Whether a column of this name is taken for the label because of its name.
pub fn is_label_name(name: &str) -> bool {
    rank(&LABELS, name).is_some()
}

/// Whether a column of this name is taken for the importance weight because of its name.
pub(crate) fn is_weight_name(name: &str) -> bool {
    rank(&WEIGHTS, name).is_some()
}

/// Returns the field of a JSON row that has its label: Vowpal Wabbit's, else one with a name of labels.
///
/// ```
/// use parsimon_data::label_field;
///
/// assert_eq!(label_field(["Outcome", "x"].into_iter()), Some("Outcome"));
/// assert_eq!(label_field(["class", "_label"].into_iter()), Some("_label"));
/// ```
pub fn label_field<'a>(fields: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    fields.clone().find(|name| *name == VW_LABEL).or_else(|| label_name(fields))
}

/// Whether a column of this name may be meant as the importance weight, and is read as a feature.
pub fn may_be_weight(name: &str) -> bool {
    ["weight", "weights"].iter().any(|usual| name.eq_ignore_ascii_case(usual))
}

/// Whether no column is to be the importance weight; a column of that name is one.
pub(crate) fn asks_no_weight<N: AsRef<str>>(names: &[N], asked: &str) -> bool {
    asked == NO_COLUMN && !names.iter().any(|name| name.as_ref() == NO_COLUMN)
}

/// Returns the field of a JSON row that has its weight.
pub(crate) fn weight_field<'a>(fields: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    fields.clone().find(|name| *name == VW_WEIGHT).or_else(|| weight_name(fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::rows;
    use crate::{Format, Options, Reading};

    #[test]
    fn a_name_has_its_role_in_every_format() {
        let spellings = |name: &str| [name.to_owned(), name.to_uppercase()];
        for name in LABELS.iter().flat_map(|name| spellings(name)) {
            for weight in WEIGHTS.iter().flat_map(|name| spellings(name)) {
                let texts = [
                    (Format::Csv, format!("a,{name},{weight}\n3,1,2.5\n")),
                    (Format::Tsv, format!("a\t{name}\t{weight}\n3\t1\t2.5\n")),
                    (Format::Jsonl, format!("{{\"a\":3,\"{name}\":1,\"{weight}\":2.5}}\n")),
                ];
                for (format, text) in texts {
                    let options =
                        Options::from(Reading { format: Some(format), ..Reading::default() });
                    let all = rows(text.as_bytes(), &options).unwrap();
                    assert_eq!(all.labels, [Some(1.0)], "{text}");
                    assert_eq!((all.weights[0], all.rows[0].len()), (2.5, 1), "{text}");
                }
            }
        }
    }
}
