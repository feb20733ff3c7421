//! The pass: all settings learn the rows together.

use std::thread;

use parsimon::data::Options;
use parsimon::eval::LearningCurve;
use parsimon::tune::{EarlyStopping, Standing, Sweep};
use parsimon::{Error, Model, Settings};

use super::live::Live;
use crate::args::TuneArgs;
use crate::cmd::columns;
use crate::cmd::comparison::{
    Comparison, ConstantScore, Ended, Entry, Finish, Rows, Run, Score, Task, check_tests, judge,
    until_it_fits,
};
use crate::fault::Fault;

/// What came of the pass.
pub(super) struct Learned {
    pub(super) comparison: Comparison,
    pub(super) sweep: Sweep,
    /// Rows passed over because they were bad.
    pub(super) skipped: u64,
}

pub(super) fn learn(args: &TuneArgs, task: &Task<'_>, runs: &[Run]) -> Result<Learned, Fault> {
    until_it_fits(|wider| once(args, task, runs, wider))
}

fn once(
    args: &TuneArgs,
    task: &Task<'_>,
    runs: &[Run],
    wider: Option<Options>,
) -> Result<Learned, Ended> {
    let Entry { options, mut reader, reading, frame, settings } = Entry::new(task, runs, wider)?;
    same_loss(&settings)?;
    let tests = task.tests();
    check_tests(&tests, &options)?;
    let threads = thread::available_parallelism().map_or(1, usize::from).min(options.threads);
    let schema = reading.clone();
    let measure = settings.first().map(crate::cmd::progressive_measure).unwrap_or_default();
    let mut rows = Rows::new(task, &settings, &schema.found)?;
    let mut sweep = Sweep::new(settings, frame, reading)?;
    sweep.use_threads(threads);
    if !args.keep_all {
        sweep.give_up_when(EarlyStopping::default());
    }
    task.data.inputs().iter().for_each(|input| sweep.note_input(&input.name()));
    let mut live = Live::new(args.report.quiet, runs, measure);
    let quiet = args.report.quiet;
    let fault = |e| Ended::by(e, task, &options, quiet);
    while let Some(chunk) = rows.next(&mut reader).map_err(fault)? {
        sweep.learn(chunk, &mut |standings| live.report(standings));
        live.show(&sweep, &reader.position());
    }
    live.finish();
    columns::warn(&reader.warnings());
    let (read, rows) = (rows.finish(), reader.position().rows);
    // After a signal nothing more is begun.
    let tests = if read.is_stopped { Vec::new() } else { tests };
    let skipped = reader.skipped_rows();
    sweep.note_names(reader.into_names());
    let mut finishes = finishes(&sweep, runs)?;
    let scores = finishes.iter_mut().enumerate();
    let mut scores: Vec<(usize, &mut Score)> =
        scores.filter_map(|(k, f)| Some((k, f.result.as_mut().ok()?))).collect();
    let models =
        |places: &[usize]| -> Vec<Model> { sweep.models(places).into_iter().flatten().collect() };
    let mut constant = ConstantScore::of(&sweep);
    let beside = constant.as_mut().zip(sweep.constant_model(0));
    judge(&mut scores, beside, models, &tests, &options, threads)?;
    Ok(Learned {
        comparison: Comparison { rows, schema, finishes, read, constant },
        sweep,
        skipped,
    })
}

/// Losses of different kinds cannot be ranked while they are paid.
fn same_loss(settings: &[Settings]) -> Result<(), Fault> {
    match settings.windows(2).find(|pair| pair[0].loss() != pair[1].loss()) {
        None => Ok(()),
        Some(_) => Err(Fault::Usage(
            "settings are ranked by their loss, which must be the same in all; `parsimon compare` ranks different losses"
                .into(),
        )),
    }
}

/// Where every setting stands at the end; an error if none has come to it.
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
