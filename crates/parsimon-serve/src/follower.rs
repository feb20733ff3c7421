//! A follower's connection to its leader: the first snapshot, then records for as long as the process runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parsimon_log::{Header, Log, Options as LogOptions, Snapshot};
use serde_json::Value;

use crate::engine::{ARITHMETIC, Model, NotTaken, OpenError, Policy, decode_frame};

/// The leader of a follower.
#[derive(Clone, Debug)]
pub struct Leader {
    /// Its address, such as `http://10.0.0.1:8080`.
    pub url: String,
    /// A token with the role admin, if the leader needs one.
    pub token: Option<String>,
    /// The bytes per second that copying takes at most; `None` for no limit.
    pub rate: Option<u64>,
}

/// The time for which a request waits for the next record.
const WAIT: Duration = Duration::from_secs(1);

/// The longest answer: a part of a snapshot, or records up to the largest one.
const LONGEST: u64 = 1 << 31;

/// Pauses after requests that failed: the first, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// A connection to one model of a leader.
struct Connection {
    agent: ureq::Agent,
    leader: Leader,
    model: String,
}

impl Connection {
    fn new(leader: &Leader, model: &str) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            // The token goes to the leader that was named, and to no proxy of the environment.
            .proxy(None)
            .timeout_connect(Some(Duration::from_secs(5)))
            .timeout_global(Some(Duration::from_secs(60)))
            .build();
        Self { agent: config.new_agent(), leader: leader.clone(), model: model.to_owned() }
    }

    /// Sends a request. Returns the status, the length of the whole where a part came, and the body.
    fn get(&self, path: &str) -> Result<(u16, u64, Vec<u8>), String> {
        let begun = Instant::now();
        let url = format!("{}{path}", self.leader.url.trim_end_matches('/'));
        let failed = |e: ureq::Error| format!("{}: {e}", self.leader.url);
        let mut request = self.agent.get(&url);
        if let Some(token) = &self.leader.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut answer = request.call().map_err(failed)?;
        let whole = answer.headers().get("x-snapshot-bytes").and_then(|v| v.to_str().ok());
        let whole = whole.and_then(|text| text.parse().ok()).unwrap_or(0);
        let body = answer.body_mut().with_config().limit(LONGEST).read_to_vec().map_err(failed)?;
        if let Some(rate) = self.leader.rate {
            let least = Duration::from_secs_f64(body.len() as f64 / rate.max(1) as f64);
            std::thread::sleep(least.saturating_sub(begun.elapsed()));
        }
        Ok((answer.status().as_u16(), whole, body))
    }

    /// Sends a request that must succeed.
    fn fetch(&self, path: &str) -> Result<(u64, Vec<u8>), Fault> {
        let (status, whole, body) = self.get(path).map_err(Fault::Later)?;
        match status {
            200 => Ok((whole, body)),
            status => {
                let json: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
                let words = json["error"].as_str().unwrap_or("no reason was given");
                let words = format!("{}: {words} (status {status})", self.leader.url);
                // A later request would get these answers again.
                Err(if matches!(status, 400..=428) {
                    Fault::Never(words)
                } else {
                    Fault::Later(words)
                })
            }
        }
    }

    fn json(&self, path: &str) -> Result<Value, Fault> {
        let (_, body) = self.fetch(path)?;
        serde_json::from_slice(&body).map_err(|e| Fault::Later(format!("{}: {e}", self.leader.url)))
    }

    /// Copies a snapshot into a directory. A part that is there already is not copied again.
    fn snapshot(&self, directory: &Path, (epoch, seq): (u32, u64)) -> Result<(), Fault> {
        use std::io::Write as _;
        let name = Snapshot { log: 0, arithmetic: 0, epoch, seq }.name();
        let unfinished = directory.join(format!("{name}.part"));
        let failed = |e: std::io::Error| Fault::Never(format!("{}: {e}", unfinished.display()));
        std::fs::create_dir_all(directory).map_err(failed)?;
        let open = std::fs::File::options().append(true).create(true).open(&unfinished);
        let mut file = open.map_err(failed)?;
        loop {
            let from = file.metadata().map_err(failed)?.len();
            let path = format!(
                "/v1/models/{}/log/snapshot?epoch={epoch}&seq={seq}&from={from}",
                self.model
            );
            let (whole, part) = self.fetch(&path)?;
            file.write_all(&part).map_err(failed)?;
            if from + part.len() as u64 >= whole {
                break;
            }
        }
        file.sync_all().map_err(failed)?;
        std::fs::rename(&unfinished, directory.join(name)).map_err(failed)?;
        std::fs::File::open(directory).and_then(|names| names.sync_all()).map_err(failed)
    }
}

/// Why something of the leader did not come.
enum Fault {
    /// The connection, or the leader for now: it is tried again.
    Later(String),
    /// It will not come.
    Never(String),
}

