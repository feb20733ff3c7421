//! Places for connections: a limit in total and for each address, and streams whose clients must read.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// Connections that are open.
#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    most_of_address: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    count: usize,
    of_address: HashMap<IpAddr, usize>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    connections: Arc<Connections>,
    address: IpAddr,
}

impl Connections {
    /// Returns places in total, and for each address.
    pub(crate) fn new(most: usize, most_of_address: usize) -> Arc<Self> {
        Arc::new(Self { most, most_of_address, open: Mutex::default() })
    }

    /// Takes a place; `None` if all are taken, or all of this address.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Open { count, of_address } = &mut *open;
        let own = of_address.entry(address).or_default();
        if *count >= self.most || *own >= self.most_of_address {
            if *own == 0 {
                of_address.remove(&address);
            }
            return None;
        }
        (*own, *count) = (*own + 1, *count + 1);
        Some(Place { connections: self.clone(), address })
    }

    /// Returns the number of places that are taken.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).count
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Open { count, of_address } = &mut *open;
        *count -= 1;
        let own = of_address.get_mut(&self.address);
        let own = own.map_or(0, |own| {
            *own -= 1;
            *own
        });
        if own == 0 {
            of_address.remove(&self.address);
        }
    }
}

/// A stream whose writes fail when the client has read nothing for a time.
#[derive(Debug)]
pub(crate) struct Timed {
    stream: TcpStream,
    patience: Duration,
    /// Set while a write waits for the client.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Timed {
    pub(crate) fn new(stream: TcpStream, patience: Duration) -> Self {
        // Answers are small and awaited.
        let _ = stream.set_nodelay(true);
        Self { stream, patience, waiting: None }
    }

    fn within<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Timed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Timed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.within(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.within(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_limited_in_total_and_by_address() {
        let [a, b] = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse::<IpAddr>().unwrap());
        let connections = Connections::new(3, 2);
        let first = connections.enter(a).unwrap();
        let _second = connections.enter(a).unwrap();
        assert!(connections.enter(a).is_none(), "the places of this address are taken");
        let third = connections.enter(b).unwrap();
        assert!(connections.enter(b).is_none(), "all places are taken");
        drop(first);
        drop(connections.enter(b).unwrap());
        drop(third);
        assert_eq!(connections.count(), 1);
        assert_eq!(connections.open.lock().unwrap().of_address.len(), 1);
    }
}
