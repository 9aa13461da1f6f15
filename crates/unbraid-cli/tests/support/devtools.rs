//! Debian's chromium without a window, driven over a pipe by the DevTools protocol: with keys, a pointer and
//! files as a person has them, in windows of any width, light and dark.

use super::skip;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the browser is; without one, the tests say that they skip.
pub(crate) fn program() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    let found = candidates.into_iter().find(|program| program.is_file());
    if found.is_none() {
        skip("no chromium in PATH; on Debian: apt-get install chromium");
    }
    found
}

/// A browser with one page.
pub(crate) struct Chromium {
    process: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    calls: u64,
    session: Option<String>,
    /// What happened since the page was opened.
    events: Vec<Value>,
    /// Its settings, as long as it runs.
    _profile: tempfile::TempDir,
}

impl Chromium {
    /// Starts it.
    pub(crate) fn start() -> Option<Self> {
        let program = program()?;
        let profile = tempfile::tempdir().unwrap();
        // The browser reads commands from file 3 and writes answers to file 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--remote-debugging-pipe",
            ])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut text = Vec::new();
            while output.read_until(0, &mut text).is_ok_and(|length| length > 0) {
                text.pop();
                if sender.send(serde_json::from_slice(&text).unwrap()).is_err() {
                    return;
                }
                text.clear();
            }
        });
        let mut browser =
            Self { process, input, messages, calls: 0, session: None, events: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let session = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method and waits for its result.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut call = json!({ "id": self.calls, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            call["sessionId"] = session.as_str().into();
        }
        self.input.write_all(format!("{call}\0").as_bytes()).unwrap();
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("an answer of the browser");
            if message["id"] == self.calls {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// Opens a page from disk and waits until it is loaded; the time that this took.
    pub(crate) fn open(&mut self, page: &Path) -> Duration {
        let address = format!("file://{}", page.canonicalize().unwrap().display());
        self.events.clear();
        let began = Instant::now();
        self.call("Page.navigate", json!({ "url": address }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let message = self.messages.recv_timeout(PATIENCE).expect("the page loads");
            self.events.push(message);
        }
        began.elapsed()
    }

    /// The value of an expression, for which it waits if it is a promise.
    #[track_caller]
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let end = Instant::now() + PATIENCE;
        while self.evaluate(expression) != true {
            assert!(Instant::now() < end, "{expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Exceptions, errors and warnings of the page, and what it asked any host for.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let wrong = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled") => true,
            Some("Network.requestWillBeSent") => {
                let address = event["params"]["request"]["url"].as_str().unwrap_or("");
                !["file:", "data:", "blob:"].iter().any(|own| address.starts_with(own))
            }
            _ => false,
        };
        self.events.iter().filter(wrong).map(ToString::to_string).collect()
    }

    /// A window of this width, in light or dark colours.
    pub(crate) fn resize(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Presses and releases a key.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "ArrowLeft" => (37, None),
            "ArrowUp" => (38, None),
            "ArrowRight" => (39, None),
            "ArrowDown" => (40, None),
            "End" => (35, None),
            "Home" => (36, None),
            "Tab" => (9, None),
            letter => (letter.to_uppercase().bytes().next().unwrap().into(), Some(letter)),
        };
        let mut event = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        if let Some(text) = text {
            event["text"] = text.into();
        }
        self.call("Input.dispatchKeyEvent", event.clone());
        event["type"] = "keyUp".into();
        self.call("Input.dispatchKeyEvent", event);
    }

    /// Scrolls to an element; the place in the window that is this far into it, from 0 to 1.
    #[track_caller]
    pub(crate) fn place(&mut self, selector: &str, (across, down): (f64, f64)) -> (f64, f64) {
        let selector = json!(selector);
        let found = self.evaluate(&format!(
            "(() => {{ const found = document.querySelector({selector}); found.scrollIntoView({{ block: 'center' }}); \
             const box = found.getBoundingClientRect(); \
             return [box.left + {across} * box.width, box.top + {down} * box.height]; }})()"
        ));
        (found[0].as_f64().unwrap(), found[1].as_f64().unwrap())
    }

    /// Presses the pointer at one place, moves it to another, and releases it there.
    pub(crate) fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        for (kind, (x, y), buttons) in [
            ("mouseMoved", from, 0),
            ("mousePressed", from, 1),
            ("mouseMoved", to, 1),
            ("mouseReleased", to, 0),
        ] {
            let button = if kind == "mouseMoved" && buttons == 0 { "none" } else { "left" };
            let event = json!({
                "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1
            });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Clicks on an element.
    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.place(selector, (0.5, 0.5));
        self.drag(place, place);
    }

    /// Drops a file onto an element.
    pub(crate) fn drop_file(&mut self, file: &Path, selector: &str) {
        let (x, y) = self.place(selector, (0.5, 0.5));
        let data = json!({ "items": [], "files": [file], "dragOperationsMask": 1 });
        for kind in ["dragEnter", "dragOver", "drop"] {
            self.call("Input.dispatchDragEvent", json!({ "type": kind, "x": x, "y": y, "data": data }));
        }
    }

    /// Writes a picture of the window into the directory that `UNBRAID_SCREENSHOTS` names, for a look at it.
    pub(crate) fn screenshot(&mut self, name: &str) {
        let Some(directory) = std::env::var_os("UNBRAID_SCREENSHOTS") else { return };
        let png = self.call("Page.captureScreenshot", json!({}))["data"].as_str().unwrap().to_owned();
        write_base64(&png, &Path::new(&directory).join(name));
    }
}

/// Writes bytes that a browser hands over in base64 to a file.
pub(crate) fn write_base64(text: &str, path: &Path) {
    let mut decoding = Command::new("base64")
        .arg("-d")
        .stdin(Stdio::piped())
        .stdout(std::fs::File::create(path).unwrap())
        .spawn()
        .unwrap();
    decoding.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(decoding.wait().unwrap().success());
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
