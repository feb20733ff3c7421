//! `parsimon serve`

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use parsimon::data::{Kinds, Options, Reading, Space};
use parsimon::error::FormatErrorKind;
use parsimon::memory::{budget, set_budget};
use parsimon::survey::{Found, schema_from_json};
use parsimon::workspace::{Header, Stop};
use parsimon::{InputSchema, Settings, Spec};
use parsimon_serve::{
    Access, Breaker, Labels, Limits, Model, OpenError, Policy, Server, Service, Source, Verbosity,
    following, log_to_stderr, set_request_memory, until,
};

use super::demo::{self, Data};
use super::train::model_options;
use crate::args::{AcksArg, LateArg, NamedModel, NamedShadow, ServeArgs, VerbosityArg};
use crate::console::{complain, note};
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
    if let Some(bytes) = args.memory {
        set_budget(bytes);
    }
    serve(&args)
}

#[expect(clippy::too_many_lines, reason = "the parts of a service, started in one order")]
fn serve(args: &ServeArgs) -> Result<(), Fault> {
    log_to_stderr(match args.verbosity {
        _ if args.quiet => Verbosity::Error,
        VerbosityArg::Error => Verbosity::Error,
        VerbosityArg::Warn => Verbosity::Warn,
        VerbosityArg::Info => Verbosity::Info,
        VerbosityArg::Debug => Verbosity::Debug,
    });
    if let Some(bytes) = args.request_memory {
        set_request_memory(bytes);
    }
    let limits = Limits {
        body: args.max_body,
        rows: args.max_rows,
        features: args.max_features,
        connections: args.max_connections,
        connections_of_address: args
            .max_connections_per_address
            .unwrap_or(args.max_connections.div_ceil(2)),
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
    let service = Arc::new(Service::opening(limits, access));
    let cannot = |e: std::io::Error| Fault::Input(format!("{}: {e}", args.listen));
    let mut server = match Server::bind(args.listen, service.clone()) {
        // The demo takes another port if the default one is in use.
        Err(e) if args.demo && e.kind() == ErrorKind::AddrInUse => {
            Server::bind(SocketAddr::new(args.listen.ip(), 0), service.clone())
        }
        bound => bound,
    }
    .map_err(cannot)?
    .with_drain(args.drain.unwrap_or_default());
    if let Some(port) = args.vw_port {
        server = server
            .with_vw_port(port, args.vw_model.as_deref())
            .map_err(|e| Fault::Input(format!("--vw-port {port}: {e}")))?;
    }
    let (address, vw) = (server.address().map_err(cannot)?, server.vw_address());
    // Health checks are answered while logs are replayed.
    let state: Mutex<Option<Stop>> = Mutex::new(None);
    let state = || state.lock().unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        let opening = scope.spawn(|| {
            let opened = open_all(args)?;
            let models = opened.models.clone();
            if vw.is_some() {
                check_vw_model(args, &models)?;
            }
            // Before this point a signal ends the program at once. A client that reads the printed address may already send one.
            *state() = Some(interrupt::stop());
            if args.tokens.is_some() {
                interrupt::keep_on_hangup();
            }
            service.set_models(models);
            if !args.quiet {
                note(&format!("listening at http://{address}"));
                if let Some(address) = vw {
                    note(&format!("listening for VW's daemon protocol at {address}"));
                }
            }
            notify_manager("READY=1");
            Ok(opened.threads)
        });
        let is_over = || {
            // Read first, because it may finish between the two calls.
            let is_finished = opening.is_finished();
            if interrupt::hung_up() {
                reload_tokens(args, &service);
            }
            let is_over = state().as_ref().map_or(is_finished, Stop::is_stopped);
            if is_over {
                notify_manager("STOPPING=1");
            }
            is_over
        };
        let run = || server.run(until(is_over)).map_err(|e| Fault::Input(e.to_string()));
        let served = if args.demo { demo(args, address, run) } else { run() };
        match opening.join() {
            Ok(Err(fault)) => Err(fault),
            Ok(Ok(threads)) => {
                drop(threads);
                served
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Shows the demo while the service runs.
fn demo(
    args: &ServeArgs,
    address: SocketAddr,
    run: impl FnOnce() -> Result<(), Fault>,
) -> Result<(), Fault> {
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

/// Opens all models and their shadows.
fn open_all(args: &ServeArgs) -> Result<Opened, Fault> {
    let mut models: Vec<Arc<Model>> = Vec::new();
    let mut threads = Vec::new();
    let leader = leader(args)?;
    let found = match &leader {
        Some(leader) if args.models.is_empty() => followed(args, leader)?,
        _ => Vec::new(),
    };
    for text in args.models.iter().chain(&found) {
        let NamedModel { name, file } =
            NamedModel::new(text).map_err(|e| Fault::Usage(format!("--model: {e}")))?;
        if models.iter().any(|model| model.name() == name) {
            return Err(Fault::Usage(format!("--model: {name:?} is given twice")));
        }
        if let Some(leader) = &leader {
            prepare(args, leader, &name)?;
        }
        let model = Arc::new(open(args, &name, file.as_deref())?);
        if !args.quiet {
            introduce(&model);
        }
        if let Some(leader) = &leader {
            match following::follow(&model, leader).map_err(|e| Fault::Input(e.to_string()))? {
                Some(thread) => threads.push(thread),
                None => note(&format!("{name}: was promoted and follows no leader")),
            }
        }
        models.push(model);
    }
    for text in &args.shadows {
        add_shadow(&models, text)?;
    }
    let watch = match &args.follower {
        Some(url) => {
            let token = peer_token(args)?;
            let watch = following::watch_follower(&models, url, token.as_deref());
            Some(watch.map_err(|e| Fault::Input(format!("--follower: {e}")))?)
        }
        None if args.acks == AcksArg::Follower => {
            return Err(Fault::Usage(
                "--acks follower needs --follower, the address of the follower".into(),
            ));
        }
        None => None,
    };
    Ok(Opened { models, threads: (threads, watch) })
}

/// Models, and the threads that work beside them until the service ends.
struct Opened {
    models: Vec<Arc<Model>>,
    threads: (Vec<following::FollowerThread>, Option<following::Watch>),
}

/// The token for a leader or a follower.
fn peer_token(args: &ServeArgs) -> Result<Option<String>, Fault> {
    let token = match &args.peer_token_file {
        Some(path) => Some(std::fs::read_to_string(path).map_err(|e| Fault::file(path, &e))?),
        None => std::env::var("PARSIMON_TOKEN").ok(),
    };
    Ok(token.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()))
}

fn leader(args: &ServeArgs) -> Result<Option<following::Leader>, Fault> {
    let Some(url) = &args.follow else { return Ok(None) };
    if args.spec.names().next().is_some() || !args.spec.inputs().is_empty() {
        return Err(Fault::Usage(
            "--follow: the leader decides the settings; leave them out".into(),
        ));
    }
    let token = peer_token(args)?;
    Ok(Some(following::Leader { url: url.clone(), token, rate: args.follow_rate }))
}

/// The models that were followed before, or those of the leader.
fn followed(args: &ServeArgs, leader: &following::Leader) -> Result<Vec<String>, Fault> {
    let names = args.data.iter().filter_map(|data| std::fs::read_dir(data).ok()).flatten();
    let names = names.flatten().filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> =
        names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    if names.is_empty() {
        note(&format!("waiting for the leader at {}", leader.url));
        names = following::models_of(leader, &|| false).map_err(Fault::Input)?;
    }
    match names.is_empty() {
        true => Err(Fault::Input(format!("{}: no model of the leader learns", leader.url))),
        false => Ok(names),
    }
}

/// Copies the state with which a new follower begins.
fn prepare(args: &ServeArgs, leader: &following::Leader, name: &str) -> Result<(), Fault> {
    let Some(data) = &args.data else { return Ok(()) };
    let (policy, never) = (policy(args, data), || false);
    following::prepare(leader, name, &policy, &never)
        .and_then(|()| following::first_record(leader, name, &policy, &never))
        .map_err(|error| Fault::Input(error.to_string()))
}

/// Reads the file of tokens again. A file with a mistake changes nothing.
fn reload_tokens(args: &ServeArgs, service: &Service) {
    let Some(path) = &args.tokens else { return };
    let read = std::fs::read_to_string(path).map_err(|e| e.to_string());
    match read.and_then(|text| Access::from_text(&text)) {
        Ok(access) => {
            service.set_access(&access);
            note(&format!("{}: the tokens were read again", path.display()));
        }
        Err(why) => complain(&format!("{}: {why}; the tokens stay as they were", path.display())),
    }
}

/// Reports the state of the service to systemd, if a unit with `Type=notify` started it.
#[cfg(unix)]
fn notify_manager(state: &str) {
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let Ok(socket) = std::os::unix::net::UnixDatagram::unbound() else { return };
    #[cfg(target_os = "linux")]
    {
        use std::os::linux::net::SocketAddrExt as _;
        use std::os::unix::ffi::OsStrExt as _;

        if let Some(name) = path.as_bytes().strip_prefix(b"@") {
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name);
            let _ = address.and_then(|address| socket.send_to_addr(state.as_bytes(), &address));
            return;
        }
    }
    // A manager that does not listen any more has no use for it.
    let _ = socket.send_to(state.as_bytes(), path);
}

#[cfg(not(unix))]
fn notify_manager(_: &str) {}

/// Checks that there is one model behind the port of VW's protocol.
fn check_vw_model(args: &ServeArgs, models: &[Arc<Model>]) -> Result<(), Fault> {
    let wrong = |words: String| Err(Fault::Usage(format!("--vw-model: {words}")));
    match &args.vw_model {
        Some(name) if !models.iter().any(|model| model.name() == name) => {
            wrong(format!("there is no model {name:?}"))
        }
        None if models.len() != 1 => wrong("there are several models; name one of them".into()),
        _ => Ok(()),
    }
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
        pending_bytes: args.pending_memory.unwrap_or((budget() / 8).min(256 << 20)) as usize,
        id_bytes: args.id_memory.unwrap_or(budget() / 4) / args.models.len().max(1) as u64,
        breaker: Breaker {
            labels: args.breaker_labels,
            refused: args.breaker_refused,
            rows: args.breaker_rows,
        },
        acks_follower: args.acks == AcksArg::Follower,
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
    let options = model_options(&args.learner, &schema);
    let finds_kinds = args.finds_kinds();
    Ok(Source::Fresh {
        settings: Box::new(settings),
        options,
        schema: Box::new(schema),
        finds_kinds,
    })
}

/// Returns the reading of rows of a new model.
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
    let mut options = Options::from(Reading {
        interactions,
        label_column: args.label_column.clone(),
        weight_column: args.weight_column.clone(),
        header: Header::Present,
        ..Reading::default()
    });
    if let Some(path) = &args.schema {
        let text = std::fs::read_to_string(path).map_err(|e| Fault::file(path, &e))?;
        let table = schema_from_json(&text)
            .map_err(|e| Fault::Input(format!("{}: {e}", path.display())))?;
        options.reading.label_column = options.reading.label_column.or_else(|| table.label.clone());
        options.reading.weight_column =
            options.reading.weight_column.or_else(|| table.weight.clone());
        options.reading.kinds = Kinds::Known(Arc::new(table));
    }
    let space = if args.no_hash { Space::Ids } else { Space::Hashed { bits: args.bits } };
    let classes = settings.classes().map(<[String]>::to_vec).unwrap_or_default();
    Ok(InputSchema::new(&options, space, Found { classes, ..Found::default() }))
}

/// Notes about a model that was opened.
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
