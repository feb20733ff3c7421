//! The Kalman filter against a twin written from the formulas: double precision, transforms by their definition,
//! every partition by itself.

#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

use crate::common;

use common::{add, convolve, energy, noise, room, speech};
use parsimon_audio::{Adaptive, Config, Kalman, Learning};
use std::f64::consts::TAU;

type Complex = (f64, f64);

fn mul(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn conj(a: Complex) -> Complex {
    (a.0, -a.1)
}

fn square(a: Complex) -> f64 {
    a.0 * a.0 + a.1 * a.1
}

/// All `2n` bins.
fn transform(x: &[f64]) -> Vec<Complex> {
    let m = x.len();
    (0..m)
        .map(|k| {
            x.iter().enumerate().fold((0.0, 0.0), |s, (i, v)| {
                let (sin, cos) = (-TAU * (k * i % m) as f64 / m as f64).sin_cos();
                (s.0 + v * cos, s.1 + v * sin)
            })
        })
        .collect()
}

fn back(x: &[Complex]) -> Vec<f64> {
    let m = x.len();
    (0..m)
        .map(|i| {
            let at = |k: usize| (TAU * (k * i % m) as f64 / m as f64).sin_cos();
            x.iter().enumerate().map(|(k, v)| v.0 * at(k).1 - v.1 * at(k).0).sum::<f64>() / m as f64
        })
        .collect()
}

fn causal(g: &[Complex]) -> Vec<Complex> {
    let mut g = back(g);
    let half = g.len() / 2;
    g[half..].fill(0.0);
    transform(&g)
}

/// 100 dB less for every second of the path, at 16 kHz.
fn first_doubt(n: usize, partition: usize) -> f64 {
    10f64.powf(-10.0 * (partition * n) as f64 / 16_000.0)
}

struct Twin {
    n: usize,
    x: Vec<Vec<Complex>>,
    w: Vec<Vec<Complex>>,
    v: Vec<Vec<Complex>>,
    p: Vec<Vec<f64>>,
    s: Vec<f64>,
    last: Vec<f64>,
    long_term: f64,
    learned: u64,
    /// Of the shadow.
    step: f64,
    /// Of filter, shadow and microphone, over a tenth of a second.
    energies: [f64; 3],
    /// Microphone and error, over two seconds.
    judged: [f64; 2],
    takeovers: u64,
    /// The long-term power of the predicted echo by bin; weighted means of `Re(E conj(Y))`, `|Y|^2` and `|E|^2`, the usual
    /// `|Y|^2`, blocks in which the prediction was confirmed, takeovers after a change of the path.
    echo: Vec<f64>,
    mismatch: [f64; 4],
    confirmed: u64,
    changes: u64,
    /// The weights of the bins; the logarithm of the usual error over the prediction; smoothed powers of the prediction.
    weights: Vec<f64>,
    usual_left: f64,
    echo_now: Vec<f64>,
    /// The filter up to half a second ago, blocks since, the filter's advantage over it and the variance of that, and how
    /// certainly the path moves.
    earlier: Vec<Vec<Complex>>,
    since: u64,
    advantage: [f64; 2],
    movement: f64,
    /// The partition of the shadow that is made causal next.
    turn: usize,
    /// Partitions at most, of the end that is looked at, and by how many the filter grows.
    most: usize,
    end: usize,
    part: usize,
    loud: bool,
}

impl Twin {
    fn new(n: usize, partitions: usize) -> Self {
        let zeros = || vec![vec![(0.0, 0.0); 2 * n]; partitions];
        Self {
            n,
            x: zeros(),
            w: zeros(),
            v: zeros(),
            p: (0..partitions).map(|i| vec![first_doubt(n, i); 2 * n]).collect(),
            s: vec![0.0; 2 * n],
            last: vec![0.0; n],
            long_term: 0.0,
            learned: 0,
            step: 0.7,
            energies: [0.0; 3],
            judged: [0.0; 2],
            takeovers: 0,
            echo: vec![0.0; n + 1],
            mismatch: [0.0; 4],
            confirmed: 0,
            changes: 0,
            weights: vec![0.0; n + 1],
            usual_left: 2.0,
            echo_now: vec![0.0; 2 * n],
            earlier: zeros(),
            since: 0,
            advantage: [0.0; 2],
            movement: 1.0,
            turn: 0,
            most: partitions,
            end: (partitions / 4).max(1),
            part: (partitions / 2).max(1),
            loud: false,
        }
    }

    /// Every half second of learning: longer by a half if the last quarter holds more than 0.003 of the path's energy,
    /// for the second time in succession.
    fn grow(&mut self, rate: f64) {
        let look = (0.5 * rate / self.n as f64).ceil() as u64;
        let size = self.w.len();
        if !self.learned.is_multiple_of(look) || size == self.most {
            return;
        }
        let energy = |w: &[Vec<Complex>]| -> f64 {
            w.iter().flat_map(|w| &w[..=self.n]).map(|&v| square(v)).sum()
        };
        let loud = energy(&self.w[size - self.end..]) > 0.003 * energy(&self.w);
        let grows = loud && self.loud;
        self.loud = loud && !self.loud;
        if grows {
            for i in size..(size + self.part).min(self.most) {
                self.w.push(vec![(0.0, 0.0); 2 * self.n]);
                self.v.push(vec![(0.0, 0.0); 2 * self.n]);
                self.p.push(vec![first_doubt(self.n, i); 2 * self.n]);
                self.earlier.push(vec![(0.0, 0.0); 2 * self.n]);
            }
        }
    }

    /// The microphone contradicts a prediction that was right for three seconds: by a quarter, and the near end is quiet.
    fn has_changed(&self, rate: f64) -> bool {
        let [cross, echo, error, usual] = self.mismatch;
        self.confirmed >= (3.0 * rate / self.n as f64).ceil() as u64
            && echo > 0.1 * usual
            && -cross > 0.25 * echo
            && error < 2.0 * echo
    }

    /// The path has changed: keeps what the microphone confirms of both filters, and doubts 40 times what a path as loud would have at first.
    fn begin_again(&mut self) {
        let confirmed = (1.0 + self.mismatch[0] / (self.mismatch[1] + 1e-20)).clamp(0.0, 1.0);
        let first = |i: usize| first_doubt(self.n, i);
        let all: f64 = (0..self.w.len()).map(first).sum();
        for k in 0..2 * self.n {
            let power: f64 = self.w.iter().map(|w| square(w[k])).sum();
            for i in 0..self.w.len() {
                self.p[i][k] = self.p[i][k].max(40.0 * power / all * first(i));
            }
        }
        for v in self.w.iter_mut().chain(&mut self.v).flatten() {
            *v = (confirmed * v.0, confirmed * v.1);
        }
        self.mismatch[..3].fill(0.0);
        self.confirmed = 0;
        self.usual_left = 2.0;
        (self.changes, self.takeovers) = (self.changes + 1, self.takeovers + 1);
        self.energies = [self.energies[2]; 3];
    }

    fn compare_prediction(
        &mut self,
        e: &[Complex],
        y: &[Complex],
        keep: f64,
        follow: f64,
        seconds: f64,
    ) {
        let mean = self.echo.iter().sum::<f64>() / self.echo.len() as f64;
        let mut sums = [0.0; 3];
        for k in 0..=self.n {
            self.echo[k] += (square(y[k]) - self.echo[k]) * follow;
            let weight = 1.0 / (self.s[k] + self.echo[k] + mean + 1e-20);
            self.weights[k] = weight;
            sums[0] += weight * mul(e[k], conj(y[k])).0;
            sums[1] += weight * square(y[k]);
            sums[2] += weight * square(e[k]);
        }
        for (mean, sum) in self.mismatch.iter_mut().zip(sums) {
            *mean = keep * *mean + (1.0 - keep) * sum;
        }
        self.mismatch[3] += (sums[1] - self.mismatch[3]) * follow;
        let [cross, echo, error, usual] = self.mismatch;
        if echo > 0.1 * usual {
            let now = (error / (echo + 1e-20)).max(1e-20).ln();
            let wrong = error < -5.0 * cross && -cross > 0.15 * (echo + 1e-20);
            let rise = if wrong { 4.0 } else { 0.1 };
            let step = (now - self.usual_left).clamp(-4.0 * seconds, rise * seconds);
            self.usual_left = (self.usual_left + step).clamp(-10.0, 2.0);
        }
        self.confirmed += u64::from(echo > 0.1 * usual && -cross < 0.2 * echo);
    }

    /// Whether the filter leaves less than its copy of up to half a second ago.
    fn compare_with_earlier(&mut self, e: &[Complex], earlier: &[Complex], keep: f64) {
        let (mut advantage, mut variance) = (0.0, 0.0);
        for k in 0..=self.n {
            let (weight, error) = (self.weights[k], earlier[k]);
            let removed = (error.0 - e[k].0, error.1 - e[k].1);
            advantage += weight * (mul(error, conj(removed)).0 - 0.5 * square(removed));
            variance += weight * weight * square(error) * square(removed);
        }
        self.advantage =
            [keep * self.advantage[0] + advantage, keep * keep * self.advantage[1] + variance];
        let sure = self.advantage[0] / (self.advantage[1] + 1e-20).sqrt();
        self.movement = ((sure - 4.0) / 3.0).clamp(0.0, 1.0);
    }

    fn predict(&self, w: &[Vec<Complex>]) -> Vec<f64> {
        let sum = |k: usize| {
            w.iter()
                .zip(&self.x)
                .map(|(w, x)| mul(w[k], x[k]))
                .fold((0.0, 0.0), |s, y| (s.0 + y.0, s.1 + y.1))
        };
        back(&(0..2 * self.n).map(sum).collect::<Vec<_>>())[self.n..].to_vec()
    }

    #[expect(clippy::too_many_lines, reason = "the twin follows the formulas in their order")]
    fn cancel(&mut self, reference: &[f32], microphone: &[f32], rate: f64) -> Vec<f64> {
        let (n, partitions) = (self.n, self.w.len());
        let decay = |seconds: f64| (-(n as f64) / rate / seconds).exp();
        let reference: Vec<f64> = reference.iter().map(|&v| v.into()).collect();
        let microphone: Vec<f64> = microphone.iter().map(|&v| v.into()).collect();
        self.x.rotate_right(1);
        self.x[0] = transform(&[&self.last[..], &reference[..]].concat());
        self.last = reference;
        let minus = |y: &[f64]| microphone.iter().zip(y).map(|(d, y)| d - y).collect::<Vec<f64>>();
        let power = |e: &[f64]| e.iter().map(|e| e * e).sum::<f64>();
        let (mut e, mut f) = (minus(&self.predict(&self.w)), minus(&self.predict(&self.v)));
        let before = minus(&self.predict(&self.earlier));
        let c = decay(0.1);
        self.energies = [
            c * self.energies[0] + (1.0 - c) * power(&e),
            c * self.energies[1] + (1.0 - c) * power(&f),
            c * self.energies[2] + (1.0 - c) * power(&microphone),
        ];
        let j = decay(2.0);
        for (sum, new) in self.judged.iter_mut().zip([power(&microphone), power(&e)]) {
            *sum = j * *sum + (1.0 - j) * new;
        }
        let mut fresh = false;
        if self.has_changed(rate) && self.energies[1] < 0.95 * self.energies[0] {
            self.begin_again();
            (e, f) = (minus(&self.predict(&self.w)), minus(&self.predict(&self.v)));
            fresh = true;
        } else if self.energies[1] < 0.4 * self.energies[0] {
            let left = (self.energies[0] / (self.energies[2] + 1e-20)).min(1.0);
            for i in 0..partitions {
                let again = 0.3 * left * first_doubt(n, i);
                for k in 0..2 * n {
                    let (v, w) = (self.v[i][k], self.w[i][k]);
                    self.p[i][k] = self.p[i][k].max(square((v.0 - w.0, v.1 - w.1))).max(again);
                }
                self.w[i] = causal(&self.v[i]);
            }
            e = minus(&self.predict(&self.w));
            self.energies[0] = self.energies[1];
            self.takeovers += 1;
            self.mismatch[..3].fill(0.0);
            fresh = true;
        } else if self.energies[1] > 2.0 * self.energies[0] {
            self.v = self.w.clone();
            f.clone_from(&e);
            self.energies[1] = self.energies[0];
        }
        let (e_hat, f_hat) = (
            transform(&[&vec![0.0; n][..], &e].concat()),
            transform(&[&vec![0.0; n][..], &f].concat()),
        );
        let mean: f64 =
            self.x[..partitions].iter().flat_map(|x| &x[..=n]).map(|&x| square(x)).sum::<f64>()
                / ((n + 1) * partitions) as f64;
        self.learned += 1;
        let follow = (1.0 - decay(4.0)).max(1.0 / self.learned as f64);
        self.long_term += (mean - self.long_term) * follow;
        let y: Vec<f64> = microphone.iter().zip(&e).map(|(d, e)| d - e).collect();
        let y = transform(&[&vec![0.0; n][..], &y].concat());
        self.compare_prediction(&e_hat, &y, decay(0.1), follow, n as f64 / rate);
        let before = transform(&[&vec![0.0; n][..], &before].concat());
        self.compare_with_earlier(&e_hat, &before, decay(0.1));
        let moving = self.movement;
        let usual = self.usual_left.exp();
        let left = (self.judged[1] / (self.judged[0] + 1e-20)).clamp(0.001, 0.1);
        let quiet = left.min(usual).max(0.001);
        let share = (quiet + (left - quiet) * moving - 0.001) / 0.099;
        let forget = decay(24.0).powi(2) + share * (decay(3.0).powi(2) - decay(24.0).powi(2));
        let excess = 4.0 * usual / (self.mismatch[2] / (self.mismatch[1] + 1e-20) + 1e-20);
        let tolerance = excess.min(1.0).powi(2).max(moving) * 3.0 * 10f64.powf(moving);
        let trust = (self.confirmed as f64 / (3.0 * rate / n as f64).ceil()).min(1.0);
        let smooth = decay(0.0112);
        let (mut inverse, mut step) = (vec![0.0; 2 * n], vec![0.0; 2 * n]);
        let mut fades = vec![0.0; 2 * n];
        for k in 0..2 * n {
            let error = square(e_hat[k]);
            let before = if fresh { self.s[k].min(error) } else { self.s[k] };
            self.s[k] = smooth * before + (1.0 - smooth) * error;
            self.echo_now[k] = smooth * self.echo_now[k] + (1.0 - smooth) * square(y[k]);
            let share = tolerance * usual * self.echo_now[k] / (self.s[k] + 1e-20);
            fades[k] = (1.0 - forget) * share.min(1.0);
            let over = |f: &dyn Fn(usize) -> f64| (0..partitions).map(f).sum::<f64>();
            let doubt_power = over(&|i| self.p[i][k] * square(self.x[i][k]));
            let delta = 0.5 * (0.01 + 0.09 * trust) * self.long_term * over(&|i| self.p[i][k]);
            let near_end = self.s[k] + trust * (error - self.s[k]).max(0.0);
            inverse[k] = 1.0 / (0.5 * doubt_power + (1.0 + 2.0 * trust) * near_end + delta + 1e-20);
            let floor = 0.05 * self.long_term * partitions as f64;
            step[k] = self.step / (0.5 * over(&|i| square(self.x[i][k])) + floor + 1e-20);
        }
        for i in 0..partitions {
            let x = &self.x[i];
            let gradient: Vec<Complex> = (0..2 * n)
                .map(|k| {
                    let (re, im) = mul(conj(x[k]), e_hat[k]);
                    let size = self.p[i][k] * inverse[k];
                    (size * re, size * im)
                })
                .collect();
            for (k, g) in causal(&gradient).into_iter().enumerate() {
                let rest = (1.0 - 0.5 * self.p[i][k] * square(x[k]) * inverse[k]).max(0.0);
                let w = &mut self.w[i][k];
                *w = (w.0 + g.0, w.1 + g.1);
                self.p[i][k] =
                    (1.0 - fades[k]) * rest * self.p[i][k] + fades[k] * square(*w) + 1e-20;
                let (re, im) = mul(conj(x[k]), f_hat[k]);
                let v = &mut self.v[i][k];
                *v = (v.0 + step[k] * re, v.1 + step[k] * im);
            }
        }
        self.since += 1;
        if self.since >= (0.5 * rate / n as f64).ceil() as u64 {
            self.since = 0;
            self.earlier.clone_from(&self.w);
        }
        self.v[self.turn] = causal(&self.v[self.turn]);
        self.turn = (self.turn + 1) % partitions;
        let residual = minus(&self.predict(&self.w));
        self.grow(rate);
        residual
    }
}

#[test]
fn the_filter_is_its_twin() {
    let config = Config { taps: 192, growth: 1, ..Config::default() };
    let n = config.block();
    let (far, talk) = (speech(16_000, 16_000, 3), speech(16_000, 16_000, 4));
    let (a, b) = (convolve(&far, &room(150, 10, 5)), convolve(&far, &room(150, 30, 6)));
    let echo = [&a[..8000], &b[8000..]].concat();
    let near = add(&echo, &talk.iter().map(|v| 0.1 * v).collect::<Vec<_>>());
    let (mut filter, mut twin) = (Kalman::new(&config).unwrap(), Twin::new(n, 3));
    let mut residual = vec![0.0; n];
    let (mut off, mut all) = (0.0, 0.0);
    for (x, d) in far.chunks_exact(n).zip(near.chunks_exact(n)) {
        filter.cancel(x, d, Learning::Adapt, &mut residual);
        let expected = twin.cancel(x, d, 16_000.0);
        off +=
            residual.iter().zip(&expected).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum::<f64>();
        all += expected.iter().map(|v| v * v).sum::<f64>();
    }
    assert_eq!(filter.takeovers(), twin.takeovers);
    assert!(twin.takeovers > 0);
    // Single precision, a thousand multiplications deep: four digits.
    assert!(off < 1e-8 * all, "off by {:e} of the residual's energy", off / all);
}

#[test]
fn a_changed_path_is_found_as_by_its_twin() {
    // A slow shadow does not win by its error alone.
    let config = Config { taps: 64, growth: 1, step: 0.05, ..Config::at(8000) };
    let n = config.block();
    let far = speech(48_000, 8000, 9);
    let (a, b) = (convolve(&far, &room(60, 0, 11)), convolve(&far, &room(60, 0, 12)));
    let echo = [&a[..40_000], &b[40_000..]].concat();
    let near = add(&echo, &noise(48_000, 10).iter().map(|v| 0.02 * v).collect::<Vec<_>>());
    let (mut filter, mut twin) = (Kalman::new(&config).unwrap(), Twin::new(n, 1));
    twin.step = config.step.into();
    let mut residual = vec![0.0; n];
    let (mut off, mut all) = (0.0, 0.0);
    for (x, d) in far.chunks_exact(n).zip(near.chunks_exact(n)) {
        filter.cancel(x, d, Learning::Adapt, &mut residual);
        let expected = twin.cancel(x, d, 8000.0);
        off +=
            residual.iter().zip(&expected).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum::<f64>();
        all += expected.iter().map(|v| v * v).sum::<f64>();
    }
    assert_eq!((filter.takeovers(), twin.changes), (twin.takeovers, 1));
    assert!(off < 1e-8 * all, "off by {:e} of the residual's energy", off / all);
}

#[test]
fn a_filter_that_grows_is_its_twin() {
    let config = Config { taps: 128, ..Config::default() };
    let n = config.block();
    let far = speech(40_000, 16_000, 7);
    let mut room = room(250, 10, 8);
    room.iter_mut().enumerate().for_each(|(i, w)| *w *= 1.0 + i as f32 / 50.0);
    let near = convolve(&far, &room);
    let (mut filter, mut twin) = (Kalman::new(&config).unwrap(), Twin::new(n, 2));
    twin.most = 4;
    twin.x = vec![vec![(0.0, 0.0); 2 * n]; 4];
    let mut residual = vec![0.0; n];
    let (mut off, mut all) = (0.0, 0.0);
    let mut lengths = vec![];
    for (x, d) in far.chunks_exact(n).zip(near.chunks_exact(n)) {
        filter.cancel(x, d, Learning::Adapt, &mut residual);
        let expected = twin.cancel(x, d, 16_000.0);
        off +=
            residual.iter().zip(&expected).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum::<f64>();
        all += expected.iter().map(|v| v * v).sum::<f64>();
        assert_eq!(filter.taps(), twin.w.len() * n);
        lengths.push(filter.taps());
    }
    lengths.dedup();
    assert_eq!(lengths, [128, 192, 256]);
    assert!(off < 1e-8 * all, "off by {:e} of the residual's energy", off / all);
}

#[test]
fn a_frozen_filter_is_its_echo_path() {
    let config = Config { taps: 200, growth: 1, ..Config::default() };
    let n = config.block();
    let far = noise(20 * n, 1);
    let near = convolve(&far, &room(150, 10, 2));
    let mut filter = Kalman::new(&config).unwrap();
    let mut residual = vec![0.0; n];
    for (x, d) in far[..15 * n].chunks_exact(n).zip(near.chunks_exact(n)) {
        filter.cancel(x, d, Learning::Adapt, &mut residual);
    }
    let path = filter.echo_path();
    assert_eq!(path.len(), 256);
    let expected = add(&near, &convolve(&far, &path).iter().map(|v| -v).collect::<Vec<_>>());
    for at in (15 * n..20 * n).step_by(n) {
        filter.cancel(&far[at..at + n], &near[at..at + n], Learning::Freeze, &mut residual);
        let off: Vec<f32> = residual.iter().zip(&expected[at..]).map(|(a, b)| a - b).collect();
        assert!(energy(&off) < 1e-9 * energy(&near[at..at + n]));
    }
    assert_eq!(filter.echo_path(), path);
}
