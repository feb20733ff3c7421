//! Times reading alone: `parse FILE [rounds] [bits] [names]`.
use std::time::Instant;

use parsimon_core::Chunk;
use parsimon_data::{Input, Options, Reader, Space};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let rounds: usize = args.get(2).map_or(5, |a| a.parse().unwrap());
    let bits: u8 = args.get(3).map_or(20, |a| a.parse().unwrap());
    let keep_names = args.get(4).is_some();
    let path = std::path::PathBuf::from(&args[1]);
    let size = std::fs::metadata(&path).unwrap().len() as f64;
    let mut times = Vec::new();
    let mut sum = 0.0;
    for _ in 0..rounds {
        let space = (!args[1].ends_with(".svm")).then_some(Space::Hashed { bits });
        let options = Options { threads: 1, keep_names, space, ..Options::default() };
        let start = Instant::now();
        let mut reader = Reader::open(&[Input::Path(path.clone())], &options).unwrap();
        let (mut chunk, mut rows, mut features) = (Chunk::new(), 0, 0);
        while reader.read(&mut chunk).unwrap() {
            rows += chunk.len();
            features += chunk.nonzeros();
            sum += chunk.row(0).values().iter().sum::<f64>();
        }
        times.push((start.elapsed().as_secs_f64(), rows, features));
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (t, rows, features) = times[0];
    println!(
        "{rows} rows, {features} features, least {t:.3} s, median {:.3}: {:.0} MB/s, {:.2} ns/feature ({sum})",
        times[rounds / 2].0,
        size / t / 1e6,
        t * 1e9 / features as f64
    );
}
