//! Errors of requests: a status, one line, and the place in the body.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use parsimon::data::{DataError, DataErrorKind};
use parsimon::workspace::{Door, Setting};
use serde_json::{Map, Value, json};

/// The service: settings are fields of a row or parameters of the address. What a model fixes cannot be changed by a request.
#[derive(Clone, Copy, Debug)]
struct Fields;

impl Door for Fields {
    fn setting(&self, setting: Setting, _: Option<&str>) -> Option<String> {
        match setting {
            Setting::LabelColumn => Some("the field \"label\"".to_owned()),
            Setting::WeightColumn => Some("the field \"weight\"".to_owned()),
            Setting::SkipBad => Some("the parameter partial=true".to_owned()),
            _ => None,
        }
    }
}

/// The first remedy that a request can apply: the field or the parameter, and the columns among which it chooses.
fn remedy(error: &DataError) -> Option<Value> {
    let remedy = error.message().remedies().iter().find(|remedy| remedy.words(&Fields).is_some());
    let remedy = remedy?;
    let (setting, _) = remedy.setting()?;
    let field = match setting {
        Setting::LabelColumn => "label",
        Setting::WeightColumn => "weight",
        Setting::SkipBad => "partial",
        _ => return None,
    };
    let mut value = json!({"field": field});
    if !remedy.columns().is_empty() {
        value["columns"] = remedy.columns().into();
    }
    Some(value)
}

/// A refused request. The answer is a JSON object with `error` and, for a bad row, `line`, `column`, `field` and `token`. `remedy` has the field or the parameter that
/// avoids the error.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    body: Map<String, Value>,
    retry_after: Option<u32>,
}

impl Refusal {
    /// A refusal with a status and a message.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let mut body = Map::new();
        body.insert("error".into(), Value::String(message.into()));
        Self { status, body, retry_after: None }
    }

    /// The request makes no sense.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Something that is not there.
    pub fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// The request contradicts what the model is, or what it was given before.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// More than the service takes at a time: the client should come back.
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, message).after(1)
    }

    /// The service cannot do this now.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message).after(5)
    }

    /// With the seconds after which to try again.
    #[must_use]
    pub fn after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// With one more field in the answer.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.body.insert(field.into(), value.into());
        self
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The message.
    pub fn message(&self) -> &str {
        self.body.get("error").and_then(Value::as_str).unwrap_or_default()
    }

    /// The answer.
    pub fn into_json(self) -> Value {
        Value::Object(self.body)
    }
}

impl From<DataError> for Refusal {
    fn from(error: DataError) -> Self {
        Self::from_error(&error)
    }
}

impl Refusal {
    /// Refuses rows for what is wrong with them.
    pub(crate) fn from_error(error: &DataError) -> Self {
        let mut refusal = match error.kind() {
            DataErrorKind::TooLong => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, error.words(&Fields))
            }
            _ => Self::bad(error.words(&Fields)),
        };
        if let Some(remedy) = remedy(error) {
            refusal = refusal.with("remedy", remedy);
        }
        let places = [("line", error.line()), ("column", error.column())];
        for (name, place) in places {
            if let Some(place) = place {
                refusal = refusal.with(name, place);
            }
        }
        for (name, text) in [("field", error.field()), ("token", error.token())] {
            if let Some(text) = text {
                refusal = refusal.with(name, text);
            }
        }
        refusal
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut body = Value::Object(self.body).to_string();
        body.push('\n');
        let json = HeaderValue::from_static("application/json");
        let mut response = (self.status, [(header::CONTENT_TYPE, json)], body).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
