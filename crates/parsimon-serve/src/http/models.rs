//! What models there are, and what they are like.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

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
    if body::flag(query.as_deref().unwrap_or_default(), "digest")? {
        let (version, digest) = model.learner()?.digest().await?;
        about["digest"] = json!({"version": version, "digest": format!("{digest:016x}")});
    }
    Ok(body::json(&about))
}

/// The description of all addresses, with the models that there are. Where no tokens are needed none are described.
pub(super) async fn openapi(State(service): State<Arc<Service>>) -> Response {
    let mut described: Value =
        serde_json::from_str(include_str!("openapi.json")).unwrap_or(Value::Null);
    let names: Vec<&String> = service.models.keys().collect();
    let paths = described["paths"].as_object_mut();
    let operations = paths.into_iter().flat_map(|paths| paths.values_mut());
    for operation in operations.filter_map(Value::as_object_mut).flat_map(|all| all.values_mut()) {
        if !service.access.has_tokens()
            && let Some(operation) = operation.as_object_mut()
        {
            operation.shift_remove("security");
        }
        for parameter in operation["parameters"].as_array_mut().into_iter().flatten() {
            if parameter["name"] == "model" {
                parameter["schema"] = json!({"type": "string", "enum": names});
            }
        }
    }
    body::json(&described)
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
