//! A run described in one flat object, and the door from words to types.

use serde_json::{Map, Value};

use crate::BuildError;
use crate::kernels;
use crate::registry::{self, ALGORITHMS, Algorithm};

/// Settings as somebody gave them: unset fields stay unset, layers overwrite each other.
///
/// ```
/// use parsimon::Spec;
///
/// let file = Spec::from_json(r#"{"algorithm": "rda", "l1": 0.05}"#)?;
/// let flags = Spec::new("rda").set("l1", 0.1);
/// let settings = file.overwrite(flags).resolve()?;
/// assert_eq!(settings.number("l1"), 0.1);
/// assert_eq!(settings.word("beta"), "sqrt"); // a default
///
/// let typo = Spec::from_json(r#"{"algorithm": "rda", "lr": 0.05}"#)?.resolve().unwrap_err();
/// assert!(typo.to_string().starts_with("rda has no setting \"lr\""));
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

    /// What the program runs when nobody names an algorithm: FTRL-Proximal with enough l1 to be sparse, and steps that did well
    /// on click logs and on small sets alike (`record/`).
    pub fn recommended() -> Self {
        Self::new("ftrl").set("rate", 0.15).set("beta", 0.1).set("l1", 1.0)
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

    /// A field, if set.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The fields that are set, in the order of their names.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        let set = self.values.iter().filter(|(_, value)| !value.is_null());
        set.map(|(name, value)| (name.as_str(), value))
    }

    /// The fields of `other` win.
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
        let algorithm = self.algorithm()?;
        if let Some(own) = crate::alias::translated(self, Some(algorithm.name))? {
            return own.resolve();
        }
        for (name, value) in &self.values {
            if name == "algorithm" || value.is_null() {
                continue;
            }
            let known = algorithm.all_parameters().find(|p| p.name == name);
            // A strength of zero is what a method without that penalty has.
            let absent_penalty =
                ["l1", "l2"].contains(&name.as_str()) && value.as_f64() == Some(0.0);
            match known {
                Some(parameter) => parameter.check(value)?,
                None if absent_penalty => {}
                None => return Err(unknown_setting(algorithm, name)),
            }
        }
        let mut values = Map::new();
        values.insert("algorithm".into(), algorithm.name.into());
        for parameter in algorithm.all_parameters() {
            let given = self.values.get(parameter.name).filter(|v| !v.is_null()).cloned();
            let default = || parameter.default.map(crate::parameter::Default::value);
            let value =
                given.or_else(default).or_else(|| kernels::default(&values, parameter.name));
            if let Some(value) = value {
                values.insert(parameter.name.into(), value);
            }
        }
        let settings = Settings { algorithm, values };
        settings.check_together()?;
        Ok(settings)
    }

    fn algorithm(&self) -> Result<&'static Algorithm, BuildError> {
        let fail = |message: String| Err(BuildError::new("algorithm", message));
        let Some(value) = self.values.get("algorithm") else {
            return fail("the spec names no algorithm".into());
        };
        let Some(name) = value.as_str() else {
            return fail(format!("algorithm must be a name, got {value}"));
        };
        match registry::find(name) {
            Some(algorithm) => Ok(algorithm),
            None => {
                let names = ALGORITHMS.iter().map(|a| a.name);
                fail(format!(
                    "there is no algorithm {name:?}{}; `parsimon algorithms` lists them",
                    did_you_mean(name, names)
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

fn unknown_setting(algorithm: &'static Algorithm, name: &str) -> BuildError {
    let known: Vec<_> = algorithm.all_parameters().map(|p| p.name).collect();
    BuildError::new(
        name,
        format!(
            "{} has no setting {name:?}{}; it has {}",
            algorithm.name,
            did_you_mean(name, known.iter().copied()),
            known.join(", ")
        ),
    )
}

/// ", did you mean ...?" when a name is near.
pub fn did_you_mean<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> String {
    // Of equally near names, the one of equal length: letters get swapped more often than lost.
    let near =
        known.map(|name| (distance(given, name), name.len().abs_diff(given.len()), name)).min();
    match near {
        Some((d, _, name)) if d <= 2.max(given.len() / 3) => format!(", did you mean {name:?}?"),
        _ => String::new(),
    }
}

/// How many letters must be put in, left out, replaced or swapped with their neighbor.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            d[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replace = d[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                replace.min(d[i - 1][j] + 1).min(d[i][j - 1] + 1)
            };
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d[i][j] = d[i][j].min(d[i - 2][j - 2] + 1);
            }
        }
    }
    d[a.len()][b.len()]
}

/// Settings that are complete and checked: what was built, after defaults.
#[derive(Clone, Debug)]
pub struct Settings {
    algorithm: &'static Algorithm,
    values: Map<String, Value>,
}

impl Settings {
    /// The algorithm.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// As a spec that resolves to these settings again.
    pub fn to_spec(&self) -> Spec {
        Spec { values: self.values.clone() }
    }

    /// As a JSON object.
    pub fn to_json(&self) -> &Map<String, Value> {
        &self.values
    }

    /// A setting, if it is there.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// A number; "inf" is infinity, and a setting the algorithm does not have is 0.
    pub fn number(&self, name: &str) -> f64 {
        match self.values.get(name) {
            Some(Value::String(_)) => f64::INFINITY,
            Some(value) => value.as_f64().unwrap_or(0.0),
            None => 0.0,
        }
    }

