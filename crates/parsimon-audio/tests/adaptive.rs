//! Any filter takes the Kalman filter's place, and the guard holds a bad one.

#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

use crate::common;

use common::{convolve, gain, noise, room};
use parsimon_audio::state::{Reader, Writer};
use parsimon_audio::{
    Adaptive, Alignment, AudioError, Canceller, Config, Detection, Learning, OnDoubleTalk, Sampled,
    cancel_with,
};
use parsimon_core::filter::metric::MagnitudeMetric;
use parsimon_core::filter::projection::{
    Form, Projection, ProjectionSettings, Shrinking, SolutionSet,
};
use parsimon_core::filter::{Delta, Tapped};

/// Normalized LMS, sample by sample.
struct Nlms {
    step: f32,
    w: Vec<f32>,
    x: Vec<f32>,
    kept: Vec<f32>,
}

impl Nlms {
    fn new(taps: usize, step: f32) -> Self {
        Self { step, w: vec![0.0; taps], x: vec![0.0; taps], kept: vec![0.0; taps] }
    }
}

impl Adaptive for Nlms {
    fn name(&self) -> &'static str {
        "nlms"
    }
    fn taps(&self) -> usize {
        self.w.len()
    }
    fn cancel(
        &mut self,
        reference: &[f32],
        microphone: &[f32],
        learning: Learning,
        residual: &mut [f32],
    ) {
        for ((&x, &d), e) in reference.iter().zip(microphone).zip(residual) {
            self.x.rotate_right(1);
            self.x[0] = x;
            *e = d - self.w.iter().zip(&self.x).map(|(w, x)| w * x).sum::<f32>();
            if learning == Learning::Adapt {
                let power: f32 = self.x.iter().map(|x| x * x).sum::<f32>() + 1e-3;
                let step = self.step * *e / power;
                self.w.iter_mut().zip(&self.x).for_each(|(w, x)| *w += step * x);
            }
        }
    }
    fn keep(&mut self) {
        self.kept.copy_from_slice(&self.w);
    }
    fn fall_back(&mut self) {
        self.w.copy_from_slice(&self.kept);
    }
    fn clear(&mut self) {
        [&mut self.w, &mut self.x, &mut self.kept].into_iter().for_each(|v| v.fill(0.0));
    }
    fn echo_path(&self) -> Vec<f32> {
        self.w.clone()
    }
    fn save(&self, to: &mut Writer) {
        [&self.w, &self.x, &self.kept].into_iter().for_each(|v| to.numbers(v));
    }
    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        [&mut self.w, &mut self.x, &mut self.kept].into_iter().try_for_each(|v| from.numbers(v))
    }
}

fn config() -> Config {
    Config { taps: 128, ..Config::default() }
}

#[test]
fn another_filter_runs_behind_the_same_safeguards() {
    let far = noise(48_000, 1);
    let near = convolve(&far, &room(100, 10, 2));
    let filter = Box::new(Nlms::new(128, 0.5));
    let done = cancel_with(filter, &far, &near, config(), Alignment::default()).unwrap();
    assert_eq!(done.report.algorithm, "nlms");
    assert!(done.report.erle.second_half.unwrap() > 40.0);

    let mut one = Canceller::with(Box::new(Nlms::new(128, 0.5)), config()).unwrap();
    one.push(&far[..10_000], &near[..10_000]);
    let state = one.save();
    let refused = Canceller::restore(&state).unwrap_err().to_string();
    assert_eq!(refused, "saved state: is of the filter nlms, not of kalman");
    let mut other =
        Canceller::restore_with(&state, |c| Ok(Box::new(Nlms::new(c.taps, 0.5)))).unwrap();
    assert_eq!(one.push(&far, &near), other.push(&far, &near));
}

#[test]
fn a_known_delay_is_taken_at_its_word() {
    let far = noise(32_000, 1);
    let near = convolve(&far, &room(100, 500, 2));
    let done =
        cancel_with(Box::new(Nlms::new(128, 0.5)), &far, &near, config(), Alignment::Known(500));
    let done = done.unwrap();
    assert_eq!((done.report.shift, done.report.delay), (500, None));
    assert!(done.report.erle.second_half.unwrap() > 40.0);
}

#[test]
fn a_block_that_ran_away_is_not_played() {
    /// A filter gone mad at once.
    struct Mad;
    impl Adaptive for Mad {
        fn name(&self) -> &'static str {
            "mad"
        }
        fn taps(&self) -> usize {
            1
        }
        fn cancel(&mut self, x: &[f32], _: &[f32], _: Learning, residual: &mut [f32]) {
            residual.iter_mut().zip(x).for_each(|(e, x)| *e = 1e20 * x);
        }
        fn keep(&mut self) {}
        fn fall_back(&mut self) {}
        fn clear(&mut self) {}
        fn echo_path(&self) -> Vec<f32> {
            vec![0.0]
        }
        fn save(&self, _: &mut Writer) {}
        fn restore(&mut self, _: &mut Reader<'_>) -> Result<(), AudioError> {
            Ok(())
        }
    }
    let (far, near) = (noise(8_000, 1), noise(8_000, 2));
    let mut canceller =
        Canceller::with(Box::new(Mad), Config { high_pass: false, ..config() }).unwrap();
    let latency = canceller.latency();
    let out = canceller.push(&far, &near).to_vec();
    assert_eq!(out[latency..], near[..8_000 - latency], "the microphone, from the first block on");
}

