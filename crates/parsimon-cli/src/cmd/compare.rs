//! `parsimon compare`: several methods, one pass over the data.

use std::io::Write;
use std::time::{Duration, Instant};

use parsimon::core::Chunk;
use parsimon::eval::chart::{Better, Figure, Panel, Series};
use parsimon::eval::number::{duration, maybe, thousands};
use parsimon::eval::{Evaluation, Table};
use parsimon::{Judge, Settings, Spec, Trainer};
use serde_json::{Value, json};

use super::train::{Opened, frame, surveyed};
use crate::args::{CompareArgs, inputs, method};
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Output, check_outputs, write_text};

/// What is compared when nobody says: each of the great families, with settings that suit most data.
const HANDFUL: &[&str] = &[
    "ftrl:l1=1,rate=0.1",
    "ftrl:l1=5,rate=0.1",
    "rda:rate=1,l1=1e-4",
    "adagrad-rda:rate=0.1,l1=1e-4",
    "fobos:rate=0.5,l1=1e-5",
    "adagrad-fobos:rate=0.1,l1=1e-5",
    "truncated-gradient:rate=0.5,l1=1e-5,period=10",
    "sgd:rate=0.5",
];

/// One method at work.
struct Contestant {
    name: String,
    trainer: Trainer,
    judge: Judge,
    time: Duration,
}

/// What came of it.
struct Finish {
    name: String,
    settings: Value,
    progressive: Evaluation,
    test: Option<Evaluation>,
    nonzeros: usize,
    time: Duration,
}

pub(crate) fn run(args: &CompareArgs) -> Result<(), Fault> {
    let read = [args.data.inputs(), inputs(&args.test), args.spec.inputs()].concat();
    check_outputs(&[args.json.as_deref(), args.plot.as_deref()], &read)?;
    let mut specs = methods(args)?.into_iter();
    let Some((first_name, first)) = specs.next() else {
        return Err(Fault::Usage("no method to run".into()));
    };
    let base = args.data.options(args.frame.precision.into())?;
    let open = Opened::new(first.resolve()?, &args.data.inputs(), base)?;
    let (reading, options, mut reader) = (open.reading, open.options, open.reader);
    let contestant = |name: String, settings: Settings| -> Result<Contestant, Fault> {
        if reading.labels(&settings) != options.labels {
            return Err(Fault::Usage(
                "the methods must have losses for the same kind of labels".into(),
            ));
        }
        let trainer = Trainer::new(settings, frame(&args.frame, &reading), reading.clone())?;
        let judge = Judge::new(trainer.settings(), &reading.classes);
        Ok(Contestant { name, trainer, judge, time: Duration::ZERO })
    };
    let mut contestants = vec![contestant(first_name, open.settings)?];
    for (name, spec) in specs {
        let settings = surveyed(spec.resolve()?, &args.data.inputs(), &options)?;
        contestants.push(contestant(name, settings)?);
    }
    let mut chunk = Chunk::new();
    while reader.read(&mut chunk)? {
        for c in &mut contestants {
            let start = Instant::now();
            c.trainer
                .learn(&chunk, &mut |_| {})
                .map_err(|e| Fault::Input(format!("{}: {e}", c.name)))?;
            c.time += start.elapsed();
            c.judge.record_chunk(&chunk, c.trainer.margins());
        }
    }
    let rows = reader.position().rows;
    let tests = inputs(&args.test);
    let finish = |c: Contestant| -> Result<Finish, Fault> {
        let model = c.trainer.model();
        let test = match &tests[..] {
            [] => None,
            tests => Some(model.evaluate(tests, &options)?),
        };
        Ok(Finish {
            name: c.name,
            settings: Value::Object(c.trainer.settings().to_json().clone()),
            progressive: c.judge.finish(),
            test,
            nonzeros: model.nonzeros(),
            time: c.time,
        })
    };
    let finished = contestants.into_iter().map(finish).collect::<Result<Vec<_>, _>>()?;
    show(args, rows, &finished)
}

