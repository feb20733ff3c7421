//! `parsimon quickstart`: a generated click log with a known, sparse truth.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use parsimon::data::{Bounds, Input, Labels, Options, Reading};
use parsimon::settings::Precision;
use parsimon::workspace::Table;
use parsimon::workspace::{number::maybe, number::percent, number::significant, number::thousands};
use parsimon::{InputSchema, LearnerOptions, Model, Plan, Spec, Trainer, run as run_plan};
use parsimon_page::chart::learning_curve;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::args::QuickstartArgs;
use crate::console::{Console, note};
use crate::fault::Fault;
use crate::output::{Output, write_text};

/// Categorical fields and how many values each has; a value is a feature.
const FIELDS: [u32; 12] = [8, 20, 40, 100, 300, 600, 1_000, 2_000, 4_000, 8_000, 12_000, 20_000];
/// The features that matter are among each field's most frequent ones; all others have weight zero.
const TRUE_PER_FIELD: u32 = 8;
const INTERCEPT: f64 = -1.8;

/// The generator: who clicks is decided by few features, most features decide nothing.
struct Clicks {
    random: Xoshiro256PlusPlus,
    truth: Vec<(u32, f64)>,
}

impl Clicks {
    fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut truth = Vec::new();
        let mut first = 1;
        for size in FIELDS {
            for value in 0..TRUE_PER_FIELD.min(size) {
                let w: f64 = StandardNormal.sample(&mut random);
                // Clearly nonzero: no method finds a truth of 0.01.
                truth.push((first + value, (0.4 + 0.6 * w.abs()).copysign(w)));
            }
            first += size;
        }
        Self { random, truth }
    }

    fn features() -> u32 {
        FIELDS.iter().sum()
    }

    fn weight(&self, feature: u32) -> f64 {
        self.truth.binary_search_by_key(&feature, |t| t.0).map_or(0.0, |k| self.truth[k].1)
    }

    /// Appends a row in svmlight's format.
    fn row(&mut self, text: &mut String) -> Result<(), Fault> {
        let (mut margin, mut first, mut row) = (INTERCEPT, 1, String::new());
        for size in FIELDS {
            let zipf = Zipf::new(f64::from(size), 1.1);
            let zipf = zipf.map_err(|e| Fault::Input(format!("the generator failed: {e}")))?;
            let rank: f64 = zipf.sample(&mut self.random);
            let feature = first + rank as u32 - 1;
            margin += self.weight(feature);
            let _ = write!(row, " {feature}:1");
            first += size;
        }
        let clicked = self.random.random::<f64>() < 1.0 / (1.0 + (-margin).exp());
        text.push_str(if clicked { "1" } else { "-1" });
        text.push_str(&row);
        text.push('\n');
        Ok(())
    }
}

pub(crate) fn run(args: &QuickstartArgs) -> Result<(), Fault> {
    parsimon_files::create_folders(&args.out)?;
    let file = |name: &str| args.out.join(name);
    let mut clicks = Clicks::new(args.seed);
    for (name, rows) in [("clicks.svm", args.rows), ("holdout.svm", args.rows / 10)] {
        let mut text = String::new();
        for _ in 0..rows {
            clicks.row(&mut text)?;
        }
        write_text(&file(name), &text)?;
    }
    note(&format!(
        "made {}: {} rows of a click log with {} features, {} of which matter\n",
        file("clicks.svm").display(),
        thousands(args.rows),
        thousands(u64::from(Clicks::features())),
        clicks.truth.len()
    ));

    let settings = Spec::new("ftrl").set("l1", 4.0).set("rate", 0.1).resolve()?;
    let reading = InputSchema::default();
    let options = Options {
        reading: Reading { labels: Labels::binary(), ..Reading::default() },
        bounds: Bounds { max_value: Precision::F32.max_value(), ..Bounds::default() },
        ..Options::default()
    };
    let learner = LearnerOptions { precision: Precision::F32, ..LearnerOptions::default() };
    let mut trainer = Trainer::new(settings, learner, reading)?;
    let plan = Plan::new(vec![Input::Path(file("clicks.svm"))], options);
    let mut console = Console::new(false, 1, 0, Vec::new());
    let outcome = run_plan(&mut trainer, &plan, &mut console);
    console.finish();
    let outcome = outcome?;
    outcome.model.save(&file("clicks.psm"))?;
    let figure = learning_curve("ftrl on a generated click log", &trainer.curve_so_far());
    write_text(&file("learning-curve.svg"), &figure.to_svg())?;

    let mut out = Output::open(None)?;
    support(&mut out, &clicks, &outcome.model)?;
    let test = outcome.model.evaluate(&[Input::Path(file("holdout.svm"))], &plan.options)?;
    let metric = |name| test.metrics().into_iter().find(|m| m.0 == name).and_then(|m| m.1);
    let (loss, auc) = (maybe(metric("log loss"), 4), maybe(metric("AUC"), 4));
    writeln!(out, "\nholdout: log loss {loss}, AUC {auc}")?;
    next(&mut out, &args.out)?;
    out.finish()
}

/// Share of the truth that was found.
fn support(out: &mut Output, clicks: &Clicks, model: &Model) -> std::io::Result<()> {
    let head = &model.heads()[0];
    let found = clicks.truth.iter().filter(|(j, _)| head.weight(*j) != 0.0).count();
    let extra = head.indices().len() - found;
    let kept = head.indices().len() as f64 / f64::from(Clicks::features());
    writeln!(
        out,
        "\nThe model keeps {} of {} weights ({}): {found} of the {} that matter, {extra} others.",
        thousands(head.indices().len() as u64),
        thousands(u64::from(Clicks::features())),
        percent(kept),
        clicks.truth.len()
    )?;
    let mut largest = clicks.truth.clone();
    largest.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let mut table = Table::new(["feature", "true weight", "learned"]).right([1, 2]);
    for (j, w) in largest.into_iter().take(8) {
        table.row([j.to_string(), significant(w, 3), significant(head.weight(j), 3)]);
    }
    writeln!(out, "\n{table}")
}

fn next(out: &mut Output, folder: &Path) -> std::io::Result<()> {
    let folder = folder.display();
    writeln!(
        out,
        "\nwrote {folder}/learning-curve.svg and {folder}/clicks.psm\n\n\
         Now with your own file:\n  \
         parsimon train your.svm -o model.psm          # or .csv, .vw, .jsonl, .parquet; .gz, .zst, .bz2\n  \
         parsimon inspect model.psm                    # what it learned\n  \
         parsimon compare your.svm --plot front.svg    # which method suits it"
    )
}