/// The names of the models of a leader that learn, waiting for it to answer.
pub fn models_of(leader: &Leader, stop: &dyn Fn() -> bool) -> Result<Vec<String>, String> {
    let connection = Connection::new(leader, "");
    let found = patiently(stop, || connection.json("/v1/models"))?;
    let models = found["models"].as_array().cloned().unwrap_or_default();
    let learning = models.iter().filter(|model| model["learns"] == true);
    Ok(learning.filter_map(|model| model["name"].as_str().map(str::to_owned)).collect())
}

/// Tries until it succeeds, or never will.
fn patiently<T>(
    stop: &dyn Fn() -> bool,
    mut work: impl FnMut() -> Result<T, Fault>,
) -> Result<T, String> {
    let mut pause = PAUSES[0];
    loop {
        match work() {
            Ok(done) => return Ok(done),
            Err(Fault::Never(words)) => return Err(words),
            Err(Fault::Later(words)) if stop() => return Err(words),
            Err(Fault::Later(words)) => {
                tracing::warn!(why = words, "the leader does not answer");
                std::thread::sleep(pause);
                pause = (pause * 2).min(PAUSES[1]);
            }
        }
    }
}

/// Prepares the directory of a new follower: the newest snapshot of the leader, or its first record. A directory that has a log
/// is left as it is.
pub fn prepare(
    leader: &Leader,
    name: &str,
    policy: &Policy,
    stop: &dyn Fn() -> bool,
) -> Result<(), OpenError> {
    let directory: PathBuf = policy.data.join(name);
    let has_log = || {
        let names = std::fs::read_dir(&directory).ok()?;
        let is_segment = |name: &str| name.starts_with("log-");
        names.flatten().find(|entry| entry.file_name().to_str().is_some_and(is_segment))
    };
    if has_log().is_some() {
        return Ok(());
    }
    let failed = |words: String| OpenError::Other(words);
    let connection = Connection::new(leader, name);
    let origin = patiently(stop, || connection.json(&format!("/v1/models/{name}/log/origin")));
    let origin = origin.map_err(failed)?;
    let log = origin["log"].as_str().and_then(|text| u128::from_str_radix(text, 16).ok());
    let log = log.ok_or_else(|| failed(format!("{}: has no log", leader.url)))?;
    if origin["arithmetic"] != policy.arithmetic {
        return Err(failed(format!(
            "{}: the leader computes with arithmetic {}, and this program with {}; use the same version",
            leader.url, origin["arithmetic"], policy.arithmetic
        )));
    }
    let snapshot = origin["snapshot"]["epoch"].as_u64().zip(origin["snapshot"]["seq"].as_u64());
    let (epoch, after) = snapshot.map_or((1, 0), |(epoch, seq)| (epoch as u32, seq));
    if let Some((epoch, seq)) = snapshot {
        patiently(stop, || connection.snapshot(&directory, (epoch as u32, seq))).map_err(failed)?;
    }
    let capacity = policy.segment_bytes;
    let header = Header {
        log,
        arithmetic: ARITHMETIC,
        epoch,
        previous: 0,
        first: after + 1,
        time: 0,
        capacity,
    };
    Log::start_copy(&directory, &header)?;
    Ok(())
}

/// Copies the first record of a log that has none, so that a model can be opened.
pub fn first_record(
    leader: &Leader,
    name: &str,
    policy: &Policy,
    stop: &dyn Fn() -> bool,
) -> Result<(), OpenError> {
    let options = LogOptions {
        segment_bytes: policy.segment_bytes,
        arithmetic: policy.arithmetic,
        ..LogOptions::default()
    };
    let log = Log::open(&policy.data.join(name), options)?;
    if log.opened().last > 0 {
        return Ok(());
    }
    let connection = Connection::new(leader, name);
    let path = format!("/v1/models/{name}/log?after=0");
    let (_, body) = patiently(stop, || connection.fetch(&path)).map_err(OpenError::Other)?;
    let start = body.iter().position(|&b| b == b'\n').map_or(body.len(), |at| at + 1);
    let broken = || OpenError::Other(format!("{}: the first record is damaged", leader.url));
    let (record, _) = decode_frame(&mut &body[start..]).ok_or_else(broken)?;
    let parsimon_log::Content::Data { kind, payload } = record.content else {
        return Err(broken());
    };
    let ticket = log.append_copy(kind, payload, record.time);
    let ticket = ticket.map_err(|e| OpenError::Append(e.to_string()))?;
    log.wait_durable(ticket.seq).map_err(|e| OpenError::Append(e.to_string()))
}

