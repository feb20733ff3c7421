//! Settings as one flat object of names and values, and their conversion to types.

use serde_json::{Map, Value};

use super::{Settings, alias};
use crate::algorithm::setting::Default as DefaultValue;
use crate::algorithm::{self, ALGORITHMS, Algorithm, PENALTIES};
use crate::error::BuildError;
use crate::suggestion::did_you_mean;

/// Settings as given by the user. Fields that are not set stay unset until [`resolve`](Spec::resolve).
///
/// ```
/// use parsimon::Spec;
/// use parsimon::algorithm::typed::{Beta, Rda};
///
/// let file = Spec::from_json(r#"{"algorithm": "rda", "l1": 0.05}"#)?;
/// let flags = Spec::new("rda").set("l1", 0.1);
/// let settings = file.overwrite(flags).resolve()?;
/// let rda = settings.typed::<Rda>().unwrap();
/// assert_eq!(rda.penalized.l1, 0.1);
/// assert_eq!(rda.beta, Beta::Sqrt); // a default
///
/// let typo = Spec::from_json(r#"{"algorithm": "rda", "speed": 0.05}"#)?.resolve().unwrap_err();
/// assert!(typo.to_string().starts_with("rda has no setting \"speed\""));
/// # Ok::<(), parsimon::BuildError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    values: Map<String, Value>,
}

impl Spec {
    /// A spec that names an algorithm and leaves the rest unset.
    pub fn new(algorithm: &str) -> Self {
        Self::default().set("algorithm", algorithm)
    }

    /// The default of the program and of Python: `auto`, which needs neither a rate nor a penalty.
    pub fn recommended() -> Self {
        Self::new("auto")
    }

    pub(crate) fn from_values(values: Map<String, Value>) -> Self {
        Self { values }
    }

    /// Reads a JSON object.
    pub fn from_json(text: &str) -> Result<Self, BuildError> {
        let values = serde_json::from_str(text)
            .map_err(|e| BuildError::new("spec", format!("the spec is not a JSON object: {e}")))?;
        Ok(Self { values })
    }

    /// Reads a TOML table.
    pub fn from_toml(text: &str) -> Result<Self, BuildError> {
        let table: toml::Table = toml::from_str(text)
            .map_err(|e| BuildError::new("spec", format!("the spec is not TOML: {e}")))?;
        let values = table.into_iter().map(|(name, value)| (name, json_of(value))).collect();
        Ok(Self { values })
    }

    /// Sets one field.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }

    /// Sets the defaults for signals: no penalty, and a larger step for some filters.
    ///
    /// ```
    /// use parsimon::Spec;
    ///
    /// let settings = Spec::new("pda").for_signals().resolve()?;
    /// assert_eq!((&settings.to_json()["rate"], &settings.to_json()["l1"]), (&0.5.into(), &0.into()));
    /// # Ok::<(), parsimon::BuildError>(())
    /// ```
    #[must_use]
    pub fn for_signals(self) -> Self {
        let name = self.get("algorithm").and_then(Value::as_str).unwrap_or_default();
        let rate = algorithm::find(name).and_then(Algorithm::signal_rate);
        let is_rate = |field: &str| {
            let meaning = alias::meaning(field, &[name]);
            meaning.setting == "rate"
        };
        let is_set = self.fields().any(|(field, _)| is_rate(field));
        let spec = match rate {
            Some(rate) if !is_set => self.set("rate", rate),
            _ => self,
        };
        spec.without_default_penalty()
    }

    /// Sets the default rate of gradient steps for rows whose squared length is `energy`. Without it they diverge on long rows.
    ///
    /// ```
    /// use parsimon::Spec;
    ///
    /// let settings = Spec::new("rda").for_rows_of_energy(400.0).resolve()?;
    /// assert_eq!(settings.to_json()["rate"], 0.01);
    /// # Ok::<(), parsimon::BuildError>(())
    /// ```
    #[doc(hidden)]
    #[must_use]
    pub fn for_rows_of_energy(self, energy: f64) -> Self {
        let name = self.get("algorithm").and_then(Value::as_str).unwrap_or_default();
        let falls = algorithm::find(name).is_some_and(Algorithm::falls_with_energy);
        let is_rate = |field: &str| alias::meaning(field, &[name]).setting == "rate";
        let is_set = self.fields().any(|(field, _)| is_rate(field));
        if falls && !is_set && energy > 0.0 { self.set("rate", 4.0 / energy) } else { self }
    }

    /// Disables the default penalty of the algorithm.
    #[must_use]
    pub fn without_default_penalty(self) -> Self {
        let name = self.get("algorithm").and_then(Value::as_str).unwrap_or_default();
        let has_l1 = algorithm::find(name)
            .is_some_and(|a| a.parameter("l1").is_some_and(|l1| l1.default.is_some()));
        let is_set = self.fields().any(|(field, _)| PENALTIES.contains(&&*alias::synonym(field)));
        if has_l1 && !is_set { self.set("l1", 0) } else { self }
    }

