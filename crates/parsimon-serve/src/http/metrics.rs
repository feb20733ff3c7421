//! `GET /metrics`, as Prometheus reads it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use super::Service;
use crate::metrics::escaped;

pub(super) async fn metrics(State(service): State<Arc<Service>>) -> Response {
    let mut out = String::new();
    service.requests.write(&mut out);
    for model in service.models.values() {
        if let Ok(learning) = model.learner() {
            learning.write_metrics(&escaped(model.name()), &mut out);
        }
    }
    let content_type = HeaderValue::from_static("text/plain; version=0.0.4");
    ([(header::CONTENT_TYPE, content_type)], out).into_response()
}
