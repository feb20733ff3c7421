//! The page of the service in a real browser: it loads, follows rows that are learned, shows an alarm, rolls back and promotes, and can
//! be read on a phone, light and dark.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod devtools;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use devtools::Tab;
use libtest_mimic::{Arguments, Completion, Trial};
use parsimon_testing::browser::{Browser, PROBE};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_parsimon");

fn main() {
    let trial = |name: &str, test: fn(Browser)| {
        Trial::ignorable_test(name, move || match Browser::find() {
            None => Ok(Completion::ignored_with("needs chromium")),
            Some(browser) => {
                test(browser);
                Ok(Completion::Completed)
            }
        })
    };
    let trials = vec![
        trial("the_page_follows_a_model", the_page_follows_a_model),
        trial("the_page_asks_for_a_token", the_page_asks_for_a_token),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// A service that ends with the test.
struct Served(Child);

impl Served {
    /// Starts a service; gives its address.
    fn start(words: &[&str]) -> (Self, String) {
        let mut command = Command::new(PROGRAM);
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(words).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().unwrap().unwrap();
            if let Some(address) = line.strip_prefix("listening at ") {
                break address.to_owned();
            }
        };
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        (Self(child), address)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What is wrong with the page as it is now.
fn faults(tab: &mut Tab) -> Value {
    let look = "[...overflow(document, innerWidth), ...words(document), ...links(document), \
                ...[...document.querySelectorAll('figure svg')].filter(isShown).flatMap(svg => [...chart(svg)])]";
    tab.value(&format!("(() => {{ {PROBE}; return {look}; }})()"))
}

fn the_page_follows_a_model(browser: Browser) {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("other.json");
    std::fs::write(&settings, r#"{"algorithm": "auto", "loss": "logistic", "half_life": 3000}"#)
        .unwrap();
    let shadow = format!("clicks/other={}", settings.display());
    let words = ["--demo", "--demo-rate", "400", "--alarm-period", "400ms", "--shadow", &shadow];
    let (_service, address) = Served::start(&words);
    let mut tab = Tab::new(browser.program(), folder.path());
    tab.look(1400, 900, false);
    tab.open(&address);
    tab.wait("document.getElementById('state')?.textContent === 'live'");
    // It follows the rows that are learned.
    let rows = "view.news && view.news.rows";
    let first = tab.wait(rows);
    tab.wait(&format!("{rows} > {first} + 200"));
    tab.wait("document.querySelectorAll('#loss path.line').length >= 2");
    tab.wait("document.querySelectorAll('#moved tr').length === 12");
    // Visitors change their tastes, and the alarm comes.
    tab.wait("document.querySelector('#present p')?.textContent.includes('has risen')");
    tab.wait("document.querySelectorAll('#raised li').length > 0");
    // A snapshot, the way back to it, and the branch that was left.
    let press = |tab: &mut Tab, what: &str| {
        tab.wait(&format!("document.querySelector('{what}:not(:disabled)') && (document.querySelector('{what}').click(), true)"));
    };
    press(&mut tab, "#snapshot");
    tab.wait("document.querySelectorAll('#versions button').length > 0");
    let old = tab.wait("document.querySelector('#versions [data-action=rollback]').dataset.seq");
    tab.wait(&format!("view.news.visible_seq > {} + 5", old.as_str().unwrap()));
    press(&mut tab, "#snapshot");
    tab.wait(&format!(
        "document.querySelector('#versions button').dataset.seq !== '{}'",
        old.as_str().unwrap()
    ));
    press(
        &mut tab,
        &format!("#versions [data-action=rollback][data-seq=\"{}\"]", old.as_str().unwrap()),
    );
    tab.wait("document.getElementById('ask').open");
    press(&mut tab, "#yes");
    tab.wait("view.news.version.epoch === 2");
    press(&mut tab, "#versions [data-action=promote]");
    tab.wait("document.getElementById('ask').open");
    press(&mut tab, "#yes");
    tab.wait("view.news.version.epoch === 3");
    tab.wait("document.querySelector('#tiles').textContent.includes('epoch 3')");
    tab.wait("document.querySelector('#versions').textContent.includes('✓')");
    // Learning is paused and goes on.
    press(&mut tab, "#pause");
    tab.wait("document.getElementById('state').textContent === 'paused'");
    press(&mut tab, "#pause");
    tab.wait("document.getElementById('ask').open");
    press(&mut tab, "#other");
    tab.wait("document.getElementById('state').textContent === 'live'");
    // Other settings beside the model.
    tab.wait("document.querySelector('#shadows [data-shadow=other]') !== null");
    // Everything can be read: a phone and a screen, light and dark, lately and in the long run.
    for (width, is_dark) in [(360, false), (360, true), (1400, false), (1400, true)] {
        tab.look(width, 900, is_dark);
        for range in ["recent", "day"] {
            press(&mut tab, &format!("#{range}"));
            tab.wait("new Promise(done => setTimeout(() => done(true), 700))");
            assert_eq!(faults(&mut tab), json!([]), "{width} wide, dark: {is_dark}, {range}");
        }
    }
    // A promotion that meets a busy log is sent again; the browser reports the first answer.
    tab.errors.retain(|error| !error.contains("429"));
    assert!(tab.errors.is_empty(), "{:?}", tab.errors);
}

fn the_page_asks_for_a_token(browser: Browser) {
    let folder = tempfile::tempdir().unwrap();
    // printf %s secret | sha256sum
    let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, format!("admin sha256:{hash}\n")).unwrap();
    let data = folder.path().join("data");
    let (tokens, data) = (tokens.to_str().unwrap(), data.to_str().unwrap());
    let words = [
        "--tokens", tokens, "--data", data, "--model", "m", "--loss", "logistic", "--kinds",
        "cell", "-b", "16",
    ];
    let (_service, address) = Served::start(&words);
    let mut tab = Tab::new(browser.program(), &folder.path().join("browser"));
    tab.look(360, 800, false);
    tab.open(&address);
    tab.wait("document.getElementById('sign-in') && !document.getElementById('sign-in').hidden");
    assert_eq!(faults(&mut tab), json!([]));
    let enter = |tab: &mut Tab, token: &str| {
        let script = "(document.getElementById('token').value = TOKEN, document.getElementById('sign-in').requestSubmit(), true)";
        tab.wait(&script.replace("TOKEN", &json!(token).to_string()));
    };
    enter(&mut tab, "wrong");
    tab.wait(
        "document.getElementById('sign-in-error').textContent.includes('the token is unknown')",
    );
    enter(&mut tab, "secret");
    tab.wait("document.getElementById('state').textContent === 'live'");
    assert_eq!(tab.value("document.cookie"), json!(""), "no script can read the token");
    tab.wait("document.getElementById('snapshot').click() ?? true");
    tab.wait("document.querySelectorAll('#versions button').length > 0");
    // The browser reports the two refusals that brought the form.
    tab.errors.retain(|error| !error.contains("401"));
    assert!(tab.errors.is_empty(), "{:?}", tab.errors);
}
