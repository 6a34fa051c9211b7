//! A terminal between samples: what came in one subframe becomes what leaves four later, by its own timing.

use num_complex::Complex32;
use takt_lte_link::Terminal;

use crate::{AirError, CellStage, TerminalCounts, TerminalSettings, TerminalSync, TerminalUplink};

/// The next steps after a subframe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStep {
    /// The first sample of the next subframe.
    pub next_begin: u64,
    /// The first sample at which [`TerminalCore::samples`] are to be sent, if they are.
    pub send_at: Option<u64>,
}

/// A terminal: link layer and physical layer on a line of samples.
pub struct TerminalCore {
    sync: TerminalSync,
    link: Terminal,
    uplink: TerminalUplink,
    samples: Vec<Complex32>,
}

impl TerminalCore {
    /// Begins with a search.
    #[must_use]
    pub fn new(settings: &TerminalSettings, link: Terminal) -> TerminalCore {
        TerminalCore {
            sync: TerminalSync::new(settings),
            link,
            uplink: TerminalUplink::new(settings),
            samples: vec![Complex32::default(); settings.numerology.subframe_len()],
        }
    }

    /// Samples of a subframe.
    #[must_use]
    pub fn subframe_len(&self) -> usize {
        self.samples.len()
    }

    /// The link layer.
    pub fn link(&mut self) -> &mut Terminal {
        &mut self.link
    }

    /// The samples that [`TerminalStep::send_at`] is about.
    #[must_use]
    pub fn samples(&self) -> &[Complex32] {
        &self.samples
    }

    /// Its counts.
    #[must_use]
    pub fn counts(&self) -> TerminalCounts {
        self.sync.counts()
    }

    /// How far it has got in finding its cell.
    #[must_use]
    pub fn stage(&self) -> CellStage {
        self.sync.stage()
    }

    /// Takes a subframe that begins at sample `begin`. `None`: samples of it are missing. The samples are changed.
    ///
    /// # Errors
    /// If the cell states settings that the standard lacks.
    pub fn subframe(&mut self, begin: u64, samples: Option<&mut [Complex32]>) -> Result<TerminalStep, AirError> {
        let prach = self.link.information().map(|information| information.prach);
        let link = &mut self.link;
        let (step, orders) = self.sync.subframe(begin, samples, |tti, heard| link.subframe(tti, heard));
        self.sync.listen(orders.tti, &orders.listen);
        let next_begin = step.next_begin;
        let Some(cell) = step.cell else { return Ok(TerminalStep { next_begin, send_at: None }) };
        let send_at = self.uplink.send(next_begin, &cell, prach, orders, &mut self.samples)?;
        Ok(TerminalStep { next_begin, send_at })
    }
}
