//! To whom a radio may send, and a record of who else tried.

use std::net::IpAddr;

use super::report::HostReport;
use crate::policy::Destinations;

/// Refused addresses that the report names.
const NAMED: usize = 16;

pub(crate) struct Permits {
    rule: Destinations,
    pub(crate) report: HostReport,
}

impl Permits {
    pub(crate) fn new(rule: Destinations) -> Permits {
        let report = HostReport { refused_addresses: Vec::with_capacity(NAMED), ..HostReport::default() };
        Permits { rule, report }
    }

    /// Whether `ip` may be sent something, or be received; if not, it is counted.
    pub(crate) fn permit(&mut self, ip: IpAddr) -> bool {
        let permitted = self.rule.permits(ip);
        self.note(permitted, ip)
    }

    /// Whether `host` may have something sent to `to`; if not, it is counted.
    pub(crate) fn permit_from(&mut self, host: IpAddr, to: IpAddr) -> bool {
        let permitted = self.rule.permits_from(host, to);
        self.note(permitted, to)
    }

    fn note(&mut self, permitted: bool, ip: IpAddr) -> bool {
        if !permitted {
            self.report.refused_destinations += 1;
            let known = &mut self.report.refused_addresses;
            if known.len() < NAMED && !known.contains(&ip) {
                known.push(ip);
            }
        }
        permitted
    }
}
