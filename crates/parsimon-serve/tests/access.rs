//! Tokens, and what is refused without them.

use std::sync::Arc;

use parsimon_serve::{Access, Limits, Server, Service};

use crate::common::{Running, learning};

#[test]
fn foreign_pages_and_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    let url = "/v1/models/m/learn?ack=visible";
    let send = |headers: &[(&str, &str)]| server.send("POST", url, headers, b"1 |a b\n").status;
    assert_eq!(send(&[("host", "evil.example")]), 403);
    assert_eq!(send(&[("origin", "http://evil.example")]), 403);
    assert_eq!(send(&[("origin", "http://localhost:99")]), 403);
    assert_eq!(send(&[("origin", &format!("http://{}", server.address))]), 200);
    assert_eq!(server.get("/v1/models/m").ok()["rows"], 1);
}

#[test]
fn tokens_open_what_their_role_may() {
    let folder = tempfile::tempdir().unwrap();
    // The hashes of "s", "l" and "a".
    let text = "\
        score sha256:043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89\n\
        learn sha256:acac86c0e609ca906f632b0e2dacccb2b77d22b0621f20ebece1a4835b93f6f0\n\
        admin sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb\n";
    let access = Access::from_text(text).unwrap();
    let server = Running::start(vec![learning(folder.path())], Limits::default(), access, false);
    let status = |method: &str, path: &str, token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str()), ("host", "any.example")];
        let headers = if token.is_empty() { &headers[1..] } else { &headers[..] };
        server.send(method, path, headers, b"1 |a b\n").status
    };
    for (method, path, expected) in [
        ("POST", "/v1/models/m/score", [401, 401, 200, 200, 200]),
        ("POST", "/v1/models/m/learn", [401, 401, 403, 200, 200]),
        ("POST", "/v1/models/m/snapshot", [401, 401, 403, 403, 200]),
        ("GET", "/metrics", [401, 401, 200, 200, 200]),
        ("GET", "/v2/health/ready", [200, 200, 200, 200, 200]),
        ("GET", "/nothing", [401, 401, 404, 404, 404]),
    ] {
        assert_eq!(
            ["", "x", "s", "l", "a"].map(|token| status(method, path, token)),
            expected,
            "{path}"
        );
    }
}

#[test]
fn without_tokens_nothing_but_this_machine_is_listened_at() {
    let service = Arc::new(Service::new(Vec::new(), Limits::default(), Access::default()));
    let error = Server::bind("0.0.0.0:0".parse().unwrap(), service).err().unwrap();
    assert!(error.to_string().contains("--tokens"), "{error}");
}