#[test]
fn a_filter_that_diverges_is_called_back_and_does_no_harm() {
    let far = noise(64_000, 1);
    let near = convolve(&far, &room(100, 10, 2));
    // A step beyond 2 makes every update an overshoot.
    let mut canceller = Canceller::with(Box::new(Nlms::new(128, 2.5)), config()).unwrap();
    let latency = canceller.latency();
    let out = canceller.push(&far, &near).to_vec();
    let status = canceller.status();
    assert!(out.iter().all(|v| v.is_finite()));
    assert!(status.fallbacks + status.resets > 0, "{status:?}");
    let harm = gain(&out[32_000..], &near[32_000 - latency..64_000 - latency]);
    assert!(harm < 1.0, "the output is {harm} dB louder than the microphone");
}

/// A filter of `parsimon-core` in the canceller.
fn sampled(config: &Config) -> Box<dyn Adaptive> {
    let settings = ProjectionSettings {
        rate: 0.5,
        l1: 0.0,
        delta: Delta { absolute: 1e-6, relative: 0.01 },
        metric: Some(MagnitudeMetric { alpha: 0.5, epsilon: 1e-4 }),
        order: 2,
        set: SolutionSet::Hyperplane,
        form: Form::Primal,
        shrinking: Shrinking::default(),
    };
    let filter = Tapped::new(Projection::new(config.taps, config.taps, settings));
    Box::new(Sampled::new("papa", Box::new(filter), config))
}

#[test]
fn the_filters_of_the_core_cancel_and_resume() {
    let detection = Detection::Correlation { threshold: 0.7 };
    let config = Config { detection, on_double_talk: OnDoubleTalk::Freeze, ..config() };
    let far = noise(48_000, 1);
    let mut near = convolve(&far, &room(100, 10, 2));
    // Somebody speaks for half a second.
    near[24_000..32_000].iter_mut().zip(noise(8_000, 3)).for_each(|(d, v)| *d += 0.5 * v);
    let done = cancel_with(sampled(&config), &far, &near, config, Alignment::default()).unwrap();
    assert!(done.report.status.frozen_double_talk > 4_000, "{:?}", done.report.status);
    // What is left while somebody speaks is their voice; before and after it is next to nothing.
    let left = |range: std::ops::Range<usize>| gain(&done.clean[range.clone()], &near[range]);
    assert!(left(16_000..24_000) < -30.0 && left(40_000..48_000) < -30.0);
    let voice: Vec<f32> = noise(8_000, 3).iter().map(|v| 0.5 * v).collect();
    let off: Vec<f32> =
        done.clean[24_800..32_000].iter().zip(&voice[800..]).map(|(a, b)| a - b).collect();
    assert!(gain(&off, &voice[800..]) < -12.0, "the voice survives");

    let mut whole = Canceller::with(sampled(&config), config).unwrap();
    let want = whole.push(&far, &near).to_vec();
    let mut one = Canceller::with(sampled(&config), config).unwrap();
    let mut got = Vec::new();
    for (x, d) in far[..20_011].chunks(37).zip(near[..20_011].chunks(37)) {
        got.extend_from_slice(one.push(x, d));
    }
    let mut other = Canceller::restore_with(&one.save(), |c| Ok(sampled(c))).unwrap();
    got.extend_from_slice(other.push(&far[20_011..], &near[20_011..]));
    assert_eq!(want, got);
}

/// One tap, right at first, wrong from some block on until it is called back.
struct Turncoat {
    block: u32,
    w: f32,
    kept: f32,
}

impl Adaptive for Turncoat {
    fn name(&self) -> &'static str {
        "turncoat"
    }
    fn taps(&self) -> usize {
        1
    }
    fn cancel(&mut self, reference: &[f32], microphone: &[f32], _: Learning, residual: &mut [f32]) {
        self.block += 1;
        if self.block == 1000 {
            self.w = -3.0;
        }
        for ((x, d), e) in reference.iter().zip(microphone).zip(residual) {
            *e = d - self.w * x;
        }
    }
    fn keep(&mut self) {
        self.kept = self.w;
    }
    fn fall_back(&mut self) {
        self.w = self.kept;
    }
    fn clear(&mut self) {}
    fn echo_path(&self) -> Vec<f32> {
        vec![self.w]
    }
    fn save(&self, _: &mut Writer) {}
    fn restore(&mut self, _: &mut Reader<'_>) -> Result<(), AudioError> {
        Ok(())
    }
}

#[test]
fn the_last_good_filter_comes_back() {
    let far = noise(96_000, 1);
    let near: Vec<f32> = far.iter().map(|v| 0.5 * v).collect();
    let filter = Turncoat { block: 0, w: 0.49, kept: 0.0 };
    let mut canceller = Canceller::with(Box::new(filter), config()).unwrap();
    let latency = canceller.latency();
    let out = canceller.push(&far, &near).to_vec();
    let status = canceller.status();
    assert_eq!((status.fallbacks, canceller.echo_path()[0]), (1, 0.49));
    // A tenth of a second may pass before the harm is beyond doubt, then the microphone is heard.
    let turn = 1000 * 64;
    let harm = gain(&out[turn + 1600..], &near[turn + 1600 - latency..96_000 - latency]);
    assert!(harm < 0.1, "{harm} dB louder than the microphone");
    assert!(status.bypassed > 1600 && status.bypassed < 20_000, "{status:?}");
}
