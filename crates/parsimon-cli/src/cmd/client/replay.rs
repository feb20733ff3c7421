//! `parsimon client replay`: a file as if its rows came now, at a rate.

use std::time::{Duration, Instant};

use parsimon::workspace::number::thousands;

use super::rows::Rows;
use super::{Learning, Sender};
use crate::args::ReplayRowsArgs;
use crate::console::note;
use crate::fault::Fault;

/// Interval of progress lines.
const OFTEN: Duration = Duration::from_secs(10);

pub(super) fn run(args: &ReplayRowsArgs) -> Result<(), Fault> {
    let mut rows = Rows::open(&args.rows.file, args.rows.format)?;
    let sender = Sender::new(super::connect(&args.service)?, &args.batch, &rows);
    let mut learning = Learning::new(sender, &args.ack)?;
    let start = Instant::now();
    let due = |row: u64| Duration::from_secs_f64(row as f64 / args.rate);
    let (mut sent, mut behind, mut told) = (0_u64, Duration::ZERO, start);
    loop {
        // The next row is due at this time; all that are due by then go together.
        let wait = due(sent).saturating_sub(start.elapsed());
        std::thread::sleep(wait);
        let ready = (start.elapsed().as_secs_f64() * args.rate) as u64 + 1;
        let most = ready.saturating_sub(sent).clamp(1, args.batch.batch as u64) as usize;
        behind = behind.max(start.elapsed().saturating_sub(due(sent)));
        let Some(batch) = rows.batch(most)? else { break };
        if args.score {
            learning.sender.send("score", &[], &batch)?;
        }
        learning.send(&batch)?;
        sent += batch.rows as u64;
        if told.elapsed() >= OFTEN {
            told = Instant::now();
            note(&format!("{} rows sent", thousands(sent)));
        }
    }
    let seconds = start.elapsed().as_secs_f64().max(1e-9);
    note(&format!(
        "{} rows in {seconds:.1} s, {} rows/s, {} requests; at most {:.1} ms behind the rate",
        thousands(sent),
        thousands((sent as f64 / seconds) as u64),
        thousands(learning.requests),
        behind.as_secs_f64() * 1e3
    ));
    learning.total.report()
}
