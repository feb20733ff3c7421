//! Requests to a service in this process, without a socket.

use std::cell::RefCell;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use parsimon::survey::Found;
use parsimon::{InputSchema, LearnerOptions, Spec};
use parsimon_serve::{Access, Limits, Model, Policy, Service, Source, router};
use serde_json::Value;
use tower::ServiceExt;

use crate::Outcome;

const TYPES: [&str; 8] = [
    "application/json",
    "application/x-ndjson",
    "text/x-vw",
    "text/x-svmlight",
    "text/csv",
    "text/tab-separated-values",
    "application/x-www-form-urlencoded",
    "text/html",
];

/// Learning waits until the rows are in the model, so that a later refusal is known to have changed nothing.
const PATHS: [&str; 8] = [
    "/v1/models/m/learn?ack=visible",
    "/v1/models/m/score",
    "/v1/models/m/score?explain",
    "/v1/models/m/label",
    "/v1/models/m/rollback",
    "/v1/models/m/learn?partial&ack=visible",
    "/v2/models/m/infer",
    "/invocations",
];

struct Running {
    runtime: tokio::runtime::Runtime,
    router: Router,
    _folder: tempfile::TempDir,
}

impl Running {
    fn new() -> Self {
        // Syncs cost nothing in memory.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let schema = InputSchema { bits: Some(12), found: Found::default(), ..Default::default() };
        let options = LearnerOptions { storage: schema.storage(), ..LearnerOptions::default() };
        let settings = Box::new(Spec::new("ftrl").resolve().unwrap());
        let source =
            Source::Fresh { settings, options, schema: Box::new(schema), finds_kinds: false };
        let policy = Policy { segment_bytes: 1 << 20, ..Policy::new(folder.path()) };
        let model = Model::learning("m", &source, policy).unwrap();
        let limits = Limits { body: 4096, ..Limits::default() };
        let service = Service::new(vec![Arc::new(model)], limits, Access::default());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let running = Self { runtime, router: router(Arc::new(service)), _folder: folder };
        let rows: String = (0..30)
            .map(|k| format!("{{\"id\":\"r{k}\",\"label\":{},\"site\":\"s{}\"}}\n", k % 2, k % 7))
            .collect();
        let (status, _) = running.send("POST", PATHS[0], TYPES[1], rows.as_bytes());
        assert_eq!(status, 200);
        running
    }

    fn send(&self, method: &str, path: &str, content: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let request = Request::builder().method(method).uri(path).header("host", "localhost");
        let request = request.header("content-type", content).body(Body::from(body.to_vec()));
        self.runtime.block_on(async {
            let answer = self.router.clone().oneshot(request.unwrap()).await.unwrap();
            let status = answer.status().as_u16();
            (status, answer.into_body().collect().await.unwrap().to_bytes().to_vec())
        })
    }

    /// The rows learned and the digest of the weights.
    fn state(&self) -> (Value, Value) {
        let (status, body) = self.send("GET", "/v1/models/m?digest", TYPES[0], b"");
        assert_eq!(status, 200);
        let mut about: Value = serde_json::from_slice(&body).unwrap();
        (about["rows"].take(), about["digest"].take())
    }
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let seed = |path: u8, content: u8, body: &str| [&[path, content], body.as_bytes()].concat();
    let all = vec![
        seed(0, 0, "[{\"id\":\"q\",\"label\":1,\"a\":\"b\"},{\"label\":0,\"n\":{\"x\":1}}]"),
        seed(0, 1, "{\"label\":1,\"site\":\"s1\",\"n\":2}\n{\"label\":0,\"n\":1}\n"),
        seed(0, 2, "1 2 'tag|a:2 b:1 c|d e\n-1 |a b\n"),
        seed(5, 4, "label,a,\"b\"\"c\"\n1,2,x\n0,,\"y z\"\n"),
        seed(1, 0, "{\"id\":\"z\",\"site\":\"s1\",\"n\":2}"),
        seed(1, 2, "|a b c:2\n|d e\n"),
        seed(2, 0, "[{\"site\":\"s1\"},{\"site\":\"s2\",\"k\":3}]"),
        seed(3, 1, "{\"id\":\"r1\",\"label\":1}\n"),
        seed(
            6,
            0,
            "{\"inputs\":[{\"name\":\"rows\",\"datatype\":\"BYTES\",\"shape\":[1],\"data\":[\"1 |a b\"]}]}",
        ),
        seed(7, 0, "{\"dataframe_records\":[{\"site\":\"s1\",\"n\":1}]}"),
        seed(
            7,
            0,
            "{\"dataframe_split\":{\"columns\":[\"site\",\"n\"],\"data\":[[\"s1\",1],[\"s2\",2]]}}",
        ),
    ];
    let taken: Vec<_> = all.into_iter().filter(|seed| run(seed) == Outcome::Accepted).collect();
    assert!(taken.len() > 5, "the service refuses most seeds");
    taken
}

pub(crate) fn run(bytes: &[u8]) -> Outcome {
    let &[path, content, ref body @ ..] = bytes else { return Outcome::Unrecognized };
    let path = PATHS[usize::from(path) % PATHS.len()];
    let content = TYPES[usize::from(content) % TYPES.len()];
    RUNNING.with_borrow_mut(|running| {
        let running = running.get_or_insert_with(Running::new);
        let before = running.state();
        let (status, answer) = running.send("POST", path, content, body);
        let after = || running.state();
        let text = || String::from_utf8_lossy(&answer).into_owned();
        match status {
            200 => Outcome::Accepted,
            400 | 404 | 409 | 413 | 415 | 422 => {
                let value: Value = serde_json::from_slice(&answer).unwrap_or_default();
                assert!(value["error"].is_string(), "{status} for {path}: {}", text());
                assert_eq!(after(), before, "refused, and the state has changed: {path}");
                let is_syntax =
                    status == 415 || value["error"].as_str().is_some_and(|e| e.contains("JSON"));
                if is_syntax { Outcome::Unrecognized } else { Outcome::Refused }
            }
            status => panic!("{status} for {path}: {}", text()),
        }
    })
}