    /// A number, if it is there.
    pub fn optional(&self, name: &str) -> Option<f64> {
        self.values.get(name).and_then(Value::as_f64)
    }

    /// A whole number; 1 if it is not there.
    pub fn natural(&self, name: &str) -> u64 {
        self.values.get(name).and_then(Value::as_u64).unwrap_or(1)
    }

    /// A word; empty if it is not there.
    pub fn word(&self, name: &str) -> &str {
        self.values.get(name).and_then(Value::as_str).unwrap_or("")
    }

    /// A flag; false if it is not there.
    pub fn flag(&self, name: &str) -> bool {
        self.values.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// The declared classes.
    pub fn classes(&self) -> Option<Vec<String>> {
        self.values.get("classes").map(crate::parameter::texts_of)
    }

    /// These settings, of several classes and without a list of them, with the classes the data has.
    pub(crate) fn with_classes_of(self, reading: &crate::InputSchema) -> Self {
        let declared = self.classes().is_some() || reading.classes.is_empty();
        match self.flag("multiclass") && !declared {
            true => self.with_classes(&reading.classes),
            false => self,
        }
    }

    /// The same settings with classes declared.
    #[must_use]
    pub fn with_classes(mut self, classes: &[String]) -> Self {
        self.values.insert("classes".into(), classes.into());
        self
    }

    /// The same settings with the number of features declared.
    #[must_use]
    pub fn with_dimension(mut self, dimension: u32) -> Self {
        self.values.insert("dimension".into(), dimension.into());
        self
    }

    /// The same settings with the switch of the two-phase schedule declared.
    #[must_use]
    pub fn with_switch(mut self, switch: u64) -> Self {
        self.values.insert("switch".into(), switch.into());
        self
    }

    /// Whether the method must know the number of features and nobody has said it.
    pub fn wants_dimension(&self) -> bool {
        (self.word("ball") == "simplex-kl" || self.is_dense()) && self.get("dimension").is_none()
    }

    /// Whether the schedule must know when to switch and nobody has said it.
    pub fn wants_switch(&self) -> bool {
        self.word("schedule") == "two-phase" && self.get("switch").is_none()
    }

    /// Whether every weight is looked at in every round: the filters, but for those with the identity metric and
    /// order 1, whose step touches a row's own features alone.
    pub fn is_dense(&self) -> bool {
        let plain = self.get("alpha").is_none() && self.natural("order") == 1;
        match self.algorithm.name {
            "rls" | "pnlms" | "ipnlms" => true,
            "nlms" | "apa" | "papa" | "apfbs" | "pda" => !plain,
            _ => false,
        }
    }

    /// The combinations no single setting can judge.
    fn check_together(&self) -> Result<(), BuildError> {
        let fail = |name: &str, message: &str| Err(BuildError::new(name, message));
        if self.algorithm.name == "rda" && self.number("l2") == 0.0 {
            if self.word("beta") != "sqrt" {
                return fail(
                    "beta",
                    "beta zero, constant and log need l2 > 0: they rest on the \
                                     penalty's strong convexity",
                );
            }
            if self.word("prox") == "psi" {
                return fail("prox", "prox psi needs l2 > 0: the penalty is its own stabilizer");
            }
        }
        if self.word("penalty") == "group" && self.get("groups").is_none() {
            return fail("groups", "the group penalty needs groups, lists of feature ids");
        }
        if let Some(groups) = self.get("groups").and_then(Value::as_array) {
            let mut ids: Vec<_> = groups
                .iter()
                .filter_map(Value::as_array)
                .flatten()
                .filter_map(Value::as_u64)
                .collect();
            let len = ids.len();
            ids.sort_unstable();
            ids.dedup();
            if ids.len() < len {
                return fail("groups", "a feature id may be in one group only");
            }
        }
        if self.number("l2") > 0.0 && ["l2-norm", "linf", "group"].contains(&self.word("penalty")) {
            return fail("l2", "l2 goes with the elastic penalty; the norms' strength is l1");
        }
        let loss = self.word("loss");
        if self.flag("implicit") && !["squared", "logistic", "hinge"].contains(&loss) {
            return fail(
                "implicit",
                "implicit updates are for the losses squared, logistic and hinge",
            );
        }
        if self.word("loss") == "halfspace" && self.natural("order") > 1 {
            return fail("order", "half-spaces are projected on one by one: order must be 1");
        }
        let name = self.algorithm.name;
        if name == "nlms" && self.natural("order") > 1 {
            return fail("order", "nlms is of order 1; apa projects on the last r rows");
        }
        if ["nlms", "apa"].contains(&name) && self.get("alpha").is_some() {
            return Err(BuildError::new(
                "alpha",
                format!("{name} has the identity metric; papa has the one with alpha"),
            ));
        }
        for (name, of) in [("huber_delta", "huber"), ("quantile", "quantile")] {
            if self.get(name).is_some() && loss != of {
                return Err(BuildError::new(name, format!("{name} is a setting of the loss {of}")));
            }
        }
        if loss == "poisson" && self.flag("multiclass") {
            return fail("loss", "multiclass needs a loss for classes or the squared loss");
        }
        self.check_kernels()
    }
}
