//! How long a learner stands still for a checkpoint: the copy of its state into memory that is used again. `bench/checkpoints.py` runs it.
//!
//! ```text
//! cargo run --release -p parsimon-core --example state_copy
//! ```

use std::time::Instant;

use parsimon_core::metric::AdaGrad;
use parsimon_core::penalty::ElasticNet;
use parsimon_core::rule::leader::{Accrual, Iterate, Leader};
use parsimon_core::{Chunk, Learner, Loss, Online, Repeats, RowError, StateWriter, Table};

const COPIES: usize = 15;
const ROW: u32 = 16;

/// FTRL after rows that have seen so many of its slots.
fn learner(bits: u32, seen: u32) -> Result<impl Online, RowError> {
    let rule = |l1: f64| {
        let metric = AdaGrad { rate: 0.1, delta: 1.0 };
        let penalty = ElasticNet { l1, l2: 1.0 };
        Leader { penalty, accrual: Accrual::Once, center: Iterate, metric }
    };
    let table = Table::dense(1 << bits);
    let mut learner = Learner::<f32, _>::new(rule(1.0), Some(rule(0.0)), Loss::Logistic, table);
    let (mut chunk, mut margins) = (Chunk::new(), Vec::new());
    let stride = (1 << bits) / seen;
    for row in 0..seen / ROW {
        (0..ROW).for_each(|k| chunk.push_feature((row * ROW + k) * stride, 1.0));
        let label = if row % 2 == 0 { 1.0 } else { -1.0 };
        chunk.finish_row(Some(label), 1.0, Repeats::Refuse)?;
        if chunk.len() == 1024 {
            learner.learn(&chunk, &mut margins);
            (chunk, margins) = (Chunk::new(), Vec::new());
        }
    }
    learner.learn(&chunk, &mut margins);
    Ok(learner)
}

fn main() -> Result<(), RowError> {
    println!("| slots | features seen | state, MB | first copy, ms | median, ms | least, ms |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (bits, seen) in [(20, 1 << 17), (20, 1 << 20), (24, 1 << 20), (24, 1 << 24)] {
        let learner = learner(bits, seen)?;
        let (mut bytes, mut times) = (Vec::new(), Vec::new());
        for _ in 0..COPIES {
            let start = Instant::now();
            let mut out = StateWriter::reusing(bytes);
            learner.save(&mut out);
            bytes = out.into_bytes();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let (first, size) = (times[0], bytes.len() as f64 / 1e6);
        times.sort_by(f64::total_cmp);
        let (median, least) = (times[COPIES / 2], times[0]);
        println!("| 2^{bits} | {seen} | {size:.1} | {first:.1} | {median:.1} | {least:.1} |");
    }
    Ok(())
}
