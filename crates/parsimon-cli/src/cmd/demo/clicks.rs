//! Visitors who see ads and sometimes click. Their tastes move slowly, and now and then at once.

use std::fmt::Write as _;
use std::time::Duration;

use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Fields of a row, and how many values each has.
const FIELDS: [(&str, usize); 5] =
    [("site", 30), ("ad", 60), ("device", 4), ("segment", 200), ("hour", 24)];

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Incident {
    /// Visitors click on other ads than before.
    OtherTastes,
    /// A client sends rows that cannot be read.
    BrokenClient,
    /// Most clicks are not reported.
    LostClicks,
}

impl Incident {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::OtherTastes => "visitors like other sites and ads now",
            Self::BrokenClient => "a client sends broken rows",
            Self::LostClicks => "two of three clicks are not reported",
        }
    }
}

/// The visitors.
pub(super) struct Clicks {
    random: Xoshiro256PlusPlus,
    /// The log odds that each value of each field adds.
    tastes: Vec<Vec<f64>>,
    /// The direction in which tastes move.
    phases: Vec<Vec<f64>>,
    turn: f64,
}

impl Clicks {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut normal = |scale: f64| {
            let x: f64 = StandardNormal.sample(&mut random);
            scale * x
        };
        let scales = [1.2, 1.5, 0.5, 0.6, 0.2];
        let mut table = |factor: f64| -> Vec<Vec<f64>> {
            let field = |(&(_, values), scale): (&(&str, usize), f64)| {
                (0..values).map(|_| normal(scale * factor)).collect()
            };
            FIELDS.iter().zip(scales).map(field).collect()
        };
        let (tastes, phases) = (table(1.0), table(0.4));
        Self { random, tastes, phases, turn: 0.0 }
    }

    /// Tastes move all the time, and come back after some minutes.
    pub(super) fn drift(&mut self, now: Duration) {
        self.turn = (now.as_secs_f64() / 180.0).sin();
    }

    /// The tastes for sites and ads go to others.
    pub(super) fn change_tastes(&mut self) {
        for field in &mut self.tastes[..2] {
            let by = field.len() / 2 - 1;
            field.rotate_left(by);
        }
    }

    fn value(&mut self, values: usize) -> usize {
        // Low numbers are more frequent.
        let u: f64 = self.random.random();
        ((u * u * values as f64) as usize).min(values - 1)
    }

    /// The fields of a visitor as JSON, without the brace at the end; whether the visitor clicks.
    fn visit(&mut self, text: &mut String) -> bool {
        let mut odds = -1.9;
        for (k, (name, values)) in FIELDS.iter().enumerate() {
            let value = self.value(*values);
            odds += self.tastes[k][value] + self.turn * self.phases[k][value];
            let _ = write!(text, "\"{name}\":\"{name}{value}\",");
        }
        let price: f64 = self.random.random();
        odds -= 0.8 * price;
        let _ = write!(text, "\"price\":{price:.3}");
        self.random.random::<f64>() < 1.0 / (1.0 + (-odds).exp())
    }

    /// Appends a row that is scored. Returns the number of periods until its click is reported, if it is clicked.
    pub(super) fn row(
        &mut self,
        id: u64,
        incident: Option<Incident>,
        text: &mut String,
    ) -> Option<Duration> {
        let _ = write!(text, "{{\"id\":\"v{id}\",");
        let is_click = self.visit(text);
        text.push_str("}\n");
        let is_lost = incident == Some(Incident::LostClicks) && self.random.random::<f64>() < 0.67;
        let delay: f64 = Exp1.sample(&mut self.random);
        (is_click && !is_lost).then(|| Duration::from_secs_f64(0.4 * delay.min(2.0)))
    }

    /// A row that has its label.
    pub(super) fn labelled_row(&mut self, incident: Option<Incident>) -> String {
        let mut text = "{".to_owned();
        let is_click = self.visit(&mut text);
        let is_broken =
            incident == Some(Incident::BrokenClient) && self.random.random::<f64>() < 0.6;
        // Some rows of a good client are malformed, too.
        let is_broken = is_broken || self.random.random::<f64>() < 0.005;
        let label = if is_broken {
            "\"maybe\""
        } else if is_click {
            "1"
        } else {
            "0"
        };
        let _ = write!(text, ",\"label\":{label}}}");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_json_and_some_are_clicks() {
        let mut clicks = Clicks::new(1);
        let mut text = String::new();
        let reported = (0..2000).filter(|id| clicks.row(*id, None, &mut text).is_some()).count();
        assert!((60..700).contains(&reported), "{reported}");
        for line in text.lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(row.as_object().unwrap().len(), 7);
        }
        let lost = Some(Incident::LostClicks);
        let left = (0..2000).filter(|id| clicks.row(*id, lost, &mut text).is_some()).count();
        assert!(left < reported / 2, "{left} {reported}");
        let row: serde_json::Value = serde_json::from_str(&clicks.labelled_row(None)).unwrap();
        assert!(row["label"].is_u64());
    }
}
