//! Recent quality of a model: losses beside the constant and a frozen reference, calibration, rates, alarms.
//!
//! The learner's thread counts, after the rows are visible: nothing here is waited for by a score or an acknowledgement. Memory is
//! bounded, for any stream.

mod alarms;
mod calibration;
mod reference;
mod series;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use parsimon::settings::Loss;
use parsimon::workspace::Constant;
use serde_json::{Value, json};
use tokio::sync::watch;

use alarms::{Alarms, Detectors, Stream};
use calibration::Curve;
use reference::{Moved, Reference, moved};
use series::{Series, Sums};

use super::learner::RowBatch;
use super::record::Origin;
use super::replica::Live;
use super::status::Status;
use crate::answer::Task;

/// Fine stretches in a period.
const FINE: u64 = 12;
/// Numbers of fine intervals and of periods that are kept.
const FINE_KEPT: usize = 480;
const PERIODS_KEPT: usize = 1440;

/// Rows of a fine stretch that the reference scores at most: the comparison is to cost little at any rate.
const REFERENCE_ROWS: u64 = 10_000;

/// Number of rows after which a model that began empty becomes its reference.
const FIRST_REFERENCE: u64 = 10_000;

/// Interval of updates to clients that watch.
const NEWS: Duration = Duration::from_millis(500);

/// A pass over the weights takes at most this share of the learner's time.
const SHARE_OF_PASSES: u32 = 200;

/// Published statistics.
#[derive(Debug)]
pub(crate) struct Board {
    /// The latest news, as JSON.
    pub(crate) news: watch::Sender<Arc<str>>,
    pub(crate) alarms: Mutex<Alarms>,
}

impl Default for Board {
    fn default() -> Self {
        Self { news: watch::Sender::new("".into()), alarms: Mutex::default() }
    }
}

impl Board {
    pub(crate) fn alarms(&self) -> std::sync::MutexGuard<'_, Alarms> {
        self.alarms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts what a model does. Belongs to the learner's thread.
pub(crate) struct Watcher {
    name: String,
    status: Arc<Status>,
    loss: Loss,
    outputs: usize,
    is_binary: bool,
    constant: Constant,
    /// Whether the next label is the first, from which predictions take their origin: what was predicted before it is no miss.
    lacks_labels: bool,
    reference: Option<Reference>,
    fine: Series,
    periods: Series,
    curve: Curve,
    detectors: Detectors,
    moved: Vec<Moved>,
    /// Length of a period in milliseconds, and the one that is open.
    period: u64,
    open: u64,
    /// The current fine stretch, and the rows that the reference scored in it.
    scored: (u64, u64),
    refused_before: u64,
    margins: Vec<f64>,
    news_due: Instant,
    pass_due: Instant,
}

impl Watcher {
    pub(crate) fn new(
        name: &str,
        status: Arc<Status>,
        live: &Live,
        task: &Task,
        period: Duration,
    ) -> Self {
        let (settings, found) = (live.trainer.settings(), &live.trainer.schema().found);
        let period = (period.as_millis() as u64).max(1);
        let is_binary = settings.is_of_two_classes(found);
        let has_learned = live.trainer.progressive().rows() > 0;
        Self {
            name: name.to_owned(),
            status,
            loss: settings.loss(),
            outputs: task.outputs(),
            is_binary,
            constant: Constant::new(settings, found),
            lacks_labels: live.trainer.online().lacks_labels(),
            reference: has_learned.then(|| Reference::of(live)),
            fine: Series::new(period / FINE, FINE_KEPT),
            periods: Series::new(period, PERIODS_KEPT),
            curve: Curve::default(),
            detectors: Detectors::new(period, is_binary),
            moved: Vec::new(),
            period,
            open: 0,
            scored: (0, 0),
            refused_before: 0,
            margins: Vec::new(),
            news_due: Instant::now(),
            pass_due: Instant::now(),
        }
    }

