//! The race of `auto`: normalized FTRL-Proximal with many settings, of which some leave at every look.
//!
//! Every setting learns to the end here; one that has left is only never chosen again. All losses are kept, and every
//! look adds them up again.

use crate::loss::Loss;
use crate::method::dot;
use crate::normalizer::Normalizer;
use crate::prox::soft;
use crate::space::Space;
use crate::spec::Spec;
use crate::stream::Stream;
use crate::target::Target;
use serde_json::Value;

/// The first look is after this many learned rows; every next one after twice as many.
const FIRST_LOOK: usize = 1024;
/// From this many learned rows on, and whenever they have doubled, the usual setting may hand over before the first look.
const FIRST_GLANCE: usize = 64;
/// The standard errors by which it must then be worse than the constant.
const LIKELY: f64 = 2.0;
/// A mean loss within this share of another is as good.
const CLOSE: f64 = 0.001;
/// Number of standard errors at which a difference is certain.
const CERTAIN: f64 = 4.5;

/// Result of a race.
#[derive(Clone, Debug, PartialEq)]
pub struct Raced {
    /// The margins of the leader of each row's time, made before the row was learned.
    pub margins: Vec<f64>,
    /// The settings: rate and l1. The last is the constant.
    pub settings: Vec<(f64, f64)>,
    /// The setting that is read at the end.
    pub chosen: usize,
    /// The leader before the first look and after each.
    pub leaders: Vec<usize>,
    /// Settings that are still in the race.
    pub is_left: Vec<bool>,
    /// The weights of the chosen setting, in the units of features and labels.
    pub weights: Vec<f64>,
    /// Its bias.
    pub bias: f64,
}

/// FTRL-Proximal with `beta = 0` and a multiple of its l1 per round.
struct Racer {
    rate: f64,
    l1: f64,
    z: Vec<f64>,
    n: Vec<f64>,
}

impl Racer {
    /// `-(z - sign(z) l1 a)/H`, `H = sqrt(N)/rate`; the bias has no l1.
    fn point(&self, level: f64, space: &Space) -> Vec<f64> {
        let l1 = space.on_features(self.l1 * level);
        let curvature = |i: usize| self.n[i].sqrt() / self.rate;
        let weight = |i: usize| match soft(self.z[i], l1[i]) {
            0.0 => 0.0,
            size => -size / curvature(i),
        };
        (0..self.z.len()).map(weight).collect()
    }

    fn learn(&mut self, w: &[f64], x: &[f64], slope: f64) {
        for i in 0..x.len() {
            let g = slope * x[i];
            let sigma = ((self.n[i] + g * g).sqrt() - self.n[i].sqrt()) / self.rate;
            self.z[i] += g - sigma * w[i];
            self.n[i] += g * g;
        }
    }
}

/// The losses of all settings on all learned rows, and what was decided by them.
struct Referee {
    constant: usize,
    /// Importance and the loss of every setting.
    rows: Vec<(f64, Vec<f64>)>,
    /// After how many learned rows there were looks.
    looks: Vec<usize>,
    is_left: Vec<bool>,
    leader: usize,
    usual: usize,
    /// The nonzero weights of every setting at the last look or glance.
    counted: Vec<usize>,
}

impl Referee {
    /// The rows since the look before the last one made; all rows before the second look.
    fn window(&self) -> &[(f64, Vec<f64>)] {
        let start = self.looks.len().checked_sub(2).map_or(0, |k| self.looks[k]);
        &self.rows[start..]
    }

    fn mean(&self, of: impl Fn(&[f64]) -> f64) -> f64 {
        let total: f64 = self.window().iter().map(|(h, _)| h).sum();
        self.window().iter().map(|(h, losses)| h * of(losses)).sum::<f64>() / total
    }

    fn mean_loss(&self, k: usize) -> f64 {
        self.mean(|losses| losses[k])
    }

