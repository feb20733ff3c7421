//! The pass: every run learns every chunk, which is read once.

use std::thread;

use parsimon::job::{Events, Swept};
use parsimon::tune::Sweep;
use parsimon::workspace::Position;
use parsimon::workspace::Stopped;
use parsimon::{Error, Model};

use super::window::Window;
use crate::args::CompareArgs;
use crate::cmd::comparison::{
    Comparison, ConstantScore, Finish, Follower, Run, Score, Screen, Task, check_tests, job, judge,
    learner_options, named, settings,
};
use crate::console::Console;
use crate::fault::Fault;

pub(super) fn hold(args: &CompareArgs, task: &Task<'_>, runs: &[Run]) -> Result<Comparison, Fault> {
    let (inputs, tests) = (task.data.inputs(), task.tests());
    let (settings, job) = (settings(runs)?, job(task, &inputs)?);
    let available = thread::available_parallelism().map_or(1, usize::from);
    let threads = available.min(job.plan.options.run.threads);
    let begin = || Console::new(args.report.quiet, 1, 0, Vec::new());
    let mut follower = Follower::new(task, &begin);
    let swept = job.sweep(&settings, &mut follower, |opened| {
        let options = learner_options(task, runs, &settings, opened)?;
        check_tests(&tests, &opened.options)?;
        let mut sweep = Sweep::empty(options, opened.schema.clone());
        let mut windows = Vec::new();
        for (run, settings) in runs.iter().zip(&settings) {
            windows.push(Window::new(settings, &opened.schema.found.classes, runs.len()));
            // A learner for each run: the table says how long each took.
            sweep.add(settings.clone()).map_err(|e| named(run, e.into()))?;
        }
        sweep.use_threads(threads);
        Ok::<_, Fault>((sweep, windows))
    })?;
    follower.finish();
    let Swept { sweep, watches, options, rows, negatives, is_stopped, .. } = swept;
    // After a signal no further work begins.
    let tests = if is_stopped { Vec::new() } else { tests };
    let mut finishes = finishes(&sweep, runs, watches)?;
    let scores = finishes.iter_mut().enumerate();
    let mut scores: Vec<(usize, &mut Score)> =
        scores.filter_map(|(i, f)| Some((i, f.result.as_mut().ok()?))).collect();
    let models =
        |places: &[usize]| -> Vec<Model> { sweep.models(places).into_iter().flatten().collect() };
    let mut constant = ConstantScore::of(&sweep);
    let beside = constant.as_mut().zip(sweep.constant_model(0));
    judge(&mut scores, beside, models, &tests, &options, threads)?;
    let schema = sweep.schema().clone();
    Ok(Comparison { rows, schema, finishes, negatives, is_stopped, constant })
}

impl Screen for Console {
    fn show(&mut self, _: &Sweep, position: &Position) {
        self.position(position);
    }

    fn finish(&mut self) {
        Console::finish(self);
    }
}

/// Returns the result of every run; an error if no run finished.
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
