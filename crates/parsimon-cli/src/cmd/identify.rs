//! `parsimon identify`: the impulse response between two signals.

use std::time::{Duration, Instant};

use parsimon::filter::Identified;
use parsimon::settings::Precision;
use parsimon::study::Synthetic;
use parsimon::workspace::Regressors;
#[cfg(feature = "audio")]
use parsimon::workspace::identify_in_blocks;
use parsimon::workspace::{IdentifyPoint, Zeros, identify_system_with, identify_with};
use parsimon::workspace::{Message, Remedy};
use parsimon::workspace::{number::duration, number::significant, number::thousands};
use parsimon::{LearnerOptions, Settings, Spec};
use parsimon_page::chart::{Figure, Panel, Series};
use serde_json::{Value, json};

use crate::args::{IdentifyArgs, PrecisionArg, for_numbers};
use crate::console::note;
use crate::fault::Fault;
use crate::flags::in_flags;
use crate::output::{Files, write_text};
use crate::signal::{self, Source};

/// The default method where settings are given without a name: fast for sparse paths, and no slower than NLMS for dense ones.
const DEFAULT: &str = "ipnlms";
/// The methods that are tried where neither a name nor settings are given.
const TRIED: [&str; 2] = ["nlms", "ipnlms"];
const TAPS: usize = 512;
/// A residual of more than this multiple of the signal's power (40 dB) is a filter that ran away.
const RUNAWAY: f64 = 1e4;

/// A finished run.
struct IdentifyRun {
    found: Identified,
    truth: Option<Vec<f64>>,
    samples: u64,
    rate: Option<u32>,
    time: Duration,
}

pub(crate) fn run(args: &IdentifyArgs) -> Result<(), Fault> {
    signal::regularization(args.regularization)?;
    signal::check_ending(args.output.as_ref())?;
    check_files(args)?;
    if args.spec.names().next().is_none() && !args.spec.names_algorithm()? {
        return automatic(args);
    }
    let spec = args.spec.spec_or(DEFAULT)?;
    #[cfg(feature = "audio")]
    if let Some(name) =
        blocks::NAMES.iter().find(|name| spec.get("algorithm") == Some(&json!(name)))
    {
        let step = blocks::step(&args.spec, name)?;
        let run = once(args, Way::Blocks(name, step))?;
        let settings = match *name {
            blocks::KALMAN => json!({"algorithm": name}),
            _ => json!({"algorithm": name, "rate": step}),
        };
        return finish(args, name, &settings, &run);
    }
    let settings = for_numbers(for_rows(args, spec)?)?;
    let run = once(args, Way::Samples(&settings, Zeros::Filter))?;
    finish(args, settings.algorithm().name, &json!(settings.to_json()), &run)
}

/// A smaller rate where the rows of a synthetic system are longer than the method's rate is made for.
fn for_rows(args: &IdentifyArgs, spec: Spec) -> Result<Spec, Fault> {
    Ok(match &args.synthetic {
        Some(text) => spec.for_rows_of_energy(Synthetic::parse(text)?.energy()),
        None => spec,
    })
}

/// Ways to find the response.
#[derive(Clone, Copy)]
enum Way<'a> {
    /// Sample by sample, or row by row.
    Samples(&'a Settings, Zeros),
    /// In blocks, by the name of the filter and its step.
    #[cfg(feature = "audio")]
    Blocks(&'a str, f32),
}

impl Way<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Samples(settings, _) => settings.algorithm().name,
            #[cfg(feature = "audio")]
            Self::Blocks(name, _) => name,
        }
    }

    /// Whether warnings of the signals are printed: where several methods are tried, they come once.
    fn warns(&self) -> bool {
        !matches!(self, Self::Samples(settings, Zeros::Race) if settings.algorithm().name != TRIED[0])
    }
}

fn once(args: &IdentifyArgs, way: Way<'_>) -> Result<IdentifyRun, Fault> {
    match (&args.synthetic, &args.reference, &args.observed) {
        (Some(text), _, _) => synthetic(args, way, text),
        (None, Some(reference), Some(observed)) => signals(args, way, (reference, observed)),
        _ => Err(Fault::Usage("identify needs --reference and --observed".into())),
    }
}