    fn is_due(&self) -> bool {
        let next = self.looks.last().map_or(FIRST_LOOK, |last| 2 * last);
        self.rows.len() == next
    }

    fn left(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.is_left.len()).filter(|k| self.is_left[*k])
    }

    /// The setting with the lowest mean loss, except for the constant; among equal ones the sparsest.
    fn best(&self, nonzeros: &[usize]) -> usize {
        let order = |a: &usize, b: &usize| {
            let by_loss = self.mean_loss(*a).total_cmp(&self.mean_loss(*b));
            by_loss.then(nonzeros[*a].cmp(&nonzeros[*b]))
        };
        self.left().filter(|k| *k != self.constant).min_by(order).unwrap_or(self.leader)
    }

    /// By how much the mean loss of `a` is above that of `b`, and the standard error of that.
    fn difference(&self, a: usize, b: usize) -> (f64, f64) {
        let difference = self.mean(|losses| losses[a] - losses[b]);
        let variance = self.mean(|losses| (losses[a] - losses[b] - difference).powi(2));
        let total: f64 = self.window().iter().map(|(h, _)| h).sum();
        let squares: f64 = self.window().iter().map(|(h, _)| h * h).sum();
        (difference, (variance * squares).sqrt() / total)
    }

    fn leaves(&self, k: usize, best: usize, nonzeros: &[usize]) -> bool {
        let (difference, error) = self.difference(k, best);
        let certain = CERTAIN * error;
        let close = CLOSE * self.mean_loss(best).abs();
        let is_denser = nonzeros[k] > nonzeros[best];
        difference - close > certain || (is_denser && difference + close > certain)
    }

    /// Returns the sparsest setting within a small share of the lowest mean loss, and the lowest of equally sparse ones.
    fn choice(&self, nonzeros: &[usize]) -> usize {
        let lowest = self.left().map(|k| self.mean_loss(k)).fold(f64::INFINITY, f64::min);
        let limit = lowest + CLOSE * lowest.abs();
        let order = |a: &usize, b: &usize| {
            let by_count = nonzeros[*a].cmp(&nonzeros[*b]);
            by_count.then(self.mean_loss(*a).total_cmp(&self.mean_loss(*b)))
        };
        self.left().filter(|k| self.mean_loss(*k) <= limit).min_by(order).unwrap_or(self.leader)
    }

    fn look(&mut self, nonzeros: &[usize]) {
        self.counted = nonzeros.to_vec();
        let best = self.best(nonzeros);
        let leaving: Vec<_> =
            self.left().filter(|k| *k != best && self.leaves(*k, best, nonzeros)).collect();
        leaving.iter().for_each(|k| self.is_left[*k] = false);
        self.leader = self.choice(nonzeros);
        self.looks.push(self.rows.len());
    }

    /// Whether another setting may become the leader now, while all settings stay in the race.
    fn is_glance(&self) -> bool {
        let rows = self.rows.len();
        rows.is_power_of_two() && (FIRST_GLANCE..FIRST_LOOK).contains(&rows)
    }

    /// The setting whose weights are read, by all losses and the nonzero weights at the last look or glance. Before the first look that is the usual setting, unless it is likely to be worse than the constant.
    fn chosen(&self) -> usize {
        if self.looks.is_empty() {
            let (worse, error) = match self.rows.len() {
                FIRST_GLANCE.. => self.difference(self.usual, self.constant),
                _ => (0.0, 0.0),
            };
            if worse <= LIKELY * error {
                return self.usual;
            }
        }
        self.choice(&self.counted)
    }
}

