//! The service as HTTP: one file per group of addresses.

mod body;
mod events;
mod gate;
mod learn;
mod metrics;
mod mlflow;
mod models;
mod page;
mod score;
mod tensor;
mod v2;
mod versions;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use axum::routing::{get, post};
use tokio::sync::Semaphore;

use crate::access::Access;
use crate::engine::{Limits, Model};
use crate::error::Refusal;
use crate::metrics::Requests;

/// Everything that requests share.
pub struct Service {
    pub(crate) models: BTreeMap<String, Arc<Model>>,
    pub(crate) limits: Limits,
    pub(crate) requests: Requests,
    pub(crate) access: Access,
    /// Places for clients that listen to events.
    pub(crate) listeners: Arc<Semaphore>,
    /// Whether the service is about to end and takes nothing new.
    pub(crate) is_draining: AtomicBool,
}

impl Service {
    /// A service of some models.
    pub fn new(models: Vec<Arc<Model>>, limits: Limits, access: Access) -> Self {
        let named = models.into_iter().map(|model| (model.name().to_owned(), model));
        Self {
            models: named.collect(),
            limits,
            requests: Requests::default(),
            access,
            listeners: Arc::new(Semaphore::new(events::LISTENERS)),
            is_draining: AtomicBool::new(false),
        }
    }

    /// The model of a name.
    pub(crate) fn model(&self, name: &str) -> Result<&Arc<Model>, Refusal> {
        self.models.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.models.keys().map(String::as_str).collect();
            Refusal::missing(format!("there is no model {name:?}: {}", names.join(", ")))
        })
    }

    /// The model of a name, or the only one.
    pub(crate) fn model_or_only(&self, name: Option<&str>) -> Result<&Arc<Model>, Refusal> {
        match (name, self.models.len()) {
            (Some(name), _) => self.model(name),
            (None, 1) => self.models.values().next().ok_or_else(|| Refusal::missing("no model")),
            (None, _) => Err(Refusal::bad("there are several models: pass ?model=NAME")),
        }
    }
}

/// All addresses.
pub fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/", get(page::page))
        .route("/page.css", get(page::style))
        .route("/page.js", get(page::script))
        .route("/v1/session", post(page::sign_in).delete(page::sign_out))
        .route("/v1/models/{model}/events", get(events::events))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{model}", get(models::about))
        .route("/v1/models/{model}/download", get(models::download))
        .route("/v1/models/{model}/score", post(score::score))
        .route("/v1/models/{model}/learn", post(learn::learn))
        .route("/v1/models/{model}/label", post(learn::label))
        .route("/v1/models/{model}/snapshot", post(versions::snapshot))
        .route("/v1/models/{model}/versions", get(versions::list))
        .route("/v1/models/{model}/shadows", get(versions::shadows))
        .route("/v1/models/{model}/promote", post(versions::promote))
        .route("/v1/models/{model}/rollback", post(versions::roll_back))
        .route("/v1/models/{model}/pause", post(versions::pause))
        .route("/v1/models/{model}/resume", post(versions::resume))
        .route("/v2", get(v2::server))
        .route("/v2/health/live", get(v2::live))
        .route("/v2/health/ready", get(v2::ready))
        .route("/v2/models/{model}", get(v2::model))
        .route("/v2/models/{model}/ready", get(v2::model_ready))
        .route("/v2/models/{model}/infer", post(v2::infer))
        .route("/v2/models/{model}/versions/{version}", get(v2::model))
        .route("/v2/models/{model}/versions/{version}/ready", get(v2::model_ready))
        .route("/v2/models/{model}/versions/{version}/infer", post(v2::infer))
        .route("/invocations", post(mlflow::invocations))
        .route("/ping", get(mlflow::ping))
        .route("/metrics", get(metrics::metrics))
        .route("/openapi.json", get(models::openapi))
        .fallback(no_address)
        .method_not_allowed_fallback(wrong_method)
        .layer(axum::middleware::from_fn_with_state(service.clone(), gate::gate))
        .with_state(service)
}

async fn no_address(uri: Uri) -> Refusal {
    Refusal::missing(format!("there is nothing at {:?}; see /openapi.json", uri.path()))
}

async fn wrong_method(method: Method, uri: Uri) -> Refusal {
    let words = format!("{method} is not possible at {:?}", uri.path());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, words)
}