/// The methods named, the flags' one if no method is, or the handful.
fn methods(args: &CompareArgs) -> Result<Vec<(String, Spec)>, Fault> {
    let common = if args.spec.is_empty() { Spec::default() } else { args.spec.spec()? };
    let named: Vec<&str> = match &args.methods[..] {
        [] => HANDFUL.to_vec(),
        methods => methods.iter().map(String::as_str).collect(),
    };
    // Flags such as --loss or --multiclass hold for every method that has them.
    let shared = ["loss", "multiclass", "classes", "huber_delta", "quantile"];
    if let Some(own) = args.spec.names().find(|name| !shared.contains(name)) {
        return Err(Fault::Usage(format!(
            "{own} belongs to a method: write it as -m name:{own}=..."
        )));
    }
    let shared = shared.iter().filter_map(|name| Some((*name, common.get(name)?.clone())));
    let shared = shared.fold(Spec::default(), |spec, (name, value)| spec.set(name, value));
    named
        .into_iter()
        .map(|text| Ok((text.to_owned(), shared.clone().overwrite(method(text)?))))
        .collect()
}

fn show(args: &CompareArgs, rows: u64, finished: &[Finish]) -> Result<(), Fault> {
    if let Some(path) = &args.json {
        let methods = finished.iter().map(|f| {
            json!({"method": f.name, "settings": f.settings, "progressive": f.progressive, "test": f.test,
                   "nonzeros": f.nonzeros, "seconds": f.time.as_secs_f64()})
        });
        let report = json!({"rows": rows, "methods": methods.collect::<Vec<_>>()});
        let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
        text.push('\n');
        write_text(path, &text)?;
    }
    if args.json.as_deref() != Some(std::path::Path::new("-")) {
        let mut out = Output::open(None)?;
        writeln!(out, "{}", table(finished))?;
        out.finish()?;
    }
    note(&format!("one pass over {} rows; times are for learning alone", thousands(rows)));
    if let Some(path) = &args.plot {
        write_text(path, &front(finished).to_svg())?;
        note(&format!("plot {}", path.display()));
    }
    Ok(())
}

/// The metrics of a comparison: the few that fit side by side.
fn metrics(evaluation: &Evaluation) -> Vec<(&'static str, Option<f64>)> {
    let wanted = ["mean loss", "AUC", "accuracy", "RMSE", "R2", "deviance"];
    evaluation.metrics().into_iter().filter(|(name, _)| wanted.contains(name)).collect()
}

fn table(finished: &[Finish]) -> Table {
    let judged = |f: &Finish| -> Vec<(String, Option<f64>)> {
        let own = |prefix: &'static str| {
            move |(name, x): (&'static str, _)| (format!("{prefix}{name}"), x)
        };
        let test = f.test.iter().flat_map(|t| metrics(t).into_iter().map(own("test ")));
        metrics(&f.progressive).into_iter().map(own("")).chain(test).collect()
    };
    let mut header = vec!["method".to_owned()];
    header
        .extend(finished.first().map(judged).unwrap_or_default().into_iter().map(|(name, _)| name));
    header.extend(["nonzeros".into(), "time".into()]);
    let columns = header.len();
    let mut table = Table::new(header).right(1..columns);
    for f in finished {
        let mut row = vec![f.name.clone()];
        row.extend(judged(f).into_iter().map(|(_, x)| maybe(x, 4)));
        row.extend([thousands(f.nonzeros as u64), duration(f.time)]);
        table.row(row);
    }
    table
}

/// AUC, or the mean loss where there is none, against nonzero weights.
fn front(finished: &[Finish]) -> Figure {
    let of = |f: &Finish| f.test.clone().unwrap_or_else(|| f.progressive.clone());
    let metric = |f: &Finish, name: &str| {
        of(f).metrics().into_iter().find(|m| m.0 == name).and_then(|m| m.1)
    };
    let has_auc = finished.iter().all(|f| metric(f, "AUC").is_some());
    let (name, better) = if has_auc { ("AUC", Better::High) } else { ("mean loss", Better::Low) };
    let on = if finished.iter().any(|f| f.test.is_some()) { "test data" } else { "progressive" };
    let points = finished.iter().filter_map(|f| Some((f.nonzeros.max(1) as f64, metric(f, name)?)));
    let series = Series::points("methods", points)
        .labels(finished.iter().map(|f| f.name.clone()))
        .front(Better::Low, better);
    Figure::new(format!("{name} against sparsity"))
        .subtitle(on)
        .panel(Panel::new("nonzero weights", name).log_x().series(series))
}
