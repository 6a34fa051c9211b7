//! Reports about files that are no air: place, problem and remedy.

use takt_emulator::air::{Delay, Noise, Scene};

const RADIOS: &str = "[[radio]]\nname = \"base\"\nmodel = \"n200\"\naddr = \"127.0.0.1\"\n\
                      [[radio]]\nname = \"phone\"\nmodel = \"x310\"\naddr = \"127.0.0.2\"\n";

/// Place, message, causes and fix.
fn refused(text: &str) -> String {
    let error = Scene::parse("air.toml", text).expect_err(text);
    let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
    format!("{} {error}{cause} | {}", error.place, error.fix())
}

fn of_radios(more: &str) -> String {
    refused(&format!("{RADIOS}{more}"))
}

#[test]
fn each_mistake_is_named_with_its_place_and_what_would_be_right() {
    let none = "air.toml:1:1 the file has no `radio` | add `radio`";
    assert_eq!(refused(""), none);
    assert_eq!(
        refused("seed = "),
        "air.toml:1:8 not valid TOML: string values must be quoted, expected literal string | fix the syntax: https://toml.io"
    );
    assert_eq!(refused("sed = 1\n"), "air.toml:1:1 unknown key `sed` in the file | did you mean `seed`?");
    assert_eq!(
        refused("latency_us = 10\n"),
        "air.toml:1:14 `latency_us` can't be 10 | give a whole number from 200 to 50000"
    );
    assert_eq!(refused("radio = 1"), "air.toml:1:9 `radio` can't be 1 | give tables: [[radio]]");
    assert_eq!(refused("[[radio]]\nmodel = \"n200\"\n"), "air.toml:1:1 a radio has no `name` | add `name`");
    let radio = |more: &str| refused(&format!("[[radio]]\nname = \"a\"\n{more}"));
    assert_eq!(radio("model = \"n210\"\n"), "air.toml:3:9 `model` can't be \"n210\" | give n200 or x310");
    assert_eq!(
        radio("model = \"n200\"\naddr = \"here\"\n"),
        "air.toml:4:8 `addr` can't be \"here\" | give an IPv4 address such as 127.0.0.2"
    );
    let n200 = |more: &str| radio(&format!("model = \"n200\"\naddr = \"127.0.0.1\"\n{more}"));
    assert_eq!(n200("bord = \"sbx\"\n"), "air.toml:5:1 unknown key `bord` in a radio | did you mean `board`?");
    assert_eq!(n200("board = \"ubx\"\n"), "air.toml:5:9 `board` can't be \"ubx\" | give sbx, wbx, basic, lf or none");
    assert_eq!(
        n200("source = \"tnoe\"\n"),
        "air.toml:5:10 the value of `source` is wrong: unknown source `tnoe`; did you mean `tone`? | set source = \"tone\""
    );
    assert_eq!(
        n200("clock_offset_ppm = 0.005\n"),
        "air.toml:5:20 `clock_offset_ppm` can't be 0.005 | give a multiple of 0.01"
    );
    assert_eq!(
        n200("clock_offset_ppm = 101\n"),
        "air.toml:5:20 `clock_offset_ppm` can't be 101 | give a number from -100 to 100"
    );
    assert_eq!(n200("receive = 3\n"), "air.toml:5:11 `receive` can't be 3 | give a table");
    assert_eq!(
        n200("receive = { noise_dbfs = -80, gain_db = 3 }\n"),
        "air.toml:5:31 unknown key `gain_db` in `receive` of radio `a` | did you mean `iq_gain_db`?"
    );
    assert_eq!(
        n200("allow = [\"everybody\"]\n"),
        "air.toml:5:10 `allow` can't be \"everybody\" | give a network such as 192.168.10.0/24"
    );
    let x310 = radio("model = \"x310\"\naddr = \"127.0.0.1\"\ngpsdo = true\n");
    assert_eq!(x310, "air.toml:5:9 an x310 has no `gpsdo` | remove `gpsdo`");
    let twice = of_radios("[[radio]]\nname = \"base\"\nmodel = \"n200\"\naddr = \"127.0.0.3\"\n");
    assert_eq!(twice, "air.toml:10:8 two radios have the same name, `base` | give each radio its own name");
    let twice = of_radios("[[radio]]\nname = \"c\"\nmodel = \"n200\"\naddr = \"127.0.0.2\"\n");
    assert_eq!(twice, "air.toml:12:8 two radios have the same address, 127.0.0.2 | give each radio its own address");
}

