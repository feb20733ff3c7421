//! `parsimon identify`: the impulse response between two signals.

use std::time::{Duration, Instant};

use parsimon::eval::number::{duration, significant, thousands};
use parsimon::filter::{Identified, IdentifyPoint, identify};
use parsimon::settings::{LabelDomain, Precision};
use parsimon::study::{Regressors, Synthetic, identify_system};
use parsimon::{LearnerOptions, Settings, Spec, memory};
use parsimon_page::chart::{Figure, Panel, Series};
use serde_json::json;

use crate::args::{IdentifyArgs, PrecisionArg};
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Files, write_text};
use crate::signal::{self, Source};

/// What is identified when nobody says how: sparse paths fast, dense ones no slower than NLMS.
const DEFAULT: &str = "ipnlms";
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
    let settings = for_numbers(args.spec.spec_or(DEFAULT)?)?;
    let run = match (&args.synthetic, &args.reference, &args.observed) {
        (Some(text), _, _) => synthetic(args, &settings, text)?,
        (None, Some(reference), Some(observed)) => signals(args, &settings, reference, observed)?,
        _ => return Err(Fault::Usage("identify needs --reference and --observed".into())),
    };
    finish(args, &settings, &run)
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

/// The settings, with the squared loss where nobody names one; losses for classes make no sense of a signal.
fn for_numbers(spec: Spec) -> Result<Settings, Fault> {
    let spec = spec.for_signals();
    let settings = spec.resolve()?;
    let is_free = spec.get("loss").is_none() && settings.loss().domain() != LabelDomain::Real;
    let settings = match is_free {
        true => spec.set("loss", "squared").resolve()?,
        false => settings,
    };
    match settings.loss().domain() {
        LabelDomain::Real => Ok(settings),
        _ => Err(Fault::Usage(format!(
            "{} with the loss {} is for classes; a system has numbers as output, so choose a loss such as squared",
            settings.algorithm().name,
            settings.loss_name()
        ))),
    }
}

fn synthetic(args: &IdentifyArgs, settings: &Settings, text: &str) -> Result<IdentifyRun, Fault> {
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
            let precision = args.precision.into();
            let frame = LearnerOptions { precision, bias: false, ..LearnerOptions::default() };
            identify_system(settings, frame, &mut system, synthetic.samples)?
        }
        Regressors::Signal => {
            // Two signals, and the residual, in vectors that double.
            memory::check(synthetic.samples.saturating_mul(9 * size_of::<f64>() as u64)).map_err(
                |shortage| {
                    let what = format!("a signal of {} samples", synthetic.samples);
                    Fault::Usage(shortage.of(&what, "use fewer samples"))
                },
            )?;
            let (mut x, mut reference, mut observed) =
                (vec![0.0; synthetic.n], Vec::new(), Vec::new());
            for _ in 0..synthetic.samples {
                observed.push(system.next_row(&mut x));
                reference.push(x[0]);
            }
            over(args, settings, synthetic.n, &reference, &observed, truth.as_deref())?
        }
    };
    let time = start.elapsed();
    Ok(IdentifyRun { found, truth, samples: synthetic.samples, rate: None, time })
}

fn signals(
    args: &IdentifyArgs,
    settings: &Settings,
    reference: &str,
    observed: &str,
) -> Result<IdentifyRun, Fault> {
    signal::refuse_settings(&args.spec)?;
    let (from, to) = (reference, observed);
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
    let found = over(args, settings, taps, x, y, truth.as_deref())?;
    let time = start.elapsed();
    let rate = reference.rate.or(observed.rate);
    Ok(IdentifyRun { found, truth, samples: samples as u64, rate, time })
}

fn over(
    args: &IdentifyArgs,
    settings: &Settings,
    taps: usize,
    reference: &[f64],
    observed: &[f64],
    truth: Option<&[f64]>,
) -> Result<Identified, Fault> {
    let regularization = signal::regularization(args.regularization)?;
    let most = Precision::from(args.precision).max_value();
    if let Some(x) = reference.iter().chain(observed).find(|x| x.abs() > most) {
        return Err(Fault::Input(format!("a sample is {x:e}, beyond what the arithmetic holds")));
    }
    let narrow = |signal: &[f64]| signal.iter().map(|&x| x as f32).collect::<Vec<_>>();
    Ok(match args.precision {
        PrecisionArg::F32 => {
            let (x, y) = (narrow(reference), narrow(observed));
            identify(settings, taps, regularization, &x, &y, truth)?
        }
        PrecisionArg::F64 => identify(settings, taps, regularization, reference, observed, truth)?,
    })
}

fn finish(args: &IdentifyArgs, settings: &Settings, run: &IdentifyRun) -> Result<(), Fault> {
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
    let name = settings.algorithm().name;
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
            "settings": settings.to_json(),
            "samples": run.samples,
            "rate": run.rate,
            "seconds": run.time.as_secs_f64(),
            "mismatch_db": found.mismatch_db(),
            "zeros": found.curve.last().map(|p| p.zeros),
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
    note(&format!("{zeros} of {} coefficients are exactly zero", found.taps.len()));
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
    // Nothing is left of nothing: a silent stretch is a gap.
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
