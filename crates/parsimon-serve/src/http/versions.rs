//! Operations on the state of a model: snapshots, rollback, promotion, pause.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Service;
use super::body::{self, Received};
use super::schema::{PauseBegun, PauseEnded, ShadowList, Snapshotted, Switched, VersionList};
use crate::content::syntax;
use crate::engine::{Ack, Backlog, Version};
use crate::error::Refusal;

/// Writes a snapshot.
pub(super) async fn snapshot(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
) -> Result<Response, Refusal> {
    let version = service.model(&model)?.learner()?.snapshot().await?;
    Ok(body::json(&Snapshotted { version }))
}

/// Lists the snapshots that are kept.
pub(super) async fn list(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
) -> Result<Response, Refusal> {
    let model = service.model(&model)?;
    let learning = model.learner()?;
    let versions = tokio::task::block_in_place(|| learning.versions())?;
    Ok(body::json(&VersionList { present: model.version(), versions }))
}

pub(super) async fn promote(
    state: State<Arc<Service>>,
    model: Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    go_back(state, model, request, "promoted").await
}

/// Lists the shadows that learn beside the model.
pub(super) async fn shadows(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
) -> Result<Response, Refusal> {
    let shadows = service.model(&model)?.learner()?.shadows();
    Ok(body::json(&ShadowList { shadows }))
}

/// The place of its leader for a follower.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ToLeader {
    #[allow(dead_code, reason = "has one value")]
    to: Place,
}

/// A place in a pair of processes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Place {
    Leader,
}

/// The state to continue from.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Promotion {
    Leader(#[allow(dead_code, reason = "has one value")] ToLeader),
    Shadow(ShadowId),
    #[allow(dead_code, reason = "read by `go_back`, which reports what is wrong with it")]
    Snapshot(SnapshotId),
}

/// The name of a shadow.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ShadowId {
    shadow: String,
}

pub(super) async fn roll_back(
    state: State<Arc<Service>>,
    model: Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    go_back(state, model, request, "rolled back").await
}

/// A snapshot that is kept.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SnapshotId {
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
    if let ("promoted", Ok(Promotion::Leader(_))) = (why, serde_json::from_slice(&received.body)) {
        let version = tokio::task::block_in_place(|| learning.promote_follower())?;
        learning.acknowledged(version.seq, Ack::Visible).await?;
        return Ok(body::json(&Switched { version, from: None, shadow: None }));
    }
    if let ("promoted", Ok(Promotion::Shadow(ShadowId { shadow }))) =
        (why, serde_json::from_slice(&received.body))
    {
        let version = learning.promote_shadow(&shadow)?;
        learning.acknowledged(version.seq, Ack::Visible).await?;
        return Ok(body::json(&Switched { version, from: None, shadow: Some(shadow) }));
    }
    let SnapshotId { epoch, seq } =
        serde_json::from_slice(&received.body).map_err(|e| syntax(&e))?;
    let why = format!("{why} to epoch {epoch}, record {seq}");
    let version = tokio::task::block_in_place(|| learning.go_back(Version { epoch, seq }, &why))?;
    learning.acknowledged(version.seq, Ack::Visible).await?;
    let from = Some(Version { epoch, seq });
    Ok(body::json(&Switched { version, from, shadow: None }))
}

/// The reason of a pause.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PauseRequest {
    #[serde(default)]
    reason: String,
}

/// Logs rows without learning them from now on.
pub(super) async fn pause(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let learning = service.model(&model)?.learner()?;
    let received = Received::new(request, service.limits.body).await?;
    let PauseRequest { reason } = match received.body.trim_ascii() {
        b"" => PauseRequest::default(),
        body => serde_json::from_slice(body).map_err(|e| syntax(&e))?,
    };
    let reason = if reason.is_empty() { "by request".to_owned() } else { reason };
    let version = learning.pause(&reason)?;
    learning.acknowledged(version.seq, Ack::Durable).await?;
    Ok(body::json(&PauseBegun { version, paused: reason }))
}

/// The fate of the rows that were logged during the pause.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ResumeRequest {
    backlog: Backlog,
}

/// Resumes learning.
pub(super) async fn resume(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let learning = service.model(&model)?.learner()?;
    let received = Received::new(request, service.limits.body).await?;
    let ResumeRequest { backlog } =
        serde_json::from_slice(&received.body).map_err(|e| syntax(&e))?;
    let version = learning.resume(backlog)?;
    learning.acknowledged(version.seq, Ack::Durable).await?;
    Ok(body::json(&PauseEnded { version, backlog }))
}
