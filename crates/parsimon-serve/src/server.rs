//! The socket: connections are accepted, answered and, at the end, drained.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::http::{Service, router};

/// How long open requests may take after the end was asked for.
const DRAIN: Duration = Duration::from_secs(20);

/// A socket that listens.
pub struct Server {
    listener: TcpListener,
    service: Arc<Service>,
}

impl Server {
    /// Listens at an address. Port 0 takes any that is free.
    pub fn bind(address: SocketAddr, service: Arc<Service>) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, service })
    }

    /// The address it listens at.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is done; then takes nothing new, and returns when the open requests are answered.
    pub fn run(self, stop: impl Future<Output = ()> + Send) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(self.serve(stop))
    }

    async fn serve(self, stop: impl Future<Output = ()> + Send) -> io::Result<()> {
        let Self { listener, service } = self;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (limits, router) = (service.limits, router(service.clone()));
        let places = Arc::new(Semaphore::new(limits.connections));
        let (end, ending) = watch::channel(false);
        let mut stop = std::pin::pin!(stop);
        loop {
            // A client beyond the limit waits in the backlog of the system.
            let accepted = async {
                let place = places.clone().acquire_owned().await;
                (place, listener.accept().await)
            };
            let accepted = std::pin::pin!(accepted);
            let (place, accepted) = match first(stop.as_mut(), accepted).await {
                None => break,
                Some(accepted) => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                // The client has gone, or there are too many files: the others go on.
                Err(_) => {
                    sleep(Duration::from_millis(20)).await;
                    continue;
                }
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
        }
        service.is_draining.store(true, Ordering::Relaxed);
        drop(listener);
        let _ = end.send(true);
        let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
        let _ = timeout(DRAIN, places.acquire_many(all)).await;
        Ok(())
    }
}

/// Waits for the signal to end: SIGTERM, or an interrupt from the keyboard.
pub async fn termination() {
    let interrupt = async {
        // Without a handler the signal ends the process at once.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut term) = signal(SignalKind::terminate()) {
            let term = std::pin::pin!(term.recv());
            first(term, std::pin::pin!(interrupt)).await;
            return;
        }
    }
    interrupt.await;
}

/// Waits for `stop` or for `work`; `None` if it is over.
async fn first<S: Future + Unpin, W: Future + Unpin>(stop: S, work: W) -> Option<W::Output> {
    let (mut stop, mut work) = (stop, work);
    std::future::poll_fn(move |context| {
        use std::task::Poll;
        if std::pin::Pin::new(&mut stop).poll(context).is_ready() {
            return Poll::Ready(None);
        }
        std::pin::Pin::new(&mut work).poll(context).map(Some)
    })
    .await
}
