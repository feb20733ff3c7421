//! The contest: every run learns every chunk, which is read once.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use parsimon::core::{Chunk, Scorer};
use parsimon::data::{Input, Options, Reader};
use parsimon::eval::{Evaluation, LearningCurve};
use parsimon::{Expect, Frame, Judge, Model, Observer, Settings, Storage, Trainer};

use super::runs::Run;
use super::window::Window;
use crate::args::CompareArgs;
use crate::cmd::train::{Opened, frame, surveyed};
use crate::console::Console;
use crate::fault::Fault;

/// Slots of all runs together up to which each run has an array of its own.
const MOST_SLOTS: usize = 1 << 26;
/// Models judged on the test data at a time: their scores are kept until its end.
const JUDGED_TOGETHER: usize = 16;

/// What came of a run.
pub(super) struct Finish {
    pub(super) run: Run,
    pub(super) settings: Settings,
    pub(super) time: Duration,
    /// The scores, or why there are none.
    pub(super) result: Result<Score, String>,
}

/// The numbers of a run that came to its end.
pub(super) struct Score {
    /// The progressive loss of all rows, as `train` tells it: for several classes, the share of errors.
    pub(super) loss: f64,
    /// The metrics of the predictions made before learning, of all rows or the last.
    pub(super) progressive: Evaluation,
    pub(super) test: Option<Evaluation>,
    pub(super) nonzeros: usize,
    pub(super) curve: LearningCurve,
}

impl Score {
    /// The metrics that count: of the test data if there is any.
    pub(super) fn evaluation(&self) -> &Evaluation {
        self.test.as_ref().unwrap_or(&self.progressive)
    }
}

/// What came of all runs.
pub(super) struct Contest {
    pub(super) rows: u64,
    pub(super) finishes: Vec<Finish>,
}

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

pub(super) fn hold(args: &CompareArgs, runs: Vec<Run>) -> Result<Contest, Fault> {
    let inputs = args.data.inputs();
    let Entry { options, mut reader, mut contestants } = Entry::new(args, &inputs, &runs)?;
    let tests = crate::args::inputs(&args.test);
    if !tests.is_empty() && !tests.iter().any(|test| matches!(test, Input::Stdin)) {
        // A file that is not there is found now, not after hours of learning.
        Reader::open(&tests, &options)?;
    }
    let threads = thread::available_parallelism().map_or(1, usize::from).min(options.threads);
    let mut console = Console::new(args.quiet, 1, 0, Vec::new());
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
    let (mut finishes, mut models): (Vec<Finish>, Vec<Model>) = (Vec::new(), Vec::new());
    for contestant in contestants {
        let (finish, model) = finished(contestant);
        finishes.push(finish);
        models.extend(model);
    }
    if !tests.is_empty() {
        let mut judged = judged(&models, &tests, &options, threads)?.into_iter();
        for score in finishes.iter_mut().filter_map(|f| f.result.as_mut().ok()) {
            score.test = judged.next();
        }
    }
    Ok(Contest { rows, finishes })
}

/// Does something with every item, each by one thread: what is done cannot depend on how many there are.
fn in_parallel<T: Send>(threads: usize, items: &mut [T], work: impl Fn(&mut T) + Sync) {
    let threads = threads.min(items.len());
    if threads < 2 {
        return items.iter_mut().for_each(work);
    }
    let queue = Mutex::new(items.iter_mut());
    // A thread that panics takes the program with it: what it held is never seen.
    let next = || queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = next() {
                    work(item);
                }
            });
        }
    });
}

/// The data open, and everybody at the origin.
struct Entry {
    options: Options,
    reader: Reader,
    contestants: Vec<Contestant>,
}

