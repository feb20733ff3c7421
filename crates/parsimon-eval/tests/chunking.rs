//! Chunks are how rows travel, not what they mean: no chunk size changes a bit of any measurement.

use parsimon_core::{Chunk, Loss, Repeats};
use parsimon_eval::{Evaluation, Evaluator, Progressive, Schedule};

type Report = (u64, Option<f64>, Option<f64>);

/// 1000 rows of one feature whose value is the margin, cut into chunks.
fn chunks(len: u32) -> Vec<Chunk> {
    let rows: Vec<u32> = (0..1000).collect();
    rows.chunks(len as usize)
        .map(|part| {
            let mut chunk = Chunk::new();
            for &i in part {
                let label = if i * 7919 % 11 < 4 { 1.0 } else { -1.0 };
                chunk.push_feature(0, f64::from(i * 31 % 97) / 17.0 - 2.0);
                let weight = f64::from(1 + i % 3) / 3.0;
                assert_eq!(chunk.finish_row(Some(label), weight, Repeats::Refuse), Ok(()));
            }
            chunk
        })
        .collect()
}

fn measured(len: u32, loss: Loss) -> (Vec<Report>, Progressive, Evaluation) {
    let schedule = Schedule::default();
    let mut progressive = Progressive::new();
    let mut evaluator = Evaluator::new(loss);
    let mut reports = Vec::new();
    for chunk in chunks(len) {
        for i in 0..chunk.len() {
            let (Some(label), margin) = (chunk.label(i), chunk.row(i).values().iter().sum()) else {
                continue;
            };
            progressive.record(loss.value(margin, label), chunk.weight(i));
            evaluator.record(margin, label, chunk.weight(i));
            if schedule.due(progressive.rows()) {
                reports.push((progressive.rows(), progressive.average(), progressive.since_last()));
                progressive.mark();
            }
        }
    }
    (reports, progressive, evaluator.finish())
}

#[test]
fn no_chunk_size_changes_a_bit() {
    for loss in [Loss::Logistic, Loss::Hinge, Loss::Squared] {
        let whole = measured(1000, loss);
        assert_eq!(whole.0.len(), 10, "1, 2, 4, ..., 512");
        for len in [1, 7, 64, 999] {
            assert_eq!(measured(len, loss), whole);
        }
    }
}
