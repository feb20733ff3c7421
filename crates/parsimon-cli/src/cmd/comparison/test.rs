//! Judging models on the test data.

use std::sync::Mutex;
use std::thread;

use parsimon::core::{Chunk, Scorer};
use parsimon::data::{Input, Options, Reader};
use parsimon::eval::Evaluation;
use parsimon::{Expect, Model, ModelEvaluator};

use super::Score;
use crate::fault::Fault;

/// Models judged on the test data at a time: their scores are kept until its end.
const JUDGED_TOGETHER: usize = 16;

/// A file that is not there is found now, not after hours of learning.
pub(crate) fn check_tests(tests: &[Input], options: &Options) -> Result<(), Fault> {
    if !tests.is_empty() && !tests.iter().any(|test| matches!(test, Input::Stdin)) {
        Reader::open(tests, options)?;
    }
    Ok(())
}

/// Does something with every item, each by one thread: what is done cannot depend on how many there are.
pub(crate) fn in_parallel<T: Send>(threads: usize, items: &mut [T], work: impl Fn(&mut T) + Sync) {
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

/// Judges runs on the test data, some at a time; `models` gives the models of the runs at some places.
pub(crate) fn judge(
    scores: &mut [(usize, &mut Score)],
    mut models: impl FnMut(&[usize]) -> Vec<Model>,
    tests: &[Input],
    options: &Options,
    threads: usize,
) -> Result<(), Fault> {
    if tests.is_empty() {
        return Ok(());
    }
    for scores in scores.chunks_mut(JUDGED_TOGETHER) {
        let places: Vec<usize> = scores.iter().map(|(place, _)| *place).collect();
        let evaluations = judged(&models(&places), tests, options, threads)?;
        for ((_, score), evaluation) in scores.iter_mut().zip(evaluations) {
            score.test = Some(evaluation);
        }
    }
    Ok(())
}

fn judged(
    models: &[Model],
    tests: &[Input],
    options: &Options,
    threads: usize,
) -> Result<Vec<Evaluation>, Fault> {
    struct Candidate {
        scorer: Scorer,
        judge: ModelEvaluator,
        margins: Vec<f64>,
    }
    let Some(first) = models.first() else { return Ok(Vec::new()) };
    let candidate =
        |m: &Model| Candidate { scorer: m.scorer(), judge: m.evaluator(), margins: Vec::new() };
    let mut candidates: Vec<Candidate> = models.iter().map(candidate).collect();
    let mut reader = Reader::open(tests, &first.options(options, Expect::Labels))?;
    let mut chunk = Chunk::new();
    while reader.read(&mut chunk)? {
        in_parallel(threads, &mut candidates, |c| {
            c.margins.clear();
            c.scorer.margins(&chunk, &mut c.margins);
            c.judge.record_chunk(&chunk, &c.margins);
        });
    }
    Ok(candidates.into_iter().map(|c| c.judge.finish()).collect())
}
