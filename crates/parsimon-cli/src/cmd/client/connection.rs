//! One connection to the service: just enough HTTP/1.1 for requests that are answered one after the other.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use serde_json::Value;

use crate::args::ServiceArgs;
use crate::fault::Fault;

/// The address that answers whether the process is alive, which is of no model.
pub(super) const ALIVE: &str = "/v2/health/live";

/// The longest head of an answer.
const LONGEST_HEAD: u64 = 64 << 10;

/// Where the model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Host and port, as the system resolves them.
    address: String,
    /// Host and port, as they were typed.
    authority: String,
    /// The path of the model, without a slash at its end.
    path: String,
}

impl Place {
    fn parse(url: &str) -> Result<Self, String> {
        let rest = match url.split_once("://") {
            Some(("http", rest)) => rest,
            Some(("https", _)) => {
                return Err("https is not supported; TLS belongs to a proxy, and the client speaks to the service itself".into());
            }
            _ => return Err(format!("expected http://HOST:PORT/v1/models/NAME, got {url:?}")),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = path.trim_end_matches('/');
        let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_graphic());
        if authority.is_empty() || authority.contains('@') || !is_plain(rest) {
            return Err(format!("expected http://HOST:PORT/v1/models/NAME, got {url:?}"));
        }
        let is_model = path.strip_prefix("/v1/models/").is_some_and(|name| !name.is_empty());
        if !is_model || path.contains(['?', '#']) {
            return Err(format!("the path of a model is /v1/models/NAME, got {path:?}"));
        }
        let port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let address = if port { authority.to_owned() } else { format!("{authority}:80") };
        Ok(Self { address, authority: authority.to_owned(), path: path.to_owned() })
    }
}

/// An answer of the service.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) retry_after: Option<u64>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// The body as JSON; null if it is none.
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// What a refusal says.
    pub(super) fn words(&self) -> String {
        match self.json()["error"].as_str() {
            Some(words) => words.to_owned(),
            None => String::from_utf8_lossy(&self.body).trim().chars().take(300).collect(),
        }
    }
}

/// A connection that is opened when it is needed, and kept.
pub(super) struct Connection {
    place: Place,
    token: Option<String>,
    timeout: Duration,
    stream: Option<BufReader<TcpStream>>,
    head: Vec<u8>,
}

impl Connection {
    pub(super) fn new(args: &ServiceArgs) -> Result<Self, Fault> {
        let place = Place::parse(&args.url).map_err(|e| Fault::Usage(format!("--url: {e}")))?;
        let token = match &args.token_file {
            Some(path) => {
                Some(std::fs::read_to_string(path).map_err(|error| Fault::file(path, &error))?)
            }
            None => std::env::var("PARSIMON_TOKEN").ok(),
        };
        let token = token.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        if token.as_ref().is_some_and(|token| !token.bytes().all(|b| b.is_ascii_graphic())) {
            return Err(Fault::Input("the token must be one word of ASCII characters".into()));
        }
        Ok(Self { place, token, timeout: args.timeout, stream: None, head: Vec::new() })
    }

    /// Another connection to the same model.
    pub(super) fn another(&self) -> Self {
        let (place, token) = (self.place.clone(), self.token.clone());
        Self { place, token, timeout: self.timeout, stream: None, head: Vec::new() }
    }

    /// Sends a request to an address of the model and waits for the answer. A kept connection that the service has closed is opened
    /// again once.
    pub(super) fn post(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answer> {
        let was_kept = self.stream.is_some();
        match self.exchange(path, headers, body) {
            Err(error) if was_kept && is_closed(&error) => self.exchange(path, headers, body),
            answer => answer,
        }
    }

    /// What an error of the connection means, with the address.
    pub(super) fn fault(&self, error: &io::Error) -> Fault {
        let words = match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                format!("no answer within {:.0?}; see --timeout", self.timeout)
            }
            ErrorKind::ConnectionRefused => {
                "connection refused; check that the service is running and the port of --url".into()
            }
            _ => parsimon_files::in_words(error),
        };
        Fault::Input(format!("http://{}: {words}", self.place.authority))
    }

    fn exchange(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answer> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufReader::new(self.connect()?),
        };
        self.head.clear();
        let (base, authority) = (&self.place.path, &self.place.authority);
        match path {
            ALIVE => write!(self.head, "GET {ALIVE} HTTP/1.1\r\nhost: {authority}\r\n")?,
            _ => write!(self.head, "POST {base}/{path} HTTP/1.1\r\nhost: {authority}\r\n")?,
        }
        write!(self.head, "content-length: {}\r\n", body.len())?;
        for (name, value) in headers {
            write!(self.head, "{name}: {value}\r\n")?;
        }
        if let Some(token) = &self.token {
            write!(self.head, "authorization: Bearer {token}\r\n")?;
        }
        self.head.extend_from_slice(b"\r\n");
        // A small request is one packet.
        if body.len() < 16 << 10 {
            self.head.extend_from_slice(body);
            stream.get_mut().write_all(&self.head)?;
        } else {
            stream.get_mut().write_all(&self.head)?;
            stream.get_mut().write_all(body)?;
        }
        let (answer, is_kept) = read_answer(&mut stream)?;
        if is_kept {
            self.stream = Some(stream);
        }
        Ok(answer)
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = None;
        for address in self.place.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, self.timeout) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(self.timeout))?;
                    stream.set_write_timeout(Some(self.timeout))?;
                    return Ok(stream);
                }
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| io::Error::new(ErrorKind::NotFound, "no such host")))
    }
}

