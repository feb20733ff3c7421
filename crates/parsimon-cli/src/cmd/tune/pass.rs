//! The pass: all settings learn the rows together.

use std::thread;

use parsimon::job::{Swept, measure_of};
use parsimon::tune::{EarlyStopping, Sweep};
use parsimon::workspace::LearningCurve;
use parsimon::workspace::Standing;
use parsimon::{Error, Model, Settings};

use super::live::Live;
use crate::args::TuneArgs;
use crate::cmd::comparison::{
    Comparison, ConstantScore, Finish, Follower, Run, Score, Task, check_tests, job, judge,
    learner_options, settings,
};
use crate::fault::Fault;

/// The result of the pass.
pub(super) struct Learned {
    pub(super) comparison: Comparison,
    pub(super) sweep: Sweep,
    /// Rows skipped because they were bad.
    pub(super) skipped: u64,
}

pub(super) fn learn(args: &TuneArgs, task: &Task<'_>, runs: &[Run]) -> Result<Learned, Fault> {
    let (inputs, tests) = (task.data.inputs(), task.tests());
    let (settings, job) = (settings(runs)?, job(task, &inputs)?);
    let available = thread::available_parallelism().map_or(1, usize::from);
    let threads = available.min(job.plan.options.run.threads);
    let measure = settings.first().map(measure_of).unwrap_or_default();
    let begin = || Live::new(args.report.quiet, runs, measure);
    let mut follower = Follower::new(task, &begin);
    let swept = job.sweep(&settings, &mut follower, |opened| {
        let options = learner_options(task, runs, &settings, opened)?;
        same_loss(&settings)?;
        check_tests(&tests, &opened.options)?;
        let mut sweep = Sweep::new(settings.clone(), options, opened.schema.clone())?;
        sweep.use_threads(threads);
        if !args.keep_all {
            sweep.give_up_when(EarlyStopping::default());
        }
        Ok::<(Sweep, Vec<()>), Fault>((sweep, Vec::new()))
    })?;
    follower.finish();
    let Swept { sweep, options, rows, skipped, negatives, is_stopped, .. } = swept;
    // After a signal no further work begins.
    let tests = if is_stopped { Vec::new() } else { tests };
    let mut finishes = finishes(&sweep, runs)?;
    let scores = finishes.iter_mut().enumerate();
    let mut scores: Vec<(usize, &mut Score)> =
        scores.filter_map(|(k, f)| Some((k, f.result.as_mut().ok()?))).collect();
    let models =
        |places: &[usize]| -> Vec<Model> { sweep.models(places).into_iter().flatten().collect() };
    let mut constant = ConstantScore::of(&sweep);
    let beside = constant.as_mut().zip(sweep.constant_model(0));
    judge(&mut scores, beside, models, &tests, &options, threads)?;
    let schema = sweep.schema().clone();
    let comparison = Comparison { rows, schema, finishes, negatives, is_stopped, constant };
    Ok(Learned { comparison, sweep, skipped })
}

/// Progressive losses of different kinds cannot be ranked.
fn same_loss(settings: &[Settings]) -> Result<(), Fault> {
    match settings.windows(2).find(|pair| pair[0].loss() != pair[1].loss()) {
        None => Ok(()),
        Some(_) => Err(Fault::Usage(
            "settings are ranked by their loss, which must be the same in all; `parsimon compare` ranks different losses"
                .into(),
        )),
    }
}

/// Returns the results of all settings; an error if no setting reached the end.
fn finishes(sweep: &Sweep, runs: &[Run]) -> Result<Vec<Finish>, Fault> {
    let standings = sweep.standings();
    let failures = || standings.iter().filter_map(|s| Some((s.setting, s.stopped.as_ref()?)));
    if failures().count() == standings.len() {
        let told = failures().next().map(|(k, why)| format!("{}: {why}", runs[k].name));
        return Err(Fault::Input(told.unwrap_or_default()));
    }
    if sweep.rows() == 0 {
        return Err(Error::NothingLearned.into());
    }
    let finish = |((run, standing), curve): ((&Run, Standing), LearningCurve)| Finish {
        run: run.clone(),
        settings: sweep.settings(standing.setting).clone(),
        time: None,
        result: match standing.stopped {
            Some(stopped) => Err(stopped),
            None => Ok(Score {
                loss: standing.average.unwrap_or(f64::NAN),
                progressive: None,
                test: None,
                nonzeros: standing.nonzeros,
                curve,
            }),
        },
    };
    Ok(runs.iter().zip(standings).zip(sweep.curves_so_far()).map(finish).collect())
}
