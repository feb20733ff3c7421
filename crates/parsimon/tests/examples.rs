//! The examples are run as they stand.

#[path = "../examples/daily.rs"]
mod daily;
#[path = "../examples/echo_path.rs"]
mod echo_path;
#[path = "../examples/selection.rs"]
mod selection;

#[test]
fn daily() {
    daily::main().unwrap();
}

#[test]
fn echo_path() {
    echo_path::main().unwrap();
}

#[test]
fn selection() {
    selection::main().unwrap();
}

#[test]
fn an_example_has_less_than_sixty_lines() {
    for name in ["daily", "echo_path", "selection"] {
        let path = format!("{}/examples/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        let lines = std::fs::read_to_string(path).unwrap().lines().count();
        assert!(lines < 60, "{name} has {lines} lines");
    }
}
