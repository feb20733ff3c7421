//! Writes one chart of each kind, light and dark, and a page of all: `cargo run --example gallery -- directory`.
//!
//! The figures are invented; they exist to look at the charts and, in the tests, to check every one.

mod figures;

fn main() -> std::io::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "gallery".to_owned());
    std::fs::create_dir_all(&directory)?;
    for (name, svg) in figures::all() {
        std::fs::write(format!("{directory}/{name}.svg"), svg)?;
    }
    std::fs::write(format!("{directory}/index.html"), figures::page())
}
