//! `parsimon client bench`: requests at a rate, whether the service keeps up or not.
//!
//! Request `k` is due at `k / rate` seconds, and its latency counts from then. A service that stalls for a second delays all
//! requests that were due in that second, and each of them is measured with its delay.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parsimon::workspace::number::thousands;
use serde_json::json;

use super::connection::{ALIVE, Connection};
use super::rows::Rows;
use crate::args::{BenchArgs, OpArg};
use crate::fault::Fault;
use crate::output::Output;

/// Bodies that are sent over and over.
const BODIES: usize = 10_000;

pub(super) fn run(args: &BenchArgs) -> Result<(), Fault> {
    let connection = Connection::new(&args.service)?;
    let (bodies, content_type) = match &args.file {
        Some(path) => {
            let mut rows = Rows::open(path, args.format)?;
            let mut bodies = Vec::new();
            while bodies.len() < BODIES
                && let Some(batch) = rows.batch(args.batch)?
            {
                bodies.push(batch.text);
            }
            if bodies.is_empty() {
                return Err(Fault::Input(format!("{}: has no rows", path.display())));
            }
            (bodies, rows.content_type())
        }
        None => (generated(args), "application/x-ndjson"),
    };
    if args.ids && content_type != "application/x-ndjson" {
        return Err(Fault::Usage("--ids: rows of JSON have ids".into()));
    }
    let count = (args.rate * args.seconds).ceil() as u64;
    let next = AtomicU64::new(0);
    let path = match args.op {
        OpArg::Score => "score",
        OpArg::Learn => "learn",
        OpArg::Null => ALIVE,
    };
    let headers = [("content-type", content_type)];
    // All connections are open before the first request is due.
    let start = Instant::now() + Duration::from_millis(50);
    let send = || {
        let (mut connection, mut found) = (connection.another(), Found::default());
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= count {
                return found;
            }
            let due = start + Duration::from_secs_f64(k as f64 / args.rate);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            found.late += u64::from(due.elapsed() > Duration::from_millis(1));
            let body = match args.op {
                OpArg::Null => &[][..],
                _ => &bodies[(k % bodies.len() as u64) as usize],
            };
            let with_ids = args.ids.then(|| with_ids(body, k));
            let answer = connection.post(path, &headers, with_ids.as_deref().unwrap_or(body));
            match answer.as_ref().map(|answer| answer.status) {
                Ok(200) => found.latencies.push(due.elapsed()),
                Ok(status) => found.error(status.to_string()),
                Err(error) => found.error(error.to_string()),
            }
        }
    };
    let all = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..args.connections).map(|_| scope.spawn(send)).collect();
        // A thread that panicked has no results.
        threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .fold(Found::default(), Found::with)
    });
    report(args, count, start.elapsed(), all)
}

/// Results of the requests of some connections.
#[derive(Default)]
struct Found {
    latencies: Vec<Duration>,
    errors: BTreeMap<String, u64>,
    /// Requests that were sent more than a millisecond after they were due.
    late: u64,
}

impl Found {
    fn error(&mut self, what: String) {
        *self.errors.entry(what).or_default() += 1;
    }

    fn with(mut self, other: Self) -> Self {
        self.latencies.extend(other.latencies);
        for (what, count) in other.errors {
            *self.errors.entry(what).or_default() += count;
        }
        self.late += other.late;
        self
    }
}

fn report(args: &BenchArgs, count: u64, took: Duration, mut found: Found) -> Result<(), Fault> {
    found.latencies.sort_unstable();
    let ms = |share: f64| quantile(&found.latencies, share).map(|t| t.as_secs_f64() * 1e3);
    let [p50, p99, p999, max] = [0.5, 0.99, 0.999, 1.0].map(ms);
    let errors: u64 = found.errors.values().sum();
    let answered = found.latencies.len() as u64;
    let rate = (answered + errors) as f64 / took.as_secs_f64().max(1e-9);
    let mut out = Output::open(None)?;
    if args.json {
        let result = json!({
            "requests": count, "rate": args.rate, "answered": answered, "errors": found.errors,
            "late": found.late, "requests_per_second": rate, "rows_per_request": args.batch,
            "p50_ms": p50, "p99_ms": p99, "p99_9_ms": p999, "max_ms": max,
        });
        writeln!(out, "{result}")?;
    } else {
        writeln!(
            out,
            "{} requests of {} rows, {:.0}/s (asked for {}/s) over {} connections",
            thousands(count),
            args.batch,
            rate,
            args.rate,
            args.connections
        )?;
        let word = |ms: Option<f64>| ms.map_or("none".into(), |ms| format!("{ms:.3} ms"));
        writeln!(
            out,
            "latency from the time due: p50 {}, p99 {}, p99.9 {}, max {}",
            word(p50),
            word(p99),
            word(p999),
            word(max)
        )?;
        writeln!(
            out,
            "{} answered, {} errors, {} sent more than 1 ms after they were due",
            thousands(answered),
            thousands(errors),
            thousands(found.late)
        )?;
        for (what, count) in &found.errors {
            writeln!(out, "  {}: {what}", thousands(*count))?;
        }
    }
    out.finish()?;
    match answered {
        0 => Err(Fault::Input("no request was answered with success".into())),
        _ => Ok(()),
    }
}

/// The smallest duration that at least this share of all does not exceed.
fn quantile(sorted: &[Duration], share: f64) -> Option<Duration> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// Returns rows of JSON with ids that no other row of any run has.
fn with_ids(body: &[u8], request: u64) -> Vec<u8> {
    static RUN: LazyLock<u128> = LazyLock::new(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos())
    });
    let mut out = Vec::with_capacity(body.len() + 48);
    for (row, line) in body.split(|&b| b == b'\n').enumerate() {
        if let Some(fields) = line.trim_ascii().strip_prefix(b"{") {
            out.extend_from_slice(format!("{{\"id\":\"{:x}-{request}-{row}\",", *RUN).as_bytes());
            out.extend_from_slice(fields);
            out.push(b'\n');
        }
    }
    out
}

/// Rows of JSON with texts as features; labels follow from two of them.
fn generated(args: &BenchArgs) -> Vec<Vec<u8>> {
    let mut row = 0_u64;
    let mut one = || {
        row += 1;
        let value = |j: u64| {
            let mixed = (row ^ (j << 40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed >> 40) % [10, 100, 1000, 10_000][(j % 4) as usize]
        };
        let label = u8::from((value(0) + value(1)) % 5 == 0);
        let mut text = format!("{{\"label\":{label}");
        for j in 0..args.features as u64 {
            text += &format!(",\"f{j}\":\"v{}\"", value(j));
        }
        text + "}\n"
    };
    let bodies = BODIES.min(1_000_000 / args.batch + 1);
    (0..bodies).map(|_| (0..args.batch).map(|_| one()).collect::<String>().into_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_observations() {
        let sorted: Vec<_> = (1..=1000).map(Duration::from_millis).collect();
        let at = |share| quantile(&sorted, share).unwrap().as_millis();
        assert_eq!([0.5, 0.99, 0.999, 1.0].map(at), [500, 990, 999, 1000]);
        assert_eq!(quantile(&sorted[..1], 0.999), Some(sorted[0]));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
