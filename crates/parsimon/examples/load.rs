//! Cost of opening a model, compared with reading its file into memory: `load MODEL [ROUNDS]`.
//!
//! Every round does both, one after the other, and gives the memory back before the clock stops.

#![allow(clippy::print_stdout, reason = "the table is the output")]

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use parsimon::Model;

fn milliseconds(work: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    work()?;
    Ok(1e3 * start.elapsed().as_secs_f64())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, rounds) = match &arguments[..] {
        [path] => (Path::new(path), 7),
        [path, rounds] => (Path::new(path), rounds.parse()?),
        _ => return Err("usage: load MODEL [ROUNDS]".into()),
    };
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        times[0].push(milliseconds(|| {
            black_box(std::fs::read(path)?);
            Ok(())
        })?);
        times[1].push(milliseconds(|| {
            black_box(Model::load(path)?);
            Ok(())
        })?);
        let model = Model::load(path)?;
        times[2].push(milliseconds(|| {
            black_box(model.scorer());
            Ok(())
        })?);
    }
    println!("milliseconds, median [least, most] of {rounds}");
    for (name, times) in
        ["read the file", "load the model", "lay it out to predict"].iter().zip(&mut times)
    {
        times.sort_by(f64::total_cmp);
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        let (least, most) = (times.first().copied(), times.last().copied());
        println!(
            "{name}: {median:.1} [{:.1}, {:.1}]",
            least.unwrap_or_default(),
            most.unwrap_or_default()
        );
    }
    Ok(())
}
