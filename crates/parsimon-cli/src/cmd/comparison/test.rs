//! Judging models on the test data.

use parsimon::data::{Input, Options, Reader};
use parsimon::{Model, evaluate_models};

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
        let evaluations = evaluate_models(&models(&places), tests, options, threads)?;
        for ((_, score), evaluation) in scores.iter_mut().zip(evaluations) {
            score.test = Some(evaluation);
        }
    }
    Ok(())
}
