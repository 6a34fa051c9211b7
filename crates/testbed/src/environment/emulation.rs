//! The radio that a site emulates: the point's wishes, and the request to the agent of the radio's side.

use std::net::Ipv4Addr;

use serde::Serialize;
use takt_load::Model;

/// Requests of a point to its emulated radio. All else is usual.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EmulationWish {
    /// Addresses of several radios, each by itself; empty: one, at the site's.
    #[serde(skip)]
    pub addrs: Vec<Ipv4Addr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// The signal of each, as `takt emulate --source` reads it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Time from one turn to the next, microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beat_us: Option<u32>,
    /// The air in which several radios stand, as `takt emulate --config` reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub air: Option<String>,
    /// As `takt emulate --speed` reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<String>,
}

/// The request to an agent, with the names of options of `takt emulate`.
#[derive(Debug, Serialize)]
pub(super) struct EmulationRequest<'a> {
    pub(super) addrs: Vec<Ipv4Addr>,
    /// Networks that it may send to.
    pub(super) allow: Vec<String>,
    /// Under `SCHED_FIFO`; `None`: normal priority.
    pub(super) priority: Option<u8>,
    #[serde(flatten)]
    pub(super) wish: &'a EmulationWish,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_has_what_is_asked_and_nothing_else() {
        let request = |wish: &EmulationWish| {
            let addrs = vec![Ipv4Addr::new(10, 0, 0, 2)];
            json!(EmulationRequest { addrs, allow: vec!["10.0.0.1/32".into()], priority: None, wish })
        };
        let usual = json!({ "addrs": ["10.0.0.2"], "allow": ["10.0.0.1/32"], "priority": null });
        assert_eq!(request(&EmulationWish::default()), usual);
        let wish = EmulationWish {
            model: Some(Model::X310),
            sources: vec!["counter".into()],
            air: Some("[[radio]]".into()),
            speed: Some("0.5".into()),
            beat_us: Some(20),
            ..EmulationWish::default()
        };
        let asked = request(&wish);
        assert_eq!(asked["model"], "x310");
        assert_eq!((&asked["sources"], &asked["beat_us"]), (&json!(["counter"]), &json!(20)));
        assert_eq!((&asked["air"], &asked["speed"]), (&json!("[[radio]]"), &json!("0.5")));
    }
}
