//! Every kind of page and chart that the program writes, in a real browser: as wide as a phone and as a screen, light and dark.
//! No script has an error, nothing is wider than the window, every text can be read, and no label covers another.
//!
//! A page that is added to the program gets a line in `FILES`; one that is served gets a `Page` with its address.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[expect(dead_code, reason = "other tests use the rest")]
mod fixture;

use fixture::{Dir, stream};
use libtest_mimic::{Arguments, Completion, Trial};
use parsimon_testing::Lcg64;
use parsimon_testing::browser::{Browser, Page};

/// Commands, and the pages or charts that each writes.
const FILES: &[(&str, &str)] = &[
    ("compare d.svm --html compare.html", "compare.html"),
    (
        "compare d.svm --test t.svm --sweep l1=1e-4..1:5 --sweep rate=0.1,1 --html grid.html",
        "grid.html",
    ),
    ("compare table.csv --html table.html", "table.html"),
    (
        "compare d.svm -m sgd:loss=hinge -m ftrl:l1=1 -m rda:l1=1e-4 --html losses.html",
        "losses.html",
    ),
    ("tune d.svm --html tune.html", "tune.html"),
    ("tune d.svm --test t.svm -a ftrl --sweep l1=0.01..3:9 --html l1.html", "l1.html"),
    (
        "reproduce slides/equivalences csgd/mnist small.toml --quick --trials 2 --out report",
        "report/index.html report/figures/own-small-0-0.svg report/figures/own-small-0-1.svg",
    ),
    ("train d.svm --plot train.svg -o m.psm", "train.svg"),
    ("evaluate m.psm t.svm --plot evaluate.svg", "evaluate.svg"),
    ("compare d.svm --plot front.svg", "front.svg"),
    (
        "identify --synthetic n=100,zeros=0.9,samples=2000 -a pda --alpha 0.5 --l1 1e-3 --plot path.svg --curve curve.svg",
        "path.svg curve.svg",
    ),
    (
        "cancel --reference far.wav --microphone near.wav --taps 64 --plot levels.svg --spectrogram spectrogram.svg",
        "levels.svg spectrogram.svg",
    ),
];

fn main() {
    let trial = Trial::ignorable_test("every_page_is_sound", || match Browser::find() {
        None => Ok(Completion::ignored_with("needs chromium")),
        Some(browser) => {
            every_page_is_sound(browser);
            Ok(Completion::Completed)
        }
    });
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit();
}

fn every_page_is_sound(browser: Browser) {
    let dir = Dir::new();
    dir.write("d.svm", stream(1500)).write("t.svm", stream(300));
    dir.write("table.csv", table()).write("small.toml", EXPERIMENT);
    let (far, near) = echo();
    dir.write("far.wav", wav(&far)).write("near.wav", wav(&near));
    let mut pages = Vec::new();
    for (command, files) in FILES {
        dir.run(command).ok();
        pages.extend(files.split(' ').map(|file| page(&dir, command, file)));
    }
    let faults = browser.faults(&dir.path("browser"), &pages).unwrap();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// A page, or a chart by itself, which is as wide as it is.
fn page(dir: &Dir, command: &str, file: &str) -> Page {
    let Some(name) = file.strip_suffix(".svg") else {
        return Page::file(command, &dir.path(file));
    };
    let (around, svg) = (format!("{name}.page.html"), String::from_utf8(dir.read(file)).unwrap());
    let head = "<meta charset=\"utf-8\"><style>body { margin: 0; background: Canvas }</style>";
    dir.write(&around, format!("<!doctype html>{head}{svg}"));
    Page::file(command, &dir.path(&around)).only_wide()
}

/// Noise and its echo, 20 samples later.
fn echo() -> (Vec<i16>, Vec<i16>) {
    let mut random = Lcg64::new(3);
    let far: Vec<i16> = (0..16_000).map(|_| (random.bits31() % 8000) as i16 - 4000).collect();
    let near = (0..far.len()).map(|i| if i < 20 { 0 } else { far[i - 20] / 2 }).collect();
    (far, near)
}

/// A WAV file of one channel at 8 kHz.
fn wav(samples: &[i16]) -> Vec<u8> {
    let len = 2 * samples.len() as u32;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + len).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend(8_000u32.to_le_bytes().into_iter().chain(16_000u32.to_le_bytes()));
    bytes.extend(b"\x02\0\x10\0data");
    bytes.extend(len.to_le_bytes());
    bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    bytes
}

/// A table with a label of two words and names that are long.
fn table() -> String {
    let mut text = String::from("a_column_with_a_rather_long_name,color,number,label\n");
    for i in 0..400 {
        let color = ["red", "green", "a color with a rather long name"][i % 3];
        let label = if (i % 3 == 0) ^ (i % 7 == 0) { "bought it" } else { "went away" };
        text.push_str(&format!("{},{color},{},{label}\n", i % 11, (i * 37) % 100));
    }
    text
}

/// Curves with bands, one of them on a logarithmic axis.
const EXPERIMENT: &str = r#"
    title = "Small"
    printed = "-"
    claim = "PDA finds zeros: where there are many."
    kind = "identification"
    axes = { mismatch = "mismatch, dB", zeros = "zeros, %" }
    trials = { quick = 2, standard = 2, full = 2 }
    settings = { n = 50, zeros = 0.9, samples = { quick = 2000, standard = 2000, full = 2000 } }
    figure = [{ y = "mismatch" }, { y = "zeros", log = "xy" }]
    method = [
        { name = "PDA", spec = { algorithm = "pda", rate = 0.13, alpha = 0.8, l1 = 3 } },
        { name = "NLMS", spec = { algorithm = "nlms", rate = 0.13 } },
    ]
    expect = [{ says = "zeros", left = "PDA.zeros@end", is = "above", bound = 50.0 }]
"#;
