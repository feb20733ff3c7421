//! Shadows: other settings learn the same log beside a model, are compared with it, and may take its place.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use parsimon::data::Names;
use parsimon::{LearnerOptions, Settings, Trainer};
use parsimon_log::{Content, Log};
use serde_json::{Value, json};

use super::intake::refused;
use super::learner::Step;
use super::model::Learning;
use super::open::{OpenError, other, start_of};
use super::record::{Paused, Promote, Start, kind};
use super::replay::{Replay, Stop};
use super::replica::{Live, Version};
use super::request_buffers::RowOptions;
use crate::error::Refusal;

/// The state of a promoted shadow, which replaces that of the model: two equal copies and the names of their features.
pub(crate) type Replacement = ([Live; 2], Names);

/// A learner beside the model.
pub(crate) struct Shadow {
    name: String,
    start: Start,
    /// The record after which it began, with nothing learned.
    after: u64,
    paused: Option<Paused>,
    state: Mutex<Progress>,
    /// The record by which it takes the model's place, and where its state goes then.
    promised: Mutex<Option<(u64, Sender<Replacement>)>>,
    is_over: AtomicBool,
}

/// Progress of a shadow.
#[derive(Default)]
struct Progress {
    seq: u64,
    rows: u64,
    loss: Option<f64>,
    skipped: u64,
    trouble: Option<String>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shadow {
    /// Learns the log from its first record, and then with the model.
    fn run(&self, log: &Log) {
        let mut is_careful = false;
        while !self.is_over.load(Ordering::Relaxed) {
            match self.follow(log, is_careful) {
                Ok(()) => {}
                Err(Stop::Diverged) => is_careful = true,
                Err(stop) => {
                    let words = stop.into_error(std::path::Path::new("shadow")).to_string();
                    tracing::warn!(shadow = self.name, words, "the shadow has stopped");
                    lock(&self.state).trouble = Some(words);
                    return;
                }
            }
        }
    }

    /// Learns from the beginning until the end, or until the model has gone back to an earlier state.
    fn follow(&self, log: &Log, is_careful: bool) -> Result<(), Stop> {
        let mut replay = Replay::shadow(log, is_careful);
        let mut live = Live::new(super::open::fresh(&self.start)?, Version::default());
        live.paused.clone_from(&self.paused);
        live.is_warming = self.start.is_warming();
        let mut state = Some((self.start.clone(), live));
        let mut follower = log.follow(self.after).map_err(OpenError::from)?;
        let mut reached = self.after;
        while !self.is_over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            let next = follower.next_within(Duration::from_millis(200));
            let Some(record) = next.map_err(OpenError::from)? else { continue };
            let (seq, content) = (record.seq, record.content);
            if let Content::Epoch { base, .. } = content
                && base != reached
            {
                return Ok(());
            }
            if let Content::Data { kind: kind::PROMOTE, .. } = content {
                self.hand_over(seq, state.as_ref(), &replay)?;
            }
            replay.step(&record, &mut state, None)?;
            reached = seq;
            if let Some((_, live)) = &state {
                let progressive = live.trainer.progressive();
                let mut state = lock(&self.state);
                (state.seq, state.rows) = (seq, progressive.rows());
                (state.loss, state.skipped) = (progressive.average(), live.skipped.records);
            }
            // The model goes first: a shadow works half of the time at most.
            std::thread::sleep(begun.elapsed().min(Duration::from_millis(50)));
        }
        Ok(())
    }

    /// Gives the state before a record to the learner, if this shadow was chosen by that record.
    fn hand_over(
        &self,
        seq: u64,
        state: Option<&(Start, Live)>,
        replay: &Replay<'_>,
    ) -> Result<(), Stop> {
        let mut promised = lock(&self.promised);
        if let (Some((_, sender)), Some((_, live))) =
            (promised.take_if(|(at, _)| *at == seq), state)
        {
            let copies = [live.copied(), live.copied()];
            let [Ok(one), Ok(two)] = copies else { return Err(Stop::Diverged) };
            let _ = sender.send(([one, two], replay.names()));
        }
        Ok(())
    }

    fn about(&self, model: &Live) -> Value {
        let state = lock(&self.state);
        let mut about = json!({
            "name": self.name,
            "settings": self.start.settings,
            "seq": state.seq,
            "rows": state.rows,
            "progressive_loss": state.loss,
            "skipped": state.skipped,
        });
        if self.after > 0 {
            about["since"] = self.after.into();
        } else {
            let progressive = model.trainer.progressive();
            about["model"] =
                json!({"rows": progressive.rows(), "progressive_loss": progressive.average()});
        }
        if let Some(trouble) = &state.trouble {
            about["stopped"] = trouble.as_str().into();
        }
        about
    }
}

