//! `parsimon serve`

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parsimon::data::{Header, Kinds, Options, Space};
use parsimon::error::FormatErrorKind;
use parsimon::survey::{Found, schema_from_json};
use parsimon::{InputSchema, Settings, Spec};
use parsimon_serve::{
    Access, Breaker, Labels, Limits, Model, OpenError, Policy, Server, Service, Source, Verbosity,
    log_to_stderr, until,
};

use super::demo::{self, Data};
use super::train::frame;
use crate::args::{LateArg, NamedModel, NamedShadow, ServeArgs, VerbosityArg};
use crate::console::note;
use crate::fault::Fault;
use crate::interrupt;

pub(crate) fn run(args: &ServeArgs) -> Result<(), Fault> {
    if args.demo {
        let data = Data::new(args);
        let args = args.for_demo(data.path()).map_err(Fault::Usage)?;
        return serve(&args);
    }
    let Some(path) = &args.config else { return serve(args) };
    let text = std::fs::read_to_string(path).map_err(|e| Fault::file(path, &e))?;
    let args = ServeArgs::from_toml(&text)
        .map_err(|e| Fault::Usage(format!("{}: {e}", path.display())))?;
    serve(&args)
}

fn serve(args: &ServeArgs) -> Result<(), Fault> {
    log_to_stderr(match args.verbosity {
        _ if args.quiet => Verbosity::Error,
        VerbosityArg::Error => Verbosity::Error,
        VerbosityArg::Warn => Verbosity::Warn,
        VerbosityArg::Info => Verbosity::Info,
        VerbosityArg::Debug => Verbosity::Debug,
    });
    let mut models: Vec<Arc<Model>> = Vec::new();
    for text in &args.models {
        let NamedModel { name, file } =
            NamedModel::new(text).map_err(|e| Fault::Usage(format!("--model: {e}")))?;
        if models.iter().any(|model| model.name() == name) {
            return Err(Fault::Usage(format!("--model: {name:?} is given twice")));
        }
        let model = open(args, &name, file.as_deref())?;
        if !args.quiet {
            introduce(&model);
        }
        models.push(Arc::new(model));
    }
    for text in &args.shadows {
        add_shadow(&models, text)?;
    }
    let limits = Limits {
        body: args.max_body,
        rows: args.max_rows,
        features: args.max_features,
        connections: args.max_connections,
        ..Limits::default()
    };
    let access = match &args.tokens {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|e| Fault::file(path, &e))?;
            Access::from_text(&text)
                .map_err(|e| Fault::Input(format!("{}: {e}", path.display())))?
        }
        None => Access::default(),
    };
    let service = Arc::new(Service::new(models, limits, access));
    let cannot = |e: std::io::Error| Fault::Input(format!("{}: {e}", args.listen));
    let mut server = match Server::bind(args.listen, service.clone()) {
        // Another program at the usual port does not keep a newcomer from the demo.
        Err(e) if args.demo && e.kind() == ErrorKind::AddrInUse => {
            Server::bind(SocketAddr::new(args.listen.ip(), 0), service)
        }
        bound => bound,
    }
    .map_err(cannot)?;
    if let Some(port) = args.vw_port {
        server = server
            .with_vw_port(port, args.vw_model.as_deref())
            .map_err(|e| Fault::Input(format!("--vw-port {port}: {e}")))?;
    }
    if !args.quiet {
        note(&format!("listening at http://{}", server.address().map_err(cannot)?));
        if let Some(address) = server.vw_address() {
            note(&format!("listening for VW's daemon protocol at {address}"));
        }
    }
    let stop = interrupt::stop();
    let address = server.address().map_err(cannot)?;
    let run = || server.run(until(|| stop.is_stopped())).map_err(|e| Fault::Input(e.to_string()));
    if !args.demo {
        return run();
    }
    note(&format!("demo: watch it at http://{address}/; end it with Ctrl-C"));
    demo::open_page(address);
    let (is_over, period) =
        (AtomicBool::new(false), args.alarm_period.unwrap_or(Duration::from_secs(4)));
    std::thread::scope(|scope| {
        scope.spawn(|| demo::feed(address, args.demo_rate, period, &is_over, args.quiet));
        let served = run();
        is_over.store(true, Ordering::Relaxed);
        served
    })
}

/// Starts a shadow of one of the models.
fn add_shadow(models: &[Arc<Model>], text: &str) -> Result<(), Fault> {
    let usage = |words: String| Fault::Usage(format!("--shadow: {words}"));
    let NamedShadow { model, name, file } = NamedShadow::new(text).map_err(usage)?;
    let found = models.iter().find(|known| known.name() == model);
    let found = found.ok_or_else(|| usage(format!("there is no model {model:?}")))?;
    let learning = found.learner().map_err(|refusal| usage(refusal.message().to_owned()))?;
    let json = std::fs::read_to_string(&file).map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => Fault::Input(format!(
            "{}: is no file of settings, such as {{\"algorithm\": \"ftrl\", \"l1\": 1}}",
            file.display()
        )),
        _ => Fault::file(&file, &e),
    })?;
    let settings = Spec::from_json(&json)
        .and_then(|spec| spec.resolve())
        .map_err(|e| Fault::Input(format!("{}: {e}", file.display())))?;
    learning.add_shadow(name, settings).map_err(|e| Fault::Input(e.to_string()))
}

