//! Components of a shared library: the same as those linked in, and every wrong library refused with what would be right.

#[path = "common/library.rs"]
mod built;
#[path = "../examples/library.rs"]
mod linked;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use built::library;
use takt_base::Stop;
use takt_graph::{Catalogue, ComponentSpec, Graph, Latency, MissPolicy, Params, Plan, Waveform};
use takt_runtime::{Bench, LibraryError, Message, Options, Registry, Report, Session};

/// A library of a few lines of Rust without any crate.
fn compiled(code: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, library) = (folder.path().join("lib.rs"), folder.path().join("lib.so"));
    std::fs::write(&source, code).expect("written");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let arguments = ["--edition=2024", "--crate-type=cdylib", "--crate-name=wrong"];
    let built = Command::new(rustc).args(arguments).arg("-o").arg(&library).arg(&source).output().expect("rustc");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    (folder, library)
}

fn loaded() -> Registry {
    let mut registry = Registry::empty();
    registry.load(library()).expect("loads");
    registry
}

fn of_program() -> Registry {
    Registry::of_program().expect("one name each")
}

fn waveform(panic_in: i64) -> Waveform {
    Waveform::new("library", Duration::from_millis(1))
        .with(ComponentSpec::new("source", "library-source").param("items", 100))
        .with(ComponentSpec::new("saxpy", "library-saxpy").param("b", 0.1))
        .with(ComponentSpec::new("negate", "library-negate"))
        .with(
            ComponentSpec::new("average", "library-average")
                .param("window", 5)
                .param("panic_in", panic_in)
                .on_miss(MissPolicy::Degrade),
        )
        .with(ComponentSpec::new("sink", "library-sink"))
        .chain(["source", "saxpy", "negate", "average", "sink"])
}

fn run(registry: &Registry, waveform: &Waveform, worker_of: &[usize]) -> Report {
    let graph = Graph::check(waveform, registry).unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::assign(&graph, worker_of, Latency::Compact).expect("legal");
    let options = Options { slots: Some(500), ..Options::default() };
    let mut running =
        Session::open(&graph, &plan, registry, options).expect("opens").start_paused(&Stop::new()).expect("starts");
    running.set(registry, "saxpy", "a", &(-2.25).into(), 100).expect("a variable");
    running.send("average", Message { tag: 1, words: [7; 7] }, 50).expect("room");
    running.join()
}

#[test]
fn a_library_describes_its_components_as_a_program_does() {
    let (library, program) = (loaded(), of_program());
    let names = |registry: &Registry| registry.kinds().iter().map(|kind| kind.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&library), names(&program));
    for kind in program.kinds() {
        assert_eq!(library.kind(&kind.name), Some(kind));
        let params = kind.resolve(&Params::new()).expect("all have defaults");
        assert_eq!(library.shape(kind, &params), program.shape(kind, &params));
    }
}

#[test]
fn what_a_waveform_computes_is_the_same_from_a_library() {
    let reference = run(&of_program(), &waveform(-1), &[0, 0, 0, 0, 0]);
    assert!(reference.output_hash.is_some());
    for worker_of in [[0, 0, 0, 0, 0], [0, 1, 0, 1, 0], [1, 1, 0, 0, 1]] {
        let report = run(&loaded(), &waveform(-1), &worker_of);
        assert_eq!(report.output_hash, reference.output_hash);
        for (library, program) in report.components.iter().zip(&reference.components) {
            assert_eq!(library.results, program.results, "{}", program.name);
        }
        assert_eq!(report.components[3].results["received"], 7.into());
    }
}

#[test]
fn a_panic_in_a_library_is_a_fault_of_its_component() {
    let (library, program) = (run(&loaded(), &waveform(300), &[0; 5]), run(&of_program(), &waveform(300), &[0; 5]));
    assert_eq!((library.misses, library.components[3].faults), (1, 1));
    assert_eq!(library.components[3].results["received"], (-1).into(), "it uses its cheaper mode");
    assert_eq!(library.output_hash, program.output_hash, "the same slot is missing");
}

#[test]
fn a_component_of_a_library_refuses_as_one_of_the_program_does() {
    let params = Params::new().with("window", 13);
    let refused = Bench::named(&loaded(), "library-average", &params).expect_err("refused");
    assert_eq!(refused, Bench::named(&of_program(), "library-average", &params).expect_err("refused"));
}

#[test]
fn a_component_of_a_library_is_tested_on_the_bench_as_any() {
    let mut saxpy = Bench::named(&loaded(), "library-saxpy", &Params::new().with("b", 1.0)).expect("made");
    saxpy.set("a", 3.0);
    assert_eq!(saxpy.feed("in", &[1.0_f32, 2.0]).tick().output::<f32>("out"), [4.0, 7.0]);
    assert_eq!(saxpy.tick().output::<f32>("out"), [0.0; 0], "nothing in, nothing out");
}

fn refusal(path: impl AsRef<Path>) -> LibraryError {
    let mut registry = Registry::empty();
    let refused = registry.load(path).expect_err("refused");
    assert!(registry.kinds().is_empty(), "nothing of it is there");
    assert!(!refused.fix().is_empty());
    refused
}

#[test]
fn a_file_that_is_no_library_is_refused() {
    let missing = refusal("/nowhere/libmine.so");
    assert!(matches!(missing, LibraryError::File { .. }));
    assert_eq!(missing.to_string(), "library /nowhere/libmine.so");
    let text = refusal(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    assert!(matches!(text, LibraryError::Open { .. }), "{text}");
    assert!(text.fix().contains("cdylib"), "{}", text.fix());
}

#[test]
fn a_library_without_a_table_of_this_version_is_refused_with_what_is_wrong() {
    let with_version = |version: u32| {
        format!(
            "#[repr(C)] pub struct T([u8; 8], u32, u32, [u64; 20]);
             #[unsafe(no_mangle)] pub static takt_library: T = T(*b\"taktlib\\0\", {version}, 0, [0; 20]);"
        )
    };
    let refusal = |code: &str| {
        let (_folder, library) = compiled(code);
        refusal(library)
    };
    let without = refusal("#[unsafe(no_mangle)] pub extern \"C\" fn other() {}");
    assert!(matches!(without, LibraryError::Symbol { .. }), "{without}");
    assert_eq!(without.fix(), "takt_runtime::export!(); in the library's lib.rs");
    let other = refusal("#[unsafe(no_mangle)] pub static takt_library: [u64; 20] = [7; 20];");
    assert!(matches!(other, LibraryError::Magic { .. }), "a symbol of another program: {other}");
    let newer = refusal(&with_version(4));
    assert!(matches!(newer, LibraryError::Interface { has: 4, wanted: 3, .. }), "{newer}");
    assert!(newer.fix().starts_with("a newer takt"), "{}", newer.fix());
    let older = refusal(&with_version(1));
    assert!(older.fix().starts_with("build the library again"), "{}", older.fix());
}

#[test]
fn a_name_that_is_taken_is_refused_and_nothing_is_added() {
    let mut registry = of_program();
    let before = registry.kinds().len();
    let refused = registry.load(library()).expect_err("all of its names are taken");
    assert!(matches!(&refused, LibraryError::NameTaken { name, .. } if name.starts_with("library-")), "{refused}");
    assert!(refused.fix().contains("another name"));
    assert_eq!(registry.kinds().len(), before);
}
