//! A proxy between two processes that cuts, delays and drops connections.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::time::Duration;

use crate::SplitMix64;

/// A port of this machine whose connections lead to another port.
pub struct Proxy {
    /// Port on which it listens.
    pub address: SocketAddr,
    port: Arc<AtomicU16>,
    is_over: Arc<AtomicBool>,
}

impl Proxy {
    /// Leads to a port, or nowhere for 0. With a seed other than 0, a third of the connections end after some bytes, and all begin a
    /// little late.
    ///
    /// # Panics
    ///
    /// If the machine has no free port.
    #[must_use]
    pub fn new(port: u16, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let (port, is_over) = (Arc::new(AtomicU16::new(port)), Arc::new(AtomicBool::new(false)));
        let (target, over) = (port.clone(), is_over.clone());
        std::thread::spawn(move || {
            let mut random = SplitMix64::new(seed);
            for stream in listener.incoming() {
                let (Ok(stream), false) = (stream, over.load(Ordering::Relaxed)) else { return };
                let is_cut = seed > 0 && random.below(3) == 0;
                let bytes = if is_cut { random.below(3000) as usize } else { usize::MAX };
                let delay = if seed > 0 { random.below(4) } else { 0 };
                let target = target.clone();
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(delay));
                    let _ = pass(stream, &target, bytes);
                });
            }
        });
        Self { address, port, is_over }
    }

    /// Leads to another port from now on, or nowhere for 0: open connections end, too.
    pub fn lead_to(&self, port: u16) {
        self.port.store(port, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

/// Passes bytes both ways, at most so many back, for as long as the target stays.
fn pass(client: TcpStream, target: &AtomicU16, left: usize) -> std::io::Result<()> {
    let port = target.load(Ordering::Relaxed);
    if port == 0 {
        return Ok(());
    }
    let server = TcpStream::connect(("127.0.0.1", port))?;
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
    let (from, to) = (server, client);
    let passed = pass_back(&from, &to, (port, target), left);
    // The other thread holds both connections, too: after an error, such as the reset of a process that was killed, they must not stay open.
    let _ = from.shutdown(std::net::Shutdown::Both);
    let _ = to.shutdown(std::net::Shutdown::Both);
    passed
}

/// Passes answers back, at most `left` bytes, for as long as the target stays.
fn pass_back(
    mut from: &TcpStream,
    mut to: &TcpStream,
    (port, target): (u16, &AtomicU16),
    mut left: usize,
) -> std::io::Result<()> {
    let mut buffer = [0; 4096];
    while left > 0 {
        let read = from.read(&mut buffer)?;
        if read == 0 || target.load(Ordering::Relaxed) != port {
            break;
        }
        let part = read.min(left);
        to.write_all(&buffer[..part])?;
        left -= part;
    }
    Ok(())
}
