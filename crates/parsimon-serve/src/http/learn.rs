//! `POST /v1/models/{m}/learn` and `/label`

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

use super::Service;
use super::body::{self, Received};
use crate::content::Content;
use crate::engine::{self, Ack, Learning};
use crate::error::Refusal;
use crate::wait::blocking;

pub(super) async fn learn(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    take(&service, &model, request, |learning, received, content| {
        let request = engine::Request {
            key: received.headers.get("idempotency-key").map_or(b"", |key| key.as_bytes()),
            is_partial: received.flag("partial")?,
            ..engine::Request::default()
        };
        Ok(learning.learn(content, request, &service.limits)?.to_json())
    })
    .await
}

pub(super) async fn label(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    take(&service, &model, request, |learning, _, content| {
        Ok(learning.label(content, &service.limits)?.to_json())
    })
    .await
}

/// Lists the rows that could not be learned.
pub(super) async fn set_aside(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
) -> Result<Response, Refusal> {
    let learning = service.model(&model)?.learner()?;
    Ok(body::json(&blocking(|| learning.set_aside())))
}

/// Reads a request, puts what it has into the log, and answers when it is acknowledged.
async fn take(
    service: &Service,
    model: &str,
    request: Request,
    put: impl FnOnce(&Learning, &Received, &Content<'_>) -> Result<Value, Refusal>,
) -> Result<Response, Refusal> {
    let learning = service.model(model)?.learner()?;
    refuse_late(service)?;
    let received = Received::new(request, service.limits.body).await?;
    let ack = ack(&received)?;
    if ack == Ack::Visible && learning.is_paused() {
        let words = "learning is paused: rows become visible when it is resumed; use ack=durable";
        return Err(Refusal::conflict(words));
    }
    // Appending waits for the lock of the intake, which a large request may hold for long.
    let mut answer = blocking(|| {
        let content = Content::new(received.content_type(), &received.body)?;
        received.deadline.check()?;
        put(learning, &received, &content)
    })?;
    let seq = answer["seq"].as_u64().unwrap_or(0);
    if seq == 0 {
        answer["error"] = "every row was refused".into();
        return Ok((StatusCode::BAD_REQUEST, body::json(&answer)).into_response());
    }
    if learning.is_paused() {
        answer["paused"] = true.into();
    }
    acknowledge(learning, &received, seq, ack, &mut answer).await
}

fn refuse_late(service: &Service) -> Result<(), Refusal> {
    match service.is_draining.load(Ordering::Relaxed) {
        true => Err(Refusal::unavailable("the service is about to end")),
        false => Ok(()),
    }
}

fn ack(received: &Received) -> Result<Ack, Refusal> {
    received.parameter("ack").map_or(Ok(Ack::Durable), Ack::parse).map_err(Refusal::bad)
}

/// Waits for the acknowledgement. With a deadline the client is answered in time; the rows are learned nevertheless, and a repeat
/// with the same ids is no harm.
async fn acknowledge(
    learning: &Learning,
    received: &Received,
    seq: u64,
    ack: Ack,
    answer: &mut Value,
) -> Result<Response, Refusal> {
    let acknowledged = learning.acknowledged(seq, ack);
    match received.deadline.left() {
        None => acknowledged.await?,
        Some(left) => match tokio::time::timeout(left, acknowledged).await {
            Ok(done) => done?,
            Err(_) => {
                let words = "the deadline has passed before the acknowledgement; the rows are in the queue of the log";
                let refusal = Refusal::new(StatusCode::GATEWAY_TIMEOUT, words);
                return Err(refusal.with("seq", seq));
            }
        },
    }
    answer["ack"] = match ack {
        Ack::Durable => "durable",
        Ack::Logged => "logged",
        Ack::Visible => "visible",
    }
    .into();
    Ok(body::json(answer))
}