/// A thread that follows; it ends when this is dropped.
pub struct FollowerThread {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for FollowerThread {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Lets a model follow its leader. `None` if the model was promoted before: it goes on as a leader.
pub fn follow(model: &Arc<Model>, leader: &Leader) -> Result<Option<FollowerThread>, OpenError> {
    let learning = model.learner().map_err(|e| OpenError::Other(e.message().to_owned()))?;
    let promoted_to = learning.promoted_to();
    if promoted_to.is_some_and(|epoch| learning.epoch() >= epoch) {
        return Ok(None);
    }
    learning.begin_following(&leader.url);
    if promoted_to.is_some() {
        // The process ended in the middle of it.
        learning.promote_follower().map_err(|e| OpenError::Other(e.message().to_owned()))?;
        return Ok(None);
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let (own, model, leader, name) =
        (is_over.clone(), model.clone(), leader.clone(), model.name().to_owned());
    let spawned = std::thread::Builder::new().name(format!("follow {name}"));
    let thread = spawned
        .spawn(move || run(&model, &Connection::new(&leader, &name), &own))
        .map_err(|e| OpenError::Other(format!("a thread cannot be started: {e}")))?;
    Ok(Some(FollowerThread { is_over, thread: Some(thread) }))
}

/// Follows until the process ends, the follower is promoted, or the leader's log contradicts this one.
fn run(model: &Model, connection: &Connection, is_over: &AtomicBool) {
    let Ok(learning) = model.learner() else { return };
    let mut pause = PAUSES[0];
    let mut known = None;
    while !is_over.load(Ordering::Relaxed) {
        let Some(following) = learning.following() else { return };
        let pulled = pull(model, connection, &mut known);
        let mut trouble = following.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        match pulled {
            Ok(()) => {
                *trouble = None;
                pause = PAUSES[0];
            }
            Err(NotTaken::Ended) => return,
            Err(NotTaken::Never(words)) => {
                tracing::error!(model = model.name(), words, "following has ended");
                *trouble = Some(words);
                return;
            }
            Err(NotTaken::Later(words)) => {
                tracing::debug!(model = model.name(), words, "following waits");
                *trouble = Some(words);
                drop(trouble);
                std::thread::sleep(pause);
                pause = (pause * 2).min(PAUSES[1]);
            }
        }
    }
}

/// Asks for records once, and takes them in. `known` is the last durable record and its checksum, if it was received by this process.
fn pull(
    model: &Model,
    connection: &Connection,
    known: &mut Option<(u64, u64)>,
) -> Result<(), NotTaken> {
    let fault = |fault| match fault {
        Fault::Later(words) => NotTaken::Later(words),
        Fault::Never(words) => NotTaken::Never(words),
    };
    let learning = model.learner().map_err(NotTaken::from)?;
    // Records that are reported to the leader are durable here.
    let after = learning.last_durable().map_err(NotTaken::Never)?;
    let sum = match *known {
        Some((seq, sum)) if seq == after => sum,
        _ => learning.sum_of(after).map_err(NotTaken::Never)?,
    };
    let (name, epoch, wait) = (&connection.model, learning.epoch(), WAIT.as_millis());
    let path = format!("/v1/models/{name}/log?after={after}&sum={sum}&epoch={epoch}&wait={wait}");
    let (_, body) = connection.fetch(&path).map_err(fault)?;
    let head = body.iter().position(|&b| b == b'\n').unwrap_or(body.len());
    let broken = || NotTaken::Later("the answer of the leader is damaged".into());
    let about: Value = serde_json::from_slice(&body[..head]).map_err(|_| broken())?;
    if about["log"].as_str() != Some(&learning.log_id()) {
        return Err(NotTaken::Never(format!(
            "{}: has another log than this follower; start it with an empty directory",
            connection.leader.url
        )));
    }
    let mut rest = body.get(head + 1..).unwrap_or_default();
    while !rest.is_empty() {
        let (record, sum) = decode_frame(&mut rest).ok_or_else(broken)?;
        loop {
            let mut fetch = |place| match connection.snapshot(&learning.directory(), place) {
                Ok(()) => Ok(()),
                Err(Fault::Later(words) | Fault::Never(words)) => Err(words),
            };
            match learning.copy(&record, &mut fetch) {
                Ok(()) => break,
                // The disk or the learner is behind.
                Err(NotTaken::Later(words)) => {
                    if learning.stopped().is_some() || learning.following().is_none() {
                        return Err(NotTaken::Later(words));
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(error),
            }
        }
        *known = Some((record.seq, sum));
    }
    let durable = about["durable"].as_u64().unwrap_or(0);
    learning.noted(durable);
    let marks = about["marks"].as_array().cloned().unwrap_or_default();
    let marks = marks.iter().filter_map(|mark| {
        Some((mark[0].as_u64()?, u64::from_str_radix(mark[1].as_str()?, 16).ok()?))
    });
    learning.compare(&marks.collect::<Vec<_>>()).map_err(NotTaken::Never)
}
