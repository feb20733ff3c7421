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
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tower::Layer as _;

use crate::connections::{Connections, Timed};
use crate::http::{Reserved, Service, router};
use crate::vw_port;
use crate::wait::{Either, either, first};

/// Time limit of open requests after a shutdown was requested.
const DRAIN: Duration = Duration::from_secs(20);

/// Time for which scores are answered after a log has failed: learning has stopped, and the process must end.
const AFTER_FAILURE: Duration = Duration::from_secs(30);

/// Places beside those of [`Limits::connections`](crate::Limits), for health checks, metrics and admins, and the share of an address.
const RESERVED: usize = 32;
const RESERVED_OF_ADDRESS: usize = 8;

/// The time in which a client of a reserved place must send its request and read the answer.
const RESERVED_PATIENCE: Duration = Duration::from_secs(2);

/// A socket that listens.
pub struct Server {
    listener: TcpListener,
    /// The socket for VW's protocol, and the name of the model behind it; `None` for the only model.
    vw: Option<(TcpListener, Option<String>)>,
    /// The time between the announcement of the end and the end.
    drain: Duration,
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
        Ok(Self { listener, vw: None, drain: Duration::ZERO, service })
    }

    /// Listens for VW's daemon protocol at a port of this machine, too.
    pub fn with_vw_port(mut self, port: u16, model: Option<&str>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        self.vw = Some((listener, model.map(str::to_owned)));
        Ok(self)
    }

    /// Sets how long the service continues, and says that it is not ready, after the end was asked for.
    #[must_use]
    pub fn with_drain(self, drain: Duration) -> Self {
        Self { drain, ..self }
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
        service.models().values().for_each(|model| model.close());
        served
    }

    #[expect(clippy::too_many_lines, reason = "the ports start, run and end in one order")]
    async fn serve(self, stop: impl Future<Output = ()> + Send) -> io::Result<()> {
        let Self { listener, vw, drain, service } = self;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (limits, router) = (service.limits, router(service.clone()));
        let reserved = router.clone().layer(axum::Extension(Reserved));
        // A socket that sends nothing must not keep all others out: no address has all places, and some are for health and admin.
        let connections = Connections::new(limits.connections, limits.connections_of_address);
        let reserve = Connections::new(RESERVED, RESERVED_OF_ADDRESS);
        let (end, ending) = watch::channel(false);
        if let Some((listener, model)) = vw {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let places = Connections::new(limits.connections, limits.connections_of_address);
            tokio::spawn(vw_port::serve(listener, service.clone(), model, places, ending.clone()));
        }
        let stop = async {
            let failed = std::pin::pin!(failure(&service));
            let failed = first(std::pin::pin!(stop), failed).await;
            if failed.is_none() && !drain.is_zero() {
                service.is_leaving.store(true, Ordering::Relaxed);
                tracing::info!(
                    ?drain,
                    "the end was asked for: health checks say so, everything else goes on"
                );
                sleep(drain).await;
            }
            failed
        };
        let mut stop = std::pin::pin!(stop);
        let failed = loop {
            let accepted = std::pin::pin!(listener.accept());
            let accepted = match either(stop.as_mut(), accepted).await {
                Either::First(ended) => break ended,
                Either::Second(accepted) => accepted,
            };
            let Ok((stream, peer)) = accepted else {
                // The client has gone, or there are too many files: the others continue.
                sleep(Duration::from_millis(20)).await;
                continue;
            };
            let (place, is_reserved) = match connections.enter(peer.ip()) {
                Some(place) => (place, false),
                None => match reserve.enter(peer.ip()) {
                    Some(place) => (place, true),
                    // Closed at once: a client that waits in the backlog does not know why.
                    None => continue,
                },
            };
            service.connections.store(connections.count() + reserve.count(), Ordering::Relaxed);
            let patience = if is_reserved { RESERVED_PATIENCE } else { limits.patience };
            let activity = place.activity();
            let router = if is_reserved { reserved.clone() } else { router.clone() };
            let router = axum::Extension(activity.clone()).layer(router);
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(patience)
                .keep_alive(!is_reserved)
                .serve_connection(
                    TokioIo::new(Timed::new(stream, patience, activity.clone())),
                    TowerToHyperService::new(router),
                );
            let mut ending = ending.clone();
            tokio::spawn(async move {
                let _place = place;
                let mut connection = std::pin::pin!(connection);
                let is_ending = {
                    let ended = std::pin::pin!(ending.wait_for(|end| *end));
                    let closed = std::pin::pin!(activity.closed());
                    // An idle connection is dropped when another one needs its place.
                    let served = std::pin::pin!(first(closed, connection.as_mut()));
                    first(ended, served).await.is_none()
                };
                if is_ending {
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
        let all_closed = async {
            while connections.count() + reserve.count() > 0 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = timeout(DRAIN, all_closed).await;
        failed.map_or(Ok(()), |words| Err(io::Error::other(words)))
    }
}

/// Waits for a log to fail, and for the time that scores are still answered after it.
async fn failure(service: &Service) -> String {
    loop {
        let learning = service.models().values().filter_map(|model| model.learner().ok());
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
