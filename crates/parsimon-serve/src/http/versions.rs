//! Snapshots of a model: written, listed, gone back to.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

use super::Service;
use super::body::{self, Received};
use crate::content::syntax;
use crate::engine::{Ack, Backlog, Version};
use crate::error::Refusal;

/// Writes a snapshot now.
pub(super) async fn snapshot(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
) -> Result<Response, Refusal> {
    let version = service.model(&model)?.learner()?.snapshot().await?;
    Ok(body::json(&json!({"version": version})))
}

/// The snapshots that are kept.
pub(super) async fn list(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
) -> Result<Response, Refusal> {
    let model = service.model(&model)?;
    let learning = model.learner()?;
    let versions = tokio::task::block_in_place(|| learning.versions())?;
    Ok(body::json(&json!({"present": model.version(), "versions": versions})))
}

pub(super) async fn promote(
    state: State<Arc<Service>>,
    model: Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    go_back(state, model, request, "promoted").await
}

/// The shadows that learn beside the model.
pub(super) async fn shadows(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
) -> Result<Response, Refusal> {
    let shadows = service.model(&model)?.learner()?.shadows();
    Ok(body::json(&json!({"shadows": shadows})))
}

/// A shadow, as requests name it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedShadow {
    shadow: String,
}

pub(super) async fn roll_back(
    state: State<Arc<Service>>,
    model: Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    go_back(state, model, request, "rolled back").await
}

/// A snapshot, as requests name it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    epoch: u32,
    seq: u64,
}

async fn go_back(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
    request: Request,
    why: &str,
) -> Result<Response, Refusal> {
    let learning = service.model(&model)?.learner()?;
    let received = Received::new(request, service.limits.body).await?;
    if let ("promoted", Ok(AskedShadow { shadow })) = (why, serde_json::from_slice(&received.body))
    {
        let version = learning.promote_shadow(&shadow)?;
        learning.acknowledged(version.seq, Ack::Visible).await?;
        return Ok(body::json(&json!({"version": version, "shadow": shadow})));
    }
    let Asked { epoch, seq } = serde_json::from_slice(&received.body).map_err(|e| syntax(&e))?;
    let why = format!("{why} to epoch {epoch}, record {seq}");
    let version = tokio::task::block_in_place(|| learning.go_back(Version { epoch, seq }, &why))?;
    learning.acknowledged(version.seq, Ack::Visible).await?;
    Ok(body::json(&json!({"version": version, "from": {"epoch": epoch, "seq": seq}})))
}

/// Why learning is paused.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedPause {
    #[serde(default)]
    reason: String,
}

/// Keeps rows without learning them.
pub(super) async fn pause(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let learning = service.model(&model)?.learner()?;
    let received = Received::new(request, service.limits.body).await?;
    let AskedPause { reason } = match received.body.trim_ascii() {
        b"" => AskedPause::default(),
        body => serde_json::from_slice(body).map_err(|e| syntax(&e))?,
    };
    let reason = if reason.is_empty() { "by request" } else { &reason };
    let version = learning.pause(reason)?;
    learning.acknowledged(version.seq, Ack::Durable).await?;
    Ok(body::json(&json!({"version": version, "paused": reason})))
}

/// What becomes of the rows that came meanwhile.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedResume {
    backlog: Backlog,
}

/// Learns again.
pub(super) async fn resume(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let learning = service.model(&model)?.learner()?;
    let received = Received::new(request, service.limits.body).await?;
    let AskedResume { backlog } = serde_json::from_slice(&received.body).map_err(|e| syntax(&e))?;
    let version = learning.resume(backlog)?;
    learning.acknowledged(version.seq, Ack::Durable).await?;
    Ok(body::json(&json!({"version": version, "backlog": backlog})))
}
