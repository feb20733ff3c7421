//! A real browser that looks at pages: wide and as narrow as a phone, light and dark.
//!
//! Chromium is started without a window, once per color scheme, on a page whose frames show all pages at all widths: a frame has
//! a separate width for media queries, which a window narrower than its decorations has not. A script (`probe.js`) looks at
//! every frame; what it finds is read from the document, and errors of scripts from the browser's log.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The names under which Chromium is installed.
const PROGRAMS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// In pixels.
const PHONE: u32 = 360;
const SCREEN: u32 = 1400;
/// Functions that find faults of a page, in JavaScript.
pub const PROBE: &str = include_str!("probe.js");

/// A browser that is installed.
#[derive(Clone, Copy, Debug)]
pub struct Browser(&'static str);

/// A page to be looked at, as wide as a phone and as a screen.
#[derive(Clone, Debug)]
pub struct Page {
    name: String,
    address: String,
    widths: Vec<u32>,
}

impl Page {
    /// A page by its address: `file:` or, of a page that is served, `http:`, as it is when it has loaded. Faults are reported
    /// under its name.
    pub fn new(name: impl Into<String>, address: impl Into<String>) -> Self {
        Self { name: name.into(), address: address.into(), widths: vec![PHONE, SCREEN] }
    }

    /// A page in a file.
    pub fn file(name: impl Into<String>, path: &Path) -> Self {
        Self::new(name, format!("file://{}", path.display()))
    }

    /// A page that is not for phones, such as a single chart of a fixed width.
    #[must_use]
    pub fn only_wide(mut self) -> Self {
        self.widths = vec![SCREEN];
        self
    }
}

impl Browser {
    /// The browser of this machine, if any.
    pub fn find() -> Option<Self> {
        let runs = |name: &&&str| {
            let mut version = Command::new(name);
            version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            version.status().is_ok_and(|status| status.success())
        };
        PROGRAMS.iter().find(runs).map(|name| Self(name))
    }

    /// The command that starts it.
    pub fn program(self) -> &'static str {
        self.0
    }

    /// Faults of the pages, in words: text that cannot be read, covers other text or is cut off; elements that are wider than the
    /// window; errors of scripts; links that lead nowhere; tables that do not sort. `folder` is for files of the browser.
    ///
    /// # Errors
    ///
    /// If the browser cannot be run.
    pub fn faults(self, folder: &Path, pages: &[Page]) -> std::io::Result<Vec<String>> {
        let mut faults = Vec::new();
        for is_dark in [false, true] {
            let scheme = if is_dark { "dark" } else { "light" };
            let found = self.look(&folder.join(scheme), pages, is_dark)?;
            faults.extend(found.into_iter().map(|fault| format!("{scheme}: {fault}")));
        }
        Ok(faults)
    }

    fn look(self, folder: &Path, pages: &[Page], is_dark: bool) -> std::io::Result<Vec<String>> {
        std::fs::create_dir_all(folder)?;
        let harness: PathBuf = folder.join("harness.html");
        std::fs::write(&harness, document(pages, is_dark))?;
        let output = Command::new(self.0)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            // The probe looks into its frames and fetches pages, wherever they are from.
            .args(["--allow-file-access-from-files", "--disable-web-security"])
            .arg("--window-size=1500,1000")
            .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!is_dark)))
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .args(["--enable-logging=stderr", "--v=0", "--dump-dom"])
            .arg(format!("file://{}", harness.display()))
            .output()?;
        let dom = String::from_utf8_lossy(&output.stdout);
        let log = String::from_utf8_lossy(&output.stderr);
        let result = dom.split("<pre id=\"faults\">").nth(1).and_then(|r| r.split("</pre>").next());
        let mut faults = match result {
            Some(text) => unescaped(text).lines().map(str::to_owned).collect(),
            None => vec![format!("the browser gave no page: {}", log.lines().last().unwrap_or(""))],
        };
        faults.extend(log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned));
        Ok(faults)
    }
}

/// The page around the pages.
fn document(pages: &[Page], is_dark: bool) -> String {
    let mut frames = String::new();
    for Page { name, address, widths } in pages {
        // A script may look into frames from files; a page that is served is fetched by the probe.
        let source = if address.starts_with("file:") { "src" } else { "data-address" };
        let (name, address) = (escaped(name), escaped(address));
        for width in widths {
            frames.push_str(&format!(
                "<iframe title=\"{name}\" width=\"{width}\" height=\"900\" style=\"border:0\" {source}=\"{address}\"></iframe>\n"
            ));
        }
    }
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <pre id=\"faults\">the script did not finish</pre>\n{frames}\
         <script>const SCHEME_IS_DARK = {is_dark};\n{PROBE}</script>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
