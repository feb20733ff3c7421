use std::io::{Read, Write};
fn f(p: &str) -> Vec<f32> { let mut b = Vec::new(); std::fs::File::open(p).unwrap().read_to_end(&mut b).unwrap(); b.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect() }
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (mut x, mut d) = (f(&a[1]), f(&a[2]));
    let n = d.len();
    let rate: u32 = a[4].parse().unwrap(); let taps: usize = a[5].parse().unwrap();
    let config = parsimon_audio::Config { taps, ..parsimon_audio::Config::at(rate) };
    x.resize(n + 512, 0.0); d.resize(n + 512, 0.0);
    let mut best = f64::MAX; let mut out = Vec::new(); let mut st = None;
    for _ in 0..5 {
        let t = std::time::Instant::now();
        let mut c = parsimon_audio::Canceller::new(config).unwrap();
        let l = c.latency(); out = c.push(&x, &d)[l..][..n].to_vec();
        best = best.min(t.elapsed().as_secs_f64()); st = Some(c.status());
    }
    eprintln!("{:.2} Msamples/s {:?}", n as f64 / best / 1e6, st.unwrap());
    std::fs::File::create(&a[3]).unwrap().write_all(&out.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>()).unwrap();
}
