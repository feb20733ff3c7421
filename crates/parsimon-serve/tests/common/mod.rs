//! A server in this process, and a client that speaks just enough HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parsimon::data::{Input, Labels, Options, Reading};
use parsimon::{InputSchema, LearnerOptions, Plan, Spec, Trainer, run};
use parsimon_serve::{Access, Limits, Model, Policy, Server, Service, Source};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(30);

/// A server that ends, in order, when it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) vw: Option<SocketAddr>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    pub(crate) fn new(models: Vec<Model>) -> Self {
        Self::with(models, Limits::default())
    }

    pub(crate) fn with(models: Vec<Model>, limits: Limits) -> Self {
        Self::start(models, limits, Access::default(), false)
    }

    pub(crate) fn start(models: Vec<Model>, limits: Limits, access: Access, vw: bool) -> Self {
        Self::of(models.into_iter().map(Arc::new).collect(), limits, access, vw)
    }

    pub(crate) fn of(models: Vec<Arc<Model>>, limits: Limits, access: Access, vw: bool) -> Self {
        let service = Arc::new(Service::new(models, limits, access));
        let mut server = Server::bind("127.0.0.1:0".parse().unwrap(), service).unwrap();
        if vw {
            server = server.with_vw_port(0, None).unwrap();
        }
        let vw = server.vw_address();
        let address = server.address().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let thread = std::thread::spawn(move || {
            server.run(async move {
                let _ = stopped.await;
            })
        });
        Self { address, vw, stop: Some(stop), thread: Some(thread) }
    }

    /// Asks the server to end, and waits for it.
    pub(crate) fn end(mut self) {
        self.finish();
    }

    fn finish(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, content_type: &str, body: &str) -> Answer {
        self.send("POST", path, &[("content-type", content_type)], body.as_bytes())
    }

    pub(crate) fn json(&self, path: &str, body: &str) -> Answer {
        self.post(path, "application/json", body)
    }

    /// Sends a request again while the log prepares its next segment, as a client does.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let begun = Instant::now();
        loop {
            let answer = send(self.address, method, path, headers, body).unwrap();
            if answer.status != 429 || begun.elapsed() > PATIENCE {
                return answer;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.finish();
        }
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {:?}", self.text()))
    }

    /// The body of an answer that must be a success.
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.value()
    }

    /// The error of an answer that must have this status.
    pub(crate) fn refused(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        self.value()["error"].as_str().unwrap().to_owned()
    }
}

/// One request on a new connection.
pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        head += &format!("host: {address}\r\n");
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    // A server that refuses a body may have closed its side already.
    let _ = stream.write_all(body);
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n");
    let end = end.ok_or(std::io::ErrorKind::UnexpectedEof)?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let body = bytes[end + 4..].to_vec();
    Ok(Answer { status, head, body })
}

/// A source without any rows: logistic loss, hashed names.
pub(crate) fn fresh(spec: Spec) -> Source {
    let settings = Box::new(spec.resolve().unwrap());
    let classes = settings.classes().map(<[String]>::to_vec).unwrap_or_default();
    let found = parsimon::survey::Found { classes, ..Default::default() };
    let schema = Box::new(InputSchema { bits: Some(18), found, ..Default::default() });
    let options = LearnerOptions { storage: schema.storage(), ..LearnerOptions::default() };
    Source::Fresh { settings, options, schema, finds_kinds: false }
}

/// A model that learns in a directory.
pub(crate) fn learning(data: &Path) -> Model {
    Model::learning("m", &fresh(Spec::new("ftrl")), policy(data)).unwrap()
}

/// Small segments, and no snapshot unless it is asked for.
pub(crate) fn policy(data: &Path) -> Policy {
    Policy { segment_bytes: 1 << 20, ..Policy::new(data) }
}

/// A trained learner of six rows with ids.
pub(crate) fn trained() -> Trainer {
    let bytes = b"1 1:1 3:0.5\n-1 2:1\n1 1:1\n-1 2:1 3:0.1\n".repeat(20);
    let input = Input::Bytes { name: "clicks.svm".into(), bytes };
    let settings = Spec::new("ftrl").set("l1", 0.1).resolve().unwrap();
    let mut trainer =
        Trainer::new(settings, LearnerOptions::default(), InputSchema::default()).unwrap();
    let plan = Plan::new(
        vec![input],
        Options::from(Reading { labels: Labels::binary(), ..Reading::default() }),
    );
    run(&mut trainer, &plan, &mut ()).unwrap();
    trainer
}

/// A generated row as JSON: its label follows from its features.
pub(crate) fn row(k: u64) -> String {
    let (site, user) = (k * 7 % 13, k * 31 % 101);
    let label = u8::from((site + user) % 3 == 0);
    format!(
        "{{\"id\":\"r{k}\",\"label\":{label},\"site\":\"s{site}\",\"user\":\"u{user}\",\"age\":{}}}",
        k % 50
    )
}

/// Rows on lines.
pub(crate) fn rows(range: std::ops::Range<u64>) -> String {
    range.map(|k| row(k) + "\n").collect()
}