/// Tries the methods, each with the threshold that predicts best, and keeps the one that predicts best.
fn automatic(args: &IdentifyArgs) -> Result<(), Fault> {
    let mut best: Option<(Settings, IdentifyRun)> = None;
    for name in TRIED {
        let settings = for_numbers(for_rows(args, args.spec.spec_or(name)?)?)?;
        let run = once(args, Way::Samples(&settings, Zeros::Race))?;
        let error = |run: &IdentifyRun| run.found.sparse_error.unwrap_or(f64::INFINITY);
        if best.as_ref().is_none_or(|(_, other)| error(&run) < error(other)) {
            best = Some((settings, run));
        }
    }
    match best {
        Some((settings, run)) => {
            finish(args, settings.algorithm().name, &json!(settings.to_json()), &run)
        }
        None => Ok(()),
    }
}

/// Refuses outputs that would overwrite an input or each other.
fn check_files(args: &IdentifyArgs) -> Result<(), Fault> {
    let mut files = Files::default();
    for (argument, source) in
        [("--reference", &args.reference), ("--observed", &args.observed), ("--truth", &args.truth)]
    {
        if let Some(source) = source {
            files.read_path(argument, Source::new(source).path());
        }
    }
    files.read("--spec", &args.spec.inputs());
    files.write("--output", args.output.as_deref())?;
    files.write("--json", args.json.as_deref())?;
    files.draw("--plot", args.plot.as_deref())?;
    files.draw("--curve", args.curve.as_deref())
}

fn synthetic(args: &IdentifyArgs, way: Way<'_>, text: &str) -> Result<IdentifyRun, Fault> {
    let synthetic = Synthetic::parse(text)?;
    let mut system = synthetic.start();
    let truth = Some(system.truth().to_vec());
    let start = Instant::now();
    let found = match synthetic.regressors {
        Regressors::Vectors => {
            if args.regularization.is_some() {
                return Err(Fault::Usage(
                    "--regularization is for signals; vectors have the setting --delta".into(),
                ));
            }
            #[allow(clippy::infallible_destructuring_match, reason = "blocks are a feature")]
            let (settings, zeros) = match way {
                Way::Samples(settings, zeros) => (settings, zeros),
                #[cfg(feature = "audio")]
                Way::Blocks(name, _) => {
                    return Err(Fault::Usage(format!(
                        "{name} filters signals; add regressors=signal to --synthetic"
                    )));
                }
            };
            let precision = args.precision.into();
            let options = LearnerOptions { precision, bias: false, ..LearnerOptions::default() };
            identify_system_with(settings, options, &mut system, synthetic.samples, zeros)?
        }
        Regressors::Signal => {
            // Two signals, and the residual, in vectors that double.
            parsimon::workspace::check(
                synthetic.samples.saturating_mul(9 * size_of::<f64>() as u64),
            )
            .map_err(|shortage| {
                let what = format!("a signal of {} samples", synthetic.samples);
                let advice = Remedy::Advice("use fewer samples".into());
                Fault::Usage(in_flags(&Message::shortage(&shortage, &what, &[advice])))
            })?;
            let (mut x, mut reference, mut observed) =
                (vec![0.0; synthetic.n], Vec::new(), Vec::new());
            for _ in 0..synthetic.samples {
                observed.push(system.next_row(&mut x));
                reference.push(x[0]);
            }
            let signals = (&reference[..], &observed[..]);
            over(args, way, synthetic.n, signals, truth.as_deref())?
        }
    };
    let time = start.elapsed();
    Ok(IdentifyRun { found, truth, samples: synthetic.samples, rate: None, time })
}

