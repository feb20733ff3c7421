//! The HTTP interface: the table of addresses in `routes`, and one file per group of handlers.

mod body;
mod copying;
mod encoding;
mod events;
mod gate;
mod learn;
mod metrics;
mod mlflow;
mod models;
mod openapi;
mod page;
mod routes;
mod schema;
mod score;
mod tensor;
mod v2;
mod versions;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

pub(crate) use gate::{Complaints, Reserved};
pub use routes::router;
use tokio::sync::Semaphore;

use crate::access::Access;
use crate::engine::{Limits, Model};
use crate::error::Refusal;
use crate::metrics::Requests;

/// Everything that requests share.
pub struct Service {
    models: OnceLock<BTreeMap<String, Arc<Model>>>,
    pub(crate) limits: Limits,
    pub(crate) requests: Requests,
    pub(crate) access: Access,
    /// Places for clients that listen to events.
    pub(crate) listeners: Arc<Semaphore>,
    /// Whether the service will end soon: health checks say that it is not ready, and everything else continues.
    pub(crate) is_leaving: AtomicBool,
    /// Whether the service is about to end and takes nothing new.
    pub(crate) is_draining: AtomicBool,
    /// Connections that are open, counted by the server.
    pub(crate) connections: AtomicUsize,
    /// Lines about failed requests.
    pub(crate) complaints: Complaints,
}

impl Service {
    /// A service of some models.
    pub fn new(models: Vec<Arc<Model>>, limits: Limits, access: Access) -> Self {
        let service = Self::opening(limits, access);
        service.set_models(models);
        service
    }

    /// A service whose models are still being opened. It answers that it is alive and not ready.
    pub fn opening(limits: Limits, access: Access) -> Self {
        Self {
            models: OnceLock::new(),
            limits,
            requests: Requests::default(),
            access,
            listeners: Arc::new(Semaphore::new(events::LISTENERS)),
            is_leaving: AtomicBool::new(false),
            is_draining: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            complaints: Complaints::default(),
        }
    }

    /// Accepts the tokens of another file from now on.
    pub fn set_access(&self, access: &Access) {
        self.access.replace(access);
    }

    /// The models are open. Those of the first call stay.
    pub fn set_models(&self, models: Vec<Arc<Model>>) {
        let named = models.into_iter().map(|model| (model.name().to_owned(), model));
        let _ = self.models.set(named.collect());
    }

    /// Returns the models; `None` while they are being opened.
    pub(crate) fn models(&self) -> &BTreeMap<String, Arc<Model>> {
        static NONE: BTreeMap<String, Arc<Model>> = BTreeMap::new();
        self.models.get().unwrap_or(&NONE)
    }

    /// Returns why scores are not answered, or soon will not be.
    pub(crate) fn check_ready(&self) -> Result<(), Refusal> {
        if self.is_draining.load(Ordering::Relaxed) || self.is_leaving.load(Ordering::Relaxed) {
            return Err(Refusal::unavailable("the service is about to end"));
        }
        self.check_open()
    }

    fn check_open(&self) -> Result<(), Refusal> {
        match self.models.get() {
            Some(_) => Ok(()),
            None => Err(Refusal::unavailable("the models are being opened; try again later")),
        }
    }

    /// The model of a name.
    pub(crate) fn model(&self, name: &str) -> Result<&Arc<Model>, Refusal> {
        self.check_open()?;
        self.models().get(name).ok_or_else(|| {
            let names: Vec<&str> = self.models().keys().map(String::as_str).collect();
            Refusal::missing(format!("there is no model {name:?}: {}", names.join(", ")))
        })
    }

    /// The model of a name, or the only one.
    pub(crate) fn model_or_only(&self, name: Option<&str>) -> Result<&Arc<Model>, Refusal> {
        self.check_open()?;
        match (name, self.models().len()) {
            (Some(name), _) => self.model(name),
            (None, 1) => self.models().values().next().ok_or_else(|| Refusal::missing("no model")),
            (None, _) => Err(Refusal::bad("there are several models: pass ?model=NAME")),
        }
    }
}
