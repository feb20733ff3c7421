//! Cancellation of reading by another thread.

use std::convert::Infallible;
use std::io::{self, Read};

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, select};

/// A flag that ends reading. A clone belongs to the same [`Stopper`].
///
/// A reader with [`Run::stop`](crate::Run::stop) returns an error of the kind
/// [`Stopped`](crate::DataErrorKind::Stopped) as soon as the stopper is dropped, also while it waits for a pipe.
///
/// ```
/// use parsimon_core::Chunk;
/// use parsimon_data::{Bounds, DataErrorKind, Input, Options, Reader, Run, Stop};
///
/// let (stopper, stop) = Stop::new();
/// let input = Input::Bytes { name: "d.svm".into(), bytes: b"1 1:1\n".repeat(9) };
/// let options = Options { run: Run { stop: Some(stop), ..Run::default() }, bounds: Bounds { chunk_rows: 4, ..Bounds::default() }, ..Options::default() };
/// let mut reader = Reader::open(&[input], &options).unwrap();
/// let mut chunk = Chunk::new();
/// assert!(reader.read(&mut chunk).unwrap());
/// drop(stopper);
/// assert_eq!(reader.read(&mut chunk).unwrap_err().kind(), DataErrorKind::Stopped);
/// ```
#[derive(Clone, Debug)]
pub struct Stop(Receiver<Infallible>);

/// Stops the readers of its [`Stop`] when dropped.
#[derive(Debug)]
pub struct Stopper(
    #[expect(dead_code, reason = "nothing is ever sent: the channel closes with its sender")]
    Sender<Infallible>,
);

/// Two stops are equal if the same [`Stopper`] ends both.
impl PartialEq for Stop {
    fn eq(&self, other: &Self) -> bool {
        self.0.same_channel(&other.0)
    }
}

impl Stop {
    /// A stop, and what triggers it.
    pub fn new() -> (Stopper, Self) {
        let (sender, receiver) = bounded(0);
        (Stopper(sender), Self(receiver))
    }

    /// Whether the stopper was dropped.
    pub fn is_stopped(&self) -> bool {
        matches!(self.0.try_recv(), Err(TryRecvError::Disconnected))
    }
}

/// Blocks of a pipe that are read ahead.
const DEPTH: usize = 4;
const BLOCK: usize = 1 << 16;

/// A stream that may block. Another thread opens and reads it, so that waiting can be ended.
pub(crate) struct Pipe {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    taken: usize,
    stop: Stop,
}

impl Pipe {
    pub(crate) fn new<R: Read>(
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
        stop: &Stop,
    ) -> Self {
        let (sender, blocks) = bounded(DEPTH);
        // Never joined: it may wait for the pipe until the process ends.
        std::thread::spawn(move || {
            let read = || -> io::Result<()> {
                let mut stream = open()?;
                loop {
                    let mut block = vec![0; BLOCK];
                    match stream.read(&mut block) {
                        Ok(0) => return Ok(()),
                        Ok(n) => block.truncate(n),
                        Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                        Err(e) => return Err(e),
                    }
                    if sender.send(Ok(block)).is_err() {
                        return Ok(());
                    }
                }
            };
            if let Err(error) = read() {
                let _ = sender.send(Err(error));
            }
        });
        Self { blocks, block: Vec::new(), taken: 0, stop: stop.clone() }
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.block.len() {
            let block = select! {
                recv(self.blocks) -> block => block,
                // Not of the kind `Interrupted`, after which callers try again.
                recv(self.stop.0) -> _ => return Err(io::Error::other("stopped")),
            };
            match block {
                Ok(block) => (self.block, self.taken) = (block?, 0),
                Err(_) => return Ok(0),
            }
        }
        let len = buffer.len().min(self.block.len() - self.taken);
        buffer[..len].copy_from_slice(&self.block[self.taken..self.taken + len]);
        self.taken += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that never has a byte and never ends, as a pipe whose writer sleeps.
    struct Silent(Receiver<Infallible>);

    impl Read for Silent {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(0)
        }
    }

    #[test]
    fn a_pipe_gives_all_bytes() {
        let (_stopper, stop) = Stop::new();
        let bytes: Vec<u8> = (0..300_000u32).map(|i| (i % 251) as u8).collect();
        let stream = io::Cursor::new(bytes.clone());
        let mut read = Vec::new();
        Pipe::new(|| Ok(stream), &stop).read_to_end(&mut read).unwrap();
        assert!(read == bytes);
        let mut broken = Pipe::new(|| Err::<io::Empty, _>(io::Error::other("no")), &stop);
        assert_eq!(broken.read(&mut [0]).unwrap_err().to_string(), "no");
    }

    #[test]
    fn waiting_ends_when_stopped() {
        let (stopper, stop) = Stop::new();
        let (_open, silence) = bounded(0);
        let mut pipe = Pipe::new(|| Ok(Silent(silence)), &stop);
        assert!(!stop.is_stopped());
        let waiting = std::thread::spawn(move || pipe.read_to_end(&mut Vec::new()).is_err());
        drop(stopper);
        assert!(waiting.join().unwrap());
        assert!(stop.is_stopped());
    }
}