fn signals(
    args: &IdentifyArgs,
    way: Way<'_>,
    (from, to): (&str, &str),
) -> Result<IdentifyRun, Fault> {
    signal::refuse_settings(&args.spec)?;
    let reference = Source::new(from).read(args.channel)?;
    let observed = Source::new(to).read(args.channel)?;
    if let (Some(one), Some(other)) = (reference.rate, observed.rate)
        && one != other
    {
        return Err(Fault::Input(format!(
            "{from} has {one} samples per second and {to} has {other}; they must agree"
        )));
    }
    let samples = reference.samples.len().min(observed.samples.len());
    let note = |text: &str| {
        if way.warns() {
            note(text);
        }
    };
    if reference.samples.len() != observed.samples.len() {
        note(&format!(
            "warning: {from} has {} samples and {to} has {}; the first {} are used",
            thousands(reference.samples.len() as u64),
            thousands(observed.samples.len() as u64),
            thousands(samples as u64)
        ));
    }
    for (name, signal) in [(from, &reference), (to, &observed)] {
        if signal.clipped > 0 {
            note(&format!(
                "warning: {name} is clipped at {} samples, which no linear response explains",
                thousands(signal.clipped)
            ));
        }
    }
    if reference.samples.iter().all(|x| *x == 0.0) {
        return Err(Fault::Input(format!("{from} is silent: nothing can be learned from it")));
    }
    let taps = args.taps.unwrap_or(TAPS);
    if taps > samples {
        return Err(Fault::Usage(format!(
            "{taps} taps cannot be found from {samples} samples; pass a smaller --taps"
        )));
    }
    let truth = match &args.truth {
        Some(source) => Some(Source::new(source).read(args.channel)?.samples),
        None => None,
    };
    if let Some(truth) = &truth
        && truth.len() > taps
    {
        note(&format!(
            "warning: the truth has {} coefficients and the filter {taps}; the rest counts as missed",
            truth.len()
        ));
    }
    let (x, y) = (&reference.samples[..samples], &observed.samples[..samples]);
    let start = Instant::now();
    let found = over(args, way, taps, (x, y), truth.as_deref())?;
    let time = start.elapsed();
    let rate = reference.rate.or(observed.rate);
    Ok(IdentifyRun { found, truth, samples: samples as u64, rate, time })
}

fn over(
    args: &IdentifyArgs,
    way: Way<'_>,
    taps: usize,
    (reference, observed): (&[f64], &[f64]),
    truth: Option<&[f64]>,
) -> Result<Identified, Fault> {
    let regularization = signal::regularization(args.regularization)?;
    let samples = reference.len().min(observed.len()) as u64;
    if let Some(warning) = signal::long_run(way.name(), taps, samples) {
        note(&warning);
    }
    let most = Precision::from(args.precision).max_value();
    if let Some(x) = reference.iter().chain(observed).find(|x| x.abs() > most) {
        return Err(Fault::Input(format!("a sample is {x:e}, beyond what the arithmetic holds")));
    }
    let (settings, zeros) = match way {
        Way::Samples(settings, zeros) => (settings, zeros),
        #[cfg(feature = "audio")]
        Way::Blocks(name, step) => {
            let mut filter = blocks::Blocks::new(name, taps, step, args.regularization)?;
            let block = parsimon::workspace::BlockFilter::block(&filter);
            if reference.len().min(observed.len()) < block {
                return Err(Fault::Usage(format!(
                    "{name} takes blocks of {block} samples, and there are fewer; pass a smaller --taps"
                )));
            }
            let mut found = identify_in_blocks(&mut filter, reference, observed, truth);
            found.taps.truncate(taps);
            return Ok(found);
        }
    };
    let narrow = |signal: &[f64]| signal.iter().map(|&x| x as f32).collect::<Vec<_>>();
    Ok(match args.precision {
        PrecisionArg::F32 => {
            let (x, y) = (narrow(reference), narrow(observed));
            identify_with(settings, taps, regularization, &x, &y, truth, zeros)?
        }
        PrecisionArg::F64 => {
            identify_with(settings, taps, regularization, reference, observed, truth, zeros)?
        }
    })
}

