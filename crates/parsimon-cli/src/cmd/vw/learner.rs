//! Weights and their updates, slot by slot.
//!
//! The default update is the rule of `-a nag`, on lists of features in which a slot may occur twice. FTRL-Proximal, PiSTOL and coin
//! betting are those of Vowpal Wabbit, whose squared loss is twice that of parsimon.

use super::example::Feature;
use super::loss::{Range, VwLoss};
use super::options::{Method, Options, Start};
use super::{Nag, NagClock, Scaled};

/// State of a slot of the methods that are not gradient steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bet {
    pub(super) w: f32,
    /// The sum of gradients, with its sign by the method.
    pub(super) sum: f32,
    /// The sum of squared gradients (FTRL) or of their magnitudes.
    pub(super) size: f32,
    /// The largest value of the feature.
    pub(super) scale: f32,
    pub(super) wealth: f32,
    /// The largest slope.
    pub(super) slope: f32,
}

/// The weights of all slots.
#[derive(Clone, Debug)]
pub(super) enum Weights {
    Steps(Vec<Scaled<f32>>),
    Bets(Vec<Bet>),
}

/// Everything that learning changes.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) weights: Weights,
    /// The sums of each class.
    pub(super) clocks: Vec<NagClock>,
    /// The importance of the examples that were learned.
    pub(super) seen: f64,
    /// Factor of all weights, from the l2 penalty.
    pub(super) contraction: f64,
    /// Total that the l1 penalty has taken from each weight.
    pub(super) gravity: f64,
    /// Of coin betting: the sums of norms and of importances.
    pub(super) norms: f64,
    pub(super) total: f64,
    pub(super) range: Range,
}

#[derive(Clone, Debug)]
pub(super) struct Learner {
    pub(super) state: State,
    rule: Nag,
    method: Method,
    loss: VwLoss,
    mask: u64,
    alpha: f32,
    beta: f32,
    l1: f64,
    l2: f64,
    /// Whether the range of predictions follows the labels.
    widens: bool,
}

impl Learner {
    pub(super) fn new(options: &Options) -> Self {
        let slots = 1usize << options.bits;
        let mut weights = match options.method {
            Method::Gradient => Weights::Steps(vec![Scaled::default(); slots]),
            _ => Weights::Bets(vec![Bet::default(); slots]),
        };
        weights.start(options);
        let fixed = options.low.is_some() || options.high.is_some();
        let range = if options.loss.word.is_unbounded() {
            Range { low: -50.0, high: 50.0 }
        } else {
            Range { low: 0.0, high: 0.0 }
        };
        let mut learner = Self {
            state: State {
                weights,
                clocks: vec![NagClock::default(); options.classes.unwrap_or(1) as usize],
                seen: 0.0,
                contraction: 1.0,
                gravity: 0.0,
                norms: 0.0,
                total: 0.0,
                range,
            },
            rule: Nag {
                rate: options.rate,
                power: options.power,
                start: options.start,
                adaptive: options.adaptive,
                normalized: options.normalized,
                invariant: options.invariant,
            },
            method: options.method,
            loss: options.loss,
            mask: options.mask(),
            alpha: options.alpha,
            beta: options.beta,
            l1: options.l1,
            l2: options.l2,
            widens: !fixed && !options.test,
        };
        learner.bound(options);
        learner
    }

    /// Sets the ends of the range that were typed.
    pub(super) fn bound(&mut self, options: &Options) {
        let range = &mut self.state.range;
        range.low = options.low.unwrap_or(range.low);
        range.high = options.high.unwrap_or(range.high);
    }

    /// Multiplies the learning rate.
    pub(super) fn decay(&mut self, factor: f64) {
        self.rule.rate *= factor;
    }

    fn slot(&self, feature: &Feature, class: u64) -> usize {
        (feature.hash.wrapping_add(class) & self.mask) as usize
    }

