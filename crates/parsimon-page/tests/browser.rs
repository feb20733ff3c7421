//! The gallery as a page in a real browser: every chart can be read, wide and narrow, light and dark. And a page that is broken
//! in some way is found to be.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[expect(dead_code, reason = "the files are for other tests")]
#[path = "../examples/gallery/figures.rs"]
mod figures;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use libtest_mimic::{Arguments, Completion, Trial};
use maud::html;
use parsimon_page::chart::{Figure, Panel, Series};
use parsimon_page::{Cell, SortableTable, document, figure, table, wide};
use parsimon_testing::browser::{Browser, Page};

fn main() {
    let trials = vec![
        trial("every_chart_can_be_read", every_chart_can_be_read),
        trial("what_is_broken_is_found", what_is_broken_is_found),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn trial(name: &str, test: fn(Browser)) -> Trial {
    Trial::ignorable_test(name, move || match Browser::find() {
        None => Ok(Completion::ignored_with("needs chromium")),
        Some(browser) => {
            test(browser);
            Ok(Completion::Completed)
        }
    })
}

fn every_chart_can_be_read(browser: Browser) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gallery.html");
    std::fs::write(&file, figures::page()).unwrap();
    let faults = browser.faults(folder.path(), &[Page::file("gallery", &file)]).unwrap();
    assert_eq!(faults, [""; 0]);
}

/// A page that has a part of each kind.
fn sound() -> String {
    let lines = Panel::new("rows", "loss")
        .series(Series::line("one", [(1.0, 2.0), (2.0, 1.0)]))
        .series(Series::line("two", [(1.0, 3.0), (2.0, 1.0)]));
    let runs = SortableTable::new()
        .column("method")
        .column("loss")
        .minor_column("time")
        .row("best", [Cell::text("b"), Cell::number("0.5", Some(0.5)), Cell::text("1 s")])
        .row("", [Cell::text("a"), Cell::number("1,000", Some(1000.0)), Cell::text("2 s")])
        .row("failed", [Cell::text("c"), Cell::number("-", None), Cell::text("-")]);
    let long = table(None, &["a long line"; 9], [html! { tr { td { (["x"; 400].concat()) } } }]);
    document(
        "sound",
        html! {
            main { h1 id="top" { "Sound" } (runs) (figure(&Figure::new("Loss").panel(lines), None)) (wide(long)) }
            a href="#top" { "up" }
        },
    )
}

/// A server of one page, for as long as the test runs; its address.
fn serve(page: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", page.len());
            let _ = stream.write_all((head + &page).as_bytes());
        }
    });
    address
}

fn what_is_broken_is_found(browser: Browser) {
    let sound = sound();
    let breaks = [
        ("<main>", "<main><div style=\"width:2000px\">x</div>", "wide in a window of 360"),
        ("<main>", "<main><p style=\"color:#777\">x</p>", "has a contrast of"),
        ("</main>", "<script>nothing.here()</script></main>", "nothing is not defined"),
        ("</main>", "<img src=\"no-such.png\" alt=\"\"></main>", "no-such.png cannot be shown"),
        ("id=\"top\"", "id=\"elsewhere\"", "#top leads nowhere"),
        (
            "</svg>",
            "<text x=\"22\" y=\"33\">over the title</text></svg>",
            "\"over the title\" covers",
        ),
        ("</svg>", "<text x=\"700\" y=\"250\">cut off</text></svg>", "\"cut off\" is cut off"),
        ("</svg>", "<text y=\"99\" style=\"font-size:5px\">s</text></svg>", "too small to be read"),
        ("</svg>", "<text y=\"300\" style=\"fill:#777\">x</text></svg>", "has a contrast of"),
        ("<td>b</td>", "<td><div style=\"width:999px\">b</div></td>", "wide in a box of"),
        ("number(a) - number(b)", "0", "is not in order"),
        (
            "</style>",
            "</style><style>svg { display: none !important }</style>",
            "there are no charts",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, html: &str| {
        let file = folder.path().join(format!("{name}.html"));
        std::fs::write(&file, html).unwrap();
        Page::file(name, &file)
    };
    let mut pages = vec![write("sound", &sound)];
    for (k, (from, to, _)) in breaks.iter().enumerate() {
        assert!(sound.contains(from), "{from}");
        pages.push(write(&format!("broken-{k}"), &sound.replacen(from, to, 1)));
    }
    pages.push(Page::new("sound-served", serve(sound.clone())));
    pages.push(Page::new("broken-served", serve(sound.replace("<main>", breaks[0].1))));
    let faults = browser.faults(folder.path(), &pages).unwrap();
    assert!(faults.iter().any(|f| f.contains("broken-served") && f.contains(breaks[0].2)));
    for (k, (_, to, fault)) in breaks.iter().enumerate() {
        let name = format!("broken-{k}");
        let found = |scheme: &str| {
            faults.iter().any(|f| f.starts_with(scheme) && f.contains(&name) && f.contains(fault))
        };
        assert!(found("light") && found("dark"), "{to}: {fault}\n{}", faults.join("\n"));
    }
    let of_sound: Vec<&String> = faults.iter().filter(|f| f.contains("sound")).collect();
    assert!(of_sound.is_empty(), "{of_sound:?}");
}
