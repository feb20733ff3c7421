//! Statistics, alarms, events, and the page with its session.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use parsimon::Spec;
use parsimon_serve::{Access, Limits, Model, Policy};
use serde_json::{Value, json};

use crate::common::{Running, fresh, learning, policy, rows};

const LEARN: &str = "/v1/models/m/learn?ack=visible";

/// A connection that events come on.
struct Events(BufReader<TcpStream>);

impl Events {
    fn new(server: &Running) -> Self {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!("GET /v1/models/m/events HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
        stream.write_all(head.as_bytes()).unwrap();
        Self(BufReader::new(stream))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).unwrap() > 0, "the connection has ended");
        line.trim_end().to_owned()
    }

    /// The data of the next event of a kind.
    fn next(&mut self, kind: &str) -> Value {
        while self.line() != format!("event: {kind}") {}
        serde_json::from_str(self.line().strip_prefix("data: ").unwrap()).unwrap()
    }
}

#[test]
fn events_tell_all_and_then_news() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    server.post(LEARN, "application/x-ndjson", &rows(0..300)).ok();
    assert_eq!(server.post(LEARN, "application/json", "{\"label\":").status, 400);
    let mut events = Events::new(&server);
    let all = events.next("all");
    assert_eq!((&all["rows"], &all["is_binary"]), (&json!(300), &json!(true)));
    let sum = |of: &str| {
        all["periods"].as_array().unwrap().iter().map(|s| s[of].as_f64().unwrap()).sum::<f64>()
    };
    assert_eq!(sum("rows"), 300.0);
    let about = server.get("/v1/models/m").ok();
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
    near(sum("loss") / sum("weight"), about["progressive_loss"].as_f64().unwrap());
    near(sum("constant") / sum("weight"), about["constant_loss"].as_f64().unwrap());
    let labels = (0..300).filter(|k| (k * 7 % 13 + k * 31 % 101) % 3 == 0).count();
    near(sum("happened"), labels as f64);
    server.post(LEARN, "application/x-ndjson", &rows(300..400)).ok();
    // The weights that moved have names, and a refused request is counted.
    loop {
        let news = events.next("news");
        let moved = news["moved"].as_array().unwrap();
        let refused: f64 = news["periods"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["refused"].as_f64().unwrap())
            .sum();
        let is_named = |m: &Value| {
            ["site", "user", "age"].iter().any(|n| m["feature"].as_str().unwrap().contains(n))
        };
        if news["rows"] == json!(400) && moved.len() == 12 && refused == 1.0 {
            assert!(moved.iter().all(is_named), "{moved:?}");
            assert!(news["nonzeros"].as_u64().unwrap() > 12);
            break;
        }
    }
    let operations = &events.next("requests")["operations"];
    assert_eq!(
        operations["learn"].as_array().unwrap().iter().filter_map(Value::as_u64).sum::<u64>(),
        3
    );
    // A listener does not keep the service from ending.
    server.end();
}

#[test]
fn a_bounded_number_of_clients_listen() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    let mut all: Vec<Events> = (0..64).map(|_| Events::new(&server)).collect();
    all.iter_mut().for_each(|events| drop(events.next("all")));
    assert!(server.get("/v1/models/m/events").refused(503).contains("64 clients"));
    assert_eq!(server.get("/v1/models/other/events").status, 404);
}

/// Rows of which every `every`-th is positive.
fn labelled(every: u64) -> String {
    (0..60).map(|k| format!("{} |u f{k}\n", if k % every == 0 { 1 } else { -1 })).collect()
}