impl Entry {
    fn new(args: &CompareArgs, inputs: &[Input], runs: &[Run]) -> Result<Self, Fault> {
        let named = |run: &Run, fault: Fault| match fault {
            Fault::Usage(message) => Fault::Usage(format!("{}: {message}", run.name)),
            other => other,
        };
        let Some(first) = runs.first() else {
            return Err(Fault::Usage("no method to run".into()));
        };
        let base = args.data.options(args.frame.precision.into())?;
        let mut survey = Survey::default();
        let resolved = |run: &Run| run.spec.resolve().map_err(|e| named(run, e.into()));
        let asked = resolved(first)?;
        let Opened { settings, reading, options, reader } =
            Opened::new(asked.clone(), inputs, base)?;
        survey.note(&asked, &settings);
        let frame = thrifty(frame(&args.frame, &reading), runs.len());
        let mut contestants = Vec::new();
        for run in runs {
            let settings = survey.complete(resolved(run)?, inputs, &options)?;
            if reading.labels(&settings) != options.labels {
                return Err(Fault::Usage(format!(
                    "the methods must have losses for the same kind of labels: {} has {}, {} has {}",
                    first.name,
                    asked.word("loss"),
                    run.name,
                    settings.word("loss"),
                )));
            }
            let trainer =
                Trainer::new(settings, frame, reading.clone()).map_err(|e| named(run, e.into()))?;
            let window = Window::new(trainer.settings(), &reading.classes, runs.len());
            let run = run.clone();
            contestants.push(Contestant {
                run,
                trainer,
                window,
                time: Duration::ZERO,
                failure: None,
            });
        }
        Ok(Self { options, reader, contestants })
    }
}

/// An array of all slots for each of hundreds of runs would not fit in memory; the index gives the same weights.
fn thrifty(frame: Frame, runs: usize) -> Frame {
    match frame.storage {
        Storage::Slots(slots) if (slots as usize).saturating_mul(runs) > MOST_SLOTS => {
            Frame { storage: Storage::Index, ..frame }
        }
        _ => frame,
    }
}

/// What a scan of the data has told, so that the data is scanned once for all runs.
#[derive(Default)]
struct Survey {
    dimension: Option<u32>,
    switch: Option<u64>,
}

impl Survey {
    fn complete(
        &mut self,
        asked: Settings,
        inputs: &[Input],
        options: &Options,
    ) -> Result<Settings, Fault> {
        let mut settings = asked.clone();
        if let Some(dimension) = self.dimension.filter(|_| settings.wants_dimension()) {
            settings = settings.with_dimension(dimension);
        }
        if let Some(switch) = self.switch.filter(|_| settings.wants_switch()) {
            settings = settings.with_switch(switch);
        }
        let settings = surveyed(settings, inputs, options)?;
        self.note(&asked, &settings);
        Ok(settings)
    }

    fn note(&mut self, asked: &Settings, told: &Settings) {
        if asked.wants_dimension() {
            self.dimension = u32::try_from(told.natural("dimension")).ok();
        }
        if asked.wants_switch() {
            self.switch = Some(told.natural("switch"));
        }
    }
}

fn finished(contestant: Contestant) -> (Finish, Option<Model>) {
    let Contestant { run, trainer, window, time, failure } = contestant;
    let settings = trainer.settings().clone();
    if let Some(failure) = failure {
        return (Finish { run, settings, time, result: Err(failure) }, None);
    }
    let model = trainer.model();
    let score = Score {
        loss: trainer.progressive().average().unwrap_or(f64::NAN),
        progressive: window.finish(),
        test: None,
        nonzeros: model.nonzeros(),
        curve: trainer.curve_so_far(),
    };
    (Finish { run, settings, time, result: Ok(score) }, Some(model))
}

/// Judges models on the test data, some at a time.
fn judged(
    models: &[Model],
    tests: &[Input],
    options: &Options,
    threads: usize,
) -> Result<Vec<Evaluation>, Fault> {
    struct Candidate {
        scorer: Scorer,
        judge: Judge,
        margins: Vec<f64>,
    }
    let mut evaluations = Vec::new();
    for models in models.chunks(JUDGED_TOGETHER) {
        let candidate =
            |m: &Model| Candidate { scorer: m.scorer(), judge: m.judge(), margins: Vec::new() };
        let mut candidates: Vec<Candidate> = models.iter().map(candidate).collect();
        let mut reader = Reader::open(tests, &models[0].options(options, Expect::Labels))?;
        let mut chunk = Chunk::new();
        while reader.read(&mut chunk)? {
            in_parallel(threads, &mut candidates, |c| {
                c.margins.clear();
                c.scorer.margins(&chunk, &mut c.margins);
                c.judge.record_chunk(&chunk, &c.margins);
            });
        }
        evaluations.extend(candidates.into_iter().map(|c| c.judge.finish()));
    }
    Ok(evaluations)
}