/// Opens a model: a file that cannot learn, or one with a log.
fn open(args: &ServeArgs, name: &str, file: Option<&Path>) -> Result<Model, Fault> {
    let source = match file {
        Some(file) => match Model::read_only(name, file) {
            Ok(model) => return Ok(model),
            // Anything but a checkpoint is refused in the words of the model reader.
            Err(error) if error.kind() != FormatErrorKind::WrongFile => return Err(error.into()),
            Err(_) => Source::Checkpoint(file.to_owned()),
        },
        None if args.spec.names().next().is_none() && args.spec.inputs().is_empty() => Source::Log,
        None => fresh(args)?,
    };
    let Some(data) = &args.data else {
        return Err(Fault::Usage(format!(
            "the model {name:?} learns and needs --data, a directory for its log"
        )));
    };
    Model::learning(name, &source, policy(args, data)).map_err(|error| match error {
        OpenError::State(error) => error.into(),
        error => Fault::Input(error.to_string()),
    })
}

fn policy(args: &ServeArgs, data: &PathBuf) -> Policy {
    let labels = match (args.label_window, &args.label_default) {
        (Some(window), Some(default)) => {
            let learn_late = args.late == LateArg::Learn;
            Labels::Window { window, default: default.clone(), learn_late }
        }
        _ => Labels::default(),
    };
    Policy {
        snapshot_rows: args.snapshot_every,
        snapshot_after: args.snapshot_after,
        snapshots: args.snapshots,
        prove: !args.no_proof,
        log_budget: args.log_budget,
        retain: args.retain,
        segment_bytes: args.segment_bytes,
        queue_rows: args.queue_rows,
        labels,
        pending_rows: args.pending_rows,
        breaker: Breaker {
            labels: args.breaker_labels,
            refused: args.breaker_refused,
            rows: args.breaker_rows,
        },
        period: args.alarm_period.unwrap_or(Duration::from_secs(60)),
        ..Policy::new(data)
    }
}

/// A model that has learned nothing yet.
fn fresh(args: &ServeArgs) -> Result<Source, Fault> {
    let spec = args.spec.spec()?;
    let is_given = |name: &str| spec.get(name).is_some_and(|value| !value.is_null());
    let settings = spec.resolve()?;
    if settings.is_multiclass() && settings.classes().is_none() {
        return Err(Fault::Usage("a new model of several classes needs --classes A,B,...".into()));
    }
    if !is_given("loss") && !settings.is_multiclass() {
        return Err(Fault::Usage(
            "a new model needs a loss, because there are no labels yet to choose it from; pass --loss logistic for two classes, or --loss squared for numbers".into(),
        ));
    }
    let schema = schema(args, &settings)?;
    let options = frame(&args.frame, &schema);
    Ok(Source::Fresh { settings: Box::new(settings), options, schema: Box::new(schema) })
}

/// How the rows of a new model are read.
fn schema(args: &ServeArgs, settings: &Settings) -> Result<InputSchema, Fault> {
    if !(1..=31).contains(&args.bits) {
        return Err(Fault::Usage(format!("--bits must be 1 to 31, got {}", args.bits)));
    }
    let interactions: Vec<Vec<String>> =
        args.quadratic.iter().map(|set| set.chars().map(String::from).collect()).collect();
    if let Some(odd) = interactions.iter().find(|set| !(2..=3).contains(&set.len())) {
        return Err(Fault::Usage(format!(
            "an interaction has 2 or 3 namespaces, got {}",
            odd.join(",")
        )));
    }
    let mut options = Options {
        interactions,
        label_column: args.label_column.clone(),
        weight_column: args.weight_column.clone(),
        header: Header::Present,
        ..Options::default()
    };
    if let Some(path) = &args.schema {
        let text = std::fs::read_to_string(path).map_err(|e| Fault::file(path, &e))?;
        let table = schema_from_json(&text)
            .map_err(|e| Fault::Input(format!("{}: {e}", path.display())))?;
        options.label_column = options.label_column.or_else(|| table.label.clone());
        options.weight_column = options.weight_column.or_else(|| table.weight.clone());
        options.kinds = Kinds::Known(Arc::new(table));
    }
    let space = if args.no_hash { Space::Ids } else { Space::Hashed { bits: args.bits } };
    let classes = settings.classes().map(<[String]>::to_vec).unwrap_or_default();
    Ok(InputSchema::new(&options, space, Found { classes, ..Found::default() }))
}

/// What there is to know about a model that was opened.
fn introduce(model: &Model) {
    let version = model.version();
    let name = model.name();
    let Some(report) = model.report() else {
        return note(&format!("{name}: a model file; it does not learn"));
    };
    note(&format!(
        "{name}: learns; epoch {}, record {}, {} rows replayed in {:.1} s",
        version.epoch, version.seq, report.replayed, report.seconds
    ));
    if report.torn > 0 {
        note(&format!("{name}: cut {} bytes of unfinished records from the log", report.torn));
    }
    report.notes.iter().for_each(|words| note(&format!("{name}: {words}")));
}
