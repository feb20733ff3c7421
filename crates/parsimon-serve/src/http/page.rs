//! `GET /`: the page to watch models with, and the session of a browser.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Service;
use super::body::{self, Received};
use super::schema::{Empty, HeldRoles};
use crate::access::{Role, TOKEN_COOKIE};
use crate::content::syntax;
use crate::error::Refusal;

const HTML: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/page.css");
const SCRIPT: &str = concat!(
    include_str!("../page/chart.js"),
    include_str!("../page/view.js"),
    include_str!("../page/page.js")
);

/// Content security policy: only resources of this server, no inline script or style, no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) async fn page() -> Response {
    file("text/html; charset=utf-8", HTML)
}

pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", STYLE)
}

pub(super) async fn script() -> Response {
    file("text/javascript; charset=utf-8", SCRIPT)
}

fn file(content_type: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        // Revalidate the page: a new version of the program has a new page.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers.map(|(name, value)| (name, HeaderValue::from_static(value))), text).into_response()
}

/// A token to be stored in the cookie.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Token {
    token: String,
}

/// Keeps a token in a cookie that no script can read and no other site can use.
pub(super) async fn sign_in(
    State(service): State<Arc<Service>>,
    request: Request,
) -> Result<Response, Refusal> {
    let received = Received::new(request, service.limits.body.min(4096)).await?;
    let Token { token } = serde_json::from_slice(&received.body).map_err(|e| syntax(&e))?;
    // Characters that a cookie may contain: RFC 6265, section 4.1.1.
    let is_plain = |b: u8| b.is_ascii_graphic() && !b"\",;\\".contains(&b);
    if token.is_empty() || !token.bytes().all(is_plain) {
        let words =
            "a token for the page has ASCII letters, digits and marks other than \" , ; and \\";
        return Err(Refusal::bad(words));
    }
    let roles = service
        .access
        .roles_of(token.as_bytes())
        .ok_or_else(|| Refusal::new(StatusCode::UNAUTHORIZED, "the token is unknown"))?;
    let held = Role::ALL.map(|role| (role.name(), roles.include(role)));
    let answer = HeldRoles(held.into());
    let cookie = format!("{TOKEN_COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict");
    Ok(with_cookie(body::json(&answer), &cookie))
}

/// Forgets the token.
pub(super) async fn sign_out() -> Response {
    let cookie = format!("{TOKEN_COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    with_cookie(body::json(&Empty {}), &cookie)
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
