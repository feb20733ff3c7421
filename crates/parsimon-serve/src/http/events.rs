//! `GET /v1/models/{m}/events`: statistics of a model, as server-sent events.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use http_body_util::channel::{Channel, Sender};

use super::Service;
use crate::error::Refusal;

/// Largest number of clients that listen at a time.
pub(super) const LISTENERS: usize = 64;

/// Interval of checks of a listener while there are no events.
const MOMENT: Duration = Duration::from_millis(250);

/// Time limit for a client to read an event.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends everything that is kept as the event `all`, and then `news` about twice a second, each followed by `requests`.
pub(super) async fn events(
    State(service): State<Arc<Service>>,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let model = service.model(&name)?.clone();
    let place = service.listeners.clone().try_acquire_owned().map_err(|_| {
        Refusal::unavailable(format!("{LISTENERS} clients listen already; try again later"))
    })?;
    // Subscribed before all is asked for, so that no news is missed.
    let mut news = model.learner()?.news();
    let all = model.learner()?.statistics().await?;
    let (mut sender, body) = Channel::<Bytes>::new(4);
    tokio::spawn(async move {
        let _place = place;
        if send(&mut sender, &service, &name, "all", &all).await.is_none() {
            return;
        }
        drop(all);
        // Ends with the client, with the model, or with the service.
        loop {
            match tokio::time::timeout(MOMENT, news.changed()).await {
                _ if service.is_draining.load(Ordering::Relaxed) => return,
                Ok(Ok(())) => {
                    let latest = news.borrow_and_update().clone();
                    if send(&mut sender, &service, &name, "news", &latest).await.is_none() {
                        return;
                    }
                }
                Ok(Err(_)) => return,
                Err(_) => {}
            }
        }
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::new(body)).into_response())
}

/// Sends an event and the latencies of requests; `None` if the client has gone.
async fn send(
    sender: &mut Sender<Bytes>,
    service: &Service,
    model: &str,
    event: &str,
    data: &str,
) -> Option<()> {
    let requests = service.requests.of_model(model);
    let text = format!("event: {event}\ndata: {data}\n\nevent: requests\ndata: {requests}\n\n");
    tokio::time::timeout(PATIENCE, sender.send_data(text.into())).await.ok()?.ok()
}
