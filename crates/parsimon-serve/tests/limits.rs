//! Requests and connections beyond what the service takes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use parsimon_serve::{Access, Limits};
use serde_json::json;

use crate::common::{Running, learning};

const SCORE: &str = "/v1/models/m/score";

#[test]
fn parameters_and_hosts_that_are_not_clear_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    let refused = server.json("/v1/models/m/score?explian", r#"{"x":1}"#).refused(400);
    assert_eq!(refused, "the parameter \"explian\" is unknown; known: explain");
    let refused = server.get("/metrics?x=1").refused(400);
    assert_eq!(refused, "the parameter \"x\" is unknown: the address has none");
    server.json("/v1/models/m/score?explain=true", r#"{"x":1}"#).ok();
    let raw = |head: &str| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(format!("{head}connection: close\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let two = raw("GET /v2/health/live HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n");
    assert!(two.starts_with("HTTP/1.1 400") && two.contains("two Host headers"), "{two}");
    let other = raw("GET http://a.example/v2/health/live HTTP/1.1\r\nhost: localhost\r\n");
    assert!(other.starts_with("HTTP/1.1 400") && other.contains("differ"), "{other}");
    let same = raw("GET http://localhost/v2/health/live HTTP/1.1\r\nhost: localhost\r\n");
    assert!(same.starts_with("HTTP/1.1 200"), "{same}");
}

#[test]
fn compressed_bodies_are_read_within_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { body: 10_000, ..Limits::default() };
    let server = Running::with(vec![learning(folder.path())], limits);
    let gzip = |text: &[u8]| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    };
    let send = |encoding: &str, body: &[u8]| {
        let headers = [("content-type", "text/x-vw"), ("content-encoding", encoding)];
        server.send("POST", "/v1/models/m/learn?ack=visible", &headers, body)
    };
    assert_eq!(send("gzip", &gzip(b"1 |a b\n")).ok()["learned"], json!(1));
    assert_eq!(send("gzip", &gzip(&b"1 |a b\n".repeat(2000))).status, 413);
    assert_eq!(send("br", b"x").status, 415);
    assert_eq!(server.get("/v1/models/m").ok()["rows"], json!(1));
}

#[test]
fn the_columns_of_mlflow_are_rows() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    let rows = server.json("/invocations", r#"{"inputs":[{"site":"a"},{"site":"b"}]}"#).ok();
    let columns = server.json("/invocations", r#"{"inputs":{"site":["a","b"]}}"#).ok();
    assert_eq!(columns["predictions"].as_array().unwrap().len(), 2);
    assert_eq!(rows, columns);
    let uneven = server.json("/invocations", r#"{"inputs":{"a":[1,2],"b":[1]}}"#);
    assert!(uneven.refused(400).contains("has 1 cells instead of 2"));
}

#[test]
fn idle_sockets_lock_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { connections: 4, connections_of_address: 4, ..Limits::default() };
    let server = Running::start(vec![learning(folder.path())], limits, Access::default(), true);
    let connect = |address| TcpStream::connect(address).unwrap();
    let mut idle: Vec<TcpStream> = (0..40).map(|_| connect(server.address)).collect();
    // A head that never ends is no request either.
    idle.iter_mut().skip(30).for_each(|stream| {
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nhost: local");
    });
    for _ in 0..20 {
        server.json(SCORE, r#"{"x":1}"#).ok();
        idle.push(connect(server.address));
    }
    assert_eq!(server.get("/v2/health/live").status, 200);
    let _idle: Vec<TcpStream> = (0..40).map(|_| connect(server.vw.unwrap())).collect();
    let (mut stream, mut bytes) = (connect(server.vw.unwrap()), [0; 9]);
    stream.write_all(b"|a b\n").unwrap();
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"0.500000\n");
}

#[test]
fn requests_at_work_leave_places_for_health_checks() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { connections: 4, connections_of_address: 4, ..Limits::default() };
    let server = Running::with(vec![learning(folder.path())], limits);
    // Their bodies do not come.
    let open = || {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let head = format!("POST {SCORE} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let mut busy: Vec<TcpStream> = (0..4).map(|_| open()).collect();
    let begun = Instant::now();
    while server.get("/v1/models").status == 200 {
        // A connection whose head has not been read yet may have left for this one.
        busy.push(open());
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
    assert_eq!(server.get("/v2/health/live").status, 200);
    assert_eq!(server.get("/metrics").status, 200);
    assert!(server.json(SCORE, r#"{"x":1}"#).refused(503).contains("too many connections"));
    drop(busy);
    while server.json(SCORE, r#"{"x":1}"#).status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(40));
    }
}

#[test]
fn rows_are_counted_before_they_are_parsed() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { rows: 100, ..Limits::default() };
    let server = Running::with(vec![learning(folder.path())], limits);
    let many = [
        ("text/x-vw", "|\n".repeat(200)),
        ("application/x-ndjson", "{}\n".repeat(200)),
        ("application/json", format!("[{}{{}}]", "{},".repeat(200))),
        ("text/csv", "a,b\n".to_owned() + &"1,\"x\ny\"\n".repeat(200)),
    ];
    for (content_type, body) in many {
        let refused = server.post(SCORE, content_type, &body).refused(413);
        assert!(refused.contains("rows exceed the limit of 100"), "{content_type}: {refused}");
    }
    let labels = "{\"id\":1,\"label\":1}\n".repeat(200);
    let refused = server.post("/v1/models/m/label", "application/x-ndjson", &labels).refused(413);
    assert!(refused.contains("200 rows exceed the limit of 100"), "{refused}");
    // Line breaks in quotes are no rows.
    let quoted = "a,b\n".to_owned() + &format!("1,\"{}\"\n", "x\n".repeat(100)).repeat(50);
    server.post(SCORE, "text/csv", &quoted);
    assert_eq!(server.post(SCORE, "text/csv", &quoted).status, 200);
}

#[test]
fn products_are_counted_before_they_are_made() {
    use parsimon::Spec;
    use parsimon_serve::{Model, Source};

    use crate::common::{fresh, policy};

    let folder = tempfile::tempdir().unwrap();
    let Source::Fresh { settings, options, mut schema, .. } = fresh(Spec::new("ftrl")) else {
        unreachable!()
    };
    schema.interactions = vec![vec!["a".to_owned(), "b".to_owned()]];
    let source = Source::Fresh { settings, options, schema, finds_kinds: false };
    let model = Model::learning("m", &source, policy(folder.path())).unwrap();
    let server = Running::with(vec![model], Limits { features: 1000, ..Limits::default() });
    let row = |n: usize| {
        let words = |c: char| (0..n).map(|k| format!(" {c}{k}")).collect::<String>();
        format!("1 |a{} |b{}\n", words('a'), words('b'))
    };
    let learn = "/v1/models/m/learn?ack=visible";
    server.post(learn, "text/x-vw", &row(20)).ok();
    let refused = server.post(learn, "text/x-vw", &row(40)).refused(413);
    assert!(refused.contains("interactions are 1600 features, more than 1000"), "{refused}");
}

#[test]
fn metrics_have_one_head_and_one_value_for_each_series() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str| {
        use crate::common::{fresh, policy};
        let source = fresh(parsimon::Spec::new("ftrl"));
        parsimon_serve::Model::learning(name, &source, policy(folder.path())).unwrap()
    };
    let server = Running::new(vec![open("m"), open("n")]);
    server.json(SCORE, r#"{"x":1}"#).ok();
    let text = server.get("/metrics").text().to_owned();
    let (mut seen, mut family) = (std::collections::HashSet::new(), String::new());
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("# ") {
            let mut words = head.split(' ');
            let (kind, name) = (words.next().unwrap(), words.next().unwrap());
            assert!(seen.insert(format!("{kind} {name}")), "twice: {line}");
            family = name.to_owned();
        } else {
            let series = line.rsplit_once(' ').unwrap().0;
            assert!(seen.insert(series.to_owned()), "twice: {line}");
            assert!(series.starts_with(&family), "{line} below {family}");
        }
    }
    for name in
        ["parsimon_memory_limit_bytes", "parsimon_request_memory_bytes", "parsimon_max_rows"]
    {
        assert!(text.contains(&format!("\n{name} ")), "{name}");
    }
    assert!(text.contains("parsimon_id_bytes{model=\"n\",of=\"ids\"}"));
}

#[test]
fn a_client_that_does_not_read_loses_its_connection() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { patience: Duration::from_millis(300), ..Limits::default() };
    let server = Running::start(vec![learning(folder.path())], limits, Access::default(), true);
    let rows = "{\"x\":1}\n".repeat(20_000);
    let request = format!(
        "POST {SCORE} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\ncontent-length: {}\r\n\r\n{rows}",
        rows.len()
    );
    for (address, text) in
        [(server.address, request), (server.vw.unwrap(), "|a b\n".repeat(20_000))]
    {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
        let begun = Instant::now();
        let error = loop {
            if let Err(error) = stream.write_all(text.as_bytes()) {
                break error;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "the connection stays open");
        };
        // The service has closed it; the write did not time out here.
        assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "{error}");
    }
}

#[test]
fn connections_to_the_vw_port_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { connections_of_address: 2, ..Limits::default() };
    let server = Running::start(vec![learning(folder.path())], limits, Access::default(), true);
    let answer = |stream: &mut TcpStream| {
        let mut bytes = [0; 9];
        stream.write_all(b"|a b\n").and_then(|()| stream.read_exact(&mut bytes)).map(|()| bytes)
    };
    let mut open: Vec<TcpStream> =
        (0..2).map(|_| TcpStream::connect(server.vw.unwrap()).unwrap()).collect();
    for stream in &mut open {
        assert_eq!(&answer(stream).unwrap(), b"0.500000\n");
    }
    // The one that has been idle for longer leaves.
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(&answer(&mut open[1]).unwrap(), b"0.500000\n");
    let mut third = TcpStream::connect(server.vw.unwrap()).unwrap();
    assert_eq!(&answer(&mut third).unwrap(), b"0.500000\n");
    assert!(answer(&mut open[0]).is_err());
    assert_eq!(&answer(&mut open[1]).unwrap(), b"0.500000\n");
}

#[test]
fn the_port_is_open_while_models_are_opened_and_until_the_drain_is_over() {
    use std::sync::Arc;

    use parsimon_serve::{Server, Service};

    use crate::common::send;

    let folder = tempfile::tempdir().unwrap();
    let service = Arc::new(Service::opening(Limits::default(), Access::default()));
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), service.clone()).unwrap();
    let server = server.with_drain(Duration::from_millis(1500));
    let address = server.address().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = std::thread::spawn(move || {
        server.run(async move {
            let _ = stopped.await;
        })
    });
    let status = |method: &str, path: &str, body: &[u8]| {
        send(address, method, path, &[], body).map(|answer| answer.status)
    };
    let row = br#"{"x":1}"#;
    let states = || {
        let get = |path: &str| status("GET", path, b"").unwrap();
        [get("/v2/health/live"), get("/v2/health/ready"), status("POST", SCORE, row).unwrap()]
    };
    assert_eq!(states(), [200, 503, 503]);
    service.set_models(vec![Arc::new(learning(folder.path()))]);
    assert_eq!(states(), [200, 200, 200]);
    drop(stop);
    let begun = Instant::now();
    while status("GET", "/v2/health/ready", b"").unwrap() == 200 {
        assert!(begun.elapsed() < Duration::from_secs(1));
    }
    assert_eq!(status("POST", SCORE, row).unwrap(), 200);
    running.join().unwrap().unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(1400));
    assert!(status("GET", "/v2/health/live", b"").is_err());
}
