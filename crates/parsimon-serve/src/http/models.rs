//! What models there are, and what they are like.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::Service;
use super::body;
use crate::error::Refusal;

pub(super) async fn list(State(service): State<Arc<Service>>) -> Response {
    let models: Vec<_> = service
        .models
        .values()
        .map(|model| {
            json!({"name": model.name(), "learns": model.learns(), "version": model.version()})
        })
        .collect();
    body::json(&json!({"models": models}))
}

pub(super) async fn about(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let model = service.model(&model)?;
    let mut about = model.about();
    if body::is_on(body::parameter(query.as_deref().unwrap_or_default(), "digest")) {
        let (version, digest) = model.learner()?.digest().await?;
        about["digest"] = json!({"version": version, "digest": format!("{digest:016x}")});
    }
    Ok(body::json(&about))
}

/// The description of all addresses.
pub(super) async fn openapi() -> Response {
    let content_type = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, content_type)], include_str!("openapi.json")).into_response()
}

/// The model file as it is now.
pub(super) async fn download(
    State(service): State<Arc<Service>>,
    Path(model): Path<String>,
) -> Result<Response, Refusal> {
    let model = service.model(&model)?;
    let bytes = model.download().await?;
    let content_type = HeaderValue::from_static("application/octet-stream");
    Ok(([(header::CONTENT_TYPE, content_type)], bytes).into_response())
}
