//! `parsimon cancel`: a microphone without the loudspeaker's echo.

use std::path::Path;
use std::time::{Duration, Instant};

use parsimon::algorithm::find;
use parsimon::workspace::filters;
use parsimon::workspace::{number::significant, number::thousands};
use parsimon_audio::wav::{self, Signal};
use parsimon_audio::{
    Adaptive, Alignment, BlockNlms, Canceled, Config, Detection, Kalman, OnDoubleTalk, Sampled,
    Spectrogram, cancel_with,
};
use parsimon_data::did_you_mean;
use parsimon_page::chart::{Figure, HeatMaps, Panel, Series};
use serde_json::{Value, json};

use crate::args::{CancelArgs, DetectorArg};
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Files, refuse_endings, write_text};
use crate::signal;

use super::{cancel_page, cancel_raw};

/// The canceller with the Kalman filter.
const KALMAN: &str = "kalman";
/// NLMS in the frequency domain.
const FDNLMS: &str = "fdnlms";

pub(crate) fn run(args: &CancelArgs) -> Result<(), Fault> {
    if let Some(samples) = args.raw {
        let (mut config, filter) = filter(args, args.sample_rate.unwrap_or_default(), None)?;
        if args.delay.is_none() {
            let seconds = args.max_delay;
            if !(seconds > 0.0 && seconds <= 60.0) {
                return Err(Fault::Usage(format!(
                    "--max-delay must be above 0 and at most 60 seconds, got {seconds}"
                )));
            }
            config.search = seconds as f32;
        }
        return cancel_raw::run(args, samples, (config, filter));
    }
    let mut files = Files::default();
    match &args.stereo {
        Some(path) => files.read_path("--stereo", path),
        None => {
            files.read_path("--reference", args.far());
            files.read_path("--microphone", args.near());
        }
    }
    files.read("--spec", &args.spec.inputs());
    refuse_endings(
        "--output",
        args.output.as_deref(),
        &["mp3", "flac", "ogg", "opus", "m4a", "aac"],
        "writes WAV; use a name that ends in .wav",
    )?;
    files.write("--output", args.output.as_deref())?;
    files.write("--echo-path", args.echo_path.as_deref())?;
    files.write("--json", args.json.as_deref())?;
    files.draw("--plot", args.plot.as_deref())?;
    files.draw("--spectrogram", args.spectrogram.as_deref())?;
    files.write("--page", args.page.as_deref())?;
    signal::check_ending(args.echo_path.as_ref())?;
    let [far, near] = args.places();
    let reference = wav::read(args.far(), far)?;
    let microphones = match near {
        Some(channel) => vec![wav::read(args.near(), Some(channel))?],
        None => {
            let first = wav::read(args.near(), Some(1))?;
            let rest = (2..=usize::from(first.channels)).map(|c| wav::read(args.near(), Some(c)));
            let rest: Vec<Signal> = rest.collect::<Result<_, _>>()?;
            [vec![first], rest].concat()
        }
    };
    if microphones.len() > 1 {
        let single = [&args.json, &args.plot, &args.spectrogram, &args.page, &args.echo_path];
        if single.iter().any(|path| path.is_some()) {
            return Err(Fault::Usage(format!(
                "{} has {} channels; reports are of one, choose it with --microphone-channel",
                args.near().display(),
                microphones.len()
            )));
        }
    }
    let mut cleaned = Vec::with_capacity(microphones.len());
    for microphone in &microphones {
        cleaned.push(clean(args, &reference, microphone)?);
    }
    finish(args, &reference, &microphones, &cleaned)
}

/// A microphone without the echo, and the CPU time that it took.
fn clean(
    args: &CancelArgs,
    reference: &Signal,
    microphone: &Signal,
) -> Result<(Canceled, Duration), Fault> {
    look_at(args, reference, microphone)?;
    let (config, filter) = filter(args, microphone.rate, Some(microphone.samples.len()))?;
    if config.taps > microphone.samples.len() {
        return Err(Fault::Usage(format!(
            "{} taps cannot be found from {} samples; pass a smaller --taps",
            config.taps,
            microphone.samples.len()
        )));
    }
    let alignment = match args.delay {
        Some(samples) if samples.unsigned_abs() >= microphone.samples.len() as u64 => {
            return Err(Fault::Usage(format!(
                "a delay of {samples} samples leaves nothing of {}",
                microphone.samples.len()
            )));
        }
        Some(samples) => Alignment::Known(samples),
        None => Alignment::Search { seconds: args.max_delay },
    };
    let (start, before) = (Instant::now(), cpu_time());
    let done = cancel_with(filter, &reference.samples, &microphone.samples, config, alignment)?;
    let time = match (before, cpu_time()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => start.elapsed(),
    };
    Ok((done, time))
}

