//! The five streams that raise alarms.

use std::collections::VecDeque;
use std::fmt::Write as _;

use parsimon::workspace::number::significant;
use serde::Serialize;
use serde_json::{Value, json};

use crate::alarm::{Change, Detector, Noticed, RowKind};
use crate::metrics::head;

/// Number of alarms that are remembered.
const REMEMBERED: usize = 20;

/// Periods for which an alarm is shown as present, unless another of its stream follows.
const PRESENT: u64 = 60;

/// Watched quantities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stream {
    /// The loss of the model minus that of the constant.
    LossMinusConstant,
    /// The loss of the model minus that of the frozen reference.
    LossMinusReference,
    /// The predicted probability minus the outcome.
    Calibration,
    /// The share of the second of two classes; of numbers, their mean.
    LabelRate,
    /// The share of rows to be learned that were refused.
    RefusedShare,
}

impl Stream {
    pub(crate) const ALL: [Self; 5] = [
        Self::LossMinusConstant,
        Self::LossMinusReference,
        Self::Calibration,
        Self::LabelRate,
        Self::RefusedShare,
    ];

    /// Name in addresses and metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::LossMinusConstant => "loss_minus_constant",
            Self::LossMinusReference => "loss_minus_reference",
            Self::Calibration => "calibration",
            Self::LabelRate => "label_rate",
            Self::RefusedShare => "refused_share",
        }
    }

    /// Its name for people.
    fn title(self) -> &'static str {
        match self {
            Self::LossMinusConstant => "the loss minus that of the constant",
            Self::LossMinusReference => "the loss minus that of the reference",
            Self::Calibration => "prediction minus outcome",
            Self::LabelRate => "the label rate",
            Self::RefusedShare => "the share of refused rows",
        }
    }
}

/// An alarm that was raised.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Alarm {
    pub(crate) stream: Stream,
    /// The log time of the end of its period, in milliseconds.
    pub(crate) time: u64,
    /// Description of the event in words.
    pub(crate) message: String,
    /// The mean before and since the change.
    before: f64,
    now: f64,
    #[serde(skip)]
    until: u64,
}

/// The present state of the alarms of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alarms {
    /// Alarms raised since the start of the process, by stream.
    pub(crate) counts: [u64; Stream::ALL.len()],
    /// Distance to an alarm by stream: 0 (far) to 1 (raised).
    pub(crate) evidence: [f64; Stream::ALL.len()],
    means: [Option<f64>; Stream::ALL.len()],
    watching: [bool; Stream::ALL.len()],
    pub(crate) latest: VecDeque<Alarm>,
    now: u64,
}

impl Alarms {
    /// Whether an alarm of a stream is present.
    pub(crate) fn is_present(&self, stream: Stream) -> bool {
        self.latest.iter().any(|alarm| alarm.stream == stream && self.now < alarm.until)
    }

    pub(crate) fn to_json(&self) -> Value {
        let streams = Stream::ALL.iter().enumerate().map(|(k, stream)| {
            json!({
                "stream": stream,
                "present": self.is_present(*stream),
                "raised": self.counts[k],
                "evidence": self.evidence[k],
                "mean": self.means[k],
                "watching": self.watching[k],
            })
        });
        json!({"streams": streams.collect::<Vec<_>>(), "latest": self.latest})
    }
}

impl Alarms {
    /// Appends the lines that Prometheus reads.
    pub(crate) fn write_metrics(&self, labels: &str, out: &mut String) {
        let mut lines =
            |name: &str, kind: &str, help: &str, value: &dyn Fn(usize, Stream) -> f64| {
                head(out, name, kind, help);
                for (k, stream) in Stream::ALL.into_iter().enumerate() {
                    let (stream, value) = (stream.name(), value(k, stream));
                    let _ = writeln!(out, "{name}{{{labels},stream=\"{stream}\"}} {value}");
                }
            };
        let help = "Whether an alarm of a stream is present.";
        let present = |_, stream| f64::from(u8::from(self.is_present(stream)));
        lines("parsimon_alarm", "gauge", help, &present);
        let help = "Alarms raised since the start of the process.";
        lines("parsimon_alarms_total", "counter", help, &|k, _| self.counts[k] as f64);
        let help = "How near an alarm is, 0 to 1, on a logarithmic scale.";
        lines("parsimon_alarm_evidence", "gauge", help, &|k, _| self.evidence[k]);
    }
}

/// The detectors of a model.
pub(crate) struct Detectors {
    all: [Detector; Stream::ALL.len()],
    period: u64,
}

impl Detectors {
    /// Alarms for periods of `period` milliseconds; `is_binary` if labels are two classes.
    pub(crate) fn new(period: u64, is_binary: bool) -> Self {
        let all = Stream::ALL.map(|stream| match stream {
            Stream::LossMinusConstant | Stream::LossMinusReference => {
                Detector::new(RowKind::Numbers, Change::Rise)
            }
            Stream::LabelRate if is_binary => Detector::new(RowKind::Binary, Change::Either),
            Stream::Calibration | Stream::LabelRate => {
                Detector::new(RowKind::Numbers, Change::Either)
            }
            Stream::RefusedShare => Detector::new(RowKind::Binary, Change::Rise),
        });
        Self { all, period }
    }

    /// The detector of a stream.
    #[inline]
    pub(crate) fn of(&mut self, stream: Stream) -> &mut Detector {
        &mut self.all[stream as usize]
    }

    /// A period is over at a log time: new alarms are added to the state and returned.
    pub(crate) fn close(&mut self, time: u64, state: &mut Alarms) -> Vec<Alarm> {
        let mut raised = Vec::new();
        state.now = time;
        for (k, stream) in Stream::ALL.into_iter().enumerate() {
            if let Some(noticed) = self.all[k].close() {
                let alarm = alarm(stream, &noticed, time, time + PRESENT * self.period);
                state.counts[k] += 1;
                if state.latest.len() == REMEMBERED {
                    state.latest.pop_front();
                }
                state.latest.push_back(alarm.clone());
                raised.push(alarm);
            }
            state.evidence[k] = self.all[k].evidence();
            state.means[k] = self.all[k].mean();
            state.watching[k] = self.all[k].is_watching();
        }
        raised
    }
}

fn alarm(stream: Stream, noticed: &Noticed, time: u64, until: u64) -> Alarm {
    let Noticed { is_rise, before, now, periods } = *noticed;
    let verb = if is_rise { "has risen" } else { "has fallen" };
    let since = if periods == 1 { "period".into() } else { format!("{periods} periods") };
    let (from, to) = (significant(before, 3), significant(now, 3));
    let message =
        format!("{} {verb} from {from} to {to} (mean of the last {since})", stream.title());
    Alarm { stream, time, message, before, now, until }
}
