//! Cancels the echo in a WAV file: `cancel far.wav near.wav clean.wav [taps]`.
//!
//! Writes floats, so that a measurement sees what the canceller computed, and prints the report as JSON with
//! the seconds that delay search and cancellation took.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use parsimon_audio::wav::{self, SampleFormat};
use parsimon_audio::{Alignment, Config, cancel, delay};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [far, near, clean, rest @ ..] = &arguments[..] else {
        return Err("usage: cancel far.wav near.wav clean.wav [taps]".into());
    };
    let far = wav::read(Path::new(far), None)?;
    let near = wav::read(Path::new(near), None)?;
    if far.rate != near.rate {
        return Err(format!("rates differ: {} and {}", far.rate, near.rate).into());
    }
    let mut config = Config::at(near.rate);
    if let Some(taps) = rest.first() {
        config.taps = taps.parse()?;
    }
    let start = Instant::now();
    let most = near.rate as usize / 2;
    let found = delay::search(&far.samples, &near.samples, most);
    let search = start.elapsed().as_secs_f64();
    let late = found.filter(delay::Delay::is_reliable).map_or(0, |d| d.samples);
    let start = Instant::now();
    let mut done = cancel(&far.samples, &near.samples, config, Alignment::Known(late))?;
    let seconds = start.elapsed().as_secs_f64();
    done.report.delay = found;
    wav::write(Path::new(clean), &done.clean, near.rate, SampleFormat::Float32)?;
    let report = serde_json::json!({
        "report": done.report,
        "seconds": { "search": search, "cancel": seconds },
        "path": done.echo_path,
    });
    println!("{report}");
    Ok(())
}
