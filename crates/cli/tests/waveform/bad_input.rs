//! Waveforms that can't run, and hosts that don't let them: what, where, and what would mend it.

use crate::program::{file, has, refusal, waveform};

fn error_of(from: &str, to: &str) -> String {
    let text = std::fs::read_to_string(waveform("bpsk.toml")).expect("there");
    assert!(text.contains(from));
    let (_folder, path) = file(text.replace(from, to).as_bytes());
    refusal(&["run", &path, "--slots", "1", "--clock", "free"])
}

#[test]
fn a_wrong_waveform_is_reported_with_its_place_and_the_fix() {
    for (from, to, what, fix) in [
        ("\"awgn\"", "\"awng\"", "there is no component type `awng`", "did you mean `awgn`?"),
        ("ebn0_db = 200.0", "ebn0_bd = 1.0", "component `channel`", "did you mean `ebn0_db`?"),
        ("ebn0_db = 200.0", "ebn0_db = 1e9", "component `channel`", "a number from -20 to 200 dB"),
        ("slot = \"1 ms\"", "slot = \"1 parsec\"", "`slot` can't be", "from 1 us to 1 min"),
        ("\"bpsk-demodulate\"", "\"bpsk-modulate\"", "sends", "takes"),
        ("\"channel\", ", "\"chanel\", ", "no component is called `chanel`", "did you mean `channel`?"),
    ] {
        let said = error_of(from, to);
        assert!(said.contains(what) && said.contains(fix) && said.contains("file.toml:"), "{to}:\n{said}");
    }
}

#[test]
fn a_cycle_without_delay_is_reported_before_anything_runs() {
    let (_folder, path) = file(
        br#"
name = "round"
slot = "1 ms"
[component.a]
type = "copy"
[component.b]
type = "copy"
[[link]]
from = "a"
to = "b"
[[link]]
from = "b"
to = "a"
"#,
    );
    let said = refusal(&["run", &path, "--slots", "1"]);
    assert!(said.contains("cycle") || said.contains("depends on itself"), "{said}");
}

#[test]
fn a_file_that_is_none_is_reported() {
    has(&refusal(&["run", "/nowhere.toml"]), &["can't read the waveform /nowhere.toml", "No such file"]);
    // The fix holds wherever the program is: it names the whole path, and no file that only takt's source has.
    let said = refusal(&["run", "nowhere.toml"]);
    let whole = std::env::current_dir().expect("a folder").join("nowhere.toml");
    has(&said, &[&format!("there is no file {}\n", whole.display()), "component list"]);
    assert!(!said.contains("run waveforms/"), "{said}");
    let (_folder, path) = file(&[0xff, 0xfe, 0x00]);
    assert!(refusal(&["run", &path]).contains("can't read the waveform"));
    let (_folder, path) = file(b"name = ");
    assert!(refusal(&["run", &path]).contains("not valid TOML"));
}

#[test]
fn cores_that_are_not_there_are_reported_with_those_that_are() {
    let bpsk = waveform("bpsk.toml");
    let said = refusal(&["run", &bpsk, "--slots", "1", "--cores", "4095"]);
    assert!(
        said.contains("takt can't put worker 0 on core 4095")
            && said.contains("use cores that this process may run on"),
        "{said}"
    );
}

#[test]
fn a_change_of_what_is_not_there_is_reported_with_what_is() {
    let bpsk = waveform("bpsk.toml");
    let set = |change: &str| refusal(&["run", &bpsk, "--slots", "1", "--set", change]);
    assert!(set("chanel.ebn0_db=3").contains("--set channel.ebn0_db=3"));
    assert!(set("channel.ebn0_bd=3").contains("--set channel.ebn0_db=3"));
    assert!(set("channel.ebn0_db=loud").contains("a number from -20 to 200 dB"));
    assert!(set("channel").contains("COMPONENT.VARIABLE=VALUE"));
}

#[test]
fn what_is_no_result_has_no_execution_times() {
    let (_folder, path) = file(b"{}");
    let json = path.replace(".toml", ".json");
    std::fs::copy(&path, &json).expect("copied");
    assert!(refusal(&["execinfo", &json]).contains("takt run WAVEFORM --json"));
    std::fs::write(&json, b"{").expect("written");
    assert!(refusal(&["execinfo", &json]).contains("is not a result"));
}
