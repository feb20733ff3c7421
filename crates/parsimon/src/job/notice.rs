//! Notices at the end of a job.

use parsimon_eval::Measure;

use super::{InOrder, Trained};
use crate::settings::Settings;
use crate::training::{Notice, Trainer};

/// Returns how the progressive loss is shown: that of several classes is a share of errors.
pub fn measure_of(settings: &Settings) -> Measure {
    match settings.is_multiclass() {
        true => Measure::default(),
        false => Measure::of(settings.loss()),
    }
}

impl Trained {
    /// What the caller should know of the result: remarks of the reader, a model that is no better than a constant, shared hash
    /// slots, rows that were skipped.
    pub fn notices(&self) -> Vec<Notice> {
        let mut notices = Notice::of_rows(&self.outcome.warnings, &self.outcome.skipped);
        let estimate = self.estimate();
        let behind = estimate.constant.filter(|constant| estimate.loss >= *constant);
        if self.trainer.has_one_label() {
            notices.push(Notice::OneLabel);
        } else if let Some(constant) = behind {
            notices.push(Notice::NoBetterThanConstant { loss: estimate.loss, constant });
        }
        let in_order = self.in_order.or_else(|| InOrder::of(self));
        if let Some(InOrder { progressive: loss, last_label: Some(last), .. }) = in_order
            && loss > last
        {
            notices.push(Notice::BehindLastLabel { loss, last });
        }
        notices.extend(collisions(&self.trainer));
        // Passes that held-out rows have chosen need no other method.
        if self.repeated.is_none() {
            notices.extend(many_passes(&self.trainer, self.outcome.passes.len() as u64));
        }
        notices
    }
}

/// Hash slots of the learner that are shared by several names.
fn collisions(trainer: &Trainer) -> Option<Notice> {
    let (slots, names) = (trainer.names().collisions() as u64, trainer.names().len() as u64);
    (slots > 0).then_some(Notice::Collisions { slots, names })
}

/// From so many passes on, an exact minimum is likely to be the aim.
const MANY: u64 = 20;

/// FTRL-Proximal with a penalty and many passes. Its penalty counts once, however often a row is learned, and what the quadratics of
/// early rounds pulled toward is never undone: the weights settle beside the minimum.
fn many_passes(trainer: &Trainer, passes: u64) -> Option<Notice> {
    let settings = trainer.settings();
    let strength = |name| settings.to_json().get(name).and_then(serde_json::Value::as_f64);
    let method = settings.algorithm().name;
    let is_penalized = ["l1", "l2"].into_iter().any(|name| strength(name).is_some_and(|s| s > 0.0));
    let is_meant = method == "ftrl" && is_penalized && passes >= MANY;
    is_meant.then_some(Notice::ManyPasses { passes, method })
}
