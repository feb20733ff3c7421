//! The list of models, their descriptions, and their files.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::Service;
use super::body;
use super::schema::{ModelList, ModelSummary};
use crate::engine::Model;
use crate::error::Refusal;

pub(super) async fn list(State(service): State<Arc<Service>>) -> Response {
    let summary = |model: &Arc<Model>| ModelSummary {
        name: model.name().to_owned(),
        learns: model.learns(),
        version: model.version(),
    };
    body::json(&ModelList { models: service.models().values().map(summary).collect() })
}

pub(super) async fn about(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let model = service.model(&model)?;
    let mut about = model.about();
    if body::flag(query.as_deref().unwrap_or_default(), "digest")? {
        let (version, digest) = model.learner()?.digest().await?;
        about["digest"] = json!({"version": version, "digest": format!("{digest:016x}")});
    }
    Ok(body::json(&about))
}

/// Answers with the model file of the present state.
pub(super) async fn download(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
) -> Result<Response, Refusal> {
    let model = service.model(&model)?;
    let bytes = model.download().await?;
    let content_type = HeaderValue::from_static("application/octet-stream");
    Ok(([(header::CONTENT_TYPE, content_type)], bytes).into_response())
}
