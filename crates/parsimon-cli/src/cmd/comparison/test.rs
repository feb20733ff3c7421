//! Evaluation of models on the test data.

use parsimon::Model;
use parsimon::data::{Input, Options, Reader};
use parsimon::workspace::evaluate_models;

use super::{ConstantScore, Score};
use crate::fault::Fault;

/// Models judged on the test data at a time: their scores are kept until its end.
const JUDGED_TOGETHER: usize = 16;

/// A missing file is reported now, not after hours of learning.
pub(crate) fn check_tests(tests: &[Input], options: &Options) -> Result<(), Fault> {
    if !tests.is_empty() && !tests.iter().any(|test| matches!(test, Input::Stdin)) {
        Reader::open(tests, options)?;
    }
    Ok(())
}

/// Judges runs on the test data, some at a time; `models` gives the models of the runs at some places. The constant's model
/// goes with the first of them.
pub(crate) fn judge(
    scores: &mut [(usize, &mut Score)],
    constant: Option<(&mut ConstantScore, Model)>,
    mut models: impl FnMut(&[usize]) -> Vec<Model>,
    tests: &[Input],
    options: &Options,
    threads: usize,
) -> Result<(), Fault> {
    if tests.is_empty() {
        return Ok(());
    }
    let mut constant = constant;
    for scores in scores.chunks_mut(JUDGED_TOGETHER) {
        let places: Vec<usize> = scores.iter().map(|(place, _)| *place).collect();
        let (mut models, constant) = (models(&places), constant.take());
        let score = constant.map(|(score, model)| {
            models.push(model);
            score
        });
        let mut evaluations = evaluate_models(&models, tests, options, threads)?;
        if let Some(score) = score {
            score.test = evaluations.pop();
        }
        for ((_, score), evaluation) in scores.iter_mut().zip(evaluations) {
            score.test = Some(evaluation);
        }
    }
    Ok(())
}
