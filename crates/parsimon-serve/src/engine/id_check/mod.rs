//! The table of ids, checked against a model of it by random histories with crashes.
//!
//! A history scores, learns and labels a few ids over and over, lets time pass, writes snapshots, goes back to one, restarts and
//! crashes on a simulated disk. Every answer must be the model's, after a crash the log must hold a prefix of what was sent with
//! everything that was acknowledged, and the table and the number of learned rows must be the model's at that record.
//!
//! The number of histories is 2,000, or that of the environment variable `PARSIMON_ID_HISTORIES`.

mod model;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use model::{Answer, Model, Row, State};
use parsimon::data::{Format, TableSchema};
use parsimon::workspace::{ColumnKind, Kind, Points};
use parsimon::{InputSchema, LearnerOptions, Spec};
use parsimon_log::Clock;
use parsimon_log::simulated::{SimulatedDisk, State as DiskState};
use parsimon_testing::SplitMix64;
use serde_json::Value;

use super::id_table::State as EngineState;
use super::{Ack, Labels, Limits, Model as Engine, Policy, Request, Source, Version, ids};
use crate::content::{Content, Shape};

/// A fault that the histories have to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A row that is learned by a request goes on waiting, and is learned again.
    LearnKeepsRow,
    /// A second label that differs is called a duplicate.
    AnyLabelIsDuplicate,
    /// One row that cannot be read stops the windows of all others.
    OneBadRowBlocks,
    /// A full table refuses new rows and keeps the old ones.
    FullRefuses,
    /// Rows that were learned stay in the order of those that wait.
    OrderLeaks,
}

const IDS: u64 = 7;
const PLACES: usize = 3;
const WINDOW: u64 = 100;
const DEFAULT: u8 = 0;

/// A history at work.
struct History {
    random: SplitMix64,
    time: Arc<AtomicU64>,
    disk: SimulatedDisk,
    engine: Option<Engine>,
    model: Model,
    /// The model after each record that changed it; the first is the beginning.
    states: Vec<(u64, Model)>,
    acknowledged: u64,
    fault: Option<Fault>,
    trace: Vec<String>,
}

fn source() -> Source {
    let column = |name: &str, kind| ColumnKind {
        name: name.into(),
        kind,
        form: None,
        missing: Vec::new(),
        knots: Points::default(),
        cuts: Points::default(),
    };
    let columns = vec![
        column("label", Kind::Category),
        column("x", Kind::Category),
        column("n", Kind::Number),
    ];
    let label = Some("label".to_owned());
    let table = TableSchema { columns, label: label.clone(), ..TableSchema::default() };
    let schema = InputSchema {
        bits: Some(10),
        table: Some(table),
        label_column: label,
        ..InputSchema::default()
    };
    Source::Fresh {
        settings: Box::new(Spec::new("ftrl").set("normalize", true).resolve().unwrap()),
        options: LearnerOptions { storage: schema.storage(), ..LearnerOptions::default() },
        schema: Box::new(schema),
        finds_kinds: false,
    }
}

fn lines(text: String) -> Content<'static> {
    Content { format: Format::Jsonl, text: text.into_bytes().into(), shape: Shape::Lines }
}

impl History {
    fn new(seed: u64, fault: Option<Fault>) -> Self {
        let model = Model::new(PLACES, WINDOW, DEFAULT);
        let mut history = Self {
            random: SplitMix64::new(seed),
            time: Arc::new(AtomicU64::new(1000)),
            disk: SimulatedDisk::new(DiskState::default(), 512),
            engine: None,
            states: vec![(0, model.clone())],
            model,
            acknowledged: 0,
            fault,
            trace: Vec::new(),
        };
        history.open();
        history
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random.bits() % n
    }

    fn policy(&self) -> Policy {
        let time = self.time.clone();
        let clock = Clock::both(move || time.load(Ordering::Relaxed));
        let labels = Labels::Window {
            window: Duration::from_millis(WINDOW),
            default: DEFAULT.to_string(),
            learn_late: false,
        };
        Policy {
            labels,
            clock,
            pending_rows: PLACES,
            segment_bytes: 8 << 10,
            prove: false,
            fault: self.fault,
            ..Policy::new("")
        }
    }

    fn open(&mut self) {
        let disk = Arc::new(self.disk.clone());
        let engine = Engine::on_disk(disk, &source(), self.policy());
        self.engine = Some(engine.unwrap_or_else(|e| panic!("{e}: {:#?}", self.trace)));
    }

    fn learning(&self) -> &super::Learning {
        self.engine.as_ref().unwrap().learner().unwrap()
    }

    /// Notes the states of the model after the records that an event wrote, which are the last ones.
    fn note(&mut self, steps: Vec<Model>) {
        let last = self.learning().log.last();
        let first = last + 1 - steps.len() as u64;
        for (seq, state) in (first..).zip(steps) {
            assert!(self.states.last().unwrap().0 < seq, "no record: {:#?}", self.trace);
            self.states.push((seq, state));
        }
    }

