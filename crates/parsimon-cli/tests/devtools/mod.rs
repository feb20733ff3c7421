//! A browser that is driven: pages are opened, looked into and pressed, by Chromium's own protocol over two pipes.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A browser with one page.
pub(crate) struct Tab {
    child: Child,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    count: u64,
    /// Errors that the page has written.
    pub(crate) errors: Vec<String>,
}

impl Tab {
    /// Starts a browser; its files are in `folder`.
    pub(crate) fn new(program: &str, folder: &Path) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let [to, from] = ["to", "from"].map(|name| folder.join(name));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        // The browser reads requests from descriptor 3 and writes answers to 4.
        let child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<\"$TO\" 4>\"$FROM\"", "sh", program])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-quic",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args(["--remote-debugging-pipe", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .env("TO", &to)
            .env("FROM", &from)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = File::options().write(true).open(to).unwrap();
        let from = BufReader::new(File::open(from).unwrap());
        let mut tab = Self { child, to, from, session: None, count: 0, errors: Vec::new() };
        let target = tab.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = tab.call("Target.attachToTarget", attach);
        tab.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            tab.call(domain, json!({}));
        }
        tab
    }

    /// Sends a request and waits for its answer. Errors of the page that come meanwhile are kept.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.count += 1;
        let mut request = json!({"id": self.count, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        self.to.write_all(format!("{request}\0").as_bytes()).unwrap();
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).unwrap();
            assert_eq!(bytes.pop(), Some(0), "the browser has ended");
            let message: Value = serde_json::from_slice(&bytes).unwrap();
            let what = &message["params"];
            match message["method"].as_str() {
                Some("Runtime.exceptionThrown") => {
                    self.errors.push(what["exceptionDetails"].to_string());
                }
                Some("Runtime.consoleAPICalled") if what["type"] == "error" => {
                    self.errors.push(what.to_string());
                }
                Some("Log.entryAdded") if what["entry"]["level"] == "error" => {
                    self.errors.push(what["entry"]["text"].to_string());
                }
                _ => {}
            }
            if message["id"] == json!(self.count) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    /// The size of the window, and the colors.
    pub(crate) fn look(&mut self, width: u32, height: u32, is_dark: bool) {
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", features);
    }

    pub(crate) fn open(&mut self, address: &str) {
        self.call("Page.navigate", json!({"url": address}));
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is neither null, false nor empty.
    pub(crate) fn wait(&mut self, expression: &str) -> Value {
        let start = Instant::now();
        loop {
            let value = self.value(expression);
            let is_there =
                !matches!(&value, Value::Null | Value::Bool(false)) && value != json!("");
            if is_there {
                return value;
            }
            let text = "document.body.innerText.slice(0, 2000)";
            let is_late = start.elapsed() > Duration::from_secs(180);
            assert!(!is_late, "{expression} did not come\n{}\n{:?}", self.value(text), self.errors);
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
