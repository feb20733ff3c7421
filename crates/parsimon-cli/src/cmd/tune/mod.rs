//! `parsimon tune`: many settings of one method in one pass over the data.

mod live;
mod pass;
mod path;
mod runs;

use std::time::Instant;

use parsimon::workspace::{number::bytes, number::duration, number::thousands};

use crate::args::{TuneArgs, inputs};
use crate::cmd::comparison::{Task, Verdict, for_the_labels, print_verdict, publish};
use crate::console::{announce_terminal, note};
use crate::fault::Fault;
use crate::output::Files;

pub(crate) fn run(args: &TuneArgs) -> Result<(), Fault> {
    let mut files = Files::default();
    files.read("DATA", &args.data.inputs());
    files.read("--test", &inputs(&args.test));
    files.read("--spec", &args.spec.inputs());
    args.report.check(&mut files)?;
    files.write("--output", args.output.as_deref())?;
    let task = Task {
        data: &args.data,
        learner: &args.learner,
        test: &args.test,
        sample_negatives: args.sample_negatives,
        quiet: args.report.quiet,
    };
    if !args.report.quiet {
        announce_terminal(&args.data.inputs());
    }
    let start = Instant::now();
    let runs = runs::runs(args)?;
    let runs = for_the_labels(&task, &args.spec.given()?, runs, false, args.report.quiet)?;
    let pass::Learned { comparison, sweep, skipped } = pass::learn(args, &task, &runs)?;
    let elapsed = start.elapsed();
    let verdict = Verdict::new(&task, &comparison);
    let best = verdict.lowest();
    if let Some(path) = &args.output {
        match best.and_then(|best| sweep.model(best)) {
            Some(model) => model.save(path)?,
            None => return Err(Fault::Input("no setting has a loss; nothing was saved".into())),
        }
    }
    let path = match (&args.report.html, best) {
        (Some(_), Some(best)) => path::weights(&comparison, &sweep, best),
        _ => None,
    };
    publish(&verdict, &task, &args.report, "parsimon tune", path.as_slice())?;
    if !args.report.quiet {
        let last = format!(
            "{} settings in one pass over {} rows in {}",
            thousands(comparison.finishes.len() as u64),
            thousands(comparison.rows),
            duration(elapsed),
        );
        print_verdict(&verdict, &args.report, &last);
        if skipped > 0 {
            note(&format!(
                "skipped {} bad row{}",
                thousands(skipped),
                if skipped == 1 { "" } else { "s" }
            ));
        }
        if let Some(path) = &args.output {
            let size = std::fs::metadata(path).map_or(0, |m| m.len());
            note(&format!("model {} ({})", path.display(), bytes(size)));
        }
    }
    comparison.ended()
}
