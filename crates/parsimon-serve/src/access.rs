//! Who may do what.
//!
//! Without tokens only clients on this machine are served, and only under its own names: a page of a foreign site that a browser on
//! this machine shows is refused by its `Origin`, and a foreign name that was made to point here by its `Host`.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest as _, Sha256};

use crate::error::Refusal;

/// What a client may do. Each may do what those before may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Score rows, look at models and metrics.
    Score,
    /// Send rows and labels to be learned.
    Learn,
    /// Write snapshots, promote and roll back.
    Admin,
}

/// Who may do what.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Roles with the SHA-256 of their tokens; `None` serves this machine alone.
    tokens: Option<Vec<(Role, [u8; 32])>>,
}

impl Access {
    /// Access by tokens. A line of the text has a role and the SHA-256 of a token in hexadecimal digits, such as
    /// `learn sha256:9f86...`; lines that begin with `#` are comments.
    ///
    /// ```
    /// use parsimon_serve::Access;
    ///
    /// // printf %s secret | sha256sum
    /// let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    /// assert!(Access::from_text(&format!("# me\nadmin sha256:{hash}\n")).unwrap().has_tokens());
    /// assert_eq!(
    ///     Access::from_text("root sha256:00").unwrap_err(),
    ///     "line 1: \"root\" is none of the roles score, learn and admin"
    /// );
    /// ```
    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (role, hash) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let role = match role {
                "score" => Role::Score,
                "learn" => Role::Learn,
                "admin" => Role::Admin,
                other => {
                    return Err(format!(
                        "line {number}: {other:?} is none of the roles score, learn and admin"
                    ));
                }
            };
            let hash = hash.trim().strip_prefix("sha256:").and_then(bytes).ok_or_else(|| {
                format!("line {number}: expected sha256: and 64 hexadecimal digits after the role")
            })?;
            tokens.push((role, hash));
        }
        match tokens.is_empty() {
            true => Err("there is no token; a line reads ROLE sha256:DIGITS".into()),
            false => Ok(Self { tokens: Some(tokens) }),
        }
    }

    /// Whether clients need tokens.
    pub fn has_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    /// The role of a token; without tokens every client may do everything.
    pub(crate) fn role_of(&self, token: &[u8]) -> Option<Role> {
        self.tokens.as_ref().map_or(Some(Role::Admin), |tokens| role(tokens, token))
    }

    /// Refuses a request that needs a role its client does not have.
    pub(crate) fn check(&self, headers: &HeaderMap, needed: Option<Role>) -> Result<(), Refusal> {
        let Some(tokens) = &self.tokens else { return check_local(headers) };
        let Some(needed) = needed else { return check_same_site(headers) };
        let Some((token, is_cookie)) = token(headers) else {
            let words = "a token is needed: authorization: Bearer TOKEN";
            return Err(Refusal::new(StatusCode::UNAUTHORIZED, words));
        };
        if is_cookie {
            check_same_site(headers)?;
        }
        match role(tokens, token) {
            Some(role) if role >= needed => Ok(()),
            Some(_) => {
                let words = format!("the token has not the role {}", name(needed));
                Err(Refusal::new(StatusCode::FORBIDDEN, words))
            }
            None => Err(Refusal::new(StatusCode::UNAUTHORIZED, "the token is not known")),
        }
    }
}

/// The role of a token. All tokens are compared, and all bytes of each: the time says nothing about them.
fn role(tokens: &[(Role, [u8; 32])], token: &[u8]) -> Option<Role> {
    let hash: [u8; 32] = Sha256::digest(token).into();
    let mut role = None;
    for (of, known) in tokens {
        let differences = hash.iter().zip(known).fold(0, |sum, (a, b)| sum | (a ^ b));
        if differences == 0 {
            role = role.max(Some(*of));
        }
    }
    role
}

/// Refuses a request of a page of another site, with the cookie of this one or to get one. Browsers do not send the cookie then;
/// this is for those that do.
fn check_same_site(headers: &HeaderMap) -> Result<(), Refusal> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
    let origin = origin.map(|origin| origin.split_once("://").map_or("", |(_, host)| host));
    match origin {
        Some(origin) if Some(origin) != host => {
            Err(Refusal::new(StatusCode::FORBIDDEN, "the origin is foreign"))
        }
        _ => Ok(()),
    }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Score => "score",
        Role::Learn => "learn",
        Role::Admin => "admin",
    }
}