fn finish(
    args: &IdentifyArgs,
    name: &str,
    settings: &Value,
    run: &IdentifyRun,
) -> Result<(), Fault> {
    let found = &run.found;
    let diverged = |point: &IdentifyPoint| {
        !point.residual.is_finite() || point.residual > RUNAWAY * point.observed.max(1e-300)
    };
    if found.curve.last().is_some_and(diverged) {
        return Err(Fault::Input(
            "the filter diverged: its residual is far louder than the signal; lower the rate"
                .into(),
        ));
    }
    if let Some(path) = &args.output {
        signal::write(path, &found.taps, run.rate.unwrap_or(8000))?;
    }
    if let Some(path) = &args.plot {
        write_text(path, &response(name, run).to_svg())?;
    }
    if let Some(path) = &args.curve {
        write_text(path, &curve(name, run).to_svg())?;
    }
    if let Some(path) = &args.json {
        let report = json!({
            "settings": settings,
            "samples": run.samples,
            "rate": run.rate,
            "seconds": run.time.as_secs_f64(),
            "mismatch_db": found.mismatch_db(),
            "zeros": found.curve.last().map(|p| p.zeros),
            "threshold": found.threshold,
            "resets": found.resets,
            "taps": found.taps,
            "truth": run.truth,
            "curve": found.curve,
        });
        let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
        text.push('\n');
        write_text(path, &text)?;
    }
    if !args.quiet {
        summarize(name, run);
    }
    Ok(())
}

fn summarize(name: &str, run: &IdentifyRun) {
    let found = &run.found;
    let Some(last) = found.curve.last() else { return };
    let zeros = found.taps.iter().filter(|w| **w == 0.0).count();
    note(&format!(
        "{name}: {} taps from {} samples in {} ({} samples/s)",
        thousands(found.taps.len() as u64),
        thousands(run.samples),
        duration(run.time),
        thousands((run.samples as f64 / run.time.as_secs_f64().max(1e-9)) as u64),
    ));
    let half = &found.curve[found.curve.len() / 2..];
    let total = |power: fn(&IdentifyPoint) -> f64| half.iter().map(power).sum::<f64>();
    let gain = 10.0 * (total(|p| p.observed) / total(|p| p.residual)).log10();
    if gain.is_finite() {
        let side = if gain < 0.0 { "above" } else { "below" };
        let level = significant(gain.abs(), 4);
        note(&format!("residual {level} dB {side} the observed signal in the second half"));
    }
    let threshold = found.threshold.filter(|t| *t > 0.0).map_or(String::new(), |t| {
        format!(": those below {}, which predicts best", significant(t, 3))
    });
    note(&format!("{zeros} of {} coefficients are exactly zero{threshold}", found.taps.len()));
    if let Some(db) = last.mismatch_db {
        note(&format!("system mismatch {} dB", significant(db, 4)));
    }
    if found.resets > 0 {
        note(&format!(
            "warning: the filter ran away {} times and began again; lower the rate",
            found.resets
        ));
    }
    let mut largest: Vec<_> = found.taps.iter().enumerate().filter(|(_, w)| **w != 0.0).collect();
    largest.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let shown: Vec<String> =
        largest.iter().take(5).map(|(lag, w)| format!("{lag}: {}", significant(**w, 4))).collect();
    if !shown.is_empty() {
        note(&format!("largest coefficients by place: {}", shown.join(", ")));
    }
}

fn response(name: &str, run: &IdentifyRun) -> Figure {
    let points = |taps: &[f64]| -> Vec<(f64, f64)> {
        taps.iter().enumerate().map(|(lag, w)| (lag as f64, *w)).collect()
    };
    let mut panel = Panel::new("lag", "coefficient");
    if let Some(truth) = &run.truth {
        panel = panel.series(Series::points("truth", points(truth)));
    }
    panel = panel.series(Series::stems("estimate", points(&run.found.taps)));
    Figure::new(format!("Impulse response by {name}"))
        .subtitle(format!("{} samples", thousands(run.samples)))
        .panel(panel)
}

