//! Access rules: roles, tokens, and the checks of a request's headers.
//!
//! Without tokens the service accepts requests of clients on the same machine only. A request that another site's page sends from a
//! local browser is refused by its `Origin`; a request through a foreign name that resolves to this machine is refused by its `Host`.

use std::sync::{Arc, PoisonError, RwLock};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest as _, Sha256};

use crate::error::Refusal;

/// A right that a token can hold. Every role includes [`Role::Score`], and [`Role::Admin`] includes all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Score rows; read descriptions of models, statistics and metrics.
    Score,
    /// Send rows and labels to be learned.
    Learn,
    /// Download the file of a model.
    Download,
    /// Write snapshots, promote, roll back, pause and resume.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Score, Self::Learn, Self::Download, Self::Admin];

    /// Returns the word for the role in token files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::Learn => "learn",
            Self::Download => "download",
            Self::Admin => "admin",
        }
    }

    /// Returns whether a client with this role may do what `needed` permits.
    ///
    /// ```
    /// use parsimon_serve::Role;
    ///
    /// assert!(Role::Learn.includes(Role::Score));
    /// assert!(!Role::Learn.includes(Role::Download));
    /// ```
    pub fn includes(self, needed: Self) -> bool {
        self == needed || self == Self::Admin || needed == Self::Score
    }
}

/// The roles of one client: a token may stand in several lines of the token file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Roles([bool; Role::ALL.len()]);

impl Roles {
    /// Returns whether any of the roles permits what `needed` does.
    pub(crate) fn include(self, needed: Role) -> bool {
        Role::ALL.iter().zip(self.0).any(|(role, is_held)| is_held && role.includes(needed))
    }
}

/// The tokens that the service accepts, with their roles.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Roles with the SHA-256 of their tokens; `None` accepts clients on this machine only.
    tokens: Option<Arc<RwLock<Tokens>>>,
}

/// Roles with the SHA-256 of their tokens.
type Tokens = Vec<(Role, [u8; 32])>;

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
    ///     "line 1: \"root\" is not a role; the roles are score, learn, download, admin"
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
            let role =
                Role::ALL.into_iter().find(|known| known.name() == role).ok_or_else(|| {
                    let names = Role::ALL.map(Role::name).join(", ");
                    format!("line {number}: {role:?} is not a role; the roles are {names}")
                })?;
            let hash = hash.trim().strip_prefix("sha256:").and_then(bytes).ok_or_else(|| {
                format!("line {number}: expected sha256: and 64 hexadecimal digits after the role")
            })?;
            tokens.push((role, hash));
        }
        match tokens.is_empty() {
            true => Err("there is no token; a line reads ROLE sha256:DIGITS".into()),
            false => Ok(Self { tokens: Some(Arc::new(RwLock::new(tokens))) }),
        }
    }

    /// Accepts the tokens of another file from now on. Whether clients need tokens stays as it is.
    pub fn replace(&self, by: &Self) {
        if let (Some(tokens), Some(by)) = (&self.tokens, &by.tokens) {
            let by = by.read().unwrap_or_else(PoisonError::into_inner).clone();
            *tokens.write().unwrap_or_else(PoisonError::into_inner) = by;
        }
    }

    /// Whether clients need tokens.
    pub fn has_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    /// Returns the roles of a token, or `None` if the token is unknown. Without tokens every client has all roles.
    pub(crate) fn roles_of(&self, token: &[u8]) -> Option<Roles> {
        let all = Roles([true; Role::ALL.len()]);
        let known = |tokens: &Arc<RwLock<Tokens>>| {
            roles(&tokens.read().unwrap_or_else(PoisonError::into_inner), token)
        };
        self.tokens.as_ref().map_or(Some(all), known)
    }

    /// Refuses a request whose client does not have the role it needs.
    pub(crate) fn check(&self, headers: &HeaderMap, needed: Option<Role>) -> Result<(), Refusal> {
        let Some(tokens) = &self.tokens else { return check_local(headers) };
        let Some(needed) = needed else { return check_same_site(headers) };
        let Some((token, is_cookie)) = token(headers) else {
            let message = "a token is needed: authorization: Bearer TOKEN";
            return Err(Refusal::new(StatusCode::UNAUTHORIZED, message));
        };
        if is_cookie {
            check_same_site(headers)?;
        }
        match roles(&tokens.read().unwrap_or_else(PoisonError::into_inner), token) {
            Some(roles) if roles.include(needed) => Ok(()),
            Some(_) => {
                let message = format!("the token does not have the role {}", needed.name());
                Err(Refusal::new(StatusCode::FORBIDDEN, message))
            }
            None => Err(Refusal::new(StatusCode::UNAUTHORIZED, "the token is unknown")),
        }
    }
}

