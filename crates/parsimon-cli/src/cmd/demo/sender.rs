//! Requests to the service of the same process, one after the other on one connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A connection that is made again when it was lost.
pub(super) struct Sender {
    address: SocketAddr,
    connection: Option<BufReader<TcpStream>>,
}

impl Sender {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self { address, connection: None }
    }

    /// Sends a request and reads the answer away. What fails is not sent again: the next rows come soon.
    pub(super) fn post(&mut self, path: &str, content_type: &str, body: &str) {
        if self.try_post(path, content_type, body).is_err() {
            self.connection = None;
        }
    }

    fn try_post(&mut self, path: &str, content_type: &str, body: &str) -> std::io::Result<()> {
        if self.connection.is_none() {
            let stream = TcpStream::connect(self.address)?;
            stream.set_read_timeout(Some(Duration::from_secs(10)))?;
            stream.set_nodelay(true)?;
            self.connection = Some(BufReader::new(stream));
        }
        let Some(connection) = &mut self.connection else { return Ok(()) };
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        connection.get_mut().write_all(head.as_bytes())?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            if connection.read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if line.trim_end().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        std::io::copy(&mut connection.take(length), &mut std::io::sink())?;
        Ok(())
    }
}