fn curve(name: &str, run: &IdentifyRun) -> Figure {
    let db = |power: f64| 10.0 * power.max(1e-30).log10();
    let curve = &run.found.curve;
    let (x_title, per) = match run.rate {
        Some(rate) => ("seconds", f64::from(rate.max(1))),
        None => ("samples", 1.0),
    };
    let points = |value: &dyn Fn(&IdentifyPoint) -> f64| -> Vec<(f64, f64)> {
        curve.iter().map(|p| (p.samples as f64 / per, value(p))).collect()
    };
    let mut figure = Figure::new(format!("Convergence of {name}"))
        .subtitle(format!("{} samples", thousands(run.samples)));
    if run.truth.is_some() {
        let mismatch = points(&|p| p.mismatch_db.unwrap_or(0.0));
        figure = figure
            .panel(Panel::new(x_title, "system mismatch, dB").series(Series::line(name, mismatch)));
    }
    // A silent stretch has no residual and is a gap in the curve.
    let left = |p: &IdentifyPoint| match p.observed > 0.0 {
        true => db(p.residual / p.observed),
        false => f64::NAN,
    };
    let convergence = Panel::new(x_title, "residual against observed, dB")
        .show_y(0.0)
        .series(Series::line(name, points(&left)));
    let residual = Panel::new(x_title, "power, dB")
        .series(Series::line("observed", points(&|p| db(p.observed))))
        .series(Series::line("residual", points(&|p| db(p.residual))));
    let zeros = Panel::new(x_title, "zeros, %")
        .series(Series::line(name, points(&|p| 100.0 * p.zeros)))
        .limit_y(0.0, 100.0);
    figure.panel(convergence).panel(residual).panel(zeros)
}

/// The filters of the echo canceller as methods of identification.
#[cfg(feature = "audio")]
mod blocks {
    use parsimon::workspace::BlockFilter;
    use parsimon_audio::{Adaptive, BlockNlms, Config, Kalman, Learning};

    use crate::args::SpecArgs;
    use crate::fault::Fault;

    pub(super) const KALMAN: &str = "kalman";
    pub(super) const FDNLMS: &str = "fdnlms";
    pub(super) const NAMES: [&str; 2] = [KALMAN, FDNLMS];
    const STEP: f64 = 0.5;
    const REGULARIZATION: f64 = 0.01;
    /// Rates for which the canceller's blocks have 64, 256 and 512 samples; time constants are in seconds of that rate.
    const RATES: [(usize, u32); 3] = [(64, 16_000), (256, 48_000), (512, 96_000)];

    pub(super) struct Blocks {
        filter: Box<dyn Adaptive>,
        block: usize,
    }

    /// The step of `fdnlms`, the only setting there is.
    pub(super) fn step(spec: &SpecArgs, name: &str) -> Result<f32, Fault> {
        let known = |setting: &str| setting == "algorithm" || (name == FDNLMS && setting == "rate");
        if let Some(other) = spec.names().find(|setting| !known(setting)) {
            return Err(Fault::Usage(match name {
                KALMAN => format!("kalman has no setting {other:?}; it finds its steps by itself"),
                _ => format!(
                    "{name} has no setting {other:?}; its settings are --rate and --regularization"
                ),
            }));
        }
        let rate = spec.spec_or(name)?.get("rate").and_then(serde_json::Value::as_f64);
        Ok(rate.unwrap_or(STEP) as f32)
    }

    impl Blocks {
        pub(super) fn new(
            name: &str,
            taps: usize,
            step: f32,
            regularization: Option<f64>,
        ) -> Result<Self, Fault> {
            // A quarter of the path, so that little of it is rounded up, and long enough to be fast.
            let wanted = (taps / 4).max(1);
            if name == KALMAN {
                if regularization.is_some() {
                    return Err(Fault::Usage(
                        "kalman regularizes by itself; --regularization is for the others".into(),
                    ));
                }
                let fits = RATES.iter().rev().find(|(block, _)| *block <= wanted);
                let (block, rate) = fits.copied().unwrap_or(RATES[0]);
                let config = Config { taps, growth: 1, ..Config::at(rate) };
                return Ok(Self { filter: Box::new(Kalman::new(&config)?), block });
            }
            let block = (wanted.next_power_of_two() / 2).clamp(16, 4096);
            let share = regularization.unwrap_or(REGULARIZATION) as f32;
            let filter = BlockNlms::new(block, taps, step, share)?;
            Ok(Self { filter: Box::new(filter), block })
        }
    }

    impl BlockFilter for Blocks {
        fn block(&self) -> usize {
            self.block
        }
        fn run(&mut self, reference: &[f32], observed: &[f32], residual: &mut [f32]) {
            self.filter.cancel(reference, observed, Learning::Adapt, residual);
        }
        fn taps(&self) -> Vec<f64> {
            self.filter.echo_path().iter().map(|&w| f64::from(w)).collect()
        }
    }
}
