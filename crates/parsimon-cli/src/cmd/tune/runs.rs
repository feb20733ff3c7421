//! The settings to try: a grid, or a draw from it.

use parsimon::Spec;
use parsimon::algorithm::find;
use parsimon::settings::alias::meaning;
use parsimon::tune::Grid;
use parsimon::workspace::number::thousands;
use serde_json::Value;

use crate::args::TuneArgs;
use crate::cmd::comparison::{MOST_RUNS, Run, grid, name, plain};
use crate::fault::Fault;

/// Every setting, in the order of the grid or of the draw.
pub(super) fn runs(args: &TuneArgs) -> Result<Vec<Run>, Fault> {
    let spec = args.spec.over(default_spec())?;
    let algorithm = spec.get("algorithm").map(plain).unwrap_or_default();
    if find(&algorithm).is_none() {
        // Resolving it reports the fault.
        spec.resolve()?;
    }
    let is_normalized = spec.get("normalize") == Some(&Value::Bool(true));
    let grid = swept(args, &algorithm, is_normalized)?;
    let names: Vec<&str> = grid.names().collect();
    let count = args.random.map_or_else(|| grid.count(&spec), |n| n as usize);
    if count > MOST_RUNS {
        return Err(Fault::Usage(format!(
            "there are {} settings and {MOST_RUNS} are possible; take fewer values or sweeps, or --random {MOST_RUNS}",
            thousands(count as u64)
        )));
    }
    let pairs = spec.fields().filter(|(k, _)| *k != "algorithm" && !names.contains(k));
    let fixed: Vec<(String, String)> = pairs.map(|(k, v)| (k.to_owned(), plain(v))).collect();
    let named = |e| Fault::Usage(format!("{}: {e}", name(&algorithm, &fixed)));
    let specs = match args.random {
        Some(_) => grid.draw(&spec, count, args.seed),
        None => grid.expand(&spec),
    };
    let specs = specs.map_err(named)?;
    // A setting that cannot be is found before the data is opened.
    specs.iter().try_for_each(|spec| spec.resolve().map(|_| ()).map_err(named))?;
    Ok(specs.into_iter().map(|spec| Run::new(&algorithm, &fixed, &names, spec)).collect())
}

/// Algorithm that is tuned by default: normalized, so that one grid suits any data.
fn default_spec() -> Spec {
    Spec::new("ftrl").set("normalize", true).set("beta", 0)
}

/// The sweeps of the flags, or the default sweeps of settings that are not fixed.
fn swept(args: &TuneArgs, algorithm: &str, is_normalized: bool) -> Result<Grid, Fault> {
    let fixed = fixed(args, algorithm);
    let is_fixed = |name: &str| fixed.iter().any(|other| other == name);
    if !args.sweeps.is_empty() {
        let grid = grid(&args.sweeps, &[algorithm])?;
        if let Some(name) = grid.names().find(|name| is_fixed(name)) {
            let message = format!("{name} is fixed by a flag and swept; leave out one of them");
            return Err(Fault::Usage(message));
        }
        return Ok(grid);
    }
    let usual = find(algorithm).map_or(&[][..], |algorithm| {
        if is_normalized { algorithm.normalized_grid } else { algorithm.grid }
    });
    if usual.is_empty() {
        return Err(Fault::Usage(format!(
            "{algorithm} has no default grid; pass a sweep, such as {}",
            example(algorithm)
        )));
    }
    let is_free = |text: &&&str| text.split_once('=').is_some_and(|(name, _)| !is_fixed(name));
    let texts: Vec<String> = usual.iter().filter(is_free).map(|&text| text.to_owned()).collect();
    if texts.is_empty() {
        return Err(Fault::Usage(format!(
            "all settings of the default grid are fixed; pass a sweep, such as {}",
            example(algorithm)
        )));
    }
    grid(&texts, &[algorithm])
}

/// The settings that flags fix; those of a file may be swept.
fn fixed(args: &TuneArgs, algorithm: &str) -> Vec<String> {
    args.spec.names().map(|name| meaning(name, &[algorithm]).setting).collect()
}

/// A sweep around the default of the method's first number.
fn example(algorithm: &str) -> String {
    let usual = |name: &str| {
        let settings = parsimon::Spec::new(algorithm).resolve().ok()?;
        settings.to_json().get(name).and_then(Value::as_f64).filter(|x| *x > 0.0)
    };
    let of = |name: &str| {
        let x = usual(name)?;
        Some(format!("--sweep {name}={}..{}:8", x / 10.0, x * 10.0))
    };
    let names = ["rate", "delta", "radius"];
    names.iter().find_map(|name| of(name)).unwrap_or_else(|| "--sweep l1=0.1..10:8".to_owned())
}
