//! The task, guessed from the labels as `train` guesses it.

use parsimon::Spec;
use parsimon::algorithm::find;
use parsimon::data::Input;
use parsimon::job::Job;
use parsimon::survey::{Guess, Guessed};
use serde_json::Value;

use super::run::plain;
use super::{Run, Task};
use crate::cmd::train::guessed;
use crate::console::note;
use crate::fault::Fault;

/// Settings that determine the kind of the labels.
const DECIDING: &[&str] = &["loss", "multiclass", "classes", "huber_delta", "quantile"];

/// The runs for the labels of the data: if neither a flag nor a method determines their kind, it is guessed from the data, and the guess is
/// printed. The usual methods (`are_usual`) are normalized on tables, where columns have different units.
pub(crate) fn for_the_labels(
    task: &Task<'_>,
    given: &Spec,
    runs: Vec<Run>,
    are_usual: bool,
    quiet: bool,
) -> Result<Vec<Run>, Fault> {
    let inputs = task.data.inputs();
    let has = |spec: &Spec| DECIDING.iter().any(|name| spec.get(name).is_some());
    let is_decided = has(given) || runs.iter().any(|run| has(&run.spec));
    if inputs.iter().any(Input::is_read_once) || (is_decided && !are_usual) {
        return Ok(runs);
    }
    let options = task.data.options(task.learner.precision())?;
    let mut usual = Spec::new("auto");
    if is_decided {
        for name in DECIDING {
            if let Some(value) = given.get(name) {
                usual = usual.set(name, value.clone());
            }
        }
    }
    let Guessed { guess, opened, .. } = Job::new(&inputs, usual, options).look(&mut ())?;
    let mut runs = runs;
    if are_usual && opened.schema.table.is_some() {
        runs = runs.into_iter().map(normalized).collect();
    }
    let asked = match guess {
        Some(Guess::Several) => ("multiclass", Value::Bool(true)),
        Some(Guess::Numbers) => ("loss", Value::from("squared")),
        Some(Guess::Two) | None => return Ok(runs),
    };
    if let Some(guess) = guess.filter(|_| !quiet) {
        note(&guessed(guess, &opened));
    }
    // A method with one loss, such as nlms, learns by it.
    Ok(runs.into_iter().map(|run| with(&run, &asked).unwrap_or(run)).collect())
}

/// The run with a setting, if its method takes it.
fn with(run: &Run, (name, value): &(&str, Value)) -> Option<Run> {
    let algorithm = find(&run.spec.get("algorithm").map(plain)?)?;
    let takes = algorithm.parameter(name).is_some_and(|p| p.accepts(value));
    takes.then(|| Run { spec: run.spec.clone().set(name, value.clone()), ..run.clone() })
}

/// The run on a common scale, by that name.
fn normalized(run: Run) -> Run {
    let setting = ("normalize", Value::Bool(true));
    // The default method scales features and labels anyway.
    let is_auto = run.spec.get("algorithm").map(plain).as_deref() == Some("auto");
    let Some(mut scaled) = with(&run, &setting).filter(|_| !is_auto) else { return run };
    for name in [&mut scaled.family, &mut scaled.name] {
        let joint = if name.contains(':') { ',' } else { ':' };
        *name = format!("{name}{joint}normalize=true");
    }
    scaled
}
