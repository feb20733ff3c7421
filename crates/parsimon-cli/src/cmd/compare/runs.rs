//! The runs of a comparison: each named method at every point of the grid.

use parsimon::Spec;
use parsimon::algorithm::{Algorithm, find};
use parsimon::settings::alias::meaning;
use parsimon::tune::Grid;
use parsimon::workspace::number::thousands;
use serde_json::Value;

use crate::args::{CompareArgs, method};
use crate::cmd::comparison::{MOST_RUNS, Run, grid, name, plain};
use crate::console::note;
use crate::fault::Fault;
use crate::flags::Flags;

/// Methods that are compared if none is named: the one that needs no settings, and each of the great families with settings that
/// suit most data.
const HANDFUL: &[&str] = &[
    "auto",
    "ftrl:l1=1,rate=0.1",
    "ftrl:l1=5,rate=0.1",
    "rda:rate=1,l1=1e-4",
    "adagrad-rda:rate=0.1,l1=1e-4",
    "fobos:rate=0.5,l1=1e-5",
    "adagrad-fobos:rate=0.1,l1=1e-5",
    "truncated-gradient:rate=0.5,l1=1e-5,period=10",
    "sgd:rate=0.5",
];

/// Flags that hold for every method that has them.
const SHARED: &[&str] = &["loss", "multiclass", "classes", "huber_delta", "quantile"];

/// Every run, in the order of the methods.
pub(super) fn runs(args: &CompareArgs) -> Result<Vec<Run>, Fault> {
    let methods = methods(args)?;
    let algorithms: Vec<&str> = methods.iter().map(|m| m.algorithm.as_str()).collect();
    let grid = grid(&args.sweeps, &algorithms)?;
    let count = methods.iter().map(|m| grid.count(&m.spec)).fold(0, usize::saturating_add);
    if count > MOST_RUNS {
        return Err(Fault::Usage(format!(
            "the grid has {} runs and {MOST_RUNS} are possible; take fewer values, sweeps or methods",
            thousands(count as u64)
        )));
    }
    let mut runs: Vec<Run> = Vec::new();
    for method in &methods {
        for run in method.at(&grid)? {
            // Methods that differ only in swept settings are one method now.
            if grid.is_empty() || !runs.iter().any(|known| known.name == run.name) {
                runs.push(run);
            }
        }
    }
    Ok(runs)
}

/// A method and the settings it was named with.
struct Method {
    algorithm: String,
    settings: Vec<(String, String)>,
    spec: Spec,
    /// Whether the user wrote the setting, so that its effect is printed.
    is_told: bool,
}

impl Method {
    fn new(text: &str, spec: Spec, is_told: bool) -> Self {
        let (algorithm, settings) = text.split_once(':').unwrap_or((text, ""));
        let pairs = settings.split(',').filter_map(|setting| setting.split_once('='));
        let settings = pairs.map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned())).collect();
        Self { algorithm: algorithm.to_owned(), settings, spec, is_told }
    }

    fn name(&self) -> String {
        name(&self.algorithm, &self.settings)
    }

    /// The method at every point of the grid.
    fn at(&self, grid: &Grid) -> Result<Vec<Run>, Fault> {
        let algorithm = find(&self.algorithm);
        let swept: Vec<&str> =
            grid.names().filter(|name| algorithm.is_some_and(|a| a.has(name))).collect();
        let is_swept = |(key, _): &&(String, String)| {
            swept.contains(&meaning(key, &[&self.algorithm]).setting.as_str())
        };
        let fixed: Vec<_> = self.settings.iter().filter(|s| !is_swept(s)).cloned().collect();
        if let Some((key, value)) = self.settings.iter().find(is_swept).filter(|_| self.is_told) {
            let whole = self.name();
            note(&format!("the sweep of {key} takes the place of {key}={value} in {whole}"));
        }
        let specs = grid.expand(&self.spec).map_err(|e| self.fault(&e))?;
        let run = |spec| Run::new(&self.algorithm, &fixed, &swept, spec);
        Ok(specs.into_iter().map(run).collect())
    }

    fn fault(&self, error: &parsimon::BuildError) -> Fault {
        Fault::Usage(format!("{}: {}", self.name(), error.message().words(&Flags)))
    }
}

/// The named methods, the method of the flags if they name one, or the default ones.
fn methods(args: &CompareArgs) -> Result<Vec<Method>, Fault> {
    let given = args.spec.given()?;
    let own = given.get("algorithm").is_some();
    let foreign = given.fields().map(|(name, _)| name).find(|name| !SHARED.contains(name));
    if !own && let Some(name) = foreign {
        return Err(Fault::Usage(format!(
            "{name} belongs to a method: write it as -m name:{name}=..., or name the method with -a"
        )));
    }
    let mut methods = Vec::new();
    if own {
        let spec = args.spec.spec()?;
        let pairs = given.fields().filter(|(name, _)| *name != "algorithm");
        let pairs: Vec<String> = pairs.map(|(k, v)| format!("{k}={}", plain(v))).collect();
        let text = format!(
            "{}:{}",
            given.get("algorithm").map(plain).unwrap_or_default(),
            pairs.join(",")
        );
        methods.push(Method::new(&text, spec, !args.report.quiet));
    }
    let named = !args.methods.is_empty();
    let texts: Vec<&str> = match (named, own) {
        (true, _) => args.methods.iter().map(String::as_str).collect(),
        (false, true) => Vec::new(),
        (false, false) => HANDFUL.to_vec(),
    };
    for text in texts {
        let spec = with_shared(method(text)?, &given);
        methods.push(Method::new(text, spec, named && !args.report.quiet));
    }
    for method in &methods {
        method.spec.resolve().map_err(|e| method.fault(&e))?;
    }
    if let Some(loss) = given.get("loss") {
        let takes = |m: &&Method| m.spec.get("loss") == Some(loss);
        if !methods.iter().any(|m| takes(&m)) {
            return Err(Fault::Usage(format!("no method takes the loss {}", plain(loss))));
        }
        for method in methods.iter().filter(|m| !takes(m) && m.is_told) {
            let own = method.spec.resolve().map(|s| s.loss_name().to_owned()).unwrap_or_default();
            note(&format!("{} uses the loss {own} instead", method.name()));
        }
    }
    Ok(methods)
}

/// Adds the shared settings that the method accepts to its own.
fn with_shared(method: Spec, shared: &Spec) -> Spec {
    let Some(algorithm) = method.get("algorithm").and_then(Value::as_str).and_then(find) else {
        // Resolving it reports the fault.
        return method;
    };
    let mut spec = Spec::default();
    for name in SHARED {
        if let Some(value) = shared.get(name).filter(|value| takes(algorithm, name, value)) {
            spec = spec.set(name, value.clone());
        }
    }
    let spec = spec.overwrite(method);
    // Settings of one loss are passed with that loss only.
    let loss = spec.get("loss").map(plain).unwrap_or_default();
    [("huber_delta", "huber"), ("quantile", "quantile")].into_iter().fold(
        spec,
        |spec, (name, of)| {
            let is_foreign = loss != of && shared.get(name) == spec.get(name);
            if is_foreign && spec.get(name).is_some() { spec.set(name, Value::Null) } else { spec }
        },
    )
}

fn takes(algorithm: &Algorithm, name: &str, value: &Value) -> bool {
    algorithm.parameter(name).is_some_and(|p| p.accepts(value))
}
