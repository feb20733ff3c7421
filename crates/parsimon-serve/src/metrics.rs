//! Counters and histograms, written as Prometheus reads them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde_json::{Value, json};

/// Upper bounds of the buckets, in seconds.
const BOUNDS: [f64; 16] = [
    1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 1.0,
    5.0,
];

/// Durations.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; BOUNDS.len()],
    count: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Histogram {
    /// Processes a duration.
    pub(crate) fn record(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        if let Some(k) = BOUNDS.iter().position(|bound| seconds <= *bound) {
            self.buckets[k].fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Number of durations that are in each bucket; the last has those beyond all bounds.
    pub(crate) fn counts(&self) -> [u64; BOUNDS.len() + 1] {
        let mut counts = [0; BOUNDS.len() + 1];
        for (count, bucket) in counts.iter_mut().zip(&self.buckets) {
            *count = bucket.load(Ordering::Relaxed);
        }
        let within: u64 = counts.iter().sum();
        counts[BOUNDS.len()] = self.count.load(Ordering::Relaxed).saturating_sub(within);
        counts
    }

    /// The counts of the buckets as a JSON list.
    pub(crate) fn to_json(&self) -> Value {
        json!(self.counts())
    }

    /// Appends the lines of the histogram; `labels` are without braces.
    pub(crate) fn write(&self, name: &str, labels: &str, out: &mut String) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut sum = 0;
        for (bucket, bound) in self.buckets.iter().zip(BOUNDS) {
            sum += bucket.load(Ordering::Relaxed);
            let _ = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {sum}");
        }
        // Read after the buckets, and never below them.
        let count = self.count.load(Ordering::Relaxed).max(sum);
        let _ = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {count}");
        let seconds = self.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9;
        let _ = writeln!(out, "{name}_sum{{{labels}}} {seconds}");
        let _ = writeln!(out, "{name}_count{{{labels}}} {count}");
    }
}

/// Durations of requests by operation, model and status.
#[derive(Debug, Default)]
pub(crate) struct Requests(RwLock<BTreeMap<Key, Arc<Histogram>>>);

/// Operation, model and status.
type Key = (&'static str, String, u16);

impl Requests {
    /// Processes a request that was answered.
    pub(crate) fn record(&self, op: &'static str, model: &str, code: u16, duration: Duration) {
        let key = (op, model.to_owned(), code);
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let histogram = known.unwrap_or_else(|| {
            let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
            all.entry(key).or_default().clone()
        });
        histogram.record(duration);
    }

    /// The upper bounds of the buckets in seconds, and the counts of each operation on a model, for any status.
    pub(crate) fn of_model(&self, name: &str) -> Value {
        let mut operations = BTreeMap::<&str, [u64; BOUNDS.len() + 1]>::new();
        for ((op, model, _), histogram) in &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            if model == name {
                let sums = operations.entry(op).or_default();
                sums.iter_mut().zip(histogram.counts()).for_each(|(sum, count)| *sum += count);
            }
        }
        json!({"bounds": BOUNDS, "operations": operations})
    }

    /// Appends all lines.
    pub(crate) fn write(&self, out: &mut String) {
        let name = "parsimon_request_duration_seconds";
        head(out, name, "histogram", "Time from the head of a request to its answer.");
        for ((op, model, code), histogram) in
            &*self.0.read().unwrap_or_else(PoisonError::into_inner)
        {
            let model = escaped(model);
            let labels = format!("op=\"{op}\",model=\"{model}\",code=\"{code}\"");
            histogram.write(name, &labels, out);
        }
    }
}

/// Appends the lines before a metric's values.
pub(crate) fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}");
    let _ = writeln!(out, "# TYPE {name} {kind}");
}

/// Returns the lines with all values of a metric below its one head, as the format asks: each model writes its own.
pub(crate) fn families(lines: &str) -> String {
    let (mut places, mut found) = (BTreeMap::<&str, usize>::new(), Vec::<(String, String)>::new());
    let mut place = 0;
    for line in lines.lines() {
        let Some(text) = line.strip_prefix("# ") else {
            if let Some((_, values)) = found.get_mut(place) {
                values.push_str(line);
                values.push('\n');
            }
            continue;
        };
        let mut words = text.split(' ');
        let (kind, name) = (words.next(), words.next().unwrap_or_default());
        if kind == Some("HELP") {
            place = *places.entry(name).or_insert(found.len());
            if place == found.len() {
                found.push((format!("{line}\n"), String::new()));
            }
        } else if let Some((head, values)) = found.get_mut(place)
            && values.is_empty()
            && head.lines().count() == 1
        {
            head.push_str(line);
            head.push('\n');
        }
    }
    found.into_iter().flat_map(|(head, values)| [head, values]).collect()
}

/// A text as the value of a label.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up() {
        let requests = Requests::default();
        for ms in [0, 1, 2, 9000] {
            requests.record("score", "a\"b", 200, Duration::from_millis(ms));
        }
        let mut out = String::new();
        requests.write(&mut out);
        let labels = "op=\"score\",model=\"a\\\"b\",code=\"200\"";
        let has = |line: String| assert!(out.lines().any(|l| l == line), "{line}\n{out}");
        has(format!("parsimon_request_duration_seconds_bucket{{{labels},le=\"0.001\"}} 2"));
        has(format!("parsimon_request_duration_seconds_bucket{{{labels},le=\"5\"}} 3"));
        has(format!("parsimon_request_duration_seconds_bucket{{{labels},le=\"+Inf\"}} 4"));
        has(format!("parsimon_request_duration_seconds_count{{{labels}}} 4"));
    }
}
