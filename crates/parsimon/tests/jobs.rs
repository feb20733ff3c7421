//! Every notice of a job, and what the job does about it.

use std::fmt::Write as _;

use parsimon::data::{Input, Kinds, Labels, Options, Reading};
use parsimon::job::{Events, Failed, Job, Notice, RefitChoice, Trained};
use parsimon::tune::Sweep;
use parsimon::{Error, LearnerOptions, Plan, Spec, Trainer};
use parsimon_testing::SplitMix64;

/// Keeps what is reported.
#[derive(Default)]
struct Told {
    notices: Vec<Notice>,
    begun: usize,
    repeated: usize,
}

impl Events for Told {
    fn notice(&mut self, notice: &Notice) {
        self.notices.push(notice.clone());
    }
    fn begin(&mut self, _: &Trainer, _: &Plan) {
        self.begun += 1;
    }
    fn again(&mut self, _: &parsimon::train::Outcome) {
        self.repeated += 1;
    }
}

fn inputs(csv: &str) -> Vec<Input> {
    vec![Input::Bytes { name: "t.csv".into(), bytes: csv.as_bytes().to_vec() }]
}

fn options() -> Options {
    Options::from(Reading { labels: Labels::Any, kinds: Kinds::Found, ..Reading::default() })
}

fn run(csv: &str, spec: Spec) -> (Result<Trained, Failed>, Told) {
    let (inputs, mut told) = (inputs(csv), Told::default());
    let trained = Job { may_shuffle: true, ..Job::new(&inputs, spec, options()) }.run(&mut told);
    (trained, told)
}

/// Rows of `a` and `b` with a label that depends on `a`.
fn table(rows: usize, is_sorted: bool) -> String {
    let mut random = SplitMix64::new(3);
    let mut lines: Vec<(bool, String)> = (0..rows)
        .map(|_| {
            let (a, b) = (random.unit(), random.unit());
            let is_yes = random.unit() < 1.0 / (1.0 + (5.0 - 10.0 * a).exp());
            (is_yes, format!("{a:.3},{b:.3},{}\n", if is_yes { "yes" } else { "no" }))
        })
        .collect();
    if is_sorted {
        lines.sort_by_key(|(is_yes, _)| *is_yes);
    }
    let lines: String = lines.into_iter().map(|(_, line)| line).collect();
    format!("a,b,outcome\n{lines}")
}

#[test]
fn rows_in_a_good_order_give_no_notice() {
    let (trained, told) = run(&table(4000, false), Spec::recommended());
    let trained = trained.unwrap();
    assert!(told.notices.is_empty() && trained.notices().is_empty(), "{:?}", told.notices);
    assert_eq!((told.begun, told.repeated, trained.outcome.rows), (1, 0, 4000));
}

#[test]
fn an_order_that_misleads_is_left() {
    let csv = table(4000, true);
    let (trained, told) = run(&csv, Spec::recommended());
    let trained = trained.unwrap();
    // A sorted table is also worse than a constant that follows the labels.
    let order = told.notices.iter().find(|n| matches!(n, Notice::Forgotten { .. }));
    let Some(Notice::Forgotten { found, rows: 4000, is_repeated: true, is_shuffled: false }) =
        order
    else {
        panic!("{:?}", told.notices)
    };
    assert!(found.loss > found.progressive);
    assert_eq!((told.begun, told.repeated, trained.plan.shuffle), (2, 1, Some(4000)));
    assert_eq!(trained.forgotten, Some(*found));
    // The same model as one that is asked for.
    let inputs = inputs(&csv);
    let job = Job::new(&inputs, Spec::recommended(), options());
    let job = Job { plan: Plan { shuffle: Some(4000), ..job.plan }, ..job };
    let asked = job.run(&mut ()).unwrap();
    assert_eq!(asked.outcome.model.to_bytes(), trained.outcome.model.to_bytes());
    // Where the order is to be kept, it is noticed only.
    let mut told = Told::default();
    let kept = Job::new(&inputs, Spec::recommended(), options()).run(&mut told).unwrap();
    let is_kept = |n: &Notice| matches!(n, Notice::Forgotten { is_repeated: false, .. });
    assert!(told.notices.iter().any(is_kept), "{:?}", told.notices);
    assert_eq!((told.begun, kept.plan.shuffle), (1, None));
}

