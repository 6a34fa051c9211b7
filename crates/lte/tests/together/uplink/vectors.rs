//! Whole uplink subframes of srsRAN_4G: its transport block, our grid and our samples.

use num_complex::Complex32;
use serde_json::Value;
use takt_dsp::lte::Modulation;
use takt_lte::{
    Bandwidth, Demodulator, Direction, Modulator, Numerology, PuschAllocation, PuschReceiver, PuschTransmitter,
    ResourceGrid, Sampling, Tti,
};

use super::{code_word, link};

const SUBFRAME: &str = "tests/vectors/lte_ul_subframe_c1_sf3_mcs16.json";
const CODE_WORD: &str = "../dsp/tests/vectors/lte_ul_code_word.json";

struct Vector {
    document: Value,
    block: Vec<u8>,
    grid: Vec<Complex32>,
}

impl Vector {
    fn open(path: &str) -> Vector {
        let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
        let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let bytes = hex(&document, "tb_hex");
        let bits = document["tbs"].as_u64().unwrap() as usize;
        let block = (0..bits).map(|i| bytes[i / 8] >> (7 - i % 8) & 1).collect();
        Vector { block, grid: complex(&document, "grid_f32le_hex"), document }
    }

    fn number(&self, key: &str) -> u64 {
        self.document[key].as_u64().unwrap()
    }

    fn allocation(&self) -> PuschAllocation {
        let modulation = Modulation::ALL.into_iter().find(|m| m.bits() as u64 == self.number("Qm")).unwrap();
        let (blocks, block_bits) = (self.number("prb") as u8, self.block.len() as u32);
        PuschAllocation { first_block: 0, blocks, modulation, cyclic_shift: 0, block_bits }
    }

    fn bandwidth(&self) -> Bandwidth {
        Bandwidth::try_from(self.number("prb") as u8).unwrap()
    }

    fn sent(&self) -> ResourceGrid {
        let allocation = self.allocation();
        let coded = code_word::encode(&self.block, allocation.coded_bits(), allocation.modulation.bits());
        assert_eq!(coded.len() as u64, self.number("G"));
        let mut transmitter =
            PuschTransmitter::new(&link::config(self.number("cell") as u16, self.bandwidth())).unwrap();
        let mut grid = ResourceGrid::new(self.bandwidth());
        let (tti, rnti) = (Tti::new(self.number("tti")), self.number("rnti") as u16);
        transmitter.map(tti, rnti, &allocation, &coded, None, &mut grid).unwrap();
        grid
    }
}

fn hex(document: &Value, key: &str) -> Vec<u8> {
    let text = document[key].as_str().unwrap();
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn complex(document: &Value, key: &str) -> Vec<Complex32> {
    let bytes = hex(document, key);
    let part = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks_exact(8).map(|bytes| Complex32::new(part(&bytes[..4]), part(&bytes[4..]))).collect()
}

fn farthest(ours: &[Complex32], theirs: &[Complex32]) -> f32 {
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(theirs).map(|(ours, theirs)| (ours - theirs).norm()).fold(0.0, f32::max)
}

#[test]
fn grids_are_those_of_others() {
    for path in [SUBFRAME, CODE_WORD] {
        let vector = Vector::open(path);
        let sent = vector.sent();
        let theirs = vector.grid.chunks(sent.subcarriers()).enumerate();
        let distances = theirs.map(|(symbol, theirs)| (symbol % 7 == 3, farthest(sent.symbol(symbol), theirs)));
        let (mut data, mut references) = (0f32, 0f32);
        for (is_reference, distance) in distances {
            let most = if is_reference { &mut references } else { &mut data };
            *most = most.max(distance);
        }
        eprintln!("{path}: data differ by {data:.1e} at most, reference signals by {references:.1e}");
        // The producer takes sines of large arguments in f32.
        assert!(data < 1e-5 && references < 2e-3, "{path}: {data} {references}");
    }
}

/// The vector's samples are scaled so that the greatest component is 1: so are ours, which says what its amplitude is.
#[test]
fn samples_are_those_of_others() {
    let vector = Vector::open(SUBFRAME);
    let numerology = Numerology::new(vector.bandwidth(), Sampling::Standard).unwrap();
    let mut samples = vec![Complex32::default(); numerology.subframe_len()];
    Modulator::new(numerology, Direction::Uplink, 1.0).modulate(&vector.sent(), &mut samples);
    let peak = samples.iter().map(|sample| sample.re.abs().max(sample.im.abs())).fold(0.0, f32::max);
    samples.iter_mut().for_each(|sample| *sample /= peak);
    let distance = farthest(&samples, &complex(&vector.document, "iq_f32le_hex"));
    eprintln!("amplitude {:.4}, samples differ by {distance:.1e} at most", 1.0 / peak);
    assert!(distance < 1e-3, "{distance}");
}

#[test]
fn samples_of_others_are_received() {
    let vector = Vector::open(SUBFRAME);
    let allocation = vector.allocation();
    let numerology = Numerology::new(vector.bandwidth(), Sampling::Standard).unwrap();
    let mut received = ResourceGrid::new(vector.bandwidth());
    let samples = complex(&vector.document, "iq_f32le_hex");
    Demodulator::new(numerology, Direction::Uplink, 9).demodulate(&samples, &mut received);
    let config = link::config(vector.number("cell") as u16, vector.bandwidth());
    let mut receiver = PuschReceiver::new(&config, &numerology).unwrap();
    let mut llrs = vec![0; allocation.coded_bits()];
    let (tti, rnti) = (Tti::new(vector.number("tti")), vector.number("rnti") as u16);
    let quality = receiver.receive(tti, rnti, &allocation, false, &received, &mut llrs);
    eprintln!("{quality:?}");
    assert!(quality.snr_db > 35.0 && quality.timing_samples.abs() < 0.05, "{quality:?}");
    assert_eq!(code_word::decode(&llrs, vector.block.len(), 4).as_ref(), Some(&vector.block));
    // Another terminal's code word it is not.
    receiver.receive(tti, rnti + 1, &allocation, false, &received, &mut llrs);
    assert_eq!(code_word::decode(&llrs, vector.block.len(), 4), None);
}