    /// Whether the model should be frozen as the reference now.
    pub(crate) fn wants_reference(&self, rows: u64) -> bool {
        self.reference.is_none() && rows >= FIRST_REFERENCE
    }

    /// Compares with the model as it is now from here on. What was noticed about another state is forgotten.
    pub(crate) fn set_reference(&mut self, live: &Live, is_other_state: bool) {
        self.reference = Some(Reference::of(live));
        if is_other_state {
            self.detectors = Detectors::new(self.period, self.is_binary);
        }
        self.pass_due = Instant::now();
    }

    /// Takes the rows of a record, with the margins that were predicted before they were learned.
    pub(crate) fn learned(&mut self, rows: &RowBatch, margins: &[f64]) {
        self.close_until(rows.time);
        let mut sums = Sums::default();
        let is_logistic = self.loss == Loss::Logistic && self.outputs == 1;
        let mut margins = margins.chunks_exact(self.outputs);
        for chunk in &rows.chunks {
            self.margins.clear();
            let stretch = rows.time / (self.period / FINE).max(1);
            if self.scored.0 != stretch {
                self.scored = (stretch, 0);
            }
            if let Some(reference) = &self.reference
                && self.scored.1 < REFERENCE_ROWS
            {
                reference.margins(chunk, &mut self.margins);
                self.scored.1 += chunk.len() as u64;
            }
            let mut others = self.margins.chunks_exact(self.outputs);
            for row in 0..chunk.len() {
                // A model whose weights diverged cannot predict.
                let Some(margins) = margins.next() else { break };
                let other = others.next();
                let (Some(y), weight) = (chunk.label(row), chunk.weight(row)) else { continue };
                let loss = cost(self.loss, margins, y);
                let constant = self.constant.learn(y, weight);
                sums.rows += 1;
                if weight > 0.0 && std::mem::take(&mut self.lacks_labels) {
                    continue;
                }
                sums.weight += weight;
                sums.loss += weight * loss;
                sums.constant += weight * constant;
                self.detectors.of(Stream::LossMinusConstant).record(loss - constant);
                if let Some(other) = other {
                    let reference = cost(self.loss, other, y);
                    sums.paired += weight;
                    sums.paired_loss += weight * loss;
                    sums.reference += weight * reference;
                    self.detectors.of(Stream::LossMinusReference).record(loss - reference);
                }
                let happened = if self.is_binary { f64::from(u8::from(y > 0.0)) } else { y };
                if self.outputs == 1 {
                    sums.happened += weight * happened;
                    self.detectors.of(Stream::LabelRate).record(happened);
                }
                if is_logistic {
                    let p = self.loss.predict(margins[0]);
                    sums.predicted += weight * p;
                    self.curve.record(p, y > 0.0, weight);
                    self.detectors.of(Stream::Calibration).record(p - happened);
                }
            }
        }
        match rows.origin {
            Origin::Sent => {}
            Origin::Labelled => sums.labelled = sums.rows,
            Origin::Expired => sums.expired = sums.rows,
        }
        self.detectors.of(Stream::RefusedShare).record_counts(sums.rows - sums.expired, 0);
        self.add(rows.time, &sums);
    }

    fn add(&mut self, time: u64, sums: &Sums) {
        self.fine.add(time, sums);
        self.periods.add(time, sums);
    }

    /// Called now and then: counts what was refused, closes periods that are over, and says what passes over the weights and news
    /// are due.
    pub(crate) fn tick(&mut self, time: u64) -> Due {
        self.close_until(time);
        let refused = self.status.refused.iter().map(|n| n.load(Ordering::Relaxed)).sum::<u64>();
        let fresh = refused - self.refused_before;
        self.refused_before = refused;
        self.detectors.of(Stream::RefusedShare).record_counts(fresh, fresh);
        self.add(time, &Sums { refused: fresh, ..Sums::default() });
        let now = Instant::now();
        let is_watched = self.status.board.news.receiver_count() > 0;
        Due { pass: now >= self.pass_due, news: is_watched && now >= self.news_due }
    }

