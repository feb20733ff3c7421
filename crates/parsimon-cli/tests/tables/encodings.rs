//! Bytes that are not UTF-8, and files that are no tables.

use super::{features, table};
use crate::fixture::Dir;

#[test]
fn encodings_give_the_same_features() {
    let rows =
        table("ville,label", 30, |i| format!("{},{}", ["Orléans", "Nîmes", "Paris"][i % 3], i % 2));
    let dir = Dir::new();
    let latin: Vec<u8> = rows.chars().map(|c| u8::try_from(c as u32).unwrap()).collect();
    let little = rows.encode_utf16().flat_map(u16::to_le_bytes);
    dir.write("utf8.csv", &rows).write("latin.csv", &latin);
    dir.write("utf16.csv", [0xff, 0xfe].into_iter().chain(little).collect::<Vec<u8>>());
    for name in ["utf8", "latin", "utf16"] {
        dir.run(&format!("train {name}.csv -a ftrl --l1 0 --quiet -o {name}.psm")).ok();
        assert_eq!(
            features(&dir, &format!("{name}.psm")),
            ["(bias)", "ville=Nîmes", "ville=Orléans", "ville=Paris"],
            "{name}"
        );
        // Any of them is read by the model of any other, whatever the number of threads.
        for threads in ["1", "3"] {
            dir.run(&format!("predict utf8.psm {name}.csv --threads {threads} -o {name}.txt")).ok();
            assert_eq!(dir.read(&format!("{name}.txt")), dir.read("utf8.txt"), "{name}");
        }
    }
    for command in ["predict utf8.psm latin.csv", "evaluate utf8.psm latin.csv", "train latin.csv"]
    {
        let ran = dir.run(command);
        let warning = "warning: latin.csv:2:4, column \"ville\": the text is not UTF-8 here; 20 bytes were read as Windows-1252";
        assert_eq!(ran.stderr.matches(warning).count(), 1, "{command}: {}", ran.stderr);
        ran.ok();
    }
}

/// The first byte that is not UTF-8 is behind quotes, separators and many rows.
#[test]
fn the_column_of_a_stray_byte_is_named() {
    let dir = Dir::new();
    let rows = table("note;city;label", 30_000, |i| {
        format!("\"a;{}\";{};{}", i % 7, ["Rome", "Oslo"][i % 2], i % 2)
    });
    let mut bytes = rows.into_bytes();
    let late =
        bytes.len() - 400 + bytes[bytes.len() - 400..].iter().position(|b| *b == b'O').unwrap();
    bytes[late] = 0xd6;
    dir.write("late.csv", &bytes);
    let ran = dir.run("train late.csv -a ftrl");
    assert!(ran.stderr.contains(", column \"city\": the text is not UTF-8"), "{}", ran.stderr);
}

#[test]
fn files_of_other_programs_are_refused_by_every_command() {
    let dir = Dir::new();
    dir.write("good.csv", table("x,label", 30, |i| format!("{},{}", i % 7, i % 2)));
    dir.run("train good.csv --quiet -o m.psm").ok();
    dir.write("book.xlsx", b"PK\x03\x04\x14\0\x06\0[Content_Types].xml");
    dir.write("book.csv", b"PK\x03\x04\x14\0\x06\0[Content_Types].xml");
    for file in ["book.xlsx", "book.csv", "-"] {
        for command in [
            "train",
            "compare",
            "tune",
            "schema",
            "predict m.psm",
            "evaluate m.psm",
            "convert -o c.psc",
        ] {
            let ran = match file {
                "-" => dir.run_with(&format!("{command} -"), &dir.read("book.xlsx")),
                _ => dir.run(&format!("{command} {file}")),
            };
            let error = ran.fails(1);
            assert!(
                error.contains("is an Excel workbook and not read; save it as CSV")
                    && error.contains("pandas.read_excel")
                    && error.lines().count() == 1,
                "{command} {file}: {error}"
            );
        }
    }
    for mark in [&b"\xef\xbb\xbf"[..], b"\xff\xfe"] {
        dir.write("mark.csv", mark);
        assert_eq!(dir.run("train mark.csv").fails(1), "error: mark.csv: is empty: no rows");
    }
    let error = dir.run("train good.csv book.csv --quiet").fails(1);
    assert!(error.contains("book.csv: is an Excel workbook"), "{error}");
}
