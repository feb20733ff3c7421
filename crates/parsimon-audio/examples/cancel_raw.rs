//! Cancels raw samples for a benchmark: `cancel_raw FAR NEAR RATE OUT [delay=N] [max_delay=SECONDS] [taps=N] [drift=0] [high_pass=0] [suppress=1] [live=1]`.
//!
//! `live` runs a [`Canceller`] as `parsimon cancel --raw` does: pieces of 10 ms, with a search for the delay.
//! `FAR`, `NEAR` and `OUT` hold 32-bit floats. Prints the report as JSON, with the CPU seconds of one run and the blocks with double talk.

#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::time::Instant;

use parsimon_audio::{Alignment, Canceller, Config, Detection, cancel};

fn samples(path: &str) -> Result<Vec<f32>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let number = |b: &[u8]| b.try_into().map_or(0.0, f32::from_le_bytes);
    Ok(bytes.chunks_exact(4).map(number).collect())
}

/// CPU seconds of this thread so far, where Linux counts them.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [far, near, rate, out, settings @ ..] = &args[..] else {
        return Err("usage: cancel_raw FAR NEAR RATE OUT [NAME=VALUE]...".into());
    };
    let mut config = Config::at(rate.parse()?);
    let (mut alignment, mut live, mut longest) = (Alignment::default(), false, 0.5f32);
    for setting in settings {
        let (name, value) = setting.split_once('=').ok_or("a setting is NAME=VALUE")?;
        match name {
            "delay" => alignment = Alignment::Known(value.parse()?),
            "max_delay" => {
                longest = value.parse()?;
                alignment = Alignment::Search { seconds: f64::from(longest) };
            }
            "taps" => config.taps = value.parse()?,
            "growth" => config.growth = value.parse()?,
            "memory" => config.memory = value.parse()?,
            "drift" => config.drift = value != "0",
            "threshold" => config.detection = Detection::Leakage { threshold: value.parse()? },
            "suppress" => config.suppress = value != "0",
            "live" => live = value != "0",
            "high_pass" => config.high_pass = value != "0",
            _ => return Err(format!("no setting {name}").into()),
        }
    }
    let (far, near) = (samples(far)?, samples(near)?);
    let (start, before) = (Instant::now(), cpu_seconds());
    if live {
        let seconds = run_live(&far, &near, Config { search: longest, ..config }, out)?;
        println!("{}", serde_json::json!({"seconds": seconds}));
        return Ok(());
    }
    let done = cancel(&far, &near, config, alignment)?;
    let seconds = match (before, cpu_seconds()) {
        (Some(before), Some(after)) => after - before,
        _ => start.elapsed().as_secs_f64(),
    };
    std::fs::write(out, done.clean.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())?;
    let verdicts: String = done.double_talk.iter().map(|&t| if t { '1' } else { '0' }).collect();
    println!(
        "{}",
        serde_json::json!({"report": done.report, "seconds": seconds, "double_talk": verdicts, "block": config.block()})
    );
    Ok(())
}

/// Writes the output of a running canceller, aligned with the microphone; returns the seconds that it took.
fn run_live(far: &[f32], near: &[f32], config: Config, out: &str) -> Result<f64, Box<dyn Error>> {
    let mut canceller = Canceller::new(config)?;
    let (start, before) = (Instant::now(), cpu_seconds());
    let late = canceller.latency();
    let length = near.len() + late;
    let sample = |from: &[f32], i: usize| from.get(i).copied().unwrap_or(0.0);
    let mut clean = Vec::with_capacity(length);
    let piece = (config.rate as usize / 100).max(1);
    for at in (0..length).step_by(piece) {
        let range = at..(at + piece).min(length);
        let x: Vec<f32> =
            range.clone().map(|i| if i < near.len() { sample(far, i) } else { 0.0 }).collect();
        let d: Vec<f32> = range.map(|i| sample(near, i)).collect();
        clean.extend_from_slice(canceller.push(&x, &d));
    }
    let seconds = match (before, cpu_seconds()) {
        (Some(before), Some(after)) => after - before,
        _ => start.elapsed().as_secs_f64(),
    };
    if std::env::var_os("VERBOSE").is_some() {
        eprintln!("{canceller:?} drift {} delay {}", canceller.drift_ppm(), canceller.delay());
    }
    std::fs::write(out, clean[late..].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())?;
    Ok(seconds)
}
