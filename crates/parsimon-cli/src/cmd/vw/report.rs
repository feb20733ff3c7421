//! The table of progress and the summary, in the words of Vowpal Wabbit.

use super::note;
use super::options::{Method, Options};

/// Sums over the examples of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    /// Examples that were not held out.
    pub(super) examples: u64,
    pub(super) passes: u64,
    pub(super) labeled: f64,
    pub(super) unlabeled: f64,
    pub(super) labels: f64,
    pub(super) loss: f64,
    /// The loss since the last line.
    pub(super) loss_since: f64,
    pub(super) features: u64,
    /// Of the held-out examples of this pass.
    pub(super) held_out: f64,
    pub(super) held_out_loss: f64,
    /// The lowest holdout loss of a pass.
    pub(super) best: Option<f64>,
}

pub(super) struct Report {
    pub(super) totals: Totals,
    quiet: bool,
    next: f64,
    /// The importance at the last line.
    labeled_before: f64,
}

impl Report {
    pub(super) fn new(options: &Options) -> Self {
        let (step, is_factor) = options.progress;
        let next = if is_factor { 1.0 } else { step };
        Self { totals: Totals::default(), quiet: options.quiet, next, labeled_before: 0.0 }
    }

    pub(super) fn header(&self, options: &Options) {
        if self.quiet {
            return;
        }
        let update = match options.method {
            Method::Ftrl => {
                format!("ftrl, ftrl_alpha = {}, ftrl_beta = {}", options.alpha, options.beta)
            }
            Method::Coin => {
                format!("coin, ftrl_alpha = {}, ftrl_beta = {}", options.alpha, options.beta)
            }
            Method::Pistol => {
                format!("pistol, ftrl_alpha = {}, ftrl_beta = {}", options.alpha, options.beta)
            }
            Method::Gradient => {
                let parts = [
                    (options.adaptive, "adaptive"),
                    (options.normalized, "normalized"),
                    (options.invariant, "invariant"),
                ];
                let parts: Vec<_> =
                    parts.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
                let parts = if parts.is_empty() { "plain".into() } else { parts.join(", ") };
                format!(
                    "{parts}, learning rate = {}, initial_t = {}, power_t = {}",
                    options.rate, options.start, options.power
                )
            }
        };
        note(&format!("Num weight bits = {}\nupdate = {update}", options.bits));
        let line = |words: [&str; 7]| {
            format!(
                "{:8} {:8} {:>12} {:>14} {:>14} {:>14} {:>8}",
                words[0], words[1], words[2], words[3], words[4], words[5], words[6]
            )
        };
        note(&line(["average", "since", "example", "example", "current", "current", "current"]));
        note(&line(["loss", "last", "counter", "weight", "label", "predict", "features"]));
    }

    /// Prints a line where one is due.
    pub(super) fn line(
        &mut self,
        options: &Options,
        label: Option<String>,
        prediction: String,
        features: usize,
        is_held_out: bool,
    ) {
        let Totals { labeled, unlabeled, loss, examples, .. } = self.totals;
        if self.quiet || is_held_out || labeled + unlabeled < self.next {
            return;
        }
        let share = |loss: f64, weight: f64| {
            if weight > 0.0 { format!("{:.6}", loss / weight) } else { "n.a.".into() }
        };
        let since = share(self.totals.loss_since, labeled - self.labeled_before);
        note(&format!(
            "{:8} {since:8} {examples:>12} {:>14.1} {:>14} {prediction:>14} {features:>8}",
            share(loss, labeled),
            labeled + unlabeled,
            label.unwrap_or_else(|| "unknown".into()),
        ));
        self.totals.loss_since = 0.0;
        self.labeled_before = labeled;
        let (step, is_factor) = options.progress;
        while self.next <= labeled + unlabeled {
            let next = if is_factor { self.next * step } else { self.next + step };
            // A factor of 1 or less would never end.
            self.next = if next > self.next { next } else { f64::INFINITY };
        }
    }

    pub(super) fn summary(&self, options: &Options) {
        if self.quiet {
            return;
        }
        let Totals { examples, passes, labeled, unlabeled, labels, loss, features, best, .. } =
            self.totals;
        let mut text = String::from("\nfinished run\n");
        if options.passes > 1 {
            text.push_str(&format!(
                "number of examples per pass = {}\npasses used = {passes}\n",
                examples / passes.max(1)
            ));
        } else {
            text.push_str(&format!("number of examples = {examples}\n"));
        }
        text.push_str(&format!("weighted example sum = {:.6}\n", labeled + unlabeled));
        text.push_str(&format!("weighted label sum = {labels:.6}\n"));
        let average = match (options.holdout, best) {
            (Some(_), Some(best)) => format!("{best:.6} h"),
            (Some(_), None) => "undefined (no holdout)".into(),
            (None, _) if labeled > 0.0 => format!("{:.6}", loss / labeled),
            (None, _) => "n.a.".into(),
        };
        text.push_str(&format!("average loss = {average}\ntotal feature number = {features}"));
        note(&text);
    }
}
