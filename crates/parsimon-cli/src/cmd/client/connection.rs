//! A connection to the service, over HTTP or HTTPS: requests that are answered one after the other.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use ureq::http::Uri;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use crate::args::ServiceArgs;
use crate::fault::Fault;

/// The address that answers whether the process is alive, which is of no model.
pub(super) const ALIVE: &str = "/v2/health/live";

/// Address of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Scheme, host and port, such as `https://models.example.org:8443`.
    origin: String,
    /// The path of the model, without a slash at its end.
    path: String,
}

impl Endpoint {
    fn parse(url: &str) -> Result<Self, String> {
        let expected =
            || format!("expected http://HOST:PORT/v1/models/NAME (or https://...), got {url:?}");
        let uri: Uri = url.parse().map_err(|_| expected())?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) =
            (uri.scheme_str(), uri.authority())
        else {
            return Err(expected());
        };
        if authority.host().is_empty() || authority.as_str().contains('@') {
            return Err(expected());
        }
        let path = uri.path().trim_end_matches('/');
        let is_model = path.strip_prefix("/v1/models/").is_some_and(|name| !name.is_empty());
        // A fragment is not part of a `Uri`.
        if !is_model || uri.query().is_some() || url.contains('#') {
            return Err(format!("the path of a model is /v1/models/NAME, got {path:?}"));
        }
        Ok(Self { origin: format!("{scheme}://{authority}"), path: path.to_owned() })
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

    /// Returns the message of a refusal.
    pub(super) fn words(&self) -> String {
        match self.json()["error"].as_str() {
            Some(words) => words.to_owned(),
            None => String::from_utf8_lossy(&self.body).trim().chars().take(300).collect(),
        }
    }
}

/// A connection that is opened when it is needed, and kept.
pub(super) struct Connection {
    endpoint: Endpoint,
    token: Option<String>,
    timeout: Duration,
    authorities: RootCerts,
    agent: ureq::Agent,
    /// Whether an earlier request was answered, so that the next one may go over a kept connection.
    is_used: bool,
}

impl Connection {
    pub(super) fn new(args: &ServiceArgs) -> Result<Self, Fault> {
        let endpoint =
            Endpoint::parse(&args.url).map_err(|e| Fault::Usage(format!("--url: {e}")))?;
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
        Ok(Self::open(endpoint, token, args.timeout, authorities()?))
    }

    /// Another connection to the same model.
    pub(super) fn another(&self) -> Self {
        let (endpoint, token) = (self.endpoint.clone(), self.token.clone());
        Self::open(endpoint, token, self.timeout, self.authorities.clone())
    }

    fn open(
        endpoint: Endpoint,
        token: Option<String>,
        timeout: Duration,
        authorities: RootCerts,
    ) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // The token goes to the service that was named, and to no proxy of the environment.
            .proxy(None)
            .tls_config(TlsConfig::builder().root_certs(authorities.clone()).build())
            .max_idle_connections_per_host(1)
            .max_idle_age(Duration::from_secs(3600))
            .timeout_connect(Some(timeout))
            .timeout_per_read(Some(timeout))
            .timeout_per_write(Some(timeout))
            .build();
        let agent = config.new_agent();
        Self { endpoint, token, timeout, authorities, agent, is_used: false }
    }

    /// Sends a request to an address of the model and waits for the answer. A kept connection that the service has closed is opened
    /// again once.
    pub(super) fn post(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answer> {
        match self.exchange(path, headers, body) {
            Err(error) if self.is_used && is_closed(&error) => self.exchange(path, headers, body),
            answer => answer,
        }
        .inspect(|_| self.is_used = true)
    }

    /// Explains an error of the connection, with the address.
    pub(super) fn fault(&self, error: &io::Error) -> Fault {
        let words = match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                format!("no answer within {:.0?}; see --timeout", self.timeout)
            }
            ErrorKind::ConnectionRefused => {
                "connection refused; check that the service is running and the port of --url".into()
            }
            ErrorKind::InvalidData if self.endpoint.origin.starts_with("https") => format!(
                "{error}; SSL_CERT_FILE=FILE names the certificates of other authorities, and an address that does not encrypt begins with http://"
            ),
            _ => parsimon_files::in_words(error),
        };
        Fault::Input(format!("{}: {words}", self.endpoint.origin))
    }

    fn exchange(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> io::Result<Answer> {
        let Endpoint { origin, path: model } = &self.endpoint;
        let answer = match path {
            ALIVE => self.with_token(self.agent.get(format!("{origin}{ALIVE}"))).call(),
            _ => {
                let request = self.agent.post(format!("{origin}{model}/{path}"));
                let request =
                    headers.iter().fold(request, |r, (name, value)| r.header(*name, *value));
                self.with_token(request).send(body)
            }
        };
        let mut answer = answer.map_err(as_io)?;
        let retry_after = answer.headers().get("retry-after");
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let body = answer.body_mut().with_config().read_to_vec().map_err(as_io)?;
        Ok(Answer { status: answer.status().as_u16(), retry_after, body })
    }

    fn with_token<B>(&self, request: ureq::RequestBuilder<B>) -> ureq::RequestBuilder<B> {
        match &self.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        }
    }
}