/// CPU time of this thread so far, where the system counts it.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Refuses signals that do not belong together, and warns of signals from which little echo can be removed.
fn look_at(args: &CancelArgs, reference: &Signal, microphone: &Signal) -> Result<(), Fault> {
    let (far, near) = (args.far().display(), args.near().display());
    if reference.rate != microphone.rate {
        return Err(Fault::Input(format!(
            "{far} has {} samples per second and {near} has {}; they must agree",
            reference.rate, microphone.rate
        )));
    }
    let (len, other) = (reference.samples.len(), microphone.samples.len());
    if len != other {
        let what =
            if len < other { "it counts as silent after its end" } else { "its end is not used" };
        note(&format!(
            "warning: {far} has {} samples and {near} has {}; {what}",
            thousands(len as u64),
            thousands(other as u64)
        ));
    }
    for (name, signal) in [(far, reference), (near, microphone)] {
        if let Some(remark) = &signal.remark {
            note(&format!("warning: {name} {remark}"));
        }
        if signal.is_silent() {
            note(&format!("warning: {name} is silent (below -90 dB of full scale)"));
        }
        if signal.clipped > 0 {
            note(&format!(
                "warning: {name} is clipped at {} samples; no linear filter removes the echo of those",
                thousands(signal.clipped)
            ));
        }
    }
    Ok(())
}

/// The selected filter, and the settings of the parts around it. Only files have a known length of the recording.
fn filter(
    args: &CancelArgs,
    rate: u32,
    length: Option<usize>,
) -> Result<(Config, Box<dyn Adaptive>), Fault> {
    let mut config = Config::at(rate);
    config.suppress = args.suppress;
    match args.taps {
        Some(taps) => (config.taps, config.growth) = (taps, 1),
        None => config.taps = config.taps.min(length.map_or(usize::MAX, |n| n.max(1))),
    }
    config.high_pass = !args.no_high_pass;
    config.drift = !args.no_drift;
    config.memory = args.memory_seconds.unwrap_or(config.memory);
    let spec = args.spec.spec_or(KALMAN)?;
    let name = spec.get("algorithm").and_then(Value::as_str).unwrap_or(KALMAN).to_owned();
    // A filter that stands still for double talk needs a detector that waits until the filter has converged.
    let detector = if name == KALMAN { DetectorArg::Leakage } else { DetectorArg::Correlation };
    config.detection = match args.detector.unwrap_or(detector) {
        DetectorArg::Leakage => Detection::Leakage { threshold: args.threshold.unwrap_or(8.0) },
        DetectorArg::Correlation => {
            Detection::Correlation { threshold: args.threshold.unwrap_or(0.7) }
        }
        DetectorArg::Geigel => Detection::Geigel { threshold: args.threshold.unwrap_or(0.5) },
        DetectorArg::Off if args.threshold.is_some() => {
            return Err(Fault::Usage("without a detector there is no --threshold".into()));
        }
        DetectorArg::Off => Detection::Off,
    };
    if name == KALMAN {
        if let Some(other) = args.spec.names().find(|n| *n != "algorithm") {
            return Err(Fault::Usage(format!(
                "kalman has no setting {other:?}; its options are --taps, --memory-seconds and --detector"
            )));
        }
        if args.regularization.is_some() {
            return Err(Fault::Usage(
                "kalman regularizes by itself; --regularization is for the others".into(),
            ));
        }
        config.check()?;
        return Ok((config, Box::new(Kalman::new(&config)?)));
    }
    if name == FDNLMS {
        if let Some(other) = args.spec.names().find(|n| !["algorithm", "rate"].contains(n)) {
            return Err(Fault::Usage(format!(
                "fdnlms has no setting {other:?}; its settings are --rate, --taps and --regularization"
            )));
        }
        let step = spec.get("rate").and_then(Value::as_f64).unwrap_or(0.5) as f32;
        let share = args.regularization.unwrap_or(0.01) as f32;
        config.on_double_talk = OnDoubleTalk::Freeze;
        config.check()?;
        let filter = BlockNlms::new(config.block(), config.taps, step, share)?;
        return Ok((config, Box::new(filter)));
    }
    if find(&name).is_none_or(|algorithm| !algorithm.is_filter()) {
        let known = filters().chain([KALMAN, FDNLMS]);
        return Err(Fault::Usage(format!(
            "{name} does not cancel echo{}; {KALMAN} (the default), {FDNLMS} and {} do",
            did_you_mean(&name, known),
            filters().collect::<Vec<_>>().join(", ")
        )));
    }
    if args.memory_seconds.is_some() {
        return Err(Fault::Usage("--memory-seconds is a setting of kalman".into()));
    }
    let settings = spec.for_signals().resolve()?;
    if settings.loss_name() == "halfspace" {
        return Err(Fault::Usage("the loss halfspace is for classes; an echo is a number".into()));
    }
    signal::refuse_settings(&args.spec)?;
    let regularization = signal::regularization(args.regularization)?;
    // A step that knows nothing of the near end must stand still while someone speaks.
    config.on_double_talk = OnDoubleTalk::Freeze;
    config.check()?;
    if let Some(warning) =
        length.and_then(|n| signal::long_run(settings.algorithm().name, config.taps, n as u64))
    {
        note(&warning);
    }
    let filter = settings.filter::<f32>(config.taps, regularization)?;
    Ok((config, Box::new(Sampled::new(settings.algorithm().name, filter, &config))))
}

