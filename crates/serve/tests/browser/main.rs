//! The page in a real browser: it loads, follows what runs, says what went wrong, and comes back after a lost connection.
//!
//! Needs Chromium; without it these tests are skipped, on record. With `TAKT_BLESS=1` the test `pictures` writes docs/images.

mod cdp;
mod shown;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use cdp::Browser;
use serde_json::json;
use shown::{Faults, OUTPUT, Shown, show};
use takt_base::Stop;
use takt_live::{Kind, Miss, Publisher, Snapshot};
use takt_serve::{Place, ServeOptions, Server, Token};
use tempfile::TempDir;

const WIDE: (u32, u32) = (1280, 800);
/// The whole page, for the documentation.
const TALL: (u32, u32) = (1280, 1780);
const PHONE: (u32, u32) = (390, 844);
const TAB: (&str, u32) = ("Tab", 9);
const ENTER: (&str, u32) = ("Enter", 13);

/// A server on a thread.
struct Served {
    at: SocketAddr,
    url: String,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn start(folder: &Path, at: &str, token: Option<Token>) -> Served {
        let place = Place::In(folder.to_owned());
        let options = ServeOptions { listen: at.parse().unwrap(), token, place };
        let server = Server::open(options).unwrap();
        let (at, url, stop) = (server.local(), server.url(), Stop::new());
        let of_thread = stop.clone();
        let thread = std::thread::spawn(move || _ = server.run(&of_thread).unwrap());
        Served { at, url, stop, thread: Some(thread) }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.request();
        // A panic there was printed there.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A folder of sockets, a server before it, and a browser.
struct Scene {
    folder: TempDir,
    served: Option<Served>,
    browser: Browser,
    _profile: TempDir,
}

impl Scene {
    /// `None` where there is no browser.
    fn set() -> Option<Scene> {
        if !cdp::is_installed() {
            takt_testing::skip("chromium is not installed   (apt-get install chromium)");
            return None;
        }
        let (folder, profile) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let served = Served::start(folder.path(), "127.0.0.1:0", None);
        let mut browser = Browser::start(profile.path());
        browser.look(WIDE, "light", "no-preference");
        Some(Scene { folder, served: Some(served), browser, _profile: profile })
    }

    fn url(&self) -> String {
        self.served.as_ref().unwrap().url.clone()
    }

    /// Shows the waveform as process 4711.
    fn run(&self) -> (Publisher, Arc<Mutex<Faults>>) {
        let shown = Shown::new();
        let faults = Arc::clone(&shown.faults);
        (show(self.folder.path(), 4711, Kind::Run, "lte-link", shown), faults)
    }
}

fn miss(slot: u64) -> Miss {
    let (component, stage) = (Some("turbo decoder".into()), Some("execution".into()));
    Miss { slot, component, stage, late_ns: Some(120_000) }
}

#[test]
fn the_page_shows_a_process_and_follows_it() {
    let Some(mut scene) = Scene::set() else { return };
    let (_process, faults) = scene.run();
    let url = scene.url();
    let browser = &mut scene.browser;
    browser.open(&url);
    browser.until_text("#headline", "No sample lost, no slot missed");
    browser.until("document.querySelector('#head.holds')");
    browser.until_text("#processes", "lte-link");
    for part in ["radios", "slots", "links", "components", "signal", "variables"] {
        browser.until(&format!("document.querySelector('[data-part={part}] h2')"));
    }
    browser.until("document.querySelector('[data-part=nodes]').hidden");
    // The page draws: the canvas is not one colour.
    browser.until(
        "(() => { const c = document.querySelector('canvas'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; \
         return new Set(new Uint32Array(d.buffer)).size > 3; })()",
    );
    // A slot count that goes on: snapshots come.
    let before = browser.text("[data-part=slots] dd");
    browser.until(&format!("document.querySelector('[data-part=slots] dd').innerText !== {}", json!(before)));

    *faults.lock().unwrap() =
        Faults { overflows: 2, lost_samples: 512, misses: vec![miss(77), miss(99)], ebn0_db: 12.5 };
    browser.until_text("#headline", "512 samples lost, 2 of");
    browser.until("document.querySelector('#head.fails')");
    browser.until_text(".tape", "OO");
    browser.until_text("[data-part=slots] tbody tr", "99\tturbo decoder\texecution\t120 µs");
    browser.until("document.querySelector('[data-part=components] .missed .name').textContent === 'turbo decoder'");
    // For readers of the screen.
    browser
        .until("document.querySelector('#news').textContent.includes('2 slots missed, the last one by turbo decoder')");
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn a_reader_chooses_a_process_by_mouse_or_keyboard_and_pauses() {
    let Some(mut scene) = Scene::set() else { return };
    let (_process, _) = scene.run();
    let _second = show(scene.folder.path(), 4712, Kind::Emulate, "n200 127.0.0.1", Snapshot::default);
    let url = scene.url();
    let browser = &mut scene.browser;
    browser.open(&url);
    browser.until_text("#what", "takt run · lte-link");
    browser.click("#processes a[href='#pid=4712']");
    browser.until_text("#what", "takt emulate · n200 127.0.0.1");
    browser.until_text("#headline", "Nothing to show yet");
    browser.until_text("#says", "as soon as it streams");
    browser.until("document.querySelector('a[aria-current=page]').hash === '#pid=4712'");
    browser.until("document.querySelectorAll('section').length === 0");

    // From the top: the link that skips the list, then the list.
    browser.value("document.activeElement.blur(), scrollTo(0, 0)");
    browser.open(&format!("{url}?keyboard#pid=4712"));
    browser.until_text("#processes", "lte-link");
    browser.press(TAB.0, TAB.1);
    browser.until(
        "document.activeElement.className === 'skip' && document.activeElement.getBoundingClientRect().top >= 0",
    );
    browser.press(TAB.0, TAB.1);
    browser.until("document.activeElement.hash === '#pid=4711'");
    browser.until("getComputedStyle(document.activeElement).outlineStyle === 'solid'");
    browser.press(ENTER.0, ENTER.1);
    browser.until_text("#what", "takt run · lte-link");

    browser.until_text("[data-part=slots] dd", "");
    browser.click("#pause");
    browser.until("document.querySelector('#pause').getAttribute('aria-pressed') === 'true'");
    browser.click("#pause");
    let before = browser.text("[data-part=slots] dd");
    browser.until(&format!("document.querySelector('[data-part=slots] dd').innerText !== {}", json!(before)));
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn a_lost_connection_is_said_and_comes_back() {
    let Some(mut scene) = Scene::set() else { return };
    let (_process, _) = scene.run();
    scene.browser.open(&scene.url());
    scene.browser.until_text("#headline", "No sample lost");
    let at = scene.served.take().unwrap().at.to_string();
    scene.browser.until_text("#lost", "The connection to takt serve is lost.");
    scene.browser.until("document.querySelector('#sections.stale')");
    // The last figures stay.
    scene.browser.until_text("#headline", "No sample lost");
    scene.served = Some(Served::start(scene.folder.path(), &at, None));
    scene.browser.click("#again");
    scene.browser.until("document.querySelector('#lost').hidden && !document.querySelector('#sections.stale')");
    let before = scene.browser.text("[data-part=slots] dd");
    let changed = format!("document.querySelector('[data-part=slots] dd').innerText !== {}", json!(before));
    scene.browser.until(&changed);
}

#[test]
fn each_state_in_which_nothing_comes_has_words_and_a_next_step() {
    let Some(mut scene) = Scene::set() else { return };
    let url = scene.url();
    scene.browser.open(&url);
    scene.browser.until_text("#headline", "Nothing runs");
    scene.browser.until_text("#says", "takt rate --addr 127.0.0.1");
    // It appears by itself.
    let (process, _) = scene.run();
    scene.browser.until_text("#headline", "No sample lost");
    drop(process);
    scene.browser.until_text("#headline", "This process has ended");
    scene.browser.until_text("#processes-note", "No takt process runs.");
    scene.browser.until("document.querySelector('[data-part=slots] dd').innerText !== ''");

    scene.browser.open(&format!("{url}?other#pid=99"));
    scene.browser.until_text("#headline", "This process can't be shown");
    scene.browser.until_text("#says", "Process 99 does not show itself. Choose a process from the list.");
    assert_eq!(scene.browser.complaints, [""; 0]);
}

#[test]
fn a_variable_is_set_or_refused_with_the_reason() {
    let Some(mut scene) = Scene::set() else { return };
    let (_process, faults) = scene.run();
    scene.browser.open(&scene.url());
    let browser = &mut scene.browser;
    let mut set = |value: &str, answer: &str| {
        browser.until("document.querySelector('[data-part=variables] input')");
        browser.value("document.querySelector('[data-part=variables] input').select()");
        browser.type_text(value);
        browser.press(ENTER.0, ENTER.1);
        browser.until_text("[data-part=variables] [role=status]", answer);
    };
    set("3.5", "channel.ebn0_db is set.");
    assert!((faults.lock().unwrap().ebn0_db - 3.5).abs() < 1e-9);
    set("99", "channel.ebn0_db was not set: channel.ebn0_db is to be 99; expected: -20 to 60");
    set("loud", "channel.ebn0_db was not set: expected: a number");
    assert!((faults.lock().unwrap().ebn0_db - 3.5).abs() < 1e-9);
    browser.until_text("[data-part=variables] tbody tr", "3.5 dB");
    // Only what the process declares settable has a field.
    browser.until("document.querySelectorAll('[data-part=variables] input').length === 1");
}

#[test]
fn an_output_of_a_component_is_shown_on_request_also_after_a_lost_connection() {
    let Some(mut scene) = Scene::set() else { return };
    let (_process, _) = scene.run();
    scene.browser.open(&scene.url());
    let captions =
        "[...document.querySelectorAll('[data-part=signal] figcaption')].filter((one) => one.textContent.includes";
    let shown = |wanted: usize| format!("{captions}({})).length === {wanted}", json!(OUTPUT));
    scene.browser.until("document.querySelector('#tap option:nth-child(2)')");
    scene.browser.until(&shown(0));
    let choose = |value: &str| {
        format!(
            "(() => {{ const s = document.querySelector('#tap'); s.value = {}; s.dispatchEvent(new Event('change')); }})()",
            json!(value)
        )
    };
    scene.browser.value(&choose(OUTPUT));
    // A spectrum and a constellation.
    scene.browser.until(&shown(2));
    let at = scene.served.take().unwrap().at.to_string();
    scene.browser.until_text("#lost", "The connection to takt serve is lost.");
    scene.served = Some(Served::start(scene.folder.path(), &at, None));
    scene.browser.click("#again");
    scene.browser.until("document.querySelector('#lost').hidden");
    scene.browser.until(&shown(2));
    scene.browser.value(&choose(""));
    scene.browser.until(&shown(0));
}

#[test]
fn texts_of_a_process_stay_texts() {
    let Some(mut scene) = Scene::set() else { return };
    let evil = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>";
    let shown = Shown::new();
    shown.faults.lock().unwrap().misses = vec![Miss { component: Some(evil.to_owned()), ..miss(1) }];
    let _process = show(scene.folder.path(), 4711, Kind::Run, evil, shown);
    let url = scene.url();
    let browser = &mut scene.browser;
    browser.open(&url);
    browser.until_text("#processes", evil);
    browser.until_text("[data-part=slots] tbody", evil);
    browser.until("document.querySelectorAll('img').length === 0 && document.querySelectorAll('script').length === 1");
    browser.until("document.title !== 'broken'");
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn with_a_token_the_page_opens_by_its_whole_address_alone() {
    let Some(mut scene) = Scene::set() else { return };
    let (_process, _) = scene.run();
    let guarded = Served::start(scene.folder.path(), "127.0.0.1:0", Some(Token::random().unwrap()));
    let browser = &mut scene.browser;
    browser.open(&format!("http://{}/", guarded.at));
    browser.until("document.body.innerText.includes('The token is missing or wrong')");
    browser.complaints.clear();
    browser.open(&guarded.url);
    browser.until_text("#headline", "No sample lost");
    // Neither the address nor a script has it.
    browser.until("!location.href.includes('token') && document.cookie === ''");
    assert_eq!(browser.complaints, [""; 0]);
}

/// The pictures of the documentation; without `TAKT_BLESS=1`, that the page has no line that is too wide for its window.
#[test]
fn pictures() {
    let Some(mut scene) = Scene::set() else { return };
    let (_process, faults) = scene.run();
    let _second = show(scene.folder.path(), 4712, Kind::Emulate, "n200 192.168.10.2", Snapshot::default);
    *faults.lock().unwrap() = Faults { misses: vec![miss(1204), miss(5118)], ebn0_db: 12.5, ..Faults::default() };
    let url = scene.url();
    let browser = &mut scene.browser;
    for (name, size, scheme) in [("live", TALL, "light"), ("live-dark", WIDE, "dark"), ("live-phone", PHONE, "light")] {
        browser.look(size, scheme, "no-preference");
        browser.open(&format!("{url}?{name}"));
        browser.until_text("#headline", "2 of");
        browser.until(
            "document.querySelector('.waterfall') && document.querySelector('[data-part=slots] .missed, .bar-now')",
        );
        browser.until("document.documentElement.scrollWidth <= innerWidth");
        let paper = if scheme == "dark" { "rgb(21, 24, 27)" } else { "rgb(253, 253, 251)" };
        browser.until(&format!("getComputedStyle(document.documentElement).backgroundColor === '{paper}'"));
        if std::env::var_os("TAKT_BLESS").is_some() {
            save(browser, name);
        }
    }
    assert_eq!(browser.complaints, [""; 0]);
}

fn save(browser: &mut Browser, name: &str) {
    use base64::Engine;

    // Long enough for a waterfall to look at.
    std::thread::sleep(std::time::Duration::from_secs(8));
    let png = base64::engine::general_purpose::STANDARD.decode(browser.screenshot()).unwrap();
    let path = format!("{}/../../docs/images/{name}.png", env!("CARGO_MANIFEST_DIR"));
    std::fs::write(path, png).unwrap();
}
