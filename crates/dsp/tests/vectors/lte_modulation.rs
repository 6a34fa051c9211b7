use crate::file::{list, number, open};
use takt_base::Complex32;
use takt_dsp::lte::{Modulation, modulate};

#[test]
fn constellations_are_those_of_others() {
    for table in list(&open("lte_modulation"), "tables") {
        let bits = number(table, "Qm");
        let modulation = Modulation::ALL.into_iter().find(|m| m.bits() == bits).expect("a modulation");
        let points = list(table, "points");
        assert_eq!(points.len(), 1 << bits);
        for (number, point) in points.iter().enumerate() {
            let digits: Vec<u8> = (0..bits).map(|i| (number >> (bits - 1 - i) & 1) as u8).collect();
            let mut symbol = [Complex32::default()];
            modulate(modulation, &digits, &mut symbol);
            let expected = Complex32::new(point[0].as_f64().unwrap() as f32, point[1].as_f64().unwrap() as f32);
            assert!((symbol[0] - expected).norm() < 1e-6, "{digits:?}: {} for {expected}", symbol[0]);
        }
    }
}