/// Words of which a few decide, in svmlight.
fn words(rows: usize, seed: u64) -> String {
    let mut random = SplitMix64::new(seed);
    let mut text = String::new();
    for _ in 0..rows {
        let mut words: Vec<u32> = (0..20).map(|_| 1 + (400.0 * random.unit()) as u32).collect();
        words.extend((1..=8).filter(|_| random.chance(0.3)));
        words.sort_unstable();
        words.dedup();
        let margin: f64 = words.iter().filter(|j| **j <= 8).map(|j| f64::from(*j) - 4.5).sum();
        let is_yes = random.unit() < 1.0 / (1.0 + (-margin).exp());
        text += if is_yes { "1" } else { "-1" };
        words.iter().for_each(|j| write!(text, " {j}:1").unwrap());
        text += "\n";
    }
    text
}

#[test]
fn the_weights_that_l1_has_kept_are_fitted_again() {
    let source = |name: &str, text: String| {
        vec![Input::Bytes { name: name.into(), bytes: text.into_bytes() }]
    };
    let (train, test) = (source("t.svm", words(2000, 1)), source("e.svm", words(2000, 2)));
    let options = || Options::from(Reading { labels: Labels::binary(), ..Reading::default() });
    let spec = Spec::recommended().set("l1", 20.0);
    let run = |refit: RefitChoice| {
        let mut told = Told::default();
        let job = Job { refit, ..Job::new(&train, spec.clone(), options()) };
        (job.run(&mut told).unwrap(), told)
    };
    let (plain, told) = run(RefitChoice::Never);
    assert!(told.notices.is_empty() && plain.refitted.is_none());
    let (again, told) = run(RefitChoice::HeldOut);
    assert!(matches!(told.notices[..], [Notice::Refitted(_)]), "{:?}", told.notices);
    let found = again.refitted.unwrap();
    assert!(found.loss < found.one_pass && again.estimate().loss == found.loss);
    // No feature has come back, and none is lost for a weight that was too small.
    let features = |trained: &Trained| trained.outcome.model.heads()[0].indices().to_vec();
    let (before, after) = (features(&plain), features(&again));
    assert!(before.len() < 60 && !after.is_empty(), "{} {}", before.len(), after.len());
    assert!(after.iter().all(|j| before.contains(j)), "{before:?} {after:?}");
    // New rows are predicted better.
    let loss = |trained: &Trained| {
        let assess = parsimon::predict::Assess::default();
        let model = &trained.outcome.model;
        let found = model.assess(&test, &options(), &assess, &mut |_| {}).unwrap();
        found.evaluation.mean_loss().unwrap()
    };
    assert!(loss(&again) < 0.97 * loss(&plain), "{} {}", loss(&again), loss(&plain));
    // Without a penalty there is nothing to fit again, even if it is wanted.
    let spec = Spec::recommended().set("l1", 0.0);
    let job = Job { refit: RefitChoice::Always, ..Job::new(&train, spec, options()) };
    assert!(job.run(&mut ()).unwrap().refitted.is_none());
}

/// Numbers with a level of the day and a long tail, as the delays of flights.
#[test]
fn a_learner_that_follows_the_day_is_noticed_in_spite_of_a_long_tail() {
    let mut random = SplitMix64::new(12);
    let mut csv = String::from("a,label\n");
    let mut day = 0.0;
    for i in 0..24_000 {
        if i % 300 == 0 {
            day = 30.0 * (random.unit() - 0.5);
        }
        let a = random.unit();
        let tail = 20.0 * (1.0 - random.unit()).powf(-0.45);
        writeln!(csv, "{a:.3},{:.2}", day + 6.0 * a + tail).unwrap();
    }
    let (trained, told) = run(&csv, Spec::recommended());
    let trained = trained.unwrap();
    let is_left = |n: &Notice| matches!(n, Notice::Forgotten { is_repeated: true, .. });
    assert!(told.notices.iter().any(is_left), "{:?}", told.notices);
    let in_order = trained.in_order.unwrap();
    // In random order the day is unknown.
    assert!(in_order.progressive < trained.trainer.progressive().average().unwrap());
}

