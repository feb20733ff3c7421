//! `parsimon cancel`: a microphone without the loudspeaker's echo.

use std::path::Path;
use std::time::{Duration, Instant};

use parsimon::algorithm::{filters, find};
use parsimon::did_you_mean;
use parsimon::eval::number::{significant, thousands};
use parsimon_audio::wav::{self, SampleFormat, Signal};
use parsimon_audio::{
    Adaptive, Alignment, Canceled, Config, Detection, Kalman, OnDoubleTalk, Sampled, Spectrogram,
    cancel_with,
};
use parsimon_page::chart::{Figure, Images, Panel, Series};
use serde_json::{Value, json};

use crate::args::{CancelArgs, DetectorArg, FormatArg};
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Files, write_text};
use crate::signal;

/// The canceller of the house.
const KALMAN: &str = "kalman";

pub(crate) fn run(args: &CancelArgs) -> Result<(), Fault> {
    let mut files = Files::default();
    files.read_path("--reference", &args.reference);
    files.read_path("--microphone", &args.microphone);
    files.read("--spec", &args.spec.inputs());
    files.write("--output", args.output.as_deref())?;
    files.write("--echo-path", args.echo_path.as_deref())?;
    files.write("--json", args.json.as_deref())?;
    files.write("--plot", args.plot.as_deref())?;
    files.write("--spectrogram", args.spectrogram.as_deref())?;
    signal::check_ending(args.echo_path.as_ref())?;
    let reference = wav::read(&args.reference, args.reference_channel)?;
    let microphone = wav::read(&args.microphone, args.microphone_channel)?;
    look_at(args, &reference, &microphone)?;
    let (config, filter) = filter(args, microphone.rate)?;
    if config.taps > microphone.samples.len() {
        return Err(Fault::Usage(format!(
            "{} taps cannot be found from {} samples; say a smaller --taps",
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
    let start = Instant::now();
    let done = cancel_with(filter, &reference.samples, &microphone.samples, config, alignment)?;
    finish(args, &reference, &microphone, &done, start.elapsed())
}

/// Refuses signals that do not belong together, and warns of those that promise little.
fn look_at(args: &CancelArgs, reference: &Signal, microphone: &Signal) -> Result<(), Fault> {
    let (far, near) = (args.reference.display(), args.microphone.display());
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

/// The filter asked for, and the settings of what is around it.
fn filter(args: &CancelArgs, rate: u32) -> Result<(Config, Box<dyn Adaptive>), Fault> {
    let mut config = Config::at(rate);
    config.taps = args.taps.unwrap_or(config.taps);
    config.memory = args.memory_seconds.unwrap_or(config.memory);
    config.detection = match args.detector {
        DetectorArg::Correlation => {
            Detection::Correlation { threshold: args.threshold.unwrap_or(0.7) }
        }
        DetectorArg::Geigel => Detection::Geigel { threshold: args.threshold.unwrap_or(0.5) },
        DetectorArg::Off if args.threshold.is_some() => {
            return Err(Fault::Usage("without a detector there is no --threshold".into()));
        }
        DetectorArg::Off => Detection::Off,
    };
    let spec = args.spec.spec_or(KALMAN)?;
    let name = spec.get("algorithm").and_then(Value::as_str).unwrap_or(KALMAN).to_owned();
    if name == KALMAN {
        if let Some(other) = args.spec.names().find(|n| *n != "algorithm") {
            return Err(Fault::Usage(format!(
                "kalman has no setting {other:?}; it chooses its own step (--taps, --memory-seconds and the detector are its \
                 settings)"
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
    if find(&name).is_none_or(|algorithm| !algorithm.is_filter()) {
        let known = filters().chain([KALMAN]);
        return Err(Fault::Usage(format!(
            "{name} does not cancel echo{}; {KALMAN} (the default) and {} do",
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
    let filter = settings.filter::<f32>(config.taps, regularization)?;
    Ok((config, Box::new(Sampled::new(settings.algorithm().name, filter, &config))))
}

fn finish(
    args: &CancelArgs,
    reference: &Signal,
    microphone: &Signal,
    done: &Canceled,
    time: Duration,
) -> Result<(), Fault> {
    let mut clipped = 0;
    if let Some(path) = &args.output {
        let format = match args.format {
            FormatArg::Same => microphone.format,
            FormatArg::Int16 => SampleFormat::Int16,
            FormatArg::Int24 => SampleFormat::Int24,
            FormatArg::Int32 => SampleFormat::Int32,
            FormatArg::Float32 => SampleFormat::Float32,
        };
        // As everywhere, - is standard output.
        let path = if path == Path::new("-") { Path::new("/dev/stdout") } else { path };
        clipped = wav::write(path, &done.clean, microphone.rate, format)?.clipped;
    }
    if let Some(path) = &args.echo_path {
        let path_of_echo: Vec<f64> = done.echo_path.iter().map(|&w| f64::from(w)).collect();
        signal::write(path, &path_of_echo, microphone.rate)?;
    }
    let per_second = time.as_secs_f64() / done.report.seconds.max(1e-9);
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
            fields.insert("time_per_second".into(), per_second.into());
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
        summarize(done, per_second, clipped);
        if args.output.is_none() {
            note("nothing was saved; -o CLEAN.wav says where to");
        }
    }
    Ok(())
}

fn summarize(done: &Canceled, per_second: f64, clipped: u64) {
    let report = &done.report;
    let ms = |samples: i64| 1000.0 * samples as f64 / f64::from(report.settings.rate);
    note(&format!(
        "{}: {} taps at {} Hz, {} s of audio, {} ms per second of audio",
        report.algorithm,
        thousands(report.taps as u64),
        thousands(report.settings.rate.into()),
        significant(report.seconds, 4),
        significant(1000.0 * per_second, 3),
    ));
    match &report.delay {
        Some(delay) if delay.is_reliable() => note(&format!(
            "echo found {} samples ({} ms) {}",
            delay.samples.abs(),
            significant(ms(delay.samples.abs()), 3),
            if delay.samples < 0 { "before the reference" } else { "late" }
        )),
        Some(_) => {
            note(
                "warning: no clear delay was found, and none is assumed; say --delay if you know it, or --max-delay \
                 to search further",
            );
        }
        None => {}
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
    let over_time = erle.over_time.iter().enumerate();
    let points = over_time.filter_map(|(i, db)| Some(((i as f64 + 0.5) * erle.window, (*db)?)));
    Figure::new(format!("Echo canceled by {}", done.report.algorithm))
        .subtitle(format!("{} from {}", name(&args.reference), name(&args.microphone)))
        .panel(
            Panel::new("seconds", "level, dB of full scale")
                .series(Series::line("loudspeaker", level(&reference.samples)))
                .series(Series::line("microphone", level(&microphone.samples)))
                .series(Series::line("without echo", level(&done.clean))),
        )
        .panel(Panel::new("seconds", "ERLE, dB").series(Series::line("ERLE", points)))
}

fn spectrograms(args: &CancelArgs, microphone: &Signal, done: &Canceled) -> Images {
    let (width, height) = (160, 64);
    let image = |samples: &[f32]| {
        let picture = Spectrogram::of(samples, microphone.rate, width, height);
        // High frequencies on top; silence at -100 dB is left blank.
        let rows = picture.decibels.chunks(picture.width).rev().flatten();
        let values: Vec<f64> = rows.map(|&db| f64::from(db + 100.0).max(0.0)).collect();
        (picture.width, values)
    };
    let ((width, before), (_, after)) = (image(&microphone.samples), image(&done.clean));
    Images::new("Microphone before and after")
        .subtitle(format!(
            "{}, {} s up to {} Hz; dB above -100",
            name(&args.microphone),
            significant(done.report.seconds, 3),
            thousands(u64::from(microphone.rate) / 2)
        ))
        .columns(1)
        .image("microphone", width, before)
        .image("without echo", width, after)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