/// The settings of a race, rate by rate, then the constant.
fn settings(spec: &Spec, loss: &Loss) -> Vec<(f64, f64)> {
    let fixed = |key: &str| spec.get(key).map(|_| spec.number(key));
    let rates = fixed("rate").map_or(vec![0.25, 0.7, 2.0], |rate| vec![rate]);
    let penalties = fixed("l1").map_or(vec![0.03, 0.1, 0.3, 1.0, 3.0], |l1| vec![l1]);
    let mut settings = Vec::new();
    for &rate in &rates {
        settings.extend(penalties.iter().map(|&l1| (rate, l1)));
    }
    let is_near_zero = matches!(loss, Loss::Squared | Loss::Huber { .. });
    settings.push((if is_near_zero { 0.002 } else { 0.05 }, 1e30));
    settings
}

/// The setting nearest to rate 0.5 and l1 0.1; not the constant.
fn usual(settings: &[(f64, f64)]) -> usize {
    let distance = |k: usize| {
        let (rate, l1) = settings[k];
        (rate / 0.5).ln().abs() + (l1 / 0.1).ln().abs()
    };
    let nearer = |a: &usize, b: &usize| distance(*a).total_cmp(&distance(*b));
    (0..settings.len() - 1).min_by(nearer).unwrap_or(0)
}

/// Runs the race of a flat spec such as `{"algorithm": "auto", "loss": "squared"}`, in which `rate` and `l1` may be fixed.
///
/// # Panics
/// With a sentence that names the key, on what `auto` does not have.
pub fn race(spec: &Value, stream: &Stream, bias: bool) -> Raced {
    let spec = Spec::new(spec);
    let loss = Loss::from_spec(&spec);
    let space = Space::new(stream.dimension, bias);
    let settings = settings(&spec, &loss);
    let racer = |&(rate, l1): &(f64, f64)| Racer { rate, l1, z: space.zeros(), n: space.zeros() };
    let mut racers: Vec<Racer> = settings.iter().map(racer).collect();
    let leader = usual(&settings);
    let mut referee = Referee {
        constant: settings.len() - 1,
        rows: Vec::new(),
        looks: Vec::new(),
        is_left: vec![true; settings.len()],
        leader,
        usual: leader,
        counted: vec![0; settings.len()],
    };
    let mut normalizer = Normalizer::new(&space);
    let mut target = Target::of_loss(&loss);
    let (mut margins, mut leaders) = (Vec::new(), vec![leader]);
    let nonzeros = |racers: &[Racer], level: f64| -> Vec<usize> {
        let of = |racer: &Racer| {
            let point = racer.point(level, &space);
            point[..space.dimension].iter().filter(|w| **w != 0.0).count()
        };
        racers.iter().map(of).collect()
    };
    for example in &stream.examples {
        if example.is_learned() {
            normalizer.count(&example.x, example.weight);
        }
        let (x, level) = (normalizer.row(&example.x, example.is_learned()), normalizer.level());
        let points: Vec<_> = racers.iter().map(|racer| racer.point(level, &space)).collect();
        margins.push(target.prediction(dot(&points[referee.leader], &x)));
        if !example.is_learned() {
            continue;
        }
        target.count(example.y, example.weight);
        let (y, h) = (target.units().inside(example.y), example.weight);
        let mut losses = Vec::new();
        for (racer, w) in racers.iter_mut().zip(&points) {
            let p = dot(w, &x);
            losses.push(loss.value(p, y));
            racer.learn(w, &x, h * loss.slope(p, y));
        }
        referee.rows.push((h, losses));
        if referee.is_due() {
            referee.look(&nonzeros(&racers, level));
            leaders.push(referee.leader);
        } else if referee.is_glance() {
            referee.counted = nonzeros(&racers, level);
            referee.leader = referee.chosen();
        }
    }
    let level = normalizer.level();
    let chosen = referee.chosen();
    let units = target.units();
    let mut weights = normalizer.in_units_of_features(&racers[chosen].point(level, &space));
    let bias = if bias { weights.pop().unwrap_or(0.0) } else { 0.0 };
    let weights = weights.iter().map(|w| units.deviation * w + 0.0).collect();
    let (bias, is_left) = (units.outside(bias), referee.is_left);
    Raced { margins, settings, chosen, leaders, is_left, weights, bias }
}
