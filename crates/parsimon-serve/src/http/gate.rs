//! What every request passes through: its time is taken, and its id comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::Service;
use super::body::Deadline;
use crate::access::Role;
use crate::error::Refusal;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

pub(super) async fn gate(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Response {
    let start = Instant::now();
    let id = request.headers().get(&REQUEST_ID).filter(|id| id.len() <= 128).cloned();
    let id = id.unwrap_or_else(new_id);
    let op =
        request.extensions().get::<MatchedPath>().map_or("none", |path| operation(path.as_str()));
    // Only the names of models become labels: a client could send any number of others.
    let named = request.uri().path().split('/').nth(3).unwrap_or_default();
    let model = if service.models.contains_key(named) { named.to_owned() } else { String::new() };
    let allowed = service.access.check(request.headers(), needed(op));
    let deadline = allowed.and_then(|()| Deadline::of(request.headers(), start));
    let mut response = match deadline {
        Ok(deadline) => {
            request.extensions_mut().insert(deadline);
            next.run(request).await
        }
        Err(refusal) => Refusal::into_response(refusal),
    };
    let (status, took) = (response.status().as_u16(), start.elapsed());
    let us = took.as_micros() as u64;
    if status >= 500 {
        tracing::warn!(request = ?id, op, model, status, us);
    } else {
        tracing::debug!(request = ?id, op, model, status, us);
    }
    response.headers_mut().insert(REQUEST_ID, id);
    service.requests.record(op, &model, status, took);
    response
}

/// What a request does, for metrics.
fn operation(path: &str) -> &'static str {
    const LAST: [&str; 21] = [
        "score",
        "learn",
        "label",
        "infer",
        "download",
        "snapshot",
        "versions",
        "shadows",
        "promote",
        "rollback",
        "pause",
        "resume",
        "invocations",
        "ping",
        "metrics",
        "live",
        "ready",
        "events",
        "session",
        "page.css",
        "page.js",
    ];
    let last = path.rsplit('/').next().unwrap_or_default();
    if last.is_empty() {
        return "page";
    }
    LAST.iter().find(|op| **op == last).copied().unwrap_or("models")
}

/// The role that an operation needs. Health needs none, and neither does the page itself, which asks for a token.
fn needed(op: &str) -> Option<Role> {
    match op {
        "live" | "ready" | "ping" | "page" | "page.css" | "page.js" | "session" => None,
        "learn" | "label" => Some(Role::Learn),
        "snapshot" | "promote" | "rollback" | "pause" | "resume" => Some(Role::Admin),
        _ => Some(Role::Score),
    }
}

/// An id for a request that has none.
fn new_id() -> HeaderValue {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    HeaderValue::from(COUNT.fetch_add(1, Ordering::Relaxed))
}
