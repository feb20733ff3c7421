//! The parts of a request that several addresses need: body, deadline, flags.

use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt as _;
use serde::Serialize;

use crate::content::Shape;
use crate::error::Refusal;
use crate::memory::Held;
use crate::wait::blocking;

/// The longest deadline in milliseconds: a day.
pub(super) const LONGEST_DEADLINE: u64 = 24 * 60 * 60 * 1000;

/// The moment after which an answer is of no use to the client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Option<(Instant, u64)>);

impl Deadline {
    /// From the header `x-deadline-ms`: milliseconds after the head of the request has come.
    pub(super) fn of(headers: &HeaderMap, start: Instant) -> Result<Self, Refusal> {
        let Some(value) = headers.get("x-deadline-ms") else { return Ok(Self(None)) };
        let ms = value.to_str().ok().and_then(|text| text.trim().parse::<u64>().ok());
        let ms = ms.filter(|ms| *ms <= LONGEST_DEADLINE).ok_or_else(|| {
            Refusal::bad(format!(
                "x-deadline-ms must be a number of milliseconds, at most {LONGEST_DEADLINE}, got {value:?}"
            ))
        })?;
        Ok(Self(start.checked_add(Duration::from_millis(ms)).map(|end| (end, ms))))
    }

    /// Refuses a request that is too late.
    pub(super) fn check(self) -> Result<(), Refusal> {
        match self.0 {
            Some((end, ms)) if Instant::now() > end => {
                let words = format!("the deadline of {ms} ms has passed; nothing was computed");
                Err(Refusal::new(StatusCode::GATEWAY_TIMEOUT, words))
            }
            _ => Ok(()),
        }
    }

    /// The time that is left; `None` if there is no deadline.
    pub(super) fn left(self) -> Option<Duration> {
        self.0.map(|(end, _)| end.saturating_duration_since(Instant::now()))
    }
}

/// Time limit of a body.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request whose body was received.
pub(super) struct Received {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) deadline: Deadline,
    query: String,
    /// The memory of the body.
    _held: Held,
}

impl Received {
    /// Waits for the body, as long as it is within the limit.
    pub(super) async fn new(request: Request, limit: usize) -> Result<Self, Refusal> {
        let deadline = request.extensions().get().copied().unwrap_or(Deadline(None));
        let (head, body) = request.into_parts();
        let too_large = || {
            let words = format!("the body exceeds the limit of {limit} bytes");
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, words)
        };
        let length = head.headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok());
        let mut body = body;
        if length.and_then(|text| text.parse::<u64>().ok()).is_some_and(|n| n > limit as u64) {
            discard(&mut body).await;
            return Err(too_large());
        }
        let mut held = Held::default();
        let whole = tokio::time::timeout(PATIENCE, read(&mut body, limit, &mut held)).await;
        if !matches!(whole, Ok(Ok(Some(_)))) {
            discard(&mut body).await;
        }
        let body = whole;
        let body = body.map_err(|_| {
            let words = "the body did not come within 30 s";
            Refusal::new(StatusCode::REQUEST_TIMEOUT, words)
        })?;
        let body = body?.ok_or_else(too_large)?;
        let mut encodings = head.headers.get_all(header::CONTENT_ENCODING).iter();
        let encoding = encodings.next();
        if encodings.next().is_some() {
            let words = "the request has two Content-Encoding headers: use gzip, zstd or none";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, words));
        }
        let body = match encoding {
            None => body,
            Some(encoding) => {
                let packed = body.len();
                let unpacked =
                    work(packed, || super::encoding::decode(encoding, &body, limit, &mut held));
                unpacked?.map_or_else(|| Err(too_large()), Ok)?.into()
            }
        };
        let query = head.uri.query().unwrap_or_default().to_owned();
        let received = Self { headers: head.headers, body, deadline, query, _held: held };
        received.deadline.check()?;
        Ok(received)
    }

    /// A header as text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The content type.
    pub(super) fn content_type(&self) -> Option<&str> {
        self.header("content-type")
    }

    /// A parameter of the query.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        parameter(&self.query, name)
    }

    /// A flag of the query: `?explain`, `?explain=true`; not `?explain=false`.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Refusal> {
        flag(&self.query, name)
    }
}

/// Reads a body; `None` if it exceeds the limit.
async fn read(body: &mut Body, limit: usize, held: &mut Held) -> Result<Option<Bytes>, Refusal> {
    let mut whole: Vec<u8> = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|error| Refusal::bad(format!("the body cannot be read: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > limit {
            return Ok(None);
        }
        if whole.is_empty() && body.is_end_stream() {
            held.reserve(data.len())?;
            // A body that came at once is not copied.
            return Ok(Some(data));
        }
        held.reserve(whole.len() + data.len())?;
        whole.extend_from_slice(&data);
    }
    Ok(Some(whole.into()))
}

/// Reads the rest of a body that is refused, for a while: a client that is still sending when the connection is closed does not see
/// the answer.
async fn discard(body: &mut Body) {
    let rest = async { while body.frame().await.is_some_and(|frame| frame.is_ok()) {} };
    let _ = tokio::time::timeout(Duration::from_secs(1), rest).await;
}

/// Whether a flag of a query is set.
pub(super) fn flag(query: &str, name: &str) -> Result<bool, Refusal> {
    match parameter(query, name) {
        Some("" | "true" | "1") => Ok(true),
        None | Some("false" | "0") => Ok(false),
        Some(other) => Err(Refusal::bad(format!("{name} is true or false, got {other:?}"))),
    }
}

/// A parameter of a query; empty if it has no value.
pub(super) fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key == name).then_some(value)
    })
}

/// Work that may keep a thread for long is announced, so that others take over its connections.
pub(super) fn work<R>(bytes: usize, work: impl FnOnce() -> R) -> R {
    const LONG: usize = 32 << 10;
    if bytes > LONG { blocking(work) } else { work() }
}

/// JSON objects, put together as the rows of the request were.
pub(super) struct RowAnswers {
    shape: Shape,
    out: Vec<u8>,
    count: usize,
}

impl RowAnswers {
    pub(super) fn new(shape: Shape) -> Self {
        let out = if shape == Shape::List { vec![b'['] } else { Vec::new() };
        Self { shape, out, count: 0 }
    }

    /// Begins the next object; it is written into the buffer.
    pub(super) fn next(&mut self) -> &mut Vec<u8> {
        match self.shape {
            Shape::List if self.count > 0 => self.out.extend_from_slice(b",\n"),
            Shape::Lines if self.count > 0 => self.out.push(b'\n'),
            _ => {}
        }
        self.count += 1;
        &mut self.out
    }

    /// The answer.
    pub(super) fn finish(mut self) -> Response {
        self.out.extend_from_slice(if self.shape == Shape::List { b"]\n" } else { b"\n" });
        let content_type = match self.shape {
            Shape::Lines => "application/x-ndjson",
            Shape::One | Shape::List => "application/json",
        };
        let content_type = HeaderValue::from_static(content_type);
        ([(header::CONTENT_TYPE, content_type)], Body::from(self.out)).into_response()
    }
}

/// Returns a JSON answer.
pub(super) fn json<T: Serialize>(value: &T) -> Response {
    let content_type = HeaderValue::from_static("application/json");
    let mut body = Vec::new();
    crate::answer::write_json(&mut body, value);
    body.push(b'\n');
    ([(header::CONTENT_TYPE, content_type)], body).into_response()
}
