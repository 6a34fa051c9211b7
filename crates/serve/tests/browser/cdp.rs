//! A headless Chromium, driven over the DevTools protocol through a pair of pipes.
//!
//! `--remote-debugging-pipe` reads requests from descriptor 3 and writes answers to 4, each ended by a zero byte. A shell makes both
//! of its own input and output, so no port is open and no library is needed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value as Json, json};
use takt_testing::{HANG, wait_for};

const START: &str = "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                     --hide-scrollbars --user-data-dir=\"$0\" --remote-debugging-pipe about:blank 3<&0 4>&1 >/dev/null 2>&1";

/// Whether this machine has one.
pub fn is_installed() -> bool {
    let asked = Command::new("chromium").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// One tab of a browser of its own.
pub struct Browser {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<Json>,
    last: u64,
    session: Option<String>,
    /// Complaints of the page's console and the browser.
    pub complaints: Vec<String>,
}

impl Browser {
    pub fn start(profile: &Path) -> Browser {
        let mut child = Command::new("sh")
            .args(["-c", START])
            .arg(profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh starts");
        let (requests, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let (told, answers) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(output).split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("Chromium speaks JSON");
                if told.send(message).is_err() {
                    break;
                }
            }
        });
        let mut browser = Browser { child, requests, answers, last: 0, session: None, complaints: Vec::new() };
        browser.open_tab();
        browser
    }

    fn open_tab(&mut self) {
        let tab = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = self.call("Target.attachToTarget", json!({ "targetId": tab["targetId"], "flatten": true }));
        self.session = Some(attached["sessionId"].as_str().expect("a session").to_owned());
        for domain in ["Page", "Runtime", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Sends a request and waits for its answer; keeps complaints that come meanwhile.
    pub fn call(&mut self, method: &str, params: Json) -> Json {
        self.last += 1;
        let mut request = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        self.requests.write_all(format!("{request}\0").as_bytes()).expect("Chromium listens");
        loop {
            let message = self.answers.recv_timeout(HANG).unwrap_or_else(|_| panic!("no answer to {method}"));
            self.note(&message);
            if message["id"] == json!(self.last) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    fn note(&mut self, message: &Json) {
        let what = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => &message["params"]["exceptionDetails"],
            Some("Log.entryAdded") if message["params"]["entry"]["level"] == "error" => &message["params"]["entry"],
            _ => return,
        };
        self.complaints.push(what.to_string());
    }

    pub fn open(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// The value of an expression of the page.
    pub fn value(&mut self, expression: &str) -> Json {
        let answer = self.call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, expression: &str) {
        wait_for(expression, || {
            // A page that is just being replaced has no elements.
            let wrapped = format!("(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()");
            (self.value(&wrapped) == json!(true)).then_some(())
        });
    }

    /// Waits until an element has a text in it.
    pub fn until_text(&mut self, selector: &str, text: &str) {
        self.until(&format!("document.querySelector({}).innerText.includes({})", json!(selector), json!(text)));
    }

    pub fn text(&mut self, selector: &str) -> String {
        let text = self.value(&format!("document.querySelector({})?.innerText", json!(selector)));
        text.as_str().unwrap_or_else(|| panic!("no {selector}")).to_owned()
    }

    pub fn click(&mut self, selector: &str) {
        self.until(&format!("document.querySelector({})", json!(selector)));
        self.value(&format!("document.querySelector({}).click()", json!(selector)));
    }

    /// A key that a person presses: its name and its code.
    pub fn press(&mut self, key: &str, code: u32) {
        let text = if key == "Enter" { "\r" } else { "" };
        let event =
            |kind| json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
        self.call("Input.dispatchKeyEvent", event("keyDown"));
        self.call("Input.dispatchKeyEvent", event("keyUp"));
    }

    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Size of the window in CSS pixels, and what the reader prefers.
    pub fn look(&mut self, (width, height): (u32, u32), scheme: &str, motion: &str) {
        let mobile = width < 500;
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile }),
        );
        let features = [("prefers-color-scheme", scheme), ("prefers-reduced-motion", motion)];
        let features: Vec<Json> =
            features.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// The window as a PNG, in base64.
    pub fn screenshot(&mut self) -> String {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        shot["data"].as_str().expect("a picture").to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have gone already.
        let _ = self.requests.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let has_ended = |child: &mut Child| child.try_wait().is_ok_and(|status| status.is_some());
        for _ in 0..100 {
            if has_ended(&mut self.child) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
