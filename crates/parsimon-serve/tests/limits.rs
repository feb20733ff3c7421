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
fn idle_sockets_leave_places_for_health_checks() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { connections: 4, connections_of_address: 4, ..Limits::default() };
    let server = Running::with(vec![learning(folder.path())], limits);
    let idle: Vec<TcpStream> =
        (0..4).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    let begun = Instant::now();
    while server.get("/v1/models").status == 200 {
        // The sockets are being accepted.
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
    assert_eq!(server.get("/v2/health/live").status, 200);
    assert_eq!(server.get("/metrics").status, 200);
    assert!(server.json(SCORE, r#"{"x":1}"#).refused(503).contains("too many connections"));
    drop(idle);
    while server.json(SCORE, r#"{"x":1}"#).status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(40));
    }
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
    assert!(answer(&mut TcpStream::connect(server.vw.unwrap()).unwrap()).is_err());
    drop(open);
    let begun = Instant::now();
    while answer(&mut TcpStream::connect(server.vw.unwrap()).unwrap()).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
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
