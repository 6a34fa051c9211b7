//! The tables of TS 36.213 section 7.1.7.2, from the vectors of `takt-lte`.

use std::sync::Arc;

use serde_json::Value;
use takt_lte_link::BlockSizes;

pub struct Tables {
    bits: Vec<Vec<usize>>,
    downlink: Vec<usize>,
    uplink: Vec<usize>,
}

impl BlockSizes for Tables {
    fn downlink_bits(&self, mcs: u8, blocks: usize) -> usize {
        self.bits[self.downlink[usize::from(mcs)]][blocks - 1]
    }

    fn uplink_bits(&self, mcs: u8, blocks: usize) -> usize {
        self.bits[self.uplink[usize::from(mcs)]][blocks - 1]
    }

    fn common_bits(&self, mcs: u8, column: u8) -> usize {
        self.bits[usize::from(mcs)][usize::from(column) - 1]
    }
}

pub fn tables() -> Arc<dyn BlockSizes> {
    let text = include_str!("../../../lte/tests/vectors/lte_tbs_mcs.json");
    let file: Value = serde_json::from_str(text).unwrap();
    let number = |value: &Value| value.as_u64().unwrap() as usize;
    let column = |name: &str| file["mcs"].as_array().unwrap().iter().map(|row| number(&row[name])).collect();
    let row = |row: &Value| row.as_array().unwrap().iter().map(number).collect();
    let bits = file["tbs"].as_array().unwrap().iter().map(row).collect();
    Arc::new(Tables { bits, downlink: column("dl_itbs"), uplink: column("ul_itbs") })
}
