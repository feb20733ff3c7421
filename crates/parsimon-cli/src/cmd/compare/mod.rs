//! `parsimon compare`: several methods, at several settings, in one pass over the data.

mod pass;
mod runs;
mod window;

use parsimon::workspace::number::thousands;

use crate::args::{CompareArgs, inputs};
use crate::cmd::comparison::{Task, Verdict, for_the_labels, print_verdict, publish};
use crate::console::announce_terminal;
use crate::fault::Fault;
use crate::output::Files;

pub(crate) fn run(args: &CompareArgs) -> Result<(), Fault> {
    let mut files = Files::default();
    files.read("DATA", &args.data.inputs());
    files.read("--test", &inputs(&args.test));
    files.read("--spec", &args.spec.inputs());
    args.report.check(&mut files)?;
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
    let (runs, given) = (runs::runs(args)?, args.spec.given()?);
    let are_usual = args.methods.is_empty() && given.get("algorithm").is_none();
    let runs = for_the_labels(&task, &given, runs, are_usual, args.report.quiet)?;
    let comparison = pass::hold(args, &task, &runs)?;
    let verdict = Verdict::new(&task, &comparison);
    publish(&verdict, &task, &args.report, "parsimon compare", &[])?;
    if !args.report.quiet {
        let (runs, rows) = (comparison.finishes.len() as u64, thousands(comparison.rows));
        let runs =
            if runs == 1 { "one run".to_owned() } else { format!("{} runs", thousands(runs)) };
        let last = format!("{runs} in one pass over {rows} rows; times are for learning alone");
        print_verdict(&verdict, &args.report, &last);
    }
    comparison.ended()
}
