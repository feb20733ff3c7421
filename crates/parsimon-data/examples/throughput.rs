//! How fast a file is read: `cargo run --release --example throughput -- file [threads] [no-names]`.
//!
//! Nothing is learned; the time is that of reading, decompressing, parsing and hashing.

use std::time::Instant;

use parsimon_core::Chunk;
use parsimon_data::{Ask, Input, Labels, Options, Reader, Reading, Run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which file?")?;
    let threads = arguments.next().map_or(Ok(1), |t| t.parse())?;
    let keep_names = arguments.next().is_none();
    let options = Options {
        reading: Reading { labels: Labels::Any, ..Reading::default() },
        run: Run { threads, ..Run::default() },
        ask: Ask { keep_names, ..Ask::default() },
        ..Options::default()
    };
    let input = Input::from(path);
    for _ in 0..5 {
        let start = Instant::now();
        let mut reader = Reader::open(std::slice::from_ref(&input), &options)?;
        let mut chunk = Chunk::new();
        let mut nonzeros = 0;
        while reader.read(&mut chunk)? {
            nonzeros += chunk.nonzeros();
        }
        let seconds = start.elapsed().as_secs_f64();
        let (rows, bytes) = (reader.position().rows, reader.position().bytes);
        println!(
            "{rows} rows, {nonzeros} nonzeros, {} names, {:.3} s, {:.0} MB/s, {:.0} M features/s",
            reader.names().len(),
            seconds,
            bytes as f64 / seconds / 1e6,
            nonzeros as f64 / seconds / 1e6,
        );
    }
    Ok(())
}
