//! The pass: every run learns every chunk, which is read once.

use std::thread;

use parsimon::data::Options;
use parsimon::train::Observer;
use parsimon::tune::{Stopped, Sweep};
use parsimon::{Error, Model};

use super::window::Window;
use crate::args::CompareArgs;
use crate::cmd::columns;
use crate::cmd::comparison::{
    Comparison, ConstantScore, Ended, Entry, Finish, Rows, Run, Score, Task, check_tests, judge,
    until_it_fits,
};
use crate::console::Console;
use crate::fault::Fault;

pub(super) fn hold(args: &CompareArgs, task: &Task<'_>, runs: &[Run]) -> Result<Comparison, Fault> {
    until_it_fits(|wider| once(args, task, runs, wider))
}

fn once(
    args: &CompareArgs,
    task: &Task<'_>,
    runs: &[Run],
    wider: Option<Options>,
) -> Result<Comparison, Ended> {
    let Entry { options, mut reader, reading, frame, settings } = Entry::new(task, runs, wider)?;
    let tests = task.tests();
    check_tests(&tests, &options)?;
    let (schema, mut windows) = (reading.clone(), Vec::new());
    let mut rows = Rows::new(task, &settings, &schema.found)?;
    let mut sweep = Sweep::empty(frame, reading);
    for (run, settings) in runs.iter().zip(settings) {
        windows.push(Window::new(&settings, &schema.found.classes, runs.len()));
        // A learner for each run: the table says how long each took.
        sweep.add(settings).map_err(|e| Fault::Usage(format!("{}: {e}", run.name)))?;
    }
    let threads = thread::available_parallelism().map_or(1, usize::from).min(options.threads);
    sweep.use_threads(threads);
    let mut console = Console::new(args.report.quiet, 1, 0, Vec::new());
    let quiet = args.report.quiet;
    let fault = |e| Ended::by(e, task, &options, quiet);
    while let Some(chunk) = rows.next(&mut reader).map_err(fault)? {
        sweep.learn_watched(chunk, &mut |_| {}, &mut windows);
        console.position(&reader.position());
    }
    console.finish();
    columns::warn(&reader.warnings());
    let (read, rows) = (rows.finish(), reader.position().rows);
    // After a signal nothing more is begun.
    let tests = if read.is_stopped { Vec::new() } else { tests };
    let mut finishes = finishes(&sweep, runs, windows)?;
    let scores = finishes.iter_mut().enumerate();
    let mut scores: Vec<(usize, &mut Score)> =
        scores.filter_map(|(i, f)| Some((i, f.result.as_mut().ok()?))).collect();
    let models =
        |places: &[usize]| -> Vec<Model> { sweep.models(places).into_iter().flatten().collect() };
    let mut constant = ConstantScore::of(&sweep);
    let beside = constant.as_mut().zip(sweep.constant_model(0));
    judge(&mut scores, beside, models, &tests, &options, threads)?;
    Ok(Comparison { rows, schema, finishes, read, constant })
}

/// What came of every run; an error if none came to its end.
fn finishes(sweep: &Sweep, runs: &[Run], windows: Vec<Window>) -> Result<Vec<Finish>, Fault> {
    let failures = || (0..runs.len()).filter_map(|k| Some((k, sweep.stopped(k)?)));
    if failures().count() == runs.len() {
        let told = failures().next().map(|(k, why)| format!("{}: {why}", runs[k].name));
        return Err(Fault::Input(told.unwrap_or_default()));
    }
    if sweep.rows() == 0 {
        return Err(Error::NothingLearned.into());
    }
    let (curves, nonzeros) = (sweep.curves_so_far(), sweep.nonzeros());
    let mut finishes = Vec::new();
    for (k, ((run, window), curve)) in runs.iter().zip(windows).zip(curves).enumerate() {
        let score = Score {
            loss: sweep.progressive(k).average().unwrap_or(f64::NAN),
            progressive: Some(window.finish()),
            test: None,
            nonzeros: nonzeros[k],
            curve,
        };
        let stopped: Option<Stopped> = sweep.stopped(k).cloned();
        finishes.push(Finish {
            run: run.clone(),
            settings: sweep.settings(k).clone(),
            time: sweep.time(k),
            result: stopped.map_or(Ok(score), Err),
        });
    }
    Ok(finishes)
}