    /// Waits for acknowledgements of all that was sent, as some clients do.
    fn acknowledge(&mut self) {
        let last = self.learning().log.last();
        self.learning().log.wait_durable(last).unwrap();
        self.acknowledged = last;
    }

    fn step(&mut self) {
        let id = self.below(IDS) as u8;
        let (content, label) = (self.below(2) as u8, self.below(2) as u8);
        match self.below(100) {
            0..25 => {
                let row = Row { content, is_readable: self.below(4) > 0 };
                self.score(id, row);
            }
            25..40 => self.learn(id, content, label),
            40..65 => self.label(id, label),
            65..80 => {
                let wait = self.below(60);
                self.trace.push(format!("time passes: {wait}"));
                self.time.fetch_add(wait, Ordering::Relaxed);
                self.expire();
            }
            80..86 => self.acknowledge(),
            86..91 => {
                self.acknowledge();
                self.snapshot();
            }
            91..94 => self.go_back(),
            94..96 => self.restart(),
            _ => self.crash(),
        }
        self.compare();
    }

    fn score(&mut self, id: u8, row: Row) {
        self.trace.push(format!("score {id} {row:?}"));
        let now = self.time.load(Ordering::Relaxed);
        let (expected, steps) = self.model.score(id, row, now);
        // A word in a column of numbers counts as missing in a score, and cannot be learned.
        let n = if row.is_readable { "1" } else { "\"word\"" };
        let text = format!("{{\"id\":{id},\"x\":\"{}\",\"n\":{n}}}\n", row.content);
        let mut tracked = None;
        let engine = self.engine.as_ref().unwrap();
        let scored =
            engine.score_tracked(&lines(text), &Limits::default(), |_, kept| tracked = kept);
        scored.unwrap_or_else(|e| panic!("{e:?}: {:#?}", self.trace));
        assert_eq!(tracked, Some(expected), "{:#?}", self.trace);
        self.note(steps);
    }

    fn learn(&mut self, id: u8, content: u8, label: u8) {
        self.trace.push(format!("learn {id} {content} {label}"));
        let (expected, steps) = self.model.learn(id, content, label);
        let text = format!("{{\"id\":{id},\"x\":\"{content}\",\"n\":1,\"label\":{label}}}\n");
        let taken = self.again(|learning| {
            learning.learn(&lines(text.clone()), Request::default(), &Limits::default())
        });
        let found = match taken {
            Ok(taken) if taken.learned == 1 => Answer::Learned,
            Ok(_) => Answer::Duplicate,
            Err(refusal) if refusal.status() == 409 => Answer::Conflict,
            Err(refusal) => panic!("{refusal:?}: {:#?}", self.trace),
        };
        assert_eq!(found, expected, "{:#?}", self.trace);
        self.note(steps);
    }

    fn label(&mut self, id: u8, label: u8) {
        self.trace.push(format!("label {id} {label}"));
        let (expected, steps) = self.model.label(id, label);
        let text = format!("{{\"id\":{id},\"label\":{label}}}\n");
        let labelled =
            self.again(|learning| learning.label(&lines(text.clone()), &Limits::default()));
        let found = match labelled.map(|labelled| labelled.to_json()) {
            Ok(answer) if answer["learned"] == 1 => Answer::Learned,
            Ok(answer) if !answer["set_aside"].is_null() => Answer::SetAside,
            Ok(answer) if answer["duplicates"][0]["late"] == Value::Bool(true) => Answer::Late,
            Ok(answer) if answer["duplicate"] == Value::Bool(true) => Answer::Duplicate,
            Err(refusal) if refusal.status() == 409 => Answer::Conflict,
            Err(refusal) if refusal.status() == 404 => Answer::Unknown,
            other => panic!("{other:?}: {:#?}", self.trace),
        };
        assert_eq!(found, expected, "{:#?}", self.trace);
        self.note(steps);
    }

    /// Asks again while the log prepares a segment, as clients do.
    fn again<T>(
        &self,
        ask: impl Fn(&super::Learning) -> Result<T, crate::error::Refusal>,
    ) -> Result<T, crate::error::Refusal> {
        let begun = Instant::now();
        loop {
            match ask(self.learning()) {
                Err(refusal) if refusal.status() == 429 && begun.elapsed().as_secs() < 60 => {
                    std::thread::yield_now();
                }
                answer => return answer,
            }
        }
    }

    fn expire(&mut self) {
        let now = self.time.load(Ordering::Relaxed);
        let steps = self.model.expire(now);
        let shared = &self.learning().shared;
        let begun = Instant::now();
        // The learner may come before, and the log may be preparing a segment.
        loop {
            let _ = shared.expire_now(&self.learning().log);
            let is_over = |row: &super::id_table::KeptRow| row.time + WINDOW <= now;
            let old = self.learning().intake().table.since(u64::MAX, 1);
            if !old.first().is_some_and(|(_, row)| is_over(row)) {
                break;
            }
            assert!(begun.elapsed().as_secs() < 2, "a window does not end: {:#?}", self.trace);
        }
        self.note(steps);
    }