    /// Closes the open period if a time is beyond it.
    fn close_until(&mut self, time: u64) {
        let at = time / self.period;
        if at <= self.open {
            return;
        }
        if self.open > 0 {
            self.curve.fade();
            let end = (self.open + 1) * self.period;
            let raised = self.detectors.close(end, &mut self.status.board.alarms());
            for alarm in raised {
                tracing::warn!(model = %self.name, stream = alarm.stream.name(), "alarm: {}", alarm.message);
            }
        }
        self.open = at;
    }

    /// Looks at all weights: how many there are, and which have moved.
    pub(crate) fn pass(&mut self, live: &Live, names: &[(u32, Box<[u8]>)]) {
        let start = Instant::now();
        let (nonzeros, mut moved) = moved(live, self.reference.as_ref());
        self.status.nonzeros.store(nonzeros as u64, Ordering::Relaxed);
        for weight in &mut moved {
            let known = live.trainer.names().name(weight.index).map(str::to_owned);
            // Names that were met since the last snapshot.
            let new = || names.iter().find(|(slot, _)| *slot == weight.index);
            let new = || new().map(|(_, name)| String::from_utf8_lossy(name).into_owned());
            weight.feature = known.or_else(new).unwrap_or_else(|| weight.index.to_string());
        }
        self.moved = moved;
        let is_watched = self.status.board.news.receiver_count() > 0;
        let rest = Duration::from_millis(if is_watched { self.period / FINE } else { self.period });
        let rest = rest.max(Duration::from_secs(1));
        self.pass_due = Instant::now() + rest.max(start.elapsed() * SHARE_OF_PASSES);
    }

    /// Shows the latest to those who watch.
    pub(crate) fn publish(&mut self, live: &Live, more: Value) {
        let news = self.describe(live, more, false);
        self.status.board.news.send_replace(news.to_string().into());
        self.news_due = Instant::now() + NEWS;
    }

    /// Everything that is kept, or what has changed lately.
    pub(crate) fn describe(&self, live: &Live, more: Value, is_whole: bool) -> Value {
        let reached = self.status.now();
        let (fine, periods) = match is_whole {
            true => (json!(self.fine.all()), json!(self.periods.all())),
            false => (json!(self.fine.latest(3)), json!(self.periods.latest(2))),
        };
        let progressive = live.trainer.progressive();
        let mut news = json!({
            "name": self.name,
            "is_binary": self.is_binary,
            "version": live.version,
            "is_paused": live.paused.is_some(),
            "logged_seq": reached.logged,
            "durable_seq": reached.durable,
            "visible_seq": reached.visible.seq,
            "rows": progressive.rows(),
            "progressive_loss": progressive.average(),
            "nonzeros": self.status.nonzeros.load(Ordering::Relaxed),
            "reference": self.reference.as_ref().map(|r| json!({"version": r.version, "rows": r.rows})),
            "period_ms": self.period,
            "fine_ms": (self.period / FINE).max(1),
            "fine": fine,
            "periods": periods,
            "curve": self.curve.to_json(),
            "moved": self.moved,
            "alarms": self.status.board.alarms().to_json(),
            "commit": self.status.commit.to_json(),
            "visible": self.status.visible.to_json(),
        });
        if let (Some(news), Value::Object(more)) = (news.as_object_mut(), more) {
            news.extend(more);
        }
        news
    }
}

/// Work that is due after a tick.
pub(crate) struct Due {
    pub(crate) pass: bool,
    pub(crate) news: bool,
}

/// Cost of a prediction: the loss, or for several classes 1 if it was wrong.
#[inline]
fn cost(loss: Loss, margins: &[f64], y: f64) -> f64 {
    match margins {
        [margin] => loss.value(*margin, y),
        margins => {
            let largest = (0..margins.len())
                .fold(0, |best, k| if margins[k] > margins[best] { k } else { best });
            f64::from(u8::from(largest as f64 != y))
        }
    }
}
