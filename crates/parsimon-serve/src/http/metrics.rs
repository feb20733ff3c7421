//! `GET /metrics`, as Prometheus reads it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use super::Service;
use crate::engine::ARITHMETIC;
use crate::memory;
use crate::metrics::{escaped, families, head};

pub(super) async fn metrics(State(service): State<Arc<Service>>) -> Response {
    let mut out = String::new();
    head(&mut out, "parsimon_build_info", "gauge", "The version of the program.");
    let (version, arithmetic) = (env!("CARGO_PKG_VERSION"), ARITHMETIC);
    let _ =
        writeln!(out, "parsimon_build_info{{version=\"{version}\",arithmetic=\"{arithmetic}\"}} 1");
    let connections = service.connections.load(Ordering::Relaxed);
    head(&mut out, "parsimon_connections", "gauge", "Connections that are open.");
    let _ = writeln!(out, "parsimon_connections {connections}");
    if let Some(bytes) = resident_bytes() {
        let name = "parsimon_resident_bytes";
        head(&mut out, name, "gauge", "Memory of the process that is resident.");
        let _ = writeln!(out, "{name} {bytes}");
    }
    let (budget, in_use) = (parsimon::memory::budget(), parsimon::workspace::in_use());
    let (held, most) = (memory::held(), memory::most());
    for (name, help, value) in [
        ("parsimon_memory_limit_bytes", "Memory that the process may use.", budget),
        ("parsimon_memory_bytes", "Memory of models, ids, waiting rows and requests.", in_use),
        ("parsimon_request_memory_limit_bytes", "Memory that requests may use together.", most),
        ("parsimon_request_memory_bytes", "Memory of bodies, parsed rows and the queue.", held),
        ("parsimon_max_body_bytes", "Largest body.", service.limits.body as u64),
        ("parsimon_max_rows", "Most rows of a request.", service.limits.rows as u64),
        ("parsimon_max_features", "Most features of a row.", service.limits.features as u64),
        ("parsimon_max_connections", "Most connections.", service.limits.connections as u64),
    ] {
        head(&mut out, name, "gauge", help);
        let _ = writeln!(out, "{name} {value}");
    }
    service.requests.write(&mut out);
    for model in service.models().values() {
        if let Ok(learning) = model.learner() {
            learning.write_metrics(&escaped(model.name()), &mut out);
        }
    }
    let content_type = HeaderValue::from_static("text/plain; version=0.0.4");
    ([(header::CONTENT_TYPE, content_type)], families(&out)).into_response()
}

/// The resident memory of the process, where the system tells it.
#[cfg(not(target_os = "linux"))]
fn resident_bytes() -> Option<u64> {
    None
}

/// The resident memory of the process.
#[cfg(target_os = "linux")]
fn resident_bytes() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = pages.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