impl Learning {
    /// Lets other settings learn the same log. They must have the model's loss and read rows as the model does.
    pub fn add_shadow(&self, name: &str, settings: Settings) -> Result<(), OpenError> {
        super::check_name(name).map_err(other)?;
        let bad = |words: String| Err(other(format!("the shadow {name:?}: {words}")));
        let replica = self.shared.pair.read();
        let Some(live) = replica.live() else { return bad("the model does not learn".into()) };
        let model = &live.trainer;
        if settings.loss_name() != model.settings().loss_name() {
            let (own, its) = (settings.loss_name(), model.settings().loss_name());
            return bad(format!("its loss is {own}, and the model's is {its}"));
        }
        let options = LearnerOptions {
            precision: model.options().precision,
            bias: model.options().bias,
            storage: model.schema().storage(),
        };
        let trainer = Trainer::new(settings, options, model.schema().clone())
            .map_err(parsimon::Error::from)?;
        let model_start = lock(&self.shared.start).clone();
        if RowOptions::of(&model_start, &trainer) != RowOptions::of(&model_start, model) {
            return bad("these settings read rows in another way than the model; let normalize be as the model has it".into());
        }
        drop(replica);
        let mut shadows = lock(&self.shadows);
        if shadows.iter().any(|(shadow, _)| shadow.name == name) {
            return bad("is given twice".into());
        }
        // Removed records cannot be learned, so the shadow begins at the present record.
        let (after, paused) = match self.log.opened().first {
            1 => (0, None),
            _ => (self.reached().durable, self.intake().paused.clone()),
        };
        let shadow = Arc::new(Shadow {
            name: name.to_owned(),
            start: Start {
                kinds: model_start.kinds,
                settled: model_start.settled,
                ..start_of(&trainer, None)
            },
            after,
            paused,
            state: Mutex::default(),
            promised: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let (log, own) = (self.log.clone(), shadow.clone());
        let spawned = std::thread::Builder::new().name(format!("shadow {name}"));
        let thread = spawned.spawn(move || own.run(&log)).map_err(|e| other(e.to_string()))?;
        shadows.push((shadow, thread));
        Ok(())
    }

    /// The shadows beside the model: how far they are, and their progressive losses.
    pub fn shadows(&self) -> Vec<Value> {
        let replica = self.shared.pair.read();
        let Some(live) = replica.live() else { return Vec::new() };
        lock(&self.shadows).iter().map(|(shadow, _)| shadow.about(live)).collect()
    }

    /// A shadow takes the place of the model, with everything that is logged up to now learned. The rows that come meanwhile wait.
    pub fn promote_shadow(&self, name: &str) -> Result<Version, Refusal> {
        let shadows = lock(&self.shadows);
        let Some((shadow, _)) = shadows.iter().find(|(shadow, _)| shadow.name == name) else {
            return Err(Refusal::missing(format!("there is no shadow {name:?}")));
        };
        if let Some(trouble) = &lock(&shadow.state).trouble {
            return Err(Refusal::conflict(format!("the shadow {name:?} has stopped: {trouble}")));
        }
        let intake = self.intake();
        intake.check()?;
        if intake.warming.is_some() {
            let words = "the model collects its first rows, and so do its shadows";
            return Err(Refusal::conflict(words));
        }
        // A shadow that began before the kinds of columns were known reads rows as the model does now.
        let model_start = lock(&self.shared.start).clone();
        let start = Start {
            schema: model_start.schema,
            kinds: model_start.kinds,
            settled: model_start.settled,
            ..shadow.start.clone()
        };
        let after = shadow.after;
        let record = Promote { shadow: name.to_owned(), start: start.clone(), after };
        let json = serde_json::to_vec(&record).unwrap_or_default();
        // Held until the record has its number: the shadow may come to it at once.
        let mut promised = lock(&shadow.promised);
        let ticket = self.log.append(kind::PROMOTE, &json).map_err(|error| refused(&error))?;
        let (sender, received): (_, Receiver<Replacement>) = channel();
        *promised = Some((ticket.seq, sender));
        let version = Version { epoch: intake.epoch, seq: ticket.seq };
        let _ = intake.steps.send(Step::Promote(version, Box::new(start), received));
        Ok(version)
    }

    /// Ends the threads of the shadows.
    pub(super) fn end_shadows(&self) {
        let shadows = std::mem::take(&mut *lock(&self.shadows));
        shadows.iter().for_each(|(shadow, _)| shadow.is_over.store(true, Ordering::Relaxed));
        for (_, thread) in shadows {
            let _ = thread.join();
        }
    }
}
