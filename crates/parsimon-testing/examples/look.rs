//! Looks at pages as the tests do, and prints what is wrong with them:
//! `cargo run -p parsimon-testing --example look -- report/index.html http://127.0.0.1:8080/`.

use std::path::Path;
use std::process::ExitCode;

use parsimon_testing::browser::{Browser, Page};

fn main() -> std::io::Result<ExitCode> {
    let mut pages = Vec::new();
    for address in std::env::args().skip(1) {
        pages.push(match address.contains("://") {
            true => Page::new(&address, &address),
            false => Page::file(&address, &Path::new(&address).canonicalize()?),
        });
    }
    let Some(browser) = Browser::find() else {
        eprintln!("chromium is not installed");
        return Ok(ExitCode::FAILURE);
    };
    let folder = std::env::temp_dir().join(format!("parsimon-look-{}", std::process::id()));
    let faults = browser.faults(&folder, &pages)?;
    std::fs::remove_dir_all(&folder)?;
    faults.iter().for_each(|fault| println!("{fault}"));
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