#[test]
fn a_kind_that_widens_starts_again_wherever_the_cell_is() {
    for spec in [Spec::new("ftrl").set("loss", "logistic"), Spec::recommended()] {
        let mut csv = String::from("x,z,label\n");
        (0..14_000).for_each(|i| writeln!(csv, "{}.5,{},{}", i % 7, i % 5, i % 2).unwrap());
        csv += "oops,1,1\n2.5,1,0\n";
        let (trained, told) = run(&csv, spec);
        let widened = told.notices.iter().find(|n| matches!(n, Notice::Widened(_)));
        let Some(Notice::Widened(widening)) = widened else { panic!("{:?}", told.notices) };
        assert_eq!((widening.column.as_str(), widening.cell.as_str()), ("x", "oops"));
        assert_eq!((widening.input.as_str(), widening.line), ("t.csv", Some(14_002)));
        assert_eq!(trained.unwrap().outcome.rows, 14_002);
        // Learning began twice, unless the labels were looked at to the end before.
        assert_eq!(told.begun, 2);
    }
}

#[test]
fn nothing_starts_again_where_reports_cannot_be_taken_back() {
    let mut csv = String::from("x,label\n");
    (0..12_000).for_each(|i| writeln!(csv, "{}.5,{}", i % 7, i % 2).unwrap());
    csv += "oops,1\n";
    let inputs = inputs(&csv);
    let job = Job::new(&inputs, Spec::new("ftrl"), options());
    let failed = Job { is_repeatable: false, ..job }.run(&mut ()).err().unwrap();
    assert!(matches!(&failed.error, Error::Data(e) if e.field() == Some("x")), "{failed:?}");
    // The rows before are learned, and have their names.
    let trainer = failed.trainer.unwrap();
    assert!(trainer.progressive().rows() > 11_000 && !trainer.names().is_empty());
}

#[test]
fn a_column_that_holds_the_label_is_a_leak() {
    let mut csv = String::from("a,later,label\n");
    (0..3000).for_each(|i| {
        let label = i % 2;
        writeln!(csv, "{},{}.5,{label}", i % 17, label * 3 + 1).unwrap();
    });
    let (trained, told) = run(&csv, Spec::new("ftrl"));
    trained.unwrap();
    let leak = told.notices.iter().find_map(|notice| match notice {
        Notice::Leak { feature, rows, .. } => Some((feature.as_str(), *rows)),
        _ => None,
    });
    assert_eq!(leak, Some(("later", 3000)), "{:?}", told.notices);
}

#[test]
fn a_divergence_has_a_reason() {
    let mut csv = String::from("a,big,label\n");
    let big = |i: usize| (i * 37 % 101 + 1) * 10_000;
    (0..2000).for_each(|i| writeln!(csv, "{}.5,{}.5,{}.25", i % 3, big(i), i % 7).unwrap());
    let (trained, told) = run(
        &csv,
        Spec::new("sgd").set("loss", "squared").set("rate", 1.0).set("schedule", "constant"),
    );
    assert!(matches!(trained.err().unwrap().error, Error::Diverged { .. }));
    let reason = told.notices.iter().find_map(|notice| match notice {
        Notice::Diverged { reason, .. } => Some(format!("{reason:?}")),
        _ => None,
    });
    assert!(reason.unwrap().contains("\"big\""), "{:?}", told.notices);
}

#[test]
fn a_model_that_is_worse_than_a_constant_is_noticed() {
    let mut random = SplitMix64::new(5);
    let mut csv = String::from("a,b,label\n");
    for _ in 0..4000 {
        let label = u8::from(random.unit() < 0.5);
        writeln!(csv, "{:.3},{:.3},{label}", random.unit(), random.unit()).unwrap();
    }
    let spec = Spec::new("sgd").set("rate", 50.0).set("schedule", "constant");
    let (trained, told) = run(&csv, spec);
    assert!(
        told.notices.iter().any(|n| matches!(n, Notice::WorseThanConstant { .. })),
        "{:?}",
        told.notices
    );
    let last = trained.unwrap().notices();
    assert!(
        last.iter().any(
            |n| matches!(n, Notice::NoBetterThanConstant { loss, constant } if loss >= constant)
        ),
        "{last:?}"
    );
}