/// Returns the roles of a token, or `None` if it is unknown. The token is compared with all known ones, and in all bytes, so that
/// the time taken reveals nothing about them.
fn roles(tokens: &[(Role, [u8; 32])], token: &[u8]) -> Option<Roles> {
    let hash: [u8; 32] = Sha256::digest(token).into();
    let mut roles = Roles::default();
    for (role, known) in tokens {
        let differences = hash.iter().zip(known).fold(0, |sum, (a, b)| sum | (a ^ b));
        roles.0[*role as usize] |= differences == 0;
    }
    roles.0.contains(&true).then_some(roles)
}

/// Refuses a request of another site's page that carries this site's cookie or would receive it. Browsers honor `SameSite` and do
/// not send the cookie; the check is for those that do.
fn check_same_site(headers: &HeaderMap) -> Result<(), Refusal> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
    let origin = origin.map(|origin| origin.split_once("://").map_or("", |(_, host)| host));
    match origin {
        Some(origin) if Some(origin) != host => {
            Err(Refusal::new(StatusCode::FORBIDDEN, "the origin of the request is another site"))
        }
        _ => Ok(()),
    }
}

/// Parses 64 hexadecimal digits.
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

/// The name of the cookie that holds the page's token.
pub(crate) const TOKEN_COOKIE: &str = "parsimon_token";

/// Returns the token of a request, from the `Authorization` header or the page's cookie, and whether it came from the cookie.
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

/// Refuses a request with a foreign `Host` or `Origin`.
fn check_local(headers: &HeaderMap) -> Result<(), Refusal> {
    let foreign = |what: &str| {
        let message = format!(
            "{what} is not this machine; a service without tokens accepts local requests only"
        );
        Err(Refusal::new(StatusCode::FORBIDDEN, message))
    };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(is_local) {
        return foreign("the host of the request");
    }
    // Another port of this machine may be another user's program, or a page that is being developed.
    match headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default()) {
        Some(origin) if origin.strip_prefix("http://") != host => {
            let words = "the origin of the request is another site or port than this service's";
            Err(Refusal::new(StatusCode::FORBIDDEN, words))
        }
        _ => Ok(()),
    }
}

/// Returns whether a host, with or without a port, is this machine.
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
        assert!(may(&[("host", "localhost:3000"), ("origin", "http://localhost:3000")]));
        for origin in [
            "http://example.org",
            "null",
            "https://localhost",
            "http://localhost@evil.org",
            "http://localhost:3000",
            "http://127.0.0.1",
        ] {
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
        let text =
            text + &line("download", "d") + &line("learn", "both") + &line("download", "both");
        let access = Access::from_text(&text).unwrap();
        let statuses = |token: &str| {
            let sent = headers(&[("authorization", &format!("Bearer {token}"))]);
            Role::ALL.map(|role| {
                let checked = access.check(&sent, Some(role));
                checked.map_or_else(|refusal| refusal.status().as_u16(), |()| 200)
            })
        };
        assert_eq!(statuses("s"), [200, 403, 403, 403]);
        assert_eq!(statuses("l"), [200, 200, 403, 403]);
        assert_eq!(statuses("d"), [200, 403, 200, 403]);
        assert_eq!(statuses("both"), [200, 200, 200, 403]);
        assert_eq!(statuses("a"), [200; 4]);
        assert_eq!(statuses("x"), [401; 4]);
        assert!(
            access
                .check(&headers(&[("cookie", "a=b; parsimon_token=l")]), Some(Role::Learn))
                .is_ok()
        );
        assert!(access.check(&headers(&[]), None).is_ok(), "health is open");
        assert_eq!(access.check(&headers(&[]), Some(Role::Score)).unwrap_err().status(), 401);
        // The file is read again.
        access.replace(&Access::from_text(&line("score", "a")).unwrap());
        assert_eq!((statuses("s"), statuses("a")), ([401; 4], [200, 403, 403, 403]));
        for bad in ["", "score", "score sha256:12", "score md5:00", "boss sha256:00"] {
            assert!(Access::from_text(bad).is_err(), "{bad}");
        }
    }
}
