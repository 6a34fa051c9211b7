//! Commands of how-to pages do what the pages say.

use std::path::Path;
use std::process::Command;

use crate::program::{TAKT, text};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Lines of the blocks of a page that are called `sh`.
fn commands(page: &str) -> Vec<String> {
    let page = std::fs::read_to_string(Path::new(ROOT).join("docs/how-to").join(page)).expect("the page");
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    blocks.flat_map(|(block, _)| block.lines()).map(str::to_owned).collect()
}

#[test]
fn what_a_waveform_takes_on_another_machine_is_predicted_as_the_page_says() {
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(Path::new(ROOT).join("waveforms"), folder.path().join("waveforms")).expect("a link");
    let bin = Path::new(TAKT).parent().expect("its folder").display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let all = commands("predict-another-machine.md");
    assert!(all.len() >= 6, "{all:?}");
    for command in &all {
        assert!(command.starts_with("takt "), "{command}");
        let done = Command::new("sh").args(["-c", command]).env("PATH", &path).current_dir(&folder).output();
        let done = done.expect("a shell");
        // 1: it does not fit, which is an answer.
        let good = matches!(done.status.code(), Some(0 | 1));
        assert!(good, "{command}: {}{}", text(&done.stdout), text(&done.stderr));
    }
    let plan = std::fs::read(folder.path().join("plan.json")).expect("written");
    let plan: serde_json::Value = serde_json::from_slice(&plan).expect("JSON");
    let predicted = plan["predicted"].as_array().expect("a row a component");
    assert!(predicted.len() >= 19);
    for row in predicted {
        // If other programs were at work, some cores may look slower than others.
        let class = row["class"].as_str().expect("a name");
        assert!(class == "board" || class.starts_with("slower-"), "{row}");
        assert!(matches!(row["metric"].as_str(), Some("instructions" | "scaled")), "{row}");
        let error = |key: &str| row["error"][key].as_f64().expect("a share");
        assert!(
            row["ns"].as_u64() > Some(0) && error("low") <= error("mean") && error("mean") <= error("high"),
            "{row}"
        );
    }
    // The time of the component alone was kept last.
    assert_eq!(plan["costs"]["components"]["source"]["n"], 100);
    assert_eq!(plan["costs"]["components"]["turbo-decoder"]["n"], 20);
}
