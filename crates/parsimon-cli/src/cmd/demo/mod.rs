//! `parsimon serve --demo`: a stream of generated clicks for a service, to watch on its page.

mod clicks;
mod sender;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clicks::{Clicks, Incident};
use sender::Sender;

use crate::args::ServeArgs;
use crate::console::note;

/// Interval between requests.
const BEAT: Duration = Duration::from_millis(100);
/// Periods without an incident, and periods of one.
const CALM: u64 = 30;
const TROUBLED: u64 = 15;

/// The directory of a demo: the one that was given, or a temporary one that is removed at the end.
pub(crate) struct Data {
    path: PathBuf,
    is_temporary: bool,
}

impl Data {
    pub(crate) fn new(args: &ServeArgs) -> Self {
        let temporary =
            || std::env::temp_dir().join(format!("parsimon-demo-{}", std::process::id()));
        let is_temporary = args.data.is_none();
        Self { path: args.data.clone().unwrap_or_else(temporary), is_temporary }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        if self.is_temporary {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Opens the page where there is a screen.
pub(crate) fn open_page(address: SocketAddr) {
    let has_screen =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let program = match (cfg!(target_os = "macos"), cfg!(windows)) {
        (true, _) => "open",
        (_, true) => "explorer",
        _ if has_screen => "xdg-open",
        _ => return,
    };
    let mut command = Command::new(program);
    command.arg(format!("http://{address}/"));
    // Without a browser the address on the terminal is enough.
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

/// Sends rows, and labels a while later, until the service ends.
pub(crate) fn feed(
    address: SocketAddr,
    rate: u64,
    period: Duration,
    is_over: &AtomicBool,
    is_quiet: bool,
) {
    let start = Instant::now();
    let mut clicks = Clicks::new(7);
    let mut sender = Sender::new(address);
    // Clicks on their way: when they are reported, and the row.
    let mut reports: BinaryHeap<Reverse<(Duration, u64)>> = BinaryHeap::new();
    let (mut sent, mut present) = (0, None);
    while !is_over.load(Ordering::Relaxed) {
        let now = start.elapsed();
        let incident = incident(now, period);
        if incident != present {
            if let (Some(incident), false) = (incident, is_quiet) {
                note(&format!("demo: {}", incident.words()));
            }
            if incident == Some(Incident::OtherTastes) {
                clicks.change_tastes();
            }
            present = incident;
        }
        clicks.drift(now);
        // After a stall the rows of one second are sent late, and older ones are left out.
        let due = (now.as_secs_f64() * rate as f64) as u64;
        let first = sent.max(due.saturating_sub(rate));
        let mut rows = String::new();
        for id in first..due {
            let delay = clicks.row(id, incident, &mut rows);
            if let Some(delay) = delay {
                reports.push(Reverse((now + delay.mul_f64(period.as_secs_f64()), id)));
            }
        }
        sent = due;
        if !rows.is_empty() {
            sender.post("/v1/models/clicks/score", "application/x-ndjson", &rows);
        }
        let mut labels = String::new();
        while let Some(Reverse((when, id))) = reports.peek()
            && *when <= now
        {
            let _ = writeln!(labels, "{{\"id\":\"v{id}\",\"label\":1}}");
            reports.pop();
        }
        if !labels.is_empty() {
            sender.post("/v1/models/clicks/label?ack=logged", "application/x-ndjson", &labels);
        }
        // A partner sends rows that have their labels already.
        let row = clicks.labelled_row(incident);
        sender.post("/v1/models/clicks/learn?ack=logged", "application/json", &row);
        let next = now + BEAT;
        std::thread::sleep(next.saturating_sub(start.elapsed()));
    }
}

/// Faults at a time of the demo.
fn incident(now: Duration, period: Duration) -> Option<Incident> {
    let periods = (now.as_secs_f64() / period.as_secs_f64()) as u64;
    let (cycle, within) = (periods / (CALM + TROUBLED), periods % (CALM + TROUBLED));
    (within >= CALM).then_some(match cycle % 3 {
        0 => Incident::OtherTastes,
        1 => Incident::BrokenClient,
        _ => Incident::LostClicks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incidents_come_one_after_the_other() {
        let period = Duration::from_secs(2);
        let at = |periods: u64| incident(period * periods as u32, period);
        assert_eq!((at(0), at(29), at(30)), (None, None, Some(Incident::OtherTastes)));
        assert_eq!(
            (at(45), at(75), at(120)),
            (None, Some(Incident::BrokenClient), Some(Incident::LostClicks))
        );
    }
}
