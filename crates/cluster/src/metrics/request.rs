//! Requests at the port for metrics: the head of a request, by RFC 9112, of which httparse reads the form.

/// Bytes of a head.
pub(super) const MOST_BYTES: usize = 8 << 10;

/// Fields of a head.
const MOST_FIELDS: usize = 64;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The page of metrics; without the text itself, if only its head is wanted.
    Metrics {
        /// `HEAD`.
        head: bool,
    },
    /// Something else.
    Refused(Status),
}

/// Why there is no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is no request.
    Bad,
    /// Nothing else than `/metrics` is here.
    NotFound,
    /// Nothing is done here, but reading.
    Method,
    /// More than 8 KiB, or than 64 fields.
    Long,
    /// The node does not answer in time.
    Busy,
}

impl Status {
    /// As in the first line of an answer.
    pub(super) fn line(self) -> &'static str {
        match self {
            Status::Bad => "400 Bad Request",
            Status::NotFound => "404 Not Found",
            Status::Method => "405 Method Not Allowed",
            Status::Long => "431 Request Header Fields Too Large",
            Status::Busy => "503 Service Unavailable",
        }
    }
}

/// Reads what has come so far; `None`: that is not all.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<Request> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let refused = |status| Some(Request::Refused(status));
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) if bytes.len() < MOST_BYTES => return None,
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => return refused(Status::Long),
        Err(_) => return refused(Status::Bad),
    }
    let path = request.path.unwrap_or_default();
    // A query may follow: it says nothing here.
    if path.split('?').next() != Some("/metrics") {
        return refused(Status::NotFound);
    }
    match request.method {
        Some("GET") => Some(Request::Metrics { head: false }),
        Some("HEAD") => Some(Request::Metrics { head: true }),
        _ => refused(Status::Method),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn metrics_are_read_and_nothing_else_is_done() {
        let of = |head: &str| read(format!("{head}\r\nHost: a\r\n\r\n").as_bytes());
        let page = |head| Some(Request::Metrics { head });
        for (head, asked) in [
            ("GET /metrics HTTP/1.1", page(false)),
            ("GET /metrics HTTP/1.0", page(false)),
            ("GET /metrics?name[]=takt HTTP/1.1", page(false)),
            ("HEAD /metrics HTTP/1.1", page(true)),
            ("GET / HTTP/1.1", Some(Request::Refused(Status::NotFound))),
            ("GET /metrics/.. HTTP/1.1", Some(Request::Refused(Status::NotFound))),
            ("POST /metrics HTTP/1.1", Some(Request::Refused(Status::Method))),
            ("GET /metrics HTTP/2.0", Some(Request::Refused(Status::Bad))),
            ("GET /metrics", Some(Request::Refused(Status::Bad))),
            ("\u{1}\u{2}", Some(Request::Refused(Status::Bad))),
        ] {
            assert_eq!(of(head), asked, "{head}");
        }
    }

    #[test]
    fn a_head_without_end_is_refused_once_it_is_too_long() {
        let long = format!("GET /metrics HTTP/1.1\r\nX: {}", "x".repeat(MOST_BYTES));
        assert_eq!(read(&long.as_bytes()[..MOST_BYTES - 1]), None);
        assert_eq!(read(&long.as_bytes()[..MOST_BYTES]), Some(Request::Refused(Status::Long)));
        let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MOST_FIELDS + 1));
        assert_eq!(read(many.as_bytes()), Some(Request::Refused(Status::Long)));
    }

    proptest! {
        #[test]
        fn what_is_known_of_a_head_stays_so_when_more_comes(mut head in "(GET|HEAD|PUT|[ -~]{0,4}) /(metrics)?[ -~]{0,9}( HTTP/1.[01])?\r\n([a-z]{1,5}: [ -~]{0,9}\r\n){0,3}", more in prop::collection::vec(any::<u8>(), 0..40)) {
            head.push_str("\r\n");
            let whole = read(head.as_bytes());
            prop_assert!(whole.is_some());
            let longer: Vec<u8> = head.bytes().chain(more).collect();
            prop_assert_eq!(read(&longer), whole);
        }
    }
}
