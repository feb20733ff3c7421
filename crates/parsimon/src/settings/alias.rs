//! Other names of settings, as papers use them: `eta` is the rate, `lambda` is l1.
//!
//! This is the only list. Flags, sweeps, spec files and Python read it.
//!
//! ```
//! use parsimon::Spec;
//! use parsimon::algorithm::typed::Rda;
//!
//! let settings = Spec::from_json(r#"{"algorithm": "rda", "lambda": 0.1, "gamma": 4}"#)?.resolve()?;
//! let rda = settings.typed::<Rda>().unwrap();
//! assert_eq!((rda.penalized.l1, rda.rate), (0.1, 0.25));
//! # Ok::<(), parsimon::BuildError>(())
//! ```

use serde_json::Value;

use super::Spec;
use crate::algorithm::find;
use crate::error::BuildError;

/// Names that mean the same for every method.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("rate", &["eta", "learning_rate", "lr"]),
    ("l1", &["lambda", "lambda1"]),
    ("l2", &["lambda2"]),
];

/// Meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The setting.
    pub setting: String,
    /// Whether the value must be inverted: `gamma` is one over the rate.
    pub is_inverse: bool,
}

/// The other names of a setting, with underscores.
pub fn synonyms(setting: &str) -> &'static [&'static str] {
    SYNONYMS.iter().find(|(name, _)| *name == setting).map_or(&[], |(_, others)| others)
}

/// Returns the setting that a name means for every method. Dashes are read as underscores.
///
/// ```
/// use parsimon::settings::alias::synonym;
///
/// assert_eq!([synonym("learning-rate"), synonym("lambda2"), synonym("beta")], ["rate", "l2", "beta"]);
/// ```
pub fn synonym(name: &str) -> String {
    let name = name.trim().replace('-', "_");
    let known = SYNONYMS.iter().find(|(_, others)| others.contains(&name.as_str()));
    known.map_or(name, |(setting, _)| (*setting).to_owned())
}

/// The setting that a name means for some of the methods. Papers use different names: `alpha` is the rate of FTRL. `gamma` is one
/// over the rate, unless one of the methods has a setting of that name.
///
/// ```
/// use parsimon::settings::alias::meaning;
///
/// assert_eq!(meaning("alpha", &["ftrl"]).setting, "rate");
/// assert_eq!(meaning("alpha", &["ftrl", "pda"]).setting, "alpha");
/// assert!(meaning("gamma", &["rda"]).is_inverse);
/// ```
pub fn meaning(name: &str, methods: &[&str]) -> Meaning {
    let name = synonym(name);
    let methods: Vec<_> = methods.iter().filter_map(|method| find(method)).collect();
    // The meaning of a name is not known without the method.
    let is_own = methods.is_empty() || methods.iter().any(|method| method.has(&name));
    let alias = methods.iter().find_map(|method| method.alias(&name));
    match (name.as_str(), alias) {
        (_, Some(setting)) if !is_own => Meaning { setting: setting.to_owned(), is_inverse: false },
        ("gamma", _) if !is_own => Meaning { setting: "rate".to_owned(), is_inverse: true },
        _ => Meaning { setting: name, is_inverse: false },
    }
}

/// The spec with other names translated to settings of the method; `None` if there is nothing to translate. Without a method, only
/// names that mean the same for every method are translated.
pub fn translated(spec: &Spec, method: Option<&str>) -> Result<Option<Spec>, BuildError> {
    let methods: Vec<&str> = method.into_iter().collect();
    let is_alias = |name: &str| meaning(name, &methods).setting != name;
    if !spec.fields().any(|(name, _)| is_alias(name)) {
        return Ok(None);
    }
    let mut own = Spec::default();
    for (name, value) in spec.fields() {
        let Meaning { setting, is_inverse } = meaning(name, &methods);
        if own.get(&setting).is_some() {
            let message =
                format!("{setting} is set twice, once as {}", other(spec, &setting, &methods));
            return Err(BuildError::new(setting, message));
        }
        let value = if is_inverse { inverse(name, value)? } else { value.clone() };
        own = own.set(&setting, value);
    }
    Ok(Some(own))
}

/// The other name under which a setting was given.
fn other<'a>(spec: &'a Spec, setting: &str, methods: &[&str]) -> &'a str {
    let mut names = spec.fields().map(|(name, _)| name);
    names.find(|name| *name != setting && meaning(name, methods).setting == setting).unwrap_or("")
}

fn inverse(name: &str, value: &Value) -> Result<Value, BuildError> {
    let number = value.as_f64().filter(|x| x.is_finite() && *x > 0.0);
    let message = || format!("{name} must be a finite number > 0, got {value}");
    number.map(|x| (1.0 / x).into()).ok_or_else(|| BuildError::new(name, message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_as_its_method_reads_it() {
        let spec = Spec::default().set("alpha", 0.5).set("lambda-2", 1).set("lambda2", 2);
        let own = translated(&spec, Some("ftrl")).unwrap().unwrap();
        assert_eq!(own, Spec::default().set("rate", 0.5).set("lambda_2", 1).set("l2", 2));
        let own = translated(&spec, None).unwrap().unwrap();
        assert_eq!((own.get("alpha"), own.get("l2")), (Some(&0.5.into()), Some(&2.into())));
        assert_eq!(translated(&Spec::new("pda").set("alpha", 0.5), Some("pda")).unwrap(), None);
        assert_eq!(translated(&Spec::new("no").set("alpha", 0.5), Some("no")).unwrap(), None);
    }

    #[test]
    fn contradictions_are_refused() {
        let twice = Spec::new("ftrl").set("eta", 0.1).set("rate", 0.2).resolve();
        assert_eq!(twice.unwrap_err().to_string(), "rate is set twice, once as eta");
        let negative = Spec::new("ftrl").set("gamma", -2).resolve();
        assert_eq!(negative.unwrap_err().to_string(), "gamma must be a finite number > 0, got -2");
    }

    #[test]
    fn no_method_has_a_setting_of_a_synonym() {
        for (name, others) in SYNONYMS {
            for method in crate::algorithm::ALGORITHMS.iter() {
                assert!(others.iter().all(|other| !method.has(other)), "{} {name}", method.name);
            }
        }
    }
}