#[test]
fn one_label_and_skipped_rows_are_noticed() {
    let csv = format!("1 1:1\n1 x:1\n{}", "1 1:1\n1 2:1\n".repeat(20));
    let inputs = vec![Input::Bytes { name: "t.svm".into(), bytes: csv.into_bytes() }];
    let mut options = options();
    options.reading.labels = Labels::binary();
    options.bounds.skip_bad = 1;
    let job = Job { classes: Some(Vec::new()), ..Job::new(&inputs, Spec::new("ftrl"), options) };
    let trained = job.run(&mut ()).unwrap();
    let notices = trained.notices();
    let [Notice::Skipped { rows: 1, first }, Notice::OneLabel] = &notices[..] else {
        panic!("{notices:?}")
    };
    assert!(first[0].contains("t.svm:2"), "{first:?}");
}

/// A learner that is trained in pieces has the state of one that is trained at once.
#[test]
fn a_stream_is_learned_further() {
    let rows = "1 1:1 2:0.5\n-1 2:1\n".repeat(300);
    let piece = |text: &str| vec![Input::Bytes { name: "t.svm".into(), bytes: text.into() }];
    let mut options = options();
    options.reading.labels = Labels::binary();
    let whole = piece(&rows.repeat(2));
    let whole = Job::new(&whole, Spec::new("ftrl"), options.clone()).run(&mut ()).unwrap();
    let first = piece(&rows);
    let job = Job::new(&first, Spec::new("ftrl"), options.clone());
    let Trained { mut trainer, mut noticing, .. } = job.run(&mut ()).unwrap();
    let learned = job.learn_more(&mut trainer, &mut noticing, &mut ()).unwrap();
    assert_eq!(learned, 600);
    assert_eq!(trainer.model().to_bytes(), whole.outcome.model.to_bytes());
}

#[test]
fn a_sweep_starts_again_with_all_its_learners() {
    let mut csv = String::from("x,z,label\n");
    (0..14_000).for_each(|i| writeln!(csv, "{}.5,{},{}", i % 7, i % 5, i % 2).unwrap());
    csv += "oops,1,1\n";
    let (inputs, mut told) = (inputs(&csv), Told::default());
    let specs = [0.1, 0.5].map(|rate| Spec::new("ftrl").set("rate", rate));
    let settings: Vec<_> = specs.iter().map(|spec| spec.resolve().unwrap()).collect();
    let job = Job::new(&inputs, Spec::default(), options());
    let mut begun = 0;
    let swept = job.sweep(&settings, &mut told, |opened| {
        begun += 1;
        let sweep = Sweep::new(settings.clone(), LearnerOptions::default(), opened.schema.clone())?;
        Ok::<(Sweep, Vec<()>), Error>((sweep, Vec::new()))
    });
    let swept = swept.unwrap();
    assert_eq!((begun, swept.rows, swept.sweep.rows()), (2, 14_001, 14_001));
    assert!(matches!(&told.notices[..], [Notice::Widened(_)]));
}

/// Rows of two numbers, and a label that is mostly one of them plus `shift`.
fn shifted(rows: usize, shift: f64) -> String {
    let mut random = SplitMix64::new(11);
    let mut csv = String::from("a,b,target\n");
    for _ in 0..rows {
        let (a, b, noise) = (random.unit(), random.unit(), random.unit());
        // Few binary digits: the sum with the shift is exact.
        let y = ((3.0 * a - b + 0.5 * noise) * 1024.0).round() / 1024.0;
        let _ = writeln!(csv, "{a},{b},{}", y + shift);
    }
    csv
}