/// The authorities that certificates are checked against: those of the file that `SSL_CERT_FILE` names, else Mozilla's list.
fn authorities() -> Result<RootCerts, Fault> {
    let Some(path) = std::env::var_os("SSL_CERT_FILE") else { return Ok(RootCerts::WebPki) };
    let path = Path::new(&path);
    let bytes = std::fs::read(path).map_err(|error| Fault::file(path, &error))?;
    let refuse = |what: String| Fault::Input(format!("SSL_CERT_FILE: {}: {what}", path.display()));
    let mut found = Vec::new();
    for item in parse_pem(&bytes) {
        if let PemItem::Certificate(one) = item.map_err(|error| refuse(error.to_string()))? {
            found.push(one);
        }
    }
    match found.is_empty() {
        true => Err(refuse("holds no certificate in PEM".into())),
        false => Ok(RootCerts::from(found)),
    }
}

/// Errors of the library by their kinds, which [`Connection::fault`] explains.
fn as_io(error: ureq::Error) -> io::Error {
    match error {
        ureq::Error::Timeout(_) => io::Error::new(ErrorKind::TimedOut, error),
        ureq::Error::HostNotFound => io::Error::new(ErrorKind::NotFound, "no such host"),
        error => error.into_io(),
    }
}

fn is_closed(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn addresses_are_those_of_models() {
        let endpoint = Endpoint::parse("http://localhost/v1/models/m/").unwrap();
        assert_eq!(
            (endpoint.origin.as_str(), endpoint.path.as_str()),
            ("http://localhost", "/v1/models/m")
        );
        let endpoint = Endpoint::parse("https://[::1]:8443/v1/models/m").unwrap();
        assert_eq!(endpoint.origin, "https://[::1]:8443");
        for bad in [
            "localhost:8080/v1/models/m",
            "ftp://a/v1/models/m",
            "http:///v1/models/m",
            "http://a/v1/models/",
            "http://a/v2/models/m",
            "http://a/v1/models/m?x",
            "http://a/v1/models/m#x",
            "http://a/v1/models/m n",
            "http://u@a/v1/models/m",
        ] {
            assert!(Endpoint::parse(bad).is_err(), "{bad}");
        }
    }

    /// Sends a request to a server that gives these answers, one for each connection.
    fn answered(answers: &[&str], requests: usize) -> Vec<io::Result<Answer>> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for answer in answers {
                    let (stream, _) = listener.accept().unwrap();
                    let mut stream = BufReader::new(stream);
                    let (mut line, mut length) = (String::new(), 0);
                    while stream.read_line(&mut line).unwrap() > 2 {
                        if let Some(n) = line.to_lowercase().strip_prefix("content-length:") {
                            length = n.trim().parse().unwrap();
                        }
                        line.clear();
                    }
                    let mut body = vec![0; length];
                    io::Read::read_exact(&mut stream, &mut body).unwrap();
                    stream.get_mut().write_all(answer.as_bytes()).unwrap();
                }
            });
            let endpoint = Endpoint { origin, path: "/v1/models/m".into() };
            let (timeout, authorities) = (Duration::from_secs(20), RootCerts::WebPki);
            let mut connection = Connection::open(endpoint, None, timeout, authorities);
            (0..requests).map(|_| connection.post("score", &[], b"{}")).collect()
        })
    }

    #[test]
    fn answers_are_read_with_their_status_and_the_time_to_wait() {
        let busy = "HTTP/1.1 429 Too Many\r\nRetry-After: 3\r\ncontent-length: 2\r\n\r\nab";
        let found = answered(&[busy], 1).remove(0).unwrap();
        assert_eq!((found.status, found.retry_after, found.body), (429, Some(3), b"ab".to_vec()));
        let elsewhere = "HTTP/1.1 302 Found\r\nlocation: http://a/\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(answered(&[elsewhere], 1).remove(0).unwrap().status, 302);
    }

    #[test]
    fn answers_that_are_cut_short_or_of_another_protocol_are_errors() {
        let short = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nxyz";
        let error = answered(&[short], 1).remove(0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        assert!(answered(&["SSH-2.0\r\n\r\n"], 1).remove(0).is_err());
    }

    /// The service closes connections that wait for long; the next request opens another.
    #[test]
    fn a_kept_connection_that_was_closed_is_opened_again() {
        let fine = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx";
        for answer in answered(&[fine, fine], 2) {
            assert_eq!(answer.unwrap().status, 200);
        }
    }
}
