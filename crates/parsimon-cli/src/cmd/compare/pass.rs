//! The pass: every run learns every chunk, which is read once.

use std::thread;
use std::time::{Duration, Instant};

use parsimon::core::Chunk;
use parsimon::{Model, Observer, Stopped, Trainer};

use super::window::Window;
use crate::args::CompareArgs;
use crate::cmd::comparison::{
    Comparison, Entry, Finish, Run, Score, Task, check_tests, in_parallel, judge,
};
use crate::console::Console;
use crate::fault::Fault;

/// One run at work.
struct Contestant {
    run: Run,
    trainer: Trainer,
    window: Window,
    time: Duration,
    failure: Option<String>,
}

impl Contestant {
    fn learn(&mut self, chunk: &Chunk) {
        if self.failure.is_some() {
            return;
        }
        let start = Instant::now();
        let learned = self.trainer.learn(chunk, &mut |_| {});
        self.time += start.elapsed();
        match learned {
            Ok(()) => self.window.record_chunk(chunk, self.trainer.margins()),
            // A rate too high for the data is a result of a sweep, not its end.
            Err(error) => self.failure = Some(error.to_string()),
        }
    }
}

pub(super) fn hold(args: &CompareArgs, task: &Task<'_>, runs: &[Run]) -> Result<Comparison, Fault> {
    let Entry { options, mut reader, reading, frame, settings } = Entry::new(task, runs)?;
    let tests = task.tests();
    check_tests(&tests, &options)?;
    let mut contestants = Vec::new();
    for (run, settings) in runs.iter().zip(settings) {
        let trainer = Trainer::new(settings, frame, reading.clone())
            .map_err(|e| Fault::Usage(format!("{}: {e}", run.name)))?;
        let window = Window::new(trainer.settings(), &reading.classes, runs.len());
        let (run, time) = (run.clone(), Duration::ZERO);
        contestants.push(Contestant { run, trainer, window, time, failure: None });
    }
    let threads = thread::available_parallelism().map_or(1, usize::from).min(options.threads);
    let mut console = Console::new(args.report.quiet, 1, 0, Vec::new());
    let mut chunk = Chunk::new();
    while reader.read(&mut chunk)? {
        in_parallel(threads, &mut contestants, |contestant| contestant.learn(&chunk));
        console.position(&reader.position());
    }
    console.finish();
    let rows = reader.position().rows;
    if contestants.iter().all(|c| c.failure.is_some()) {
        let told = contestants.iter().find_map(|c| Some((&c.run.name, c.failure.as_ref()?)));
        let message = told.map(|(name, failure)| format!("{name}: {failure}"));
        return Err(Fault::Input(message.unwrap_or_default()));
    }
    if contestants.iter().all(|c| c.trainer.progressive().rows() == 0) {
        return Err(parsimon::Error::NothingLearned.into());
    }
    let (mut finishes, mut models): (Vec<Finish>, Vec<Option<Model>>) = (Vec::new(), Vec::new());
    for contestant in contestants {
        let (finish, model) = finished(contestant);
        finishes.push(finish);
        models.push(model);
    }
    let scores = finishes.iter_mut().enumerate();
    let mut scores: Vec<(usize, &mut Score)> =
        scores.filter_map(|(i, f)| Some((i, f.result.as_mut().ok()?))).collect();
    let of = |places: &[usize]| places.iter().filter_map(|&i| models[i].take()).collect();
    judge(&mut scores, of, &tests, &options, threads)?;
    Ok(Comparison { rows, finishes })
}

fn finished(contestant: Contestant) -> (Finish, Option<Model>) {
    let Contestant { run, trainer, window, time, failure } = contestant;
    let (settings, time) = (trainer.settings().clone(), Some(time));
    if let Some(failure) = failure {
        return (Finish { run, settings, time, result: Err(Stopped::Failed(failure)) }, None);
    }
    let model = trainer.model();
    let score = Score {
        loss: trainer.progressive().average().unwrap_or(f64::NAN),
        progressive: Some(window.finish()),
        test: None,
        nonzeros: model.nonzeros(),
        curve: trainer.curve_so_far(),
    };
    (Finish { run, settings, time, result: Ok(score) }, Some(model))
}