#[test]
fn the_origin_of_labels_changes_no_loss_and_no_decision() {
    for spec in [
        Spec::recommended(),
        Spec::new("ftrl").set("normalize", true).set("loss", "squared"),
        Spec::new("auto").set("loss", "huber"),
        Spec::new("auto").set("loss", "quantile").set("quantile", 0.3),
    ] {
        let summary = |shift: f64| {
            let (trained, told) = run(&shifted(3000, shift), spec.clone());
            let trained = trained.unwrap();
            let Trained { trainer, outcome, .. } = &trained;
            let losses = [trainer.progressive().average(), trainer.constant_loss()];
            let curve = trainer.curve_so_far();
            let curve = curve.points.iter().flat_map(|p| [p.average, p.since_last]);
            let losses: Vec<f64> = losses.into_iter().chain(curve).flatten().collect();
            let notices = (told.notices.len(), trained.notices().len(), told.repeated);
            (losses, trainer.online().chosen(), outcome.model.nonzeros(), notices)
        };
        let (losses, chosen, nonzeros, notices) = summary(0.0);
        // The first row has no prediction, and is not among the losses.
        assert!(losses[1] < 2.0, "{losses:?}");
        for shift in [1e3, 1e6] {
            let other = summary(shift);
            assert_eq!((other.1, other.2, other.3), (chosen, nonzeros, notices), "{shift}");
            assert_eq!(losses.len(), other.0.len());
            for (a, b) in losses.iter().zip(&other.0) {
                assert!((a - b).abs() <= 1e-7 * a.abs().max(1e-3), "{shift}: {a} and {b}");
            }
        }
    }
}

#[test]
fn classes_are_those_of_all_rows() {
    let csv = |late: &str| {
        let rows = (0..1500).map(|i| format!("{},{}\n", i % 7, i % 2));
        format!("x,label\n{}{late}", rows.collect::<String>())
    };
    // All of the first rows have one class.
    let ones: String = (0..1500).map(|i| format!("{},1\n", i % 7)).collect();
    for (other, classes) in [("0", ["0", "1"]), ("2", ["1", "2"])] {
        let text = format!("x,label\n{ones}3,{other}\n");
        let (trained, _) = run(&text, Spec::recommended());
        assert_eq!(trained.unwrap().trainer.schema().found.classes, classes);
    }
    let svm: String = (0..1500).map(|i| format!("1 1:{}\n", 1 + i % 7)).collect();
    let inputs = [Input::Bytes { name: "d.svm".into(), bytes: (svm + "2 1:3\n").into_bytes() }];
    let trained = Job::new(&inputs.to_vec(), Spec::recommended(), options()).run(&mut ());
    assert_eq!(trained.unwrap().trainer.schema().found.classes, ["1", "2"]);
    // A third label comes late: the rows are read again, and are numbers.
    let (trained, told) = run(&csv("3,2\n"), Spec::recommended());
    assert!(trained.unwrap().trainer.schema().found.classes.is_empty());
    let [Notice::MoreLabels { line: 1502, label, .. }, ..] = &told.notices[..] else {
        panic!("{:?}", told.notices)
    };
    assert_eq!((label.as_str(), told.begun), ("2", 2));
    // Or classes, where the column says so.
    let text = csv("3,2\n").replacen("label", "class", 1);
    let (trained, _) = run(&text, Spec::recommended());
    assert_eq!(trained.unwrap().trainer.schema().found.classes, ["0", "1", "2"]);
}

/// A penalty that counts once does not lead to the minimum, however many passes there are.
#[test]
fn many_passes_of_ftrl_with_a_penalty_are_noticed() {
    let (csv, spec) = (table(300, false), || Spec::new("ftrl").set("l1", 5.0));
    let noticed = |spec: Spec, passes: u32| {
        let inputs = inputs(&csv);
        let mut job = Job::new(&inputs, spec, options());
        job.plan.passes = passes;
        let trained = job.run(&mut Told::default()).unwrap();
        let is_it =
            |notice: &Notice| matches!(notice, Notice::ManyPasses { passes: 20, method: "ftrl" });
        trained.notices().iter().any(is_it)
    };
    assert!(noticed(spec(), 20));
    assert!(!noticed(spec(), 10));
    assert!(!noticed(Spec::new("ftrl").set("l1", 0), 20), "there is no penalty to charge");
    assert!(!noticed(Spec::new("adagrad-rda").set("l1", 0.01), 20));
}