    /// The weight of a slot as predictions use it.
    pub(super) fn weight(&self, slot: usize) -> f32 {
        match &self.state.weights {
            Weights::Bets(bets) => bets[slot].w,
            Weights::Steps(steps) => {
                let (w, gravity) = (f64::from(steps[slot].w), self.state.gravity);
                let kept = (w.abs() - gravity).max(0.0).copysign(w);
                (if gravity > 0.0 { kept } else { w } * self.state.contraction) as f32
            }
        }
    }

    /// Returns the margin of an example for a class.
    pub(super) fn margin(&self, features: &[Feature], class: u64, base: f32) -> f32 {
        let sum = features.iter().map(|f| self.weight(self.slot(f, class)) * f.value);
        sum.fold(base, |sum, term| sum + term)
    }

    /// Clips a margin to the range of predictions.
    pub(super) fn clipped(&self, margin: f32) -> f32 {
        let range = self.state.range;
        if margin.is_nan() { 0.0 } else { margin.min(range.high).max(range.low) }
    }

    pub(super) fn loss(&self, prediction: f32, y: f32) -> f64 {
        self.loss.value(f64::from(prediction), f64::from(y), self.state.range)
    }

    /// Widens the range of predictions to a label.
    pub(super) fn see(&mut self, y: f32) {
        if self.widens {
            let range = &mut self.state.range;
            range.low = range.low.min(y);
            range.high = range.high.max(y);
        }
    }

    /// Predicts and then learns an example; returns the margin before learning.
    pub(super) fn learn(
        &mut self,
        features: &[Feature],
        class: u64,
        base: f32,
        y: f32,
        weight: f32,
    ) -> f32 {
        self.see(y);
        match self.method {
            Method::Gradient | Method::Ftrl => {
                let margin = self.margin(features, class, base);
                self.update(features, class, self.clipped(margin), y, weight);
                margin
            }
            Method::Pistol => {
                let margin = self.pistol(features, class);
                let slope = self.slope(self.clipped(margin), y, weight);
                self.each_bet(features, class, |bet, x| {
                    let gradient = slope * x;
                    bet.sum -= gradient;
                    bet.size += gradient.abs();
                });
                margin
            }
            Method::Coin => self.coin(features, class, y, weight),
        }
    }

    /// Learns an example that was predicted.
    pub(super) fn update(&mut self, features: &[Feature], class: u64, p: f32, y: f32, weight: f32) {
        self.see(y);
        match self.method {
            Method::Gradient => self.descend(features, class, p, y, weight),
            Method::Ftrl => {
                let slope = self.slope(p, y, weight);
                let (alpha, beta) = (self.alpha, self.beta);
                let (l1, l2) = (self.l1 as f32, self.l2 as f32);
                self.each_bet(features, class, |bet, x| {
                    let gradient = slope * x;
                    let before = bet.size.sqrt();
                    bet.size += gradient * gradient;
                    let now = bet.size.sqrt();
                    bet.sum += gradient - (now - before) / alpha * bet.w;
                    let excess = bet.sum.abs() - l1;
                    let curvature = l2 + (beta + now) / alpha;
                    bet.w = if excess <= 0.0 { 0.0 } else { -excess.copysign(bet.sum) / curvature };
                });
            }
            Method::Coin | Method::Pistol => {
                self.learn(features, class, 0.0, y, weight);
            }
        }
    }

    fn slope(&self, p: f32, y: f32, weight: f32) -> f32 {
        (self.loss.slope(f64::from(p), f64::from(y)) * f64::from(weight)) as f32
    }

    fn each_bet(
        &mut self,
        features: &[Feature],
        class: u64,
        mut change: impl FnMut(&mut Bet, f32),
    ) {
        let mask = self.mask;
        if let Weights::Bets(bets) = &mut self.state.weights {
            for feature in features {
                let slot = (feature.hash.wrapping_add(class) & mask) as usize;
                change(&mut bets[slot], feature.value);
            }
        }
    }

