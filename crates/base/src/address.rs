//! IP addresses as people type them: `192.168.10.2`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// A text that is not an IP address. [`AddressError::fix`] says what to type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not {expected}")]
pub struct AddressError {
    /// The text as given.
    pub got: String,
    /// The kind of value that was expected, with an example.
    pub expected: &'static str,
}

impl AddressError {
    /// Advice on what to type instead.
    #[must_use]
    pub fn fix(&self) -> String {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        match self.got.parse::<SocketAddr>() {
            Ok(at) if at.is_ipv4() => format!("omit the port: {}", at.ip()),
            _ if self.got.contains(|c: char| c.is_ascii_alphabetic()) && self.got.chars().all(is_name) => {
                format!("give its address, not a host name (getent ahostsv4 {} shows it)", self.got)
            }
            _ => "give four numbers from 0 to 255, such as 192.168.10.2".to_owned(),
        }
    }
}

/// An IPv4 or IPv6 address: `192.168.10.2`, `::1`. takt looks up no host names.
///
/// # Errors
/// If the text is not an address.
pub fn parse_ip(text: &str) -> Result<IpAddr, AddressError> {
    parsed(text, "an IP address such as 192.168.10.2")
}

/// An IPv4 address: `192.168.10.2`. takt looks up no host names.
///
/// # Errors
/// If the text is not an IPv4 address.
pub fn parse_ipv4(text: &str) -> Result<Ipv4Addr, AddressError> {
    parsed(text, "an IPv4 address such as 192.168.10.2")
}

fn parsed<A: FromStr>(text: &str, expected: &'static str) -> Result<A, AddressError> {
    text.parse::<A>().map_err(|_| AddressError { got: text.to_owned(), expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_anything_else_has_its_fix() {
        assert_eq!(parse_ipv4("192.168.10.2"), Ok(Ipv4Addr::new(192, 168, 10, 2)));
        assert_eq!(parse_ip("::1"), Ok(IpAddr::from(std::net::Ipv6Addr::LOCALHOST)));
        let numbers = "give four numbers from 0 to 255, such as 192.168.10.2";
        for (text, fix) in [
            ("1.2.3", numbers),
            ("300.1.1.1", numbers),
            ("", numbers),
            ("::1", numbers),
            ("10.0.0.1:80", "omit the port: 10.0.0.1"),
            ("radio-1.lab", "give its address, not a host name (getent ahostsv4 radio-1.lab shows it)"),
            ("$(reboot)", numbers),
        ] {
            let error = parse_ipv4(text).expect_err(text);
            assert_eq!(error.to_string(), format!("`{text}` is not an IPv4 address such as 192.168.10.2"));
            assert_eq!(error.fix(), fix, "{text}");
        }
        assert_eq!(parse_ip("1.2.3").expect_err("three").expected, "an IP address such as 192.168.10.2");
    }
}
