//! Flags of a carrier, the same for all of `takt link`.

use takt_lte::{Bandwidth, Cell, CellId, Numerology, PhichResource, Sampling};
use takt_lte_link::BearerMode;

use crate::Problem;

#[derive(Clone, Debug, clap::Args)]
pub struct Carrier {
    /// Bandwidth in resource blocks: 6, 15, 25, 50, 75 or 100.
    #[arg(long, value_name = "N", default_value = "6")]
    pub prb: Bandwidth,
    /// Sample at three quarters of the standard rate (75 blocks: two thirds), as srsRAN does by default. Needs 25 blocks or
    /// more.
    #[arg(long)]
    pub three_quarters: bool,
    /// Maximum number of turbo decoder iterations.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub iterations: u8,
}

impl Carrier {
    pub fn numerology(&self) -> Result<Numerology, Problem> {
        let sampling = if self.three_quarters { Sampling::ThreeQuarters } else { Sampling::Standard };
        Numerology::new(self.prb, sampling).map_err(|error| {
            Problem::new("can't sample this carrier at three quarters of its rate")
                .why(error)
                .fix("omit --three-quarters\ngive --prb 25 or more")
        })
    }

    pub fn cell(&self, id: u16) -> Result<Cell, Problem> {
        let id = CellId::new(id).map_err(|error| {
            Problem::new("LTE has no such cell identity").why(error).fix("give --cell a number from 0 to 503")
        })?;
        Ok(Cell { id, bandwidth: self.prb, phich: PhichResource::One })
    }
}

/// `am` or `um`.
pub fn mode(text: &str) -> Result<BearerMode, String> {
    match text {
        "am" => Ok(BearerMode::Acknowledged),
        "um" => Ok(BearerMode::Unacknowledged),
        _ => Err("give am (acknowledged: what is lost is sent again) or um (unacknowledged)".to_owned()),
    }
}