fn finish(
    args: &CancelArgs,
    reference: &Signal,
    microphones: &[Signal],
    cleaned: &[(Canceled, Duration)],
) -> Result<(), Fault> {
    let ([microphone, ..], [(done, time), ..]) = (microphones, cleaned) else {
        return Err(Fault::Input(format!("{} has no channels", args.near().display())));
    };
    let mut clipped = 0;
    if let Some(path) = &args.output {
        let format = cancel_raw::sample_format(args.format, microphone.format);
        // `-` is standard output, as in all commands.
        let path = if path == Path::new("-") { Path::new("/dev/stdout") } else { path };
        let channels: Vec<&[f32]> = cleaned.iter().map(|(done, _)| &done.clean[..]).collect();
        clipped = wav::write_channels(path, &channels, microphone.rate, format)?.clipped;
    }
    if let Some(path) = &args.echo_path {
        let path_of_echo: Vec<f64> = done.echo_path.iter().map(|&w| f64::from(w)).collect();
        signal::write(path, &path_of_echo, microphone.rate)?;
    }
    let per_second =
        |(done, time): &(Canceled, Duration)| time.as_secs_f64() / done.report.seconds.max(1e-9);
    if let Some(path) = &args.page {
        let figures = [
            levels(args, reference, microphone, done).to_svg(),
            spectrograms(args, microphone, done).to_svg(),
        ];
        write_text(path, &cancel_page::html(args, microphone, done, &figures)?)?;
    }
    if let Some(path) = &args.plot {
        write_text(path, &levels(args, reference, microphone, done).to_svg())?;
    }
    if let Some(path) = &args.spectrogram {
        write_text(path, &spectrograms(args, microphone, done).to_svg())?;
    }
    if let Some(path) = &args.json {
        let mut report = json!(done.report);
        if let Value::Object(fields) = &mut report {
            fields.insert("time".into(), time.as_secs_f64().into());
            fields.insert("time_per_second".into(), per_second(&cleaned[0]).into());
            fields.insert("clipped_output".into(), clipped.into());
            fields.insert("clipped_reference".into(), reference.clipped.into());
            fields.insert("clipped_microphone".into(), microphone.clipped.into());
            fields.insert("echo_path".into(), json!(done.echo_path));
        }
        let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
        text.push('\n');
        write_text(path, &text)?;
    }
    if !args.quiet {
        for (i, channel) in cleaned.iter().enumerate() {
            if cleaned.len() > 1 {
                note(&format!("channel {}:", i + 1));
            }
            summarize(&channel.0, per_second(channel), if i == 0 { clipped } else { 0 });
        }
        if args.output.is_none() {
            note("nothing was saved; add -o CLEAN.wav to save the result");
        }
    }
    Ok(())
}

