//! Cancels raw samples for a benchmark: `cancel_raw FAR NEAR RATE OUT [delay=N] [taps=N] [drift=0] [high_pass=0] [suppress=1]`.
//!
//! `FAR`, `NEAR` and `OUT` hold 32-bit floats. Prints the report as JSON, with the CPU seconds of one run and the blocks with double talk.

#![allow(clippy::print_stdout, reason = "an example talks")]

use std::error::Error;
use std::time::Instant;

use parsimon_audio::{Alignment, Config, Detection, cancel};

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
    let mut alignment = Alignment::default();
    for setting in settings {
        let (name, value) = setting.split_once('=').ok_or("a setting is NAME=VALUE")?;
        match name {
            "delay" => alignment = Alignment::Known(value.parse()?),
            "taps" => config.taps = value.parse()?,
            "growth" => config.growth = value.parse()?,
            "memory" => config.memory = value.parse()?,
            "drift" => config.drift = value != "0",
            "threshold" => config.detection = Detection::Leakage { threshold: value.parse()? },
            "suppress" => config.suppress = value != "0",
            "high_pass" => config.high_pass = value != "0",
            _ => return Err(format!("no setting {name}").into()),
        }
    }
    let (far, near) = (samples(far)?, samples(near)?);
    let (start, before) = (Instant::now(), cpu_seconds());
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
