//! The page in a real browser: no error in the console, every figure visible, nothing wider than a phone.
//!
//! Ignored where no browser is installed.

use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::{Completion, Trial};
use parsimon_lab::{Effort, Experiment, Plan, experiments, report};
use parsimon_page::document;

const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

fn browser() -> Option<&'static str> {
    let runs = |name: &&&str| {
        let version = Command::new(name).arg("--version").stdout(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    BROWSERS.iter().find(runs).copied()
}

/// Looks at the page in two frames, as wide as a phone and as a screen, and writes down what is wrong.
/// A frame has its own width for media queries, which a window narrower than its decorations has not.
const CHECK: &str = r#"
const wrong = [];
addEventListener("load", () => {
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, width = frame.clientWidth;
    for (const d of page.querySelectorAll("details")) d.open = true;
    if (page.documentElement.scrollWidth > width)
      wrong.push(`the page is ${page.documentElement.scrollWidth} wide in a window of ${width}`);
    const figures = page.querySelectorAll("figure");
    if (!figures.length) wrong.push("there are no figures");
    figures.forEach((figure, k) => {
      const box = figure.querySelector("svg, img")?.getBoundingClientRect();
      if (!box || box.width < 100 || box.height < 50) wrong.push(`figure ${k + 1} is not to be seen at ${width}`);
    });
    for (const link of page.querySelectorAll("a[href^='#']"))
      if (!page.getElementById(link.getAttribute("href").slice(1))) wrong.push(`${link.hash} leads nowhere`);
    for (const image of page.images)
      if (!image.naturalWidth) wrong.push(`${image.getAttribute("src")} cannot be shown`);
    for (const image of page.querySelectorAll("svg"))
      if (!image.querySelector("title")) wrong.push("an svg has no title");
  }
  document.getElementById("result").textContent = wrong.length ? wrong.join("\n") : "nothing";
});
"#;

/// What a browser finds wrong with a page.
fn faults(browser: &str, html: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let frame = |width: u32| {
        maud::html! { iframe width=(width) height="900" style="border:0" srcdoc=(html) {} "\n" }
    };
    let harness = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<link rel=\"icon\" href=\"data:,\">\n<script>{CHECK}</script>\n\
         <pre id=\"result\">unfinished</pre>\n{}{}",
        frame(420).into_string(),
        frame(1300).into_string()
    );
    let file = folder.path().join("harness.html");
    std::fs::write(&file, harness).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--v=0", "--window-size=1400,1000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let result = dom
        .split("<pre id=\"result\">")
        .nth(1)
        .and_then(|rest| rest.split("</pre>").next())
        .unwrap_or("the browser gave no page");
    let console = String::from_utf8_lossy(&output.stderr);
    let said = console.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned);
    let wrong = result.lines().filter(|line| *line != "nothing").map(str::to_owned);
    wrong.chain(said).collect()
}

/// Something with curves, small enough for a test.
const CURVES: &str = r#"
    title = "Small"
    printed = "-"
    claim = "PDA finds zeros."
    kind = "identification"
    axes = { mismatch = "mismatch, dB", zeros = "zeros, %" }
    trials = { quick = 2, standard = 2, full = 2 }
    settings = { n = 50, zeros = 0.9, samples = { quick = 2000, standard = 2000, full = 2000 } }
    method = [{ name = "PDA", spec = { algorithm = "pda", rate = 0.13, alpha = 0.8, l1 = 3 } }]
    expect = [{ says = "zeros", left = "PDA.zeros@end", is = "above", bound = 50.0 }]
"#;

/// A page with curves, a long table, and a gap.
fn made(folder: &Path) -> String {
    let ids = ["slides/equivalences", "csgd/mnist"];
    let mut chosen: Vec<Experiment> =
        experiments().unwrap().into_iter().filter(|e| ids.contains(&e.id.as_str())).collect();
    chosen.push(Experiment::parse("test/small", CURVES).unwrap());
    let plan = Plan {
        experiments: chosen,
        effort: Effort::Quick,
        trials: Some(1),
        seed: 1,
        threads: 2,
        data: folder.join("nowhere"),
        folder: folder.join("trials"),
    };
    assert_eq!(plan.experiments.len(), ids.len() + 1);
    report::write(folder, &plan.run(&|_| {}), "a test").unwrap();
    std::fs::read_to_string(folder.join("index.html")).unwrap()
}

pub(crate) fn trial() -> Trial {
    Trial::ignorable_test("the_page_is_sound_in_a_browser", || {
        let Some(browser) = browser() else {
            return Ok(Completion::ignored_with("needs chromium"));
        };
        the_page_is_sound_in_a_browser(browser);
        Ok(Completion::Completed)
    })
}

fn the_page_is_sound_in_a_browser(browser: &str) {
    let folder = tempfile::tempdir().unwrap();
    let sound = made(folder.path());
    assert_eq!(faults(browser, &sound), [""; 0]);

    // What is broken must be found.
    let broken = |from: &str, to: &str| {
        assert!(sound.contains(from), "{from}");
        faults(browser, &sound.replacen(from, to, 1)).join("\n")
    };
    let found = broken("<figure>", "<figure style=\"height:0\"><svg height=\"0\"></svg>");
    assert!(found.contains("figure 1 is not to be seen"), "{found}");
    let found = broken("<figure>", "<div style=\"width:2000px\">x</div><figure>");
    assert!(found.contains("wide in a window of 420"), "{found}");
    let found = broken("</main>", "<script>nothing.here()</script></main>");
    assert!(found.contains("nothing is not defined"), "{found}");
    let found = broken("</main>", "<img src=\"no-such.png\" alt=\"\"></main>");
    assert!(found.contains("no-such.png cannot be shown"), "{found}");
    let found = broken("id=\"csgd-mnist\"", "id=\"elsewhere\"");
    assert!(found.contains("leads nowhere"), "{found}");
    let found = faults(browser, &document("empty", maud::html! { main {} }));
    assert!(found.contains(&"there are no figures".to_owned()), "{found:?}");
}