#[test]
fn mistakes_in_links_too() {
    let link = |more: &str| of_radios(&format!("[[link]]\n{more}"));
    assert_eq!(link("to = \"base\"\n"), "air.toml:9:1 a link has no `from` | add `from`");
    assert_eq!(
        link("from = \"bsae\"\nto = \"base\"\n"),
        "air.toml:10:8 no radio is called `bsae` | did you mean `base`?"
    );
    assert_eq!(
        link("from = \"base:1\"\nto = \"base\"\n"),
        "air.toml:10:8 `base`, an n200, has no channel 1 | use 0, or the name alone"
    );
    assert_eq!(
        link("from = \"base\"\nto = \"phone:b\"\n"),
        "air.toml:11:6 `phone`, an x310, has no channel b | use 0 for slot A or 1 for slot B"
    );
    let plain = |more: &str| link(&format!("from = \"base\"\nto = \"phone:1\"\n{more}"));
    assert_eq!(plain("delay = 3\n"), "air.toml:12:1 unknown key `delay` in a link | did you mean `delay_ns`?");
    assert_eq!(
        plain("delay_ns = -1.0\n"),
        "air.toml:12:12 `delay_ns` can't be -1.0 | give a number from 0 to 10000000"
    );
    assert_eq!(plain("delay_ns = nan\n"), "air.toml:12:12 `delay_ns` can't be nan | give a number from 0 to 10000000");
    assert_eq!(
        plain("delay_ns = 1\ndelay_samples = 1\n"),
        "air.toml:13:17 a link has both `delay_ns` and `delay_samples` | remove one of them"
    );
    assert_eq!(
        plain("gain_db = \"loud\"\n"),
        "air.toml:12:11 `gain_db` can't be \"loud\" | give a number from -200 to 60"
    );
    assert_eq!(plain("taps = [{ gain_db = 0.0 }]\n"), "air.toml:12:9 a tap has no `delay_ns` | add `delay_ns`");
    let fading = "EPA, EVA or ETU and 5, 70, 200 or 300 Hz, such as \"EPA 5\"";
    for got in ["\"EPA5\"", "\"EPA 50\"", "\"eva 70\"", "\"\""] {
        let refused = plain(&format!("fading = {got}\n"));
        assert_eq!(refused, format!("air.toml:12:10 `fading` can't be {got} | give {fading}"));
    }
    assert_eq!(plain("fading = 5\n"), "air.toml:12:10 `fading` can't be 5 | give a text in quotes");
    assert_eq!(
        plain("taps = []\nfading = \"EPA 5\"\n"),
        "air.toml:13:10 a link has both `taps` and `fading` | remove one of them"
    );
    assert_eq!(
        plain("delay_ns = 9995001\nfading = \"ETU 70\"\n"),
        "air.toml:12:12 `delay_ns` can't be 9995001 | give a number from 0 to 9995000"
    );
    assert_eq!(plain("fadin = \"EPA 5\"\n"), "air.toml:12:1 unknown key `fadin` in a link | did you mean `fading`?");
    let many = format!("taps = [{}]\n", "{ delay_ns = 1.0 }, ".repeat(17));
    assert_eq!(plain(&many), "air.toml:12:329 17 taps are too many; at most 16 are allowed | give at most 16");
    let again = plain("[[link]]\nfrom = \"base:0\"\nto = \"phone:1\"\n");
    assert_eq!(again, "air.toml:14:6 two links lead from base:0 to phone:1 | make one a tap of the other");
}

#[test]
fn everything_is_bounded() {
    let radios: String = (0..17)
        .map(|n| format!("[[radio]]\nname = \"r{n}\"\nmodel = \"n200\"\naddr = \"127.0.0.{}\"\n", n + 1))
        .collect();
    assert!(refused(&radios).contains("17 radios are too many; at most 16 are allowed"), "{}", refused(&radios));
    let links = format!("{RADIOS}{}", "[[link]]\nfrom = \"base\"\nto = \"phone\"\n".repeat(129));
    assert!(refused(&links).contains("129 links are too many; at most 128 are allowed"));
    let long = format!("# {}", "x".repeat(2 << 20));
    assert_eq!(
        refused(&long),
        "air.toml:1:1 2097154 bytes are too many; at most 1048576 are allowed | give at most 1048576"
    );
    let name = format!("[[radio]]\nname = \"{}\"\n", "x".repeat(500));
    assert!(refused(&name).len() < 300, "{}", refused(&name));
}