fn bytes(digits: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if digits.len() != 64 || !digits.is_ascii() {
        return None;
    }
    for (byte, k) in bytes.iter_mut().zip(0..) {
        *byte = u8::from_str_radix(&digits[2 * k..2 * k + 2], 16).ok()?;
    }
    Some(bytes)
}

/// The cookie of the page.
pub(crate) const TOKEN_COOKIE: &str = "parsimon_token";

/// The token of a request: a bearer token, or the cookie that the page sets; whether it is the cookie.
fn token(headers: &HeaderMap) -> Option<(&[u8], bool)> {
    let bearer = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    let bearer = bearer.and_then(|value| {
        let (scheme, token) = value.split_at_checked(7)?;
        scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
    });
    let cookie = || {
        let cookies = headers.get(header::COOKIE)?.to_str().ok()?;
        let value =
            |c: &'_ str| c.trim().strip_prefix(TOKEN_COOKIE)?.strip_prefix('=').map(str::len);
        let pair = cookies.split(';').find(|c| value(c).is_some())?.trim();
        Some((&pair.as_bytes()[TOKEN_COOKIE.len() + 1..], true))
    };
    bearer.map(|token| (token, false)).or_else(cookie)
}

/// Refuses requests that a foreign page or a foreign name brought here.
fn check_local(headers: &HeaderMap) -> Result<(), Refusal> {
    let foreign = |what: &str| {
        let words = format!("{what} is foreign: without --tokens only this machine is served");
        Err(Refusal::new(StatusCode::FORBIDDEN, words))
    };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(is_local) {
        return foreign("the host");
    }
    match headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default()) {
        Some(origin) if !origin.strip_prefix("http://").is_some_and(is_local) => {
            foreign("the origin")
        }
        _ => Ok(()),
    }
}

/// Whether a host, with or without its port, is this machine.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (axum::http::HeaderName::from_static(name), value.parse().unwrap())
            })
            .collect()
    }

    #[test]
    fn without_tokens_only_this_machine_is_served() {
        let access = Access::default();
        let may = |pairs: &[(&'static str, &str)]| {
            access.check(&headers(pairs), Some(Role::Admin)).is_ok()
        };
        for host in ["localhost:8080", "127.0.0.1", "127.9.9.9:1", "[::1]:80", "[::1]", "LOCALHOST"]
        {
            assert!(may(&[("host", host)]), "{host}");
        }
        for host in
            ["example.org", "127.0.0.1.example.org", "localhost.example.org:80", "10.0.0.1", ""]
        {
            assert!(!may(&[("host", host)]), "{host}");
        }
        assert!(!may(&[]));
        assert!(may(&[("host", "localhost"), ("origin", "http://localhost:3000")]));
        for origin in
            ["http://example.org", "null", "https://localhost", "http://localhost@evil.org"]
        {
            assert!(!may(&[("host", "localhost"), ("origin", origin)]), "{origin}");
        }
    }

    #[test]
    fn tokens_have_roles() {
        let line = |role: &str, token: &str| {
            let digits: String = Sha256::digest(token).iter().map(|b| format!("{b:02x}")).collect();
            format!("{role} sha256:{digits}\n")
        };
        let text = line("score", "s") + &line("learn", "l") + "\n# x\n" + &line("admin", "a");
        let access = Access::from_text(&text).unwrap();
        let status = |token: &str, role| {
            let sent = headers(&[("authorization", &format!("Bearer {token}"))]);
            access
                .check(&sent, Some(role))
                .map_or_else(|refusal| refusal.status().as_u16(), |()| 200)
        };
        assert_eq!(
            [Role::Score, Role::Learn, Role::Admin].map(|role| status("s", role)),
            [200, 403, 403]
        );
        assert_eq!(
            [Role::Score, Role::Learn, Role::Admin].map(|role| status("l", role)),
            [200, 200, 403]
        );
        assert_eq!([Role::Score, Role::Learn, Role::Admin].map(|role| status("a", role)), [200; 3]);
        assert_eq!(status("x", Role::Score), 401);
        assert!(
            access
                .check(&headers(&[("cookie", "a=b; parsimon_token=l")]), Some(Role::Learn))
                .is_ok()
        );
        assert!(access.check(&headers(&[]), None).is_ok(), "health is open");
        assert_eq!(access.check(&headers(&[]), Some(Role::Score)).unwrap_err().status(), 401);
        for bad in ["", "score", "score sha256:12", "score md5:00", "boss sha256:00"] {
            assert!(Access::from_text(bad).is_err(), "{bad}");
        }
    }
}
