//! The socket: connections are accepted, answered and, at the end, drained.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::engine::Model;
use crate::http::{Service, router};
use crate::vw_port;
use crate::wait::{Either, either, first};

/// How long open requests may take after the end was asked for.
const DRAIN: Duration = Duration::from_secs(20);

/// How long scores are answered after a log has failed: nothing is learned any more, and the process has to end.
const AFTER_FAILURE: Duration = Duration::from_secs(30);

/// A socket that listens.
pub struct Server {
    listener: TcpListener,
    /// The socket for VW's protocol, and the model behind it.
    vw: Option<(TcpListener, Arc<Model>)>,
    service: Arc<Service>,
}

impl Server {
    /// Listens at an address. Port 0 takes any that is free.
    pub fn bind(address: SocketAddr, service: Arc<Service>) -> io::Result<Self> {
        if !address.ip().is_loopback() && !service.access.has_tokens() {
            let words = "without tokens only this machine is served; pass --tokens FILE, or listen at 127.0.0.1";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, words));
        }
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, vw: None, service })
    }

    /// Listens for VW's daemon protocol at a port of this machine, too.
    pub fn with_vw_port(mut self, port: u16, model: Option<&str>) -> io::Result<Self> {
        let model = self.service.model_or_only(model).map_err(|refusal| {
            io::Error::new(io::ErrorKind::InvalidInput, refusal.message().to_owned())
        })?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        self.vw = Some((listener, model.clone()));
        Ok(self)
    }

    /// The address of VW's daemon protocol.
    pub fn vw_address(&self) -> Option<SocketAddr> {
        self.vw.as_ref().and_then(|(listener, _)| listener.local_addr().ok())
    }

    /// The address it listens at.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is done; then takes nothing new, and returns when the open requests are answered.
    pub fn run(self, stop: impl Future<Output = ()> + Send) -> io::Result<()> {
        let service = self.service.clone();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let served = runtime.block_on(self.serve(stop));
        // Every request is answered: what was learned is written as a snapshot, so that the next start is quick.
        service.models.values().for_each(|model| model.close());
        served
    }

    async fn serve(self, stop: impl Future<Output = ()> + Send) -> io::Result<()> {
        let Self { listener, vw, service } = self;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (limits, router) = (service.limits, router(service.clone()));
        let places = Arc::new(Semaphore::new(limits.connections));
        let (end, ending) = watch::channel(false);
        if let Some((listener, model)) = vw {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            tokio::spawn(vw_port::serve(listener, model, limits, ending.clone()));
        }
        let stop = async {
            let failed = std::pin::pin!(failure(&service));
            first(std::pin::pin!(stop), failed).await
        };
        let mut stop = std::pin::pin!(stop);
        let failed = loop {
            // A client beyond the limit waits in the backlog of the system.
            let accepted = async {
                let place = places.clone().acquire_owned().await;
                (place, listener.accept().await)
            };
            let accepted = std::pin::pin!(accepted);
            let (place, accepted) = match either(stop.as_mut(), accepted).await {
                Either::First(ended) => break ended,
                Either::Second(accepted) => accepted,
            };
            let Ok((stream, _)) = accepted else {
                // The client has gone, or there are too many files: the others go on.
                sleep(Duration::from_millis(20)).await;
                continue;
            };
            // Answers are small and awaited.
            let _ = stream.set_nodelay(true);
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(limits.patience)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
            let mut ending = ending.clone();
            tokio::spawn(async move {
                let _place = place;
                let mut connection = std::pin::pin!(connection);
                let ended = std::pin::pin!(ending.wait_for(|end| *end));
                if first(ended, connection.as_mut()).await.is_none() {
                    connection.as_mut().graceful_shutdown();
                    // An error here is the client's: there is no one to answer.
                    let _ = connection.await;
                }
            });
        };
        service.is_draining.store(true, Ordering::Relaxed);
        match &failed {
            None => tracing::info!("the end was asked for: open requests are answered"),
            Some(why) => tracing::error!(why, "a log has failed: the process ends"),
        }
        drop(listener);
        let _ = end.send(true);
        let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
        let _ = timeout(DRAIN, places.acquire_many(all)).await;
        failed.map_or(Ok(()), |words| Err(io::Error::other(words)))
    }
}

/// Waits for a log to fail, and for the time that scores are still answered after it.
async fn failure(service: &Service) -> String {
    loop {
        let learning = service.models.values().filter_map(|model| model.learner().ok());
        if let Some(words) = learning.into_iter().find_map(|learning| learning.reached().failed) {
            sleep(AFTER_FAILURE).await;
            return words;
        }
        sleep(Duration::from_millis(500)).await;
    }
}

/// Waits until `is_over` is true, as a program finds out by its signals.
pub async fn until(is_over: impl Fn() -> bool) {
    while !is_over() {
        sleep(Duration::from_millis(50)).await;
    }
}
