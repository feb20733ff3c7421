//! Addresses for a follower: where it begins, a snapshot, and the records after the last one that it has.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use super::Service;
use super::body;
use crate::engine::Pull;
use crate::error::Refusal;
use crate::wait::blocking;

/// The longest time that a request for records waits for one.
const LONGEST_WAIT: u64 = 10_000;

/// Returns a number of the query; 0 if it is missing.
fn number<T: std::str::FromStr + Default>(query: &str, name: &str) -> Result<T, Refusal> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    match pairs.into_iter().find(|(known, _)| *known == name) {
        None => Ok(T::default()),
        Some((_, value)) => value
            .parse()
            .map_err(|_| Refusal::bad(format!("{name} must be a number, got {value:?}"))),
    }
}

fn bytes(bytes: Vec<u8>) -> Response {
    let content_type = HeaderValue::from_static("application/octet-stream");
    ([(header::CONTENT_TYPE, content_type)], bytes).into_response()
}

/// Describes where a new follower begins.
pub(super) async fn origin(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
) -> Result<Response, Refusal> {
    let learning = service.model(&model)?.learner()?;
    Ok(body::json(&blocking(|| learning.origin())?))
}

/// Sends a part of a snapshot.
pub(super) async fn snapshot(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let learning = service.model(&model)?.learner()?;
    let query = query.unwrap_or_default();
    let place = (number(&query, "epoch")?, number(&query, "seq")?);
    let from = number(&query, "from")?;
    let (length, part) = blocking(|| learning.snapshot_part(place, from))?;
    let mut response = bytes(part);
    response.headers_mut().insert("x-snapshot-bytes", HeaderValue::from(length));
    Ok(response)
}

/// Sends the records after the last one that a follower has, and notes what it has.
pub(super) async fn records(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let learning = service.model(&model)?.learner()?;
    let query = query.unwrap_or_default();
    let after = number(&query, "after")?;
    let pull = Pull { after, sum: number(&query, "sum")?, epoch: number(&query, "epoch")? };
    let wait: u64 = number(&query, "wait")?;
    blocking(|| learning.welcome(&pull))?;
    learning.wait_for_more(after, Duration::from_millis(wait.min(LONGEST_WAIT))).await;
    Ok(bytes(blocking(|| learning.feed(&pull))?))
}
