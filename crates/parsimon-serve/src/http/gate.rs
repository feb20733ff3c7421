//! The middleware of every request: access, deadline, time, and the request's id.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::Service;
use super::body::Deadline;
use super::routes::{self, Route};
use crate::access::Role;
use crate::connections::Activity;
use crate::error::Refusal;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Checks access and deadline, runs the handler, and records the time that the request took.
pub(super) async fn gate(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Response {
    let start = Instant::now();
    let _work = request.extensions().get::<Arc<Activity>>().map(Activity::work);
    let id = request.headers().get(&REQUEST_ID).filter(|id| id.len() <= 128).cloned();
    let id = id.unwrap_or_else(new_id);
    let path = request.extensions().get::<MatchedPath>();
    let route = path.and_then(|path| routes::find(request.method(), path.as_str()));
    let op = route.map_or("none", |route| route.operation);
    // Requests to unknown addresses need a role too, so that a client without a token cannot find out which addresses exist.
    let role = route.map_or(Some(Role::Score), |route| route.role);
    // Only the names of models become labels: a client could send any number of other names.
    let named = request.uri().path().split('/').nth(3).unwrap_or_default();
    let model = if service.models().contains_key(named) { named.to_owned() } else { String::new() };
    let allowed = service.access.check(request.headers(), role);
    let deadline = check_head(&request, route)
        .and(allowed)
        .and_then(|()| check_reserved(&request, route))
        .and_then(|()| Deadline::of(request.headers(), start));
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
        if let Some(left_out) = service.complaints.line() {
            tracing::warn!(request = ?id, op, model, status, us, left_out);
        }
    } else {
        tracing::debug!(request = ?id, op, model, status, us);
    }
    response.headers_mut().insert(REQUEST_ID, id);
    service.requests.record(op, &model, status, took);
    response
}

/// Lines about requests that failed: a service that refuses thousands a second says so once a second.
#[derive(Debug, Default)]
pub(crate) struct Complaints(Mutex<(Option<Instant>, u64)>);

impl Complaints {
    /// Returns the number of lines that were left out before this one; `None` if this one is left out, too.
    fn line(&self) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = state.0.is_none_or(|last| last.elapsed() >= Duration::from_secs(1));
        if !is_new {
            state.1 += 1;
            return None;
        }
        state.0 = Some(Instant::now());
        Some(std::mem::take(&mut state.1))
    }
}

/// Marks requests of connections beyond the limit, which are for health checks, metrics and admins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reserved;

/// Refuses requests that a reserved connection is not for.
fn check_reserved(request: &Request, route: Option<&Route>) -> Result<(), Refusal> {
    let is_for = |route: &Route| {
        route.role.is_none_or(|role| role == Role::Admin) || route.operation == "metrics"
    };
    match request.extensions().get::<Reserved>() {
        Some(Reserved) if !route.is_some_and(is_for) => {
            let words = "too many connections are open; the rest is for health checks and admins";
            Err(Refusal::unavailable(words))
        }
        _ => Ok(()),
    }
}

/// Refuses a request whose host is not clear, and parameters that the address does not have: a misspelled one would be ignored.
fn check_head(request: &Request, route: Option<&Route>) -> Result<(), Refusal> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return Err(Refusal::bad("the request has two Host headers"));
    }
    let authority = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    if let (Some(authority), Some(host)) = (authority, host)
        && !authority.eq_ignore_ascii_case(host.as_bytes())
    {
        return Err(Refusal::bad("the address of the request and its Host header differ"));
    }
    let Some(route) = route else { return Ok(()) };
    let known: Vec<&str> = route.query_parameters().collect();
    let query = request.uri().query().unwrap_or_default();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let name = pair.split('=').next().unwrap_or_default();
        if !known.contains(&name) {
            let words = match known[..] {
                [] => format!("the parameter {name:?} is unknown: the address has none"),
                _ => format!("the parameter {name:?} is unknown; known: {}", known.join(", ")),
            };
            return Err(Refusal::bad(words).with("parameter", name));
        }
    }
    Ok(())
}

/// Returns an id for a request without one.
fn new_id() -> HeaderValue {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    HeaderValue::from(COUNT.fetch_add(1, Ordering::Relaxed))
}