    /// Gradient steps by the rule of `-a nag`.
    fn descend(&mut self, features: &[Feature], class: u64, p: f32, y: f32, weight: f32) {
        let (p, y, weight) = (f64::from(p), f64::from(y), f64::from(weight));
        let loss = self.loss;
        if loss.value(p, y, self.state.range) <= 0.0 {
            return;
        }
        let Self { rule, state, mask, .. } = self;
        let State { weights, clocks, seen, gravity, contraction, .. } = state;
        let Weights::Steps(weights) = weights else { return };
        let slot = |f: &Feature| (f.hash.wrapping_add(class) & *mask) as usize;
        let clock = &mut clocks[class as usize];
        clock.importance = *seen;
        let slope = loss.slope(p, y);
        let energy = weight * slope * slope;
        if energy == 0.0 {
            return;
        }
        let (mut sensitivity, mut norm) = (0.0, 0.0);
        for feature in features {
            let met = rule.meet(&mut weights[slot(feature)], f64::from(feature.value), energy);
            sensitivity += met.sensitivity;
            norm += met.norm;
        }
        let factor = rule.factor(clock, weight, norm);
        let step = rule.step(clock, weight);
        let mut u = match rule.invariant {
            true => loss.flow(p, y, step, factor * sensitivity),
            false => -step * slope,
        };
        if (self.l1 > 0.0 || self.l2 > 0.0) && u.abs() > 1e-8 {
            let share = if slope.abs() > 1e-8 { -u / slope } else { 0.0 };
            *contraction *= 1.0 - self.l2 * share;
            u /= *contraction;
            *gravity += share * self.l1;
        }
        if !u.is_finite() || u == 0.0 {
            return;
        }
        for feature in features {
            let c = &mut weights[slot(feature)];
            let w = f64::from(c.w) + u * factor * rule.rate_of(c) * f64::from(feature.value);
            c.w = w.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
        }
        if *contraction < 1e-9 || *gravity > 1e3 {
            self.settle();
        }
    }

    /// Writes the accumulated penalties into the weights.
    fn settle(&mut self) {
        let settled: Vec<f32> = match &self.state.weights {
            Weights::Steps(steps) => (0..steps.len()).map(|slot| self.weight(slot)).collect(),
            Weights::Bets(_) => return,
        };
        if let Weights::Steps(steps) = &mut self.state.weights {
            steps.iter_mut().zip(settled).for_each(|(c, w)| c.w = w);
        }
        self.state.contraction = 1.0;
        self.state.gravity = 0.0;
    }

    /// Computes the weights of a row under PiSTOL, and the margin.
    fn pistol(&mut self, features: &[Feature], class: u64) -> f32 {
        let (alpha, beta) = (self.alpha, self.beta);
        let mut margin = 0.0;
        self.each_bet(features, class, |bet, x| {
            bet.scale = bet.scale.max(x.abs());
            let share = 1.0 / (alpha * bet.scale * (bet.size + bet.scale));
            let growth = (bet.sum * bet.sum / 2.0 * share).exp();
            bet.w = bet.size.sqrt() * beta * bet.sum * growth * share;
            margin += bet.w * x;
        });
        margin
    }

    fn coin(&mut self, features: &[Feature], class: u64, y: f32, weight: f32) -> f32 {
        let (alpha, beta) = (self.alpha, self.beta);
        let bet_of = |bet: &Bet, scale: f32| {
            let most = bet.slope * scale;
            if most > 0.0 {
                (alpha + bet.wealth) / (most * (most + bet.size)) * bet.sum
            } else {
                0.0
            }
        };
        let (mut margin, mut norm) = (0.0f32, 0.0f32);
        self.each_bet(features, class, |bet, x| {
            let scale = bet.scale.max(x.abs());
            margin += bet_of(bet, scale) * x;
            if scale > 0.0 {
                norm += (x / scale) * (x / scale);
            }
        });
        self.state.norms += f64::from(weight) * f64::from(norm);
        self.state.total += f64::from(weight);
        let mean = ((self.state.norms + 1e-6) / self.state.total) as f32;
        let margin = margin / mean;
        let slope = self.slope(self.clipped(margin), y, weight);
        self.each_bet(features, class, |bet, x| {
            let gradient = slope * x;
            bet.scale = bet.scale.max(x.abs());
            if slope.abs() > bet.slope {
                bet.slope = slope.abs().max(beta);
            }
            bet.w = bet_of(bet, bet.scale);
            bet.sum -= gradient;
            bet.size += gradient.abs();
            bet.wealth -= gradient * bet.w;
            bet.w /= mean;
        });
        margin
    }
}