    /// A field, if set.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The fields that are set, in the order of their names.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        let set = self.values.iter().filter(|(_, value)| !value.is_null());
        set.map(|(name, value)| (name.as_str(), value))
    }

    /// Overwrites fields by those that are set in `other`.
    #[must_use]
    pub fn overwrite(mut self, other: Spec) -> Self {
        self.values.extend(other.values);
        self
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Checks every field and fills in the defaults.
    pub fn resolve(&self) -> Result<Settings, BuildError> {
        self.resolve_with(false)
    }

    /// Resolves the settings of a file. A file has no penalty but those it states, so no default penalty is added.
    pub(crate) fn resolve_stored(&self) -> Result<Settings, BuildError> {
        self.resolve_with(true)
    }

    fn resolve_with(&self, is_stored: bool) -> Result<Settings, BuildError> {
        let algorithm = self.algorithm()?;
        if let Some(own) = alias::translated(self, Some(algorithm.name))? {
            return own.resolve_with(is_stored);
        }
        // Ends of weights are those of a box.
        let is_given = |name: &str| self.get(name).is_some_and(|value| !value.is_null());
        let has_box =
            algorithm.parameter("penalty").is_some_and(|p| p.check(&"box".into()).is_ok());
        if has_box && !is_given("penalty") && (is_given("lower") || is_given("upper")) {
            return self.clone().set("penalty", "box").resolve_with(is_stored);
        }
        for (name, value) in self.fields().filter(|(name, _)| *name != "algorithm") {
            // A strength of zero means the same as a method without that penalty.
            let is_absent_penalty = ["l1", "l2"].contains(&name) && value.as_f64() == Some(0.0);
            match algorithm.parameter(name) {
                Some(parameter) => parameter.check(value)?,
                None if is_absent_penalty => {}
                None => return Err(unknown_setting(algorithm, name)),
            }
        }
        let has_penalty = is_stored || self.fields().any(|(name, _)| PENALTIES.contains(&name));
        let mut values = Map::new();
        values.insert("algorithm".into(), algorithm.name.into());
        for parameter in algorithm.parameters() {
            let given = self.values.get(parameter.name).filter(|v| !v.is_null()).cloned();
            // A penalty that is set stands alone.
            let is_none = parameter.name == "l1" && parameter.default.is_some() && has_penalty;
            let default = || match is_none {
                true => Some(0.into()),
                false => parameter.default.map(DefaultValue::value),
            };
            if let Some(value) = given.or_else(default) {
                values.insert(parameter.name.into(), value);
            }
        }
        let is_loss_given = self.values.get("loss").is_some_and(|loss| !loss.is_null());
        let is_multiclass = values.get("multiclass").is_some_and(|flag| flag == &Value::from(true));
        if let Some(loss) = algorithm.loss_of_classes().filter(|_| is_multiclass && !is_loss_given)
        {
            values.insert("loss".into(), loss.word().into());
        }
        let configured = algorithm.configure(&mut values)?;
        Ok(Settings::new(algorithm, algorithm.in_order(values), configured, is_loss_given))
    }

    fn algorithm(&self) -> Result<&'static Algorithm, BuildError> {
        let fail = |message: String| Err(BuildError::new("algorithm", message));
        let Some(value) = self.values.get("algorithm") else {
            return fail("the spec names no algorithm".into());
        };
        let Some(name) = value.as_str() else {
            return fail(format!("algorithm must be a name, got {value}"));
        };
        match algorithm::find(name) {
            Some(algorithm) => Ok(algorithm),
            None => {
                let names = ALGORITHMS.iter().map(|a| a.name);
                fail(format!(
                    "there is no algorithm {name:?}{} `parsimon algorithms` lists them",
                    ended(&did_you_mean(name, names))
                ))
            }
        }
    }
}

/// A TOML value as JSON. JSON has no inf and no nan: they become words, which the settings that know them accept
/// and the others refuse; as nulls they would count as not set.
fn json_of(value: toml::Value) -> Value {
    match value {
        toml::Value::Float(x) if !x.is_finite() => x.to_string().to_lowercase().into(),
        toml::Value::Float(x) => x.into(),
        toml::Value::Integer(n) => n.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::String(text) => text.into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(json_of).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.into_iter().map(|(k, v)| (k, json_of(v))).collect())
        }
    }
}

/// A suggestion ends with its question mark, and nothing with a semicolon.
fn ended(suggestion: &str) -> &str {
    if suggestion.is_empty() { ";" } else { suggestion }
}

fn unknown_setting(algorithm: &'static Algorithm, name: &str) -> BuildError {
    let known: Vec<_> = algorithm.parameters().map(|p| p.name).collect();
    let others: Vec<_> = ALGORITHMS.iter().filter(|a| a.has(name)).map(|a| a.name).collect();
    let near = match others.is_empty() {
        true => ended(&did_you_mean(name, known.iter().copied())).to_owned(),
        // Not a typing error: it is a setting of other methods.
        false => {
            let more = if others.len() > 4 { ", ..." } else { "" };
            format!(", a setting of {}{more};", others[..others.len().min(4)].join(", "))
        }
    };
    let (own, known) = (algorithm.name, known.join(", "));
    BuildError::new(name, format!("{own} has no setting {name:?}{near} it has {known}"))
}
