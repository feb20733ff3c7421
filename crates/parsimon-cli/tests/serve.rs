//! The service as a process: killed, started again, asked to end.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use parsimon_testing::SplitMix64;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_parsimon");

/// A process that serves the model `m` of a directory.
pub(crate) struct Served {
    child: Child,
    /// What it has written since it listens.
    said: Arc<Mutex<String>>,
    pub(crate) address: SocketAddr,
}

impl Served {
    pub(crate) fn start(data: &Path, more: &[&str]) -> Self {
        let mut command = Command::new(PROGRAM);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--segment-bytes", "1e6", "--data"])
            .arg(data);
        command
            .args(["--model", "m", "-a", "ftrl", "--loss", "logistic", "-b", "16"])
            .args(["--kinds", "cell"])
            .args(more);
        Self::of(command)
    }

    /// A follower of another process.
    pub(crate) fn following(data: &Path, leader: &str) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(["serve", "--listen", "127.0.0.1:0", "--segment-bytes", "1e6", "--data"]);
        command.arg(data).args(["--follow", leader]);
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut seen = String::new();
        let address = loop {
            let Some(Ok(line)) = lines.next() else { panic!("the service did not start: {seen}") };
            if let Some(address) = line.strip_prefix("listening at http://") {
                break address.parse().unwrap();
            }
            seen += &line;
        };
        // What it says later must not fill the pipe.
        let said = Arc::new(Mutex::new(String::new()));
        let saying = said.clone();
        std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| *saying.lock().unwrap() += &(line + "\n"));
        });
        Self { child, said, address }
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
        send(self.address, method, path, body)
    }

    pub(crate) fn ok(&self, method: &str, path: &str, body: &str) -> Value {
        let (status, value) = self.send(method, path, body).unwrap();
        assert_eq!(status, 200, "{value}");
        value
    }

    /// Waits until `rows` rows are learned: a durable row is acknowledged before the scores show it.
    pub(crate) fn wait_for_rows(&self, rows: u64) {
        for _ in 0..600 {
            if self.ok("GET", "/v1/models/m", "")["rows"] == rows {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{} instead of {rows} rows", self.ok("GET", "/v1/models/m", "")["rows"]);
    }

    pub(crate) fn digest(&self) -> Value {
        self.ok("GET", "/v1/models/m?digest", "")["digest"]["digest"].clone()
    }

    /// Ends the process without a warning.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the process to end, and gives its exit code.
    pub(crate) fn terminate(mut self) -> i32 {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap()
    }
}

// A service that outlived a failed test would hold the pipe that the caller of the tests reads to its end.
impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request; `None` if the server is gone.
pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: &str,
) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/x-ndjson\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, serde_json::from_str(body).ok()?))
}

pub(crate) fn row(k: u64) -> String {
    let (site, user) = (k * 7 % 13, k * 31 % 101);
    let label = u8::from((site + user) % 3 == 0);
    format!(
        "{{\"id\":\"r{k}\",\"label\":{label},\"site\":\"s{site}\",\"user\":\"u{user}\",\"x\":{}}}",
        k % 50
    )
}

/// Runs the program to its end.
pub(crate) fn program(args: &[&str]) -> (bool, String, String) {
    let output = Command::new(PROGRAM).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill() {
    kill_and_look(100);
}

/// `cargo test -p parsimon-cli --test all serve:: -- --ignored`
#[test]
#[ignore = "takes several minutes"]
fn what_was_acknowledged_is_there_after_a_thousand_kills() {
    kill_and_look(1000);
}

fn kill_and_look(rounds: u64) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    // Some rounds write snapshots while they learn.
    let snapshots = ["--snapshot-every", "150"];
    let mut random = SplitMix64::new(5);
    let next = AtomicU64::new(0);
    // Rows by the record that acknowledged them.
    let acknowledged = Mutex::new(BTreeMap::<u64, u64>::new());
    for round in 0..rounds {
        let served = Served::start(&data, if round % 2 == 0 { &snapshots } else { &[] });
        let address = served.address;
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    loop {
                        let size = 1 + next.load(Ordering::Relaxed) % 4;
                        let first = next.fetch_add(size, Ordering::Relaxed);
                        let body: String = (first..first + size).map(|k| row(k) + "\n").collect();
                        let path = "/v1/models/m/learn";
                        // A client that does not know whether it was heard sends again in the next round.
                        match send(address, "POST", path, &body) {
                            Some((200, answer)) => {
                                let seq = answer["seq"].as_u64().unwrap();
                                let mut acknowledged = acknowledged.lock().unwrap();
                                acknowledged.extend((first..first + size).map(|k| (k, seq)));
                            }
                            Some((status, answer)) => panic!("{status} {answer}"),
                            None => return,
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(20 + random.below(100)));
            served.kill();
        });
        // Every row that was acknowledged is known under its record.
        let served = Served::start(&data, &[]);
        let acknowledged = acknowledged.lock().unwrap();
        let body: String = acknowledged.keys().rev().take(40).map(|k| row(*k) + "\n").collect();
        if !body.is_empty() {
            let answer = served.ok("POST", "/v1/models/m/learn", &body);
            assert_eq!(answer["learned"], 0, "round {round}: {answer}");
            let seqs: Vec<_> = answer["duplicates"]
                .as_array()
                .unwrap()
                .iter()
                .map(|d| d["seq"].as_u64().unwrap())
                .collect();
            let expected: Vec<_> = acknowledged.values().rev().take(40).copied().collect();
            assert_eq!(seqs, expected, "round {round}");
        }
        served.kill();
    }
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() > 50, "{}", acknowledged.len());
    check_the_log(folder.path(), &acknowledged, next.into_inner());
}

