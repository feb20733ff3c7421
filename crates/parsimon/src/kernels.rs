//! The kernels of a multikernel filter, as settings say them.

use parsimon_core::kernel::Kernel;
use serde_json::{Map, Value, json};

use crate::{BuildError, Settings};

/// The words `kernel` may be or list.
pub(crate) const KERNELS: &[&str] = &["gaussian", "linear", "polynomial"];

/// Which words have a list of numbers, and what it is when nobody says.
fn lists() -> [(&'static str, &'static str, Value); 2] {
    [("gaussian", "variances", json!([0.01, 0.1, 1, 10])), ("polynomial", "degrees", json!([2]))]
}

/// The list of a kernel that is named, when nobody says it: the file of a model must not depend on what the defaults
/// are one day.
pub(crate) fn default(values: &Map<String, Value>, name: &str) -> Option<Value> {
    let words = words_of(values.get("kernel")?);
    let (_, _, value) = lists()
        .into_iter()
        .find(|(word, list, _)| *list == name && words.iter().any(|w| w == word))?;
    Some(value)
}

/// The words of a setting that is a word or a list of words.
fn words_of(value: &Value) -> Vec<String> {
    let words = match value {
        Value::Array(words) => &words[..],
        word => std::slice::from_ref(word),
    };
    words.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect()
}

impl Settings {
    /// The kernels of a multikernel filter: in the order of their words, and within a word in the order of its list. None for
    /// a linear model.
    ///
    /// ```
    /// use parsimon::Spec;
    /// use parsimon::core::kernel::Kernel;
    ///
    /// let spec = r#"{"algorithm": "multikernel-pda", "kernel": ["linear", "gaussian"], "variances": [0.5]}"#;
    /// let settings = Spec::from_json(spec)?.resolve()?;
    /// assert_eq!(settings.kernels(), [Kernel::Linear, Kernel::Gaussian { variance: 0.5 }]);
    /// assert!(Spec::new("ftrl").resolve()?.kernels().is_empty());
    /// # Ok::<(), parsimon::BuildError>(())
    /// ```
    pub fn kernels(&self) -> Vec<Kernel> {
        let list = |name: &str| self.get(name).and_then(Value::as_array).into_iter().flatten();
        let mut kernels = Vec::new();
        for word in self.get("kernel").map(words_of).unwrap_or_default() {
            match word.as_str() {
                "gaussian" => kernels.extend(
                    list("variances")
                        .filter_map(Value::as_f64)
                        .map(|variance| Kernel::Gaussian { variance }),
                ),
                "polynomial" => kernels.extend(
                    list("degrees")
                        .filter_map(Value::as_u64)
                        .map(|degree| Kernel::Polynomial { degree: degree as u32 }),
                ),
                _ => kernels.push(Kernel::Linear),
            }
        }
        kernels
    }

    /// Whether the model is a function over a dictionary of rows, and not linear.
    pub fn is_kernel(&self) -> bool {
        self.get("kernel").is_some()
    }

    /// The combinations of a multikernel filter's settings that make no sense.
    pub(crate) fn check_kernels(&self) -> Result<(), BuildError> {
        let Some(words) = self.get("kernel").map(words_of) else { return Ok(()) };
        for (word, list, _) in lists() {
            if self.get(list).is_some() && !words.iter().any(|w| w == word) {
                let message =
                    format!("{list} is a setting of the {word} kernel, which is not named");
                return Err(BuildError::new(list, message));
            }
        }
        if self.flag("multiclass") {
            let name = self.algorithm().name;
            let message =
                format!("{name} predicts numbers and knows no classes; leave out multiclass");
            return Err(BuildError::new("multiclass", message));
        }
        Ok(())
    }
}