fn is_closed(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

/// Reads an answer, and whether the connection stays open after it.
fn read_answer(stream: &mut impl BufRead) -> io::Result<(Answer, bool)> {
    let broken = |words: &str| io::Error::new(ErrorKind::InvalidData, words.to_owned());
    let mut head = stream.by_ref().take(LONGEST_HEAD);
    let mut line = String::new();
    let mut next = |line: &mut String| {
        line.clear();
        match head.read_line(line)? {
            0 => Err(io::Error::new(ErrorKind::UnexpectedEof, "the connection was closed")),
            _ => Ok(()),
        }
    };
    next(&mut line)?;
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1));
    let status = status.and_then(|code| code.trim().parse::<u16>().ok());
    let status = status.ok_or_else(|| broken("the answer is not HTTP/1.1"))?;
    let (mut length, mut is_chunked, mut is_kept, mut retry_after) = (None, false, true, None);
    loop {
        next(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let (name, value) = (name.to_ascii_lowercase(), value.trim());
        match name.as_str() {
            "content-length" => length = value.parse::<u64>().ok(),
            "transfer-encoding" => is_chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" => is_kept = !value.eq_ignore_ascii_case("close"),
            "retry-after" => retry_after = value.parse().ok(),
            _ => {}
        }
    }
    let mut body = Vec::new();
    match length {
        _ if is_chunked => loop {
            line.clear();
            stream.read_line(&mut line)?;
            let size = line.trim().split(';').next().unwrap_or_default();
            let size = u64::from_str_radix(size, 16).map_err(|_| broken("a chunk has no size"))?;
            stream.by_ref().take(size).read_to_end(&mut body)?;
            line.clear();
            stream.read_line(&mut line)?;
            if size == 0 {
                break;
            }
        },
        Some(length) => {
            stream.by_ref().take(length).read_to_end(&mut body)?;
            if (body.len() as u64) < length {
                return Err(io::Error::new(ErrorKind::UnexpectedEof, "the answer was cut short"));
            }
        }
        None => {
            is_kept = false;
            stream.read_to_end(&mut body)?;
        }
    }
    Ok((Answer { status, retry_after, body }, is_kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_models() {
        let place = Place::parse("http://localhost/v1/models/m/").unwrap();
        assert_eq!((place.address.as_str(), place.path.as_str()), ("localhost:80", "/v1/models/m"));
        assert_eq!(Place::parse("http://[::1]:8080/v1/models/m").unwrap().address, "[::1]:8080");
        for bad in [
            "localhost:8080/v1/models/m",
            "https://a/v1/models/m",
            "http:///v1/models/m",
            "http://a/v1/models/",
            "http://a/v2/models/m",
            "http://a/v1/models/m?x",
            "http://a/v1/models/m n",
            "http://u@a/v1/models/m",
        ] {
            assert!(Place::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn answers_are_read_by_length_in_chunks_or_to_the_end() {
        let read = |text: &str| {
            read_answer(&mut text.as_bytes()).map(|(a, kept)| (a.status, a.body, kept))
        };
        let plain = "HTTP/1.1 429 Too Many\r\nRetry-After: 3\r\ncontent-length: 2\r\n\r\nab";
        assert_eq!(read(plain).unwrap(), (429, b"ab".to_vec(), true));
        let chunks =
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n";
        assert_eq!(read(chunks).unwrap(), (200, b"abcd".to_vec(), true));
        assert_eq!(read("HTTP/1.0 200 OK\r\n\r\nxyz").unwrap(), (200, b"xyz".to_vec(), false));
        assert!(read("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nxyz").is_err());
        assert!(read("SSH-2.0\r\n\r\n").is_err());
        assert_eq!(read("").unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}