/// Checks that the log has every acknowledged row once and no row that was not sent, and that its state is that of a service
/// without interruptions.
fn check_the_log(folder: &Path, acknowledged: &BTreeMap<u64, u64>, sent: u64) {
    let data = folder.join("data");
    let served = Served::start(&data, &[]);
    let live = served.digest();
    assert_eq!(served.terminate(), 0);
    let log = data.join("m");
    let log = log.to_str().unwrap();
    let (fine, rows, _) = program(&["log", "export", log]);
    assert!(fine);
    let ids: Vec<u64> = rows
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            row["id"].as_str().unwrap()[1..].parse().unwrap()
        })
        .collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), ids.len(), "a row was learned twice");
    assert!(acknowledged.keys().all(|k| sorted.binary_search(k).is_ok()));
    assert!(sorted.last().is_some_and(|k| *k < sent));
    // The state is that of a service that was never interrupted, and of the log learned again.
    let other = folder.join("other");
    let uninterrupted = Served::start(&other, &[]);
    for part in rows.lines().collect::<Vec<_>>().chunks(500) {
        uninterrupted.ok("POST", "/v1/models/m/learn?ack=visible", &part.join("\n"));
    }
    assert_eq!(uninterrupted.digest(), live);
    uninterrupted.kill();
    let (fine, _, words) = program(&["log", "replay", log]);
    assert!(fine && words.contains(live.as_str().unwrap()), "{words}");
    let (fine, words, _) = program(&["log", "verify", log]);
    assert!(fine && words.contains("records are whole"), "{words}");
}

#[test]
fn a_service_that_is_asked_to_end_leaves_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let served = Served::start(&data, &[]);
    let body: String = (0..200).map(|k| row(k) + "\n").collect();
    served.ok("POST", "/v1/models/m/learn", &body);
    // The directory is in use.
    let args =
        ["serve", "--listen", "127.0.0.1:0", "--model", "m", "--data", data.to_str().unwrap()];
    let (fine, _, words) = program(&args);
    assert!(!fine && words.contains("in use"), "{words}");
    let live = served.digest();
    assert_eq!(served.terminate(), 0);
    let log = data.join("m");
    let log = log.to_str().unwrap();
    let (_, found, _) = program(&["log", "inspect", log]);
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["snapshots"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["records"]["learn"]["rows"], 200);
    // A model without some rows, as if they had never come.
    let checkpoint = folder.path().join("c.psk");
    let (fine, _, words) = program(&[
        "log",
        "replay",
        log,
        "--without",
        "id=r0,r1,r2",
        "--without",
        "seq=900",
        "--checkpoint",
        checkpoint.to_str().unwrap(),
    ]);
    assert!(fine && words.contains("197 rows learned, 3 left out"), "{words}");
    let other = folder.path().join("other");
    let without = Served::start(&other, &[]);
    let body: String = (3..200).map(|k| row(k) + "\n").collect();
    without.ok("POST", "/v1/models/m/learn?ack=visible", &body);
    let digest = without.digest();
    assert!(words.contains(digest.as_str().unwrap()), "{words}");
    without.kill();
    let served = Served::start(&data, &[]);
    assert_eq!(served.digest(), live);
    served.kill();
    let (fine, _, words) = program(&["log", "verify", folder.path().to_str().unwrap()]);
    assert!(!fine && words.contains("there is no log"), "{words}");
}

#[test]
fn events_name_requests_and_models() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &["--verbosity", "debug"]);
    served.ok("POST", "/v1/models/m/learn", &row(1));
    served.ok("POST", "/v1/models/m/snapshot", "");
    served.ok("POST", "/v1/models/m/pause", "");
    let said = served.said.clone();
    assert_eq!(served.terminate(), 0);
    let said = said.lock().unwrap();
    for expected in [
        "op=\"learn\" model=\"m\" status=200",
        "INFO snapshot model=m",
        "learning is paused model=m seq=3 reason=\"by request\"",
        "open requests are answered",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(said.contains("request=\""), "{said}");
}

#[test]
fn flags_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let refused = |args: &[&str], expected: &str| {
        let (fine, _, words) = program(&[&["serve"], args].concat());
        assert!(!fine && words.contains(expected), "{args:?}: {words}");
    };
    let config = folder.path().join("serve.toml");
    let config = config.to_str().unwrap();
    for (text, expected) in [
        ("model = 'm'\nport = 3\n", "--port"),
        ("model = ['m']\nlisten = '127.0.0.1:0'\n", "needs --data"),
        ("listen = '127.0.0.1:0'\n", "required"),
        ("model = {a = 1}\n", "model: expected"),
        ("model = \n", "serve.toml"),
    ] {
        std::fs::write(config, text).unwrap();
        let (fine, _, words) = program(&["serve", "--config", config]);
        assert!(!fine && words.contains(expected), "{text}: {words}");
    }
    refused(&["--model", "m"], "needs --data");
    refused(&["--model", "m", "--data", data], "there is no model yet");
    refused(&["--model", "m", "--data", data, "-a", "ftrl"], "needs a loss");
    refused(&["--model", "m", "--data", data, "--multiclass"], "--classes");
    refused(&["--model", "../m=x"], "the name of a model");
    refused(&["--model", "m=/nowhere.psm"], "/nowhere.psm");
    refused(
        &["--model", "m", "--data", data, "--loss", "logistic", "--listen", "0.0.0.0:0"],
        "--tokens",
    );
    refused(
        &["--model", "m", "--data", data, "--loss", "logistic", "--snapshot-after", "soon"],
        "10m",
    );
}