impl Weights {
    pub(super) fn len(&self) -> usize {
        match self {
            Weights::Steps(steps) => steps.len(),
            Weights::Bets(bets) => bets.len(),
        }
    }

    /// Changes the weight of a slot.
    pub(super) fn set(&mut self, slot: usize, w: f32) {
        match self {
            Weights::Steps(steps) => steps[slot].w = w,
            Weights::Bets(bets) => bets[slot].w = w,
        }
    }

    /// Gives all weights their start values.
    fn start(&mut self, options: &Options) {
        let (mut seed, factor, shift) = match options.weights {
            Start::Weight(w) => {
                if w != 0.0 {
                    (0..self.len()).for_each(|slot| self.set(slot, w));
                }
                if options.constant != 0.0 {
                    let width = u64::from(options.classes.unwrap_or(1));
                    let slot = super::hash::CONSTANT.wrapping_mul(width) & options.mask();
                    self.set(slot as usize, options.constant);
                }
                return;
            }
            Start::Normal(truncated) => return self.start_normal(options, truncated),
            Start::Random(seed) => (seed, 1.0, 0.5),
            Start::RandomPositive(seed) => (seed, 0.1, 0.0),
        };
        for slot in 0..self.len() {
            self.set(slot, random(&mut seed) * factor - shift);
        }
    }

    /// Draws all weights from a normal distribution, each from the place of its state in the memory of Vowpal Wabbit.
    fn start_normal(&mut self, options: &Options, truncated: bool) {
        let shift = match options.method {
            Method::Coin => 3,
            Method::Ftrl | Method::Pistol => 2,
            Method::Gradient if options.adaptive || options.normalized => 2,
            Method::Gradient => 0,
        };
        let mut weights: Vec<f32> =
            (0..self.len() as u64).map(|slot| normal(slot << shift)).collect();
        if truncated {
            let count = weights.len() as f64;
            let mean = weights.iter().map(|w| f64::from(*w)).sum::<f64>() / count;
            let square = weights.iter().map(|w| (f64::from(*w) - mean).powi(2)).sum::<f64>();
            let width = 2.0 * (square / count).sqrt();
            for w in &mut weights {
                let wide = f64::from(*w);
                if wide.abs() > width {
                    *w = (wide - width * (wide / width).round_ties_even()) as f32;
                }
            }
        }
        weights.into_iter().enumerate().for_each(|(slot, w)| self.set(slot, w));
    }
}

/// The next number from 0 to 1 of the generator of Vowpal Wabbit: bits 25 to 47 of its state are the mantissa of a number from 1 to 2.
fn random(state: &mut u64) -> f32 {
    *state = state.wrapping_mul(0xeece_66d5_deec_e66d).wrapping_add(2_147_483_647);
    f32::from_bits(((*state >> 25) & 0x7f_ffff) as u32 | 0x3f80_0000) - 1.0
}

/// A number of a normal distribution, by the polar method.
fn normal(mut state: u64) -> f32 {
    loop {
        let (a, b) = (2.0 * random(&mut state) - 1.0, 2.0 * random(&mut state) - 1.0);
        let square = a * a + b * b;
        if square < 1.0 && square != 0.0 {
            return a * (-2.0 * square.ln() / square).sqrt();
        }
    }
}
