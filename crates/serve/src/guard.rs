//! The guard of the page. A web page elsewhere can make a browser send requests here; a name that it controls may even lead here
//! (DNS rebinding). So each request has to name this server and come from its own page.

use std::net::IpAddr;

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, StatusCode};

use crate::Token;
use crate::peer::Peer;

/// Name of the cookie that holds the token.
pub(crate) const COOKIE_NAME: &str = "takt_token";

/// Needs of a request.
#[derive(Debug)]
pub(crate) struct Guard {
    /// Needed from everybody, if there is one.
    pub(crate) token: Option<Token>,
    /// The name by which others may call this machine.
    pub(crate) hostname: Option<String>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Host,
    Origin,
    User,
    Token,
}

impl Guard {
    /// Judges a request by its headers, and by the token in its address.
    pub(crate) fn judge(&self, headers: &HeaderMap, offered: Option<&str>, peer: Peer) -> Result<(), Refusal> {
        let host = only(headers, HOST).ok_or(Refusal::Host)?;
        if !self.is_known(host) {
            return Err(Refusal::Host);
        }
        if headers.contains_key(ORIGIN) && !only(headers, ORIGIN).is_some_and(|origin| is_of(origin, host)) {
            return Err(Refusal::Origin);
        }
        match &self.token {
            None if peer == Peer::Stranger => Err(Refusal::User),
            None => Ok(()),
            Some(token) => {
                let held = offered.or_else(|| cookie(headers)).or_else(|| bearer(headers));
                if held.is_some_and(|held| token.matches(held)) { Ok(()) } else { Err(Refusal::Token) }
            }
        }
    }

    /// An address of numbers, `localhost` or this machine's name, with any port: `ssh -L` changes the port.
    fn is_known(&self, host: &str) -> bool {
        let Some(name) = name_of(host) else { return false };
        let is_own = |own: &String| name.eq_ignore_ascii_case(own);
        name.parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.hostname.as_ref().is_some_and(is_own)
    }
}

impl Refusal {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Refusal::Host => StatusCode::MISDIRECTED_REQUEST,
            Refusal::Origin | Refusal::User => StatusCode::FORBIDDEN,
            Refusal::Token => StatusCode::UNAUTHORIZED,
        }
    }

    /// Reason and fix.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Refusal::Host => {
                "takt serve does not know this name for itself. Open the page by its address, as takt serve printed it.\n"
            }
            Refusal::Origin => {
                "Another web page sent this request. Open the page by its address, as takt serve printed it.\n"
            }
            Refusal::User => {
                "This page belongs to another user of this machine. Run takt serve yourself, or ask its user for a token \
                 (takt serve --token-file).\n"
            }
            Refusal::Token => {
                "The token is missing or wrong. Open the whole address that takt serve printed, with ?token=.\n"
            }
        }
    }
}

/// The value of a header that is there once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?;
    if all.next().is_some() { None } else { value.to_str().ok() }
}

/// `name`, `name:port`, `[v6]` or `[v6]:port`, without the port and the brackets.
fn name_of(host: &str) -> Option<&str> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => rest
            .split_once(']')
            .map(|(name, after)| (name, after.strip_prefix(':').or(after.is_empty().then_some("0"))))?,
        None => host.split_once(':').map_or((host, Some("0")), |(name, port)| (name, Some(port))),
    };
    port?.parse::<u16>().ok()?;
    (!name.is_empty()).then_some(name)
}

/// Whether an origin is that of the page at `host`. Encryption may end at a proxy.
fn is_of(origin: &str, host: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| origin.strip_prefix(scheme).is_some_and(|at| at.eq_ignore_ascii_case(host)))
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|text| text.split(';')).find_map(|pair| pair.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='))
}

/// For programs, such as Prometheus.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    only(headers, AUTHORIZATION)?.strip_prefix("Bearer ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(token: Option<&Token>) -> Guard {
        Guard { token: token.cloned(), hostname: Some("lab7".to_owned()) }
    }

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        pairs.iter().for_each(|(name, value)| _ = headers.append(name, value.parse().unwrap()));
        headers
    }

    #[test]
    fn names_of_others_are_refused_and_each_port_is_accepted() {
        let judge = |host: &str| guard(None).judge(&headers(&[(HOST, host)]), None, Peer::Own);
        for host in ["127.0.0.1:8258", "localhost:9000", "LOCALHOST", "[::1]:8258", "[::1]", "192.0.2.7", "lab7:80"] {
            assert_eq!(judge(host), Ok(()), "{host}");
        }
        for host in [
            "evil.example:8258",
            "127.0.0.1.evil.example",
            "localhost.evil",
            "",
            ":80",
            "[::1",
            "[::1]x",
            "localhost:x",
            "lab7 ",
        ] {
            assert_eq!(judge(host), Err(Refusal::Host), "{host}");
        }
        let twice = headers(&[(HOST, "localhost"), (HOST, "evil.example")]);
        assert_eq!(guard(None).judge(&twice, None, Peer::Own), Err(Refusal::Host));
        assert_eq!(guard(None).judge(&HeaderMap::new(), None, Peer::Own), Err(Refusal::Host));
    }

    #[test]
    fn a_request_from_another_page_is_refused() {
        let judge =
            |origin: &str| guard(None).judge(&headers(&[(HOST, "localhost:8258"), (ORIGIN, origin)]), None, Peer::Own);
        for origin in ["http://localhost:8258", "https://localhost:8258"] {
            assert_eq!(judge(origin), Ok(()), "{origin}");
        }
        for origin in
            ["null", "http://localhost", "http://localhost:82580", "http://evil.example", "file://localhost:8258", ""]
        {
            assert_eq!(judge(origin), Err(Refusal::Origin), "{origin}");
        }
    }

    #[test]
    fn a_token_comes_in_the_address_a_cookie_or_a_header() {
        let token = Token::random().unwrap();
        let secret = token.secret();
        let judge = |pairs: &[(HeaderName, &str)], offered| {
            let mut all = vec![(HOST, "192.0.2.7:8258")];
            all.extend_from_slice(pairs);
            guard(Some(&token)).judge(&headers(&all), offered, Peer::Stranger)
        };
        assert_eq!(judge(&[], Some(secret)), Ok(()));
        assert_eq!(judge(&[(COOKIE, &format!("a=b; takt_token={secret}; c=d"))], None), Ok(()));
        assert_eq!(judge(&[(AUTHORIZATION, &format!("Bearer {secret}"))], None), Ok(()));
        assert_eq!(judge(&[], None), Err(Refusal::Token));
        assert_eq!(judge(&[(COOKIE, "takt_token=")], None), Err(Refusal::Token));
        assert_eq!(judge(&[(COOKIE, &format!("xtakt_token={secret}"))], None), Err(Refusal::Token));
        assert_eq!(judge(&[(AUTHORIZATION, secret)], None), Err(Refusal::Token));
        assert_eq!(judge(&[], Some(&secret[..31])), Err(Refusal::Token));
    }

    #[test]
    fn without_a_token_only_this_user_sees_the_page() {
        let own = headers(&[(HOST, "localhost")]);
        assert_eq!(guard(None).judge(&own, None, Peer::Own), Ok(()));
        assert_eq!(guard(None).judge(&own, None, Peer::Stranger), Err(Refusal::User));
    }
}
