//! Places for connections: a limit in total and for each address, and streams whose clients must read.
//!
//! A connection without a request keeps its place as long as no other client needs it. Where all places are taken the connection
//! that has been idle for the longest time is closed, so that sockets that send nothing do not block other clients.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
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
    /// The number of the next connection.
    next: u64,
    of_address: HashMap<IpAddr, usize>,
    activities: HashMap<u64, (IpAddr, Arc<Activity>)>,
}

/// The work of a connection, by which the places of idle ones are found.
#[derive(Debug)]
pub(crate) struct Activity {
    begun: Instant,
    /// Requests that are being answered.
    requests: AtomicUsize,
    /// When bytes last came or went, in milliseconds since the beginning.
    moved: AtomicU64,
    is_closed: AtomicBool,
    close: Notify,
}

impl Activity {
    fn new() -> Self {
        Self {
            begun: Instant::now(),
            requests: AtomicUsize::new(0),
            moved: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            close: Notify::new(),
        }
    }

    /// Waits until the place is given to another connection.
    pub(crate) async fn closed(&self) {
        while !self.is_closed.load(Ordering::Acquire) {
            self.close.notified().await;
        }
    }

    /// Marks a request that is being answered, until the mark is dropped.
    pub(crate) fn work(self: &Arc<Self>) -> Work {
        self.requests.fetch_add(1, Ordering::Relaxed);
        Work(self.clone())
    }

    fn touch(&self) {
        self.moved.store(self.begun.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// Returns since when it is idle; `None` while a request is being answered.
    fn idle_since(&self) -> Option<Instant> {
        let is_idle = self.requests.load(Ordering::Relaxed) == 0;
        let moved = Duration::from_millis(self.moved.load(Ordering::Relaxed));
        is_idle.then(|| self.begun + moved)
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(crate) struct Work(Arc<Activity>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.touch();
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    connections: Arc<Connections>,
    number: u64,
    activity: Arc<Activity>,
}

impl Place {
    /// Returns the work of the connection at this place.
    pub(crate) fn activity(&self) -> Arc<Activity> {
        self.activity.clone()
    }
}

impl Connections {
    /// Returns places in total, and for each address.
    pub(crate) fn new(most: usize, most_of_address: usize) -> Arc<Self> {
        Arc::new(Self { most, most_of_address, open: Mutex::default() })
    }

    /// Takes a place, that of an idle connection if all are taken; `None` if none is idle.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let own = open.of_address.get(&address).copied().unwrap_or(0);
        if own >= self.most_of_address {
            open.close_idle(Some(address))?;
        } else if open.activities.len() >= self.most {
            open.close_idle(None)?;
        }
        let (number, activity) = (open.next, Arc::new(Activity::new()));
        open.next += 1;
        *open.of_address.entry(address).or_default() += 1;
        open.activities.insert(number, (address, activity.clone()));
        Some(Place { connections: self.clone(), number, activity })
    }

    /// Returns the number of places that are taken.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).activities.len()
    }
}

impl Open {
    /// Closes the connection that has been idle for the longest time, of an address or of all; `None` if none is idle.
    fn close_idle(&mut self, address: Option<IpAddr>) -> Option<()> {
        let own = self.activities.iter().filter(|(_, (of, _))| address.is_none_or(|a| a == *of));
        let idle =
            own.filter_map(|(number, (_, activity))| Some((activity.idle_since()?, *number)));
        let (_, number) = idle.min()?;
        let activity = self.remove(number)?;
        activity.is_closed.store(true, Ordering::Release);
        activity.close.notify_one();
        Some(())
    }

    fn remove(&mut self, number: u64) -> Option<Arc<Activity>> {
        let (address, activity) = self.activities.remove(&number)?;
        if let Some(own) = self.of_address.get_mut(&address) {
            *own -= 1;
            if *own == 0 {
                self.of_address.remove(&address);
            }
        }
        Some(activity)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Nothing is there if another connection has the place.
        self.connections.open.lock().unwrap_or_else(PoisonError::into_inner).remove(self.number);
    }
}

/// A stream whose writes fail when the client has read nothing for a time.
#[derive(Debug)]
pub(crate) struct Timed {
    stream: TcpStream,
    patience: Duration,
    /// Set while a write waits for the client.
    waiting: Option<Pin<Box<Sleep>>>,
    activity: Arc<Activity>,
}

impl Timed {
    pub(crate) fn new(stream: TcpStream, patience: Duration, activity: Arc<Activity>) -> Self {
        // Answers are small and awaited.
        let _ = stream.set_nodelay(true);
        Self { stream, patience, waiting: None, activity }
    }

    fn within<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            self.activity.touch();
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
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() {
            self.activity.touch();
        }
        read
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
        // A flush moves no bytes of a socket.
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses() -> [IpAddr; 2] {
        ["10.0.0.1", "10.0.0.2"].map(|text| text.parse::<IpAddr>().unwrap())
    }

    #[test]
    fn places_are_limited_in_total_and_by_address() {
        let [a, b] = addresses();
        let connections = Connections::new(3, 2);
        let enter = |address| connections.enter(address).map(|p| (p.activity().work(), p));
        let first = enter(a).unwrap();
        let _second = enter(a).unwrap();
        assert!(enter(a).is_none(), "the places of this address are taken");
        let third = enter(b).unwrap();
        assert!(enter(b).is_none(), "all places are taken");
        drop(first);
        drop(enter(b).unwrap());
        drop(third);
        assert_eq!(connections.count(), 1);
        assert_eq!(connections.open.lock().unwrap().of_address.len(), 1);
    }

    #[test]
    fn the_connection_that_is_idle_for_longest_leaves_first() {
        let [a, b] = addresses();
        let connections = Connections::new(3, 2);
        let [old, young] = [a, a].map(|address| connections.enter(address).unwrap());
        let busy = old.activity().work();
        // An address closes its own connections only: the older one is at work.
        let new = connections.enter(a).unwrap();
        let is_closed = |place: &Place| place.activity().is_closed.load(Ordering::Relaxed);
        assert_eq!([&old, &young, &new].map(is_closed), [false, true, false]);
        drop(young);
        assert_eq!(connections.count(), 2, "a place is given back once");
        let other = connections.enter(b).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        new.activity().touch();
        let last = connections.enter(b).unwrap();
        assert_eq!([&old, &new, &other, &last].map(is_closed), [false, false, true, false]);
        drop(busy);
    }
}