#[test]
fn what_is_not_stated_is_as_if_nothing_were_there() {
    let scene = Scene::parse("air.toml", &format!("{RADIOS}[[link]]\nfrom = \"base\"\nto = \"phone:1\"\n")).unwrap();
    assert_eq!(scene.latency.as_micros(), 2000);
    let link = &scene.links[0];
    assert_eq!((link.gain_db, link.delay, link.noise, link.taps.len()), (0.0, Delay::Ns(0.0), None, 0));
    assert_eq!(link.fading, None);
    assert_eq!((link.from.radio, link.from.channel, link.to.radio, link.to.channel), (0, 0, 1, 1));
    let options = &scene.radios[1].options;
    assert_eq!(options.serials, ["EMU002"]);
    assert_eq!(
        (options.sources.as_slice(), options.names.as_slice()),
        (["silence".to_owned()].as_slice(), ["phone".to_owned()].as_slice())
    );
}

#[test]
fn everything_that_can_be_stated_is_read() {
    let text = r#"
        seed = 42
        latency_us = 500
        [[radio]]
        name = "a"
        model = "n200"
        addr = "10.0.0.1"
        serial = "F00"
        source = "noise:-30"
        sink = "sigmf:/tmp/x"
        faults = ["lose:rx,every=1000"]
        board = "wbx"
        gpsdo = true
        overflow = "continue"
        allow = ["10.0.0.0/24"]
        eeprom = "e.bin"
        firmware = 11
        fpga = "10.2"
        hardware = "0x0a01"
        as_hardware = true
        core = 1
        clock_offset_ppm = -1.25
        receive = { noise_dbfs = -80, dc_offset_i = 0.01, dc_offset_q = -0.02, iq_gain_db = 0.5, iq_phase_deg = 2 }
        transmit = { dc_offset_i = 0.03 }
        [[link]]
        from = "a"
        to = "a:0"
        gain_db = -40
        delay_samples = 2.5
        frequency_offset_hz = 100
        snr_db = 20
        taps = [{ delay_ns = 10, gain_db = -3, phase_deg = 90 }]
        [[radio]]
        name = "b"
        model = "x310"
        addr = "10.0.0.2"
        [[link]]
        from = "a"
        to = "b"
        fading = "EVA 70"
    "#;
    let scene = Scene::parse("air.toml", text).unwrap();
    let radio = &scene.radios[0];
    assert_eq!((scene.seed, scene.latency.as_micros()), (42, 500));
    assert_eq!((radio.clock_offset_hundredths_ppm, radio.receive.noise_dbfs), (-125, Some(-80.0)));
    assert_eq!((radio.receive.imbalance.dc_offset_q, radio.transmit.dc_offset_i), (-0.02, 0.03));
    let options = &radio.options;
    assert_eq!((options.fpga, options.hardware, options.firmware), (Some(10 << 16 | 2), Some(0x0A01), Some(11)));
    assert_eq!((options.cores.as_slice(), options.gpsdo, options.as_hardware), ([1].as_slice(), true, true));
    let link = &scene.links[0];
    assert_eq!(
        (link.delay, link.noise, link.frequency_offset_hz),
        (Delay::Samples(2.5), Some(Noise::SnrDb(20.0)), 100.0)
    );
    assert_eq!((link.taps[0].delay_ns, link.taps[0].gain_db, link.taps[0].phase_deg), (10.0, -3.0, 90.0));
    assert_eq!(scene.links[1].fading.map(|model| model.to_string()).as_deref(), Some("EVA 70"));
}

proptest::proptest! {
    #[test]
    fn any_text_is_an_air_or_an_error_with_a_place(text in "[ -~\n]{0,200}") {
        if let Err(error) = Scene::parse("air.toml", &text) {
            proptest::prop_assert!(error.place.line >= 1 && !error.fix().is_empty());
        }
    }
}
