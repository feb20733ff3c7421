//! Every kind of page and chart that the program writes, in a real browser: as wide as a phone and as a screen, light and dark.
//! No script has an error, nothing is wider than the window, every text can be read, and no label covers another.
//!
//! A page that is added to the program gets a line in `FILES`; one that is served gets a `Page` with its address.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[expect(dead_code, reason = "other tests use the rest")]
mod fixture;

use fixture::{Dir, stream};
use libtest_mimic::{Arguments, Completion, Trial};
use parsimon_testing::browser::{Browser, Page};

/// Commands, and the page or chart that each writes.
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
        "report/index.html",
    ),
    ("train d.svm --plot train.svg -o m.psm", "train.svg"),
    ("evaluate m.psm t.svm --plot evaluate.svg", "evaluate.svg"),
    ("compare d.svm --plot front.svg", "front.svg"),
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
    let mut pages = Vec::new();
    for (command, file) in FILES {
        dir.run(command).ok();
        pages.push(match file.strip_suffix(".svg") {
            None => Page::file(*command, &dir.path(file)),
            // A chart by itself is as wide as it is.
            Some(name) => {
                let page = format!("{name}.page.html");
                let svg = String::from_utf8(dir.read(file)).unwrap();
                let style = "body { margin: 0; background: Canvas }";
                dir.write(
                    &page,
                    format!("<!doctype html><meta charset=\"utf-8\"><style>{style}</style>{svg}"),
                );
                Page::file(*command, &dir.path(&page)).only_wide()
            }
        });
    }
    let faults = browser.faults(&dir.path("browser"), &pages).unwrap();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
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