fn summarize(done: &Canceled, per_second: f64, clipped: u64) {
    let report = &done.report;
    let ms = |samples: i64| 1000.0 * samples as f64 / f64::from(report.settings.rate);
    note(&format!(
        "{}: {} taps at {} Hz, {} s of audio, {} ms of CPU time per second of audio",
        report.algorithm,
        thousands(report.taps as u64),
        thousands(report.settings.rate.into()),
        significant(report.seconds, 4),
        significant(1000.0 * per_second, 3),
    ));
    match &report.delay {
        Some(delay) if delay.is_reliable() => note(&format!(
            "echo delay {} samples ({} ms) {}, onset {} samples before the peak",
            delay.samples.abs(),
            significant(ms(delay.samples.abs()), 3),
            if delay.samples < 0 { "before the reference" } else { "after the reference" },
            delay.samples - delay.onset,
        )),
        Some(_) => {
            note(
                "warning: no clear delay was found, so none is assumed; pass --delay if it is known, or a larger \
                 --max-delay",
            );
        }
        None => {}
    }
    if let Some(warning) = &report.warning {
        note(&format!("warning: {warning}"));
    }
    if report.drift_ppm != 0.0 {
        note(&format!(
            "clock drift {} ppm at the end, compensated (the loudspeaker's clock is {})",
            significant(report.drift_ppm.abs(), 3),
            if report.drift_ppm > 0.0 { "fast" } else { "slow" }
        ));
    }
    let db = |value: Option<f64>| {
        value.map_or("unknown".into(), |x| format!("{} dB", significant(x, 4)))
    };
    note(&format!(
        "ERLE {} overall, {} in the second half (far end active {} of the time)",
        db(report.erle.overall),
        db(report.erle.second_half),
        percent(report.erle.active),
    ));
    let status = &report.status;
    note(&format!(
        "double talk {} of the active time; adaptation frozen {} of all",
        percent(report.double_talk_share),
        percent(
            (status.frozen_silent + status.frozen_double_talk) as f64
                / status.samples.max(1) as f64
        ),
    ));
    if status.fallbacks + status.resets > 0 {
        note(&format!(
            "warning: the filter diverged; it was called back {} times and started over {} times",
            status.fallbacks, status.resets
        ));
    }
    if status.bypassed > 0 {
        note(&format!(
            "the microphone was passed through for {} samples where the filter would have made it louder",
            thousands(status.bypassed)
        ));
    }
    if status.frozen_too_loud > 0 {
        note(&format!(
            "warning: {} samples are beyond a million times full scale; there the microphone was passed through",
            thousands(status.frozen_too_loud)
        ));
    }
    if clipped > 0 {
        note(&format!(
            "warning: {} samples of the output are beyond full scale",
            thousands(clipped)
        ));
    }
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

/// Levels of both signals in short windows, and ERLE below.
fn levels(args: &CancelArgs, reference: &Signal, microphone: &Signal, done: &Canceled) -> Figure {
    let window = (microphone.samples.len() / 400).max(1);
    let rate = f64::from(microphone.rate);
    let level = |samples: &[f32]| -> Vec<(f64, f64)> {
        let blocks = samples.chunks(window).enumerate();
        let power = |block: &[f32]| {
            let sum: f64 = block.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
            10.0 * (sum / block.len() as f64).max(1e-10).log10()
        };
        blocks.map(|(i, block)| ((i * window) as f64 / rate, power(block))).collect()
    };
    let erle = &done.report.erle;
    let seconds = done.report.seconds;
    // Draws one horizontal line for each window, from the first sample to the last; windows without a far end are gaps.
    let points = erle.over_time.iter().enumerate().flat_map(|(i, db)| {
        let (start, end) = (i as f64 * erle.window, ((i + 1) as f64 * erle.window).min(seconds));
        let db = db.unwrap_or(f64::NAN);
        [(start, db), (end, db)]
    });
    Figure::new(format!("Echo canceled by {}", done.report.algorithm))
        .subtitle(format!("{} from {}", name(args.far()), name(args.near())))
        .panel(
            Panel::new("seconds", "level, dB of full scale")
                .series(Series::line("loudspeaker", level(&reference.samples)))
                .series(Series::line("microphone", level(&microphone.samples)))
                .series(Series::line("without echo", level(&done.clean))),
        )
        .panel(
            Panel::new("seconds", "ERLE, dB")
                .show_y(0.0)
                .limit_x(0.0, seconds)
                .series(Series::line("ERLE", points)),
        )
}

/// The scale of spectrograms, in dB of full scale.
const QUIETEST: f64 = -100.0;

fn spectrograms(args: &CancelArgs, microphone: &Signal, done: &Canceled) -> HeatMaps {
    let image = |samples: &[f32]| Spectrogram::of(samples, microphone.rate, 240, 80);
    let (before, after) = (image(&microphone.samples), image(&done.clean));
    let loudest = before.decibels.iter().fold(QUIETEST, |most, &db| most.max(db.into()));
    let loudest = (10.0 * (loudest / 10.0).ceil()).max(QUIETEST + 10.0);
    // High frequencies on top.
    let rows = |picture: &Spectrogram| -> Vec<f64> {
        picture.decibels.chunks(picture.width).rev().flatten().map(|&db| db.into()).collect()
    };
    HeatMaps::new("Microphone before and after")
        .subtitle(format!("{}; power in dB of full scale", name(args.near())))
        .x("seconds", 0.0, before.seconds)
        .y("kHz", 0.0, before.top / 1000.0)
        .scale("dB", QUIETEST, loudest)
        .map("microphone", before.width, rows(&before))
        .map("without echo", after.width, rows(&after))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