#[test]
fn another_label_rate_raises_an_alarm_and_a_rollback_forgets_the_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let policy = Policy { period: Duration::from_millis(30), ..policy(folder.path()) };
    let server =
        Running::new(vec![Model::learning("m", &fresh(Spec::new("ftrl")), policy).unwrap()]);
    let stream = || server.get("/v1/models/m").ok()["alarms"]["streams"][3].clone();
    let learn = |every| {
        server.post(LEARN, "text/x-vw", &labelled(every)).ok();
        std::thread::sleep(Duration::from_millis(5));
    };
    while stream()["watching"] != json!(true) {
        learn(10);
    }
    (0..300).for_each(|_| learn(10));
    assert_eq!(stream()["raised"], json!(0));
    while stream()["raised"] == json!(0) {
        learn(2);
    }
    let alarms = server.get("/v1/models/m").ok()["alarms"].clone();
    assert_eq!((&stream()["stream"], &stream()["present"]), (&json!("label_rate"), &json!(true)));
    let message =
        |a: &Value| a["message"].as_str().unwrap().starts_with("the label rate has risen from 0.1");
    assert!(alarms["latest"].as_array().unwrap().iter().any(message), "{alarms}");
    let metrics = server.get("/metrics");
    let has = |line: &str| assert!(metrics.text().lines().any(|l| l == line), "{line}");
    has("parsimon_alarm{model=\"m\",stream=\"label_rate\"} 1");
    has("parsimon_alarms_total{model=\"m\",stream=\"label_rate\"} 1");
    has("parsimon_alarm{model=\"m\",stream=\"refused_share\"} 0");
    let version = server.send("POST", "/v1/models/m/snapshot", &[], b"").ok()["version"].clone();
    server.json("/v1/models/m/rollback", &version.to_string()).ok();
    let mut events = Events::new(&server);
    assert_eq!(events.next("all")["reference"]["version"]["epoch"], json!(2));
}

#[test]
fn the_page_loads_nothing_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    for (path, kind) in
        [("/", "text/html"), ("/page.css", "text/css"), ("/page.js", "text/javascript")]
    {
        let answer = server.get(path);
        assert_eq!(answer.status, 200);
        let policy =
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';";
        assert!(answer.head.contains(kind) && answer.head.contains(policy), "{}", answer.head);
        assert!(!answer.head.contains("unsafe"));
        let text = answer.text().replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http://") && !text.contains("https://"), "{path}");
    }
    for path in ["/", "/v1/models/m/events"] {
        assert_eq!(server.send("GET", path, &[("host", "evil.example")], b"").status, 403);
        assert_eq!(server.send("GET", path, &[("origin", "http://evil.example")], b"").status, 403);
    }
}

#[test]
fn a_browser_signs_in_with_a_token() {
    let folder = tempfile::tempdir().unwrap();
    // printf %s secret | sha256sum
    let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    let access = Access::from_text(&format!("score sha256:{hash}")).unwrap();
    let server = Running::start(vec![learning(folder.path())], Limits::default(), access, false);
    assert_eq!(server.get("/").status, 200, "the page asks for the token");
    assert_eq!(server.get("/v1/models").status, 401);
    assert_eq!(server.get("/v1/models/m/events").status, 401);
    assert_eq!(server.json("/v1/session", r#"{"token": "wrong"}"#).status, 401);
    assert_eq!(server.json("/v1/session", r#"{"token": "a;b"}"#).status, 400);
    assert_eq!(server.json("/v1/session", r#"{"token": ""}"#).status, 400);
    let signed = server.json("/v1/session", r#"{"token": "secret"}"#);
    assert_eq!(
        signed.ok(),
        json!({"score": true, "learn": false, "download": false, "admin": false})
    );
    assert!(
        signed
            .head
            .contains("set-cookie: parsimon_token=secret; Path=/; HttpOnly; SameSite=Strict")
    );
    let host = server.address.to_string();
    let with = |origin: &str, path: &str, method: &str| {
        server
            .send(
                method,
                path,
                &[("cookie", "a=1; parsimon_token=secret"), ("origin", origin)],
                b"",
            )
            .status
    };
    assert_eq!(with(&format!("http://{host}"), "/v1/models", "GET"), 200);
    assert_eq!(with("http://evil.example", "/v1/models", "GET"), 403);
    assert_eq!(with(&format!("http://{host}"), "/v1/models/m/snapshot", "POST"), 403);
    let out = server.send("DELETE", "/v1/session", &[], b"");
    assert!(
        out.head.contains("parsimon_token=; ") && out.head.contains("Max-Age=0"),
        "{}",
        out.head
    );
}
