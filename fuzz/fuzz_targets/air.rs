#![no_main]
//! The file of an air, of any bytes, is read, or refused with a place inside the text and a fix; never a panic.

use takt_emulator::air::Scene;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match Scene::parse("fuzzed.toml", &text) {
        Ok(scene) => {
            let known = |end: takt_emulator::air::End| {
                scene.radios.get(end.radio).is_some_and(|radio| end.channel < radio.model.channels())
            };
            assert!(scene.links.iter().all(|link| known(link.from) && known(link.to)));
        }
        Err(error) => {
            assert!(!error.fix().is_empty() && !error.to_string().is_empty());
            let place = error.place;
            assert!(place.source.text.get(place.span).is_some() && place.line >= 1 && place.column >= 1);
        }
    }
});