    fn snapshot(&mut self) {
        self.trace.push("snapshot".into());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let seq = self.learning().log.last();
            self.learning().acknowledged(seq, Ack::Visible).await.unwrap();
            self.learning().snapshot().await.unwrap_or_else(|e| panic!("{e:?}: {:#?}", self.trace));
        });
    }

    fn go_back(&mut self) {
        let kept = self.learning().log.snapshots().unwrap();
        if kept.is_empty() {
            return;
        }
        let (epoch, seq) = kept[self.below(kept.len() as u64) as usize];
        self.trace.push(format!("go back to {seq}"));
        let to = Version { epoch, seq };
        let gone = self.again(|learning| learning.go_back(to, "a history"));
        let version = gone.unwrap_or_else(|e| panic!("{e:?}: {:#?}", self.trace));
        // The states of an abandoned branch are kept: one of its snapshots may be restored.
        let state = self.state_at(seq);
        self.model = state.clone();
        self.states.push((version.seq, state));
        self.acknowledge();
        // Windows may have ended in the state that it went back to.
        self.expire();
    }

    fn state_at(&self, seq: u64) -> Model {
        let known = self.states.iter().rev().find(|(at, _)| *at <= seq);
        known.map(|(_, state)| state.clone()).unwrap()
    }

    /// Ends in order, and starts again.
    fn restart(&mut self) {
        self.trace.push("restart".into());
        self.acknowledge();
        drop(self.engine.take());
        self.open();
        self.expire();
    }

    /// Drops everything that a power cut may lose, and restarts.
    fn crash(&mut self) {
        let state = self.disk.state();
        let choices: Vec<usize> = state
            .choices()
            .into_iter()
            .map(|ways| (self.random.bits() % ways as u64) as usize)
            .collect();
        // Records written after the simulated crash are lost.
        drop(self.engine.take());
        self.disk = SimulatedDisk::new(state.crash(&choices), 512);
        self.open();
        let last = self.learning().log.opened().last;
        self.trace.push(format!("crash; record {last} is the last"));
        assert!(last >= self.acknowledged, "{} is lost: {:#?}", self.acknowledged, self.trace);
        self.states.retain(|(seq, _)| *seq <= last);
        self.model = self.state_at(last);
        self.acknowledged = last;
        self.expire();
    }

    /// Compares the table and the number of learned rows with the model's.
    fn compare(&mut self) {
        let last = self.learning().log.last();
        let begun = Instant::now();
        while self.learning().reached().visible.seq < last {
            assert!(begun.elapsed().as_secs() < 60, "nothing is learned: {:#?}", self.trace);
            std::thread::yield_now();
        }
        let rows = self.learning().shared.pair.read().live().unwrap().trainer.progressive().rows();
        assert_eq!(rows, self.model.learned.len() as u64, "{:#?}", self.trace);
        let intake = self.learning().intake();
        for id in 0..IDS as u8 {
            let found = intake.table.get(ids::row_id(id.to_string().as_bytes()));
            let expected = self.model.ids.get(&id).map(|state| match state {
                State::Scored { .. } => EngineState::Scored,
                State::Learned { .. } => EngineState::Learned,
                State::Labelled { .. } => EngineState::Labelled,
                State::Expired { .. } => EngineState::Expired,
                State::SetAside { .. } => EngineState::SetAside,
            });
            assert_eq!(found.map(|entry| entry.state), expected, "{id}: {:#?}", self.trace);
        }
        let waiting: Vec<u64> =
            self.model.waiting().iter().map(|id| ids::row_id(id.to_string().as_bytes())).collect();
        let found: Vec<u64> =
            intake.table.since(u64::MAX, usize::MAX).into_iter().map(|(id, _)| id).collect();
        assert_eq!(found, waiting, "{:#?}", self.trace);
        drop(intake);
        for (id, content, label) in &self.model.learned {
            let twice = self.model.learned.iter().filter(|row| row.0 == *id).count();
            assert_eq!(twice, 1, "{id} {content} {label} is learned twice: {:#?}", self.trace);
        }
    }
}

/// Runs a history; what went wrong.
fn run(seed: u64, fault: Option<Fault>) -> Result<(), String> {
    let history = std::panic::AssertUnwindSafe(|| {
        let mut history = History::new(seed, fault);
        for _ in 0..24 {
            history.step();
        }
    });
    std::panic::catch_unwind(history).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_default()
    })
}

#[test]
fn the_engine_answers_as_the_model_whatever_happens() {
    let count = std::env::var("PARSIMON_ID_HISTORIES").ok();
    let count = count.map_or(2000, |text| text.parse().expect("PARSIMON_ID_HISTORIES is a number"));
    for seed in 0..count {
        if let Err(why) = run(seed, None) {
            panic!("history {seed}: {why}");
        }
    }
}

#[test]
fn planted_faults_are_found() {
    for fault in [
        Fault::LearnKeepsRow,
        Fault::AnyLabelIsDuplicate,
        Fault::OneBadRowBlocks,
        Fault::FullRefuses,
        Fault::OrderLeaks,
    ] {
        let found = (0..500).find(|seed| run(*seed, Some(fault)).is_err());
        assert!(found.is_some(), "{fault:?} is not found");
    }
}
