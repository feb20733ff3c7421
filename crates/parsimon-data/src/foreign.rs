//! Files of other programs that are not read: their names, and the commands that convert them to tables.

use std::path::Path;

/// A kind of file that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    what: &'static str,
    /// Advice; `{}` is the file.
    way: &'static str,
    /// The endings of its names, which count where the first bytes do not tell.
    endings: &'static [&'static str],
}

const SPREADSHEET: &str = "save it as CSV, for example with: python3 -c \"import pandas; pandas.read_excel('{}').to_csv('{}.csv', index=False)\"";
const EXPORT: &str = "export the table in it as CSV";

const EXCEL: Kind =
    Kind { what: "an Excel workbook", way: SPREADSHEET, endings: &["xlsx", "xlsm", "xlsb", "xls"] };
const ODS: Kind = Kind { what: "an OpenDocument spreadsheet", way: SPREADSHEET, endings: &["ods"] };
const SAS: Kind = Kind {
    what: "a SAS table",
    way: "convert it with: python3 -c \"import pandas; pandas.read_sas('{}').to_csv('{}.csv', index=False)\"",
    endings: &["sas7bdat", "xpt"],
};
const STATA: Kind = Kind {
    what: "a Stata table",
    way: "convert it with: python3 -c \"import pandas; pandas.read_stata('{}').to_csv('{}.csv', index=False)\"",
    endings: &["dta"],
};
const SPSS: Kind = Kind {
    what: "an SPSS table",
    way: "convert it with: python3 -c \"import pandas; pandas.read_spss('{}').to_csv('{}.csv', index=False)\"",
    endings: &["sav", "zsav"],
};
const FEATHER_1: Kind = Kind {
    what: "a Feather file of version 1",
    way: "convert it with: python3 -c \"import pandas; pandas.read_feather('{}').to_parquet('{}.parquet')\"",
    endings: &[],
};
const ORC: Kind = Kind {
    what: "an ORC file",
    way: "convert it with: python3 -c \"import pandas; pandas.read_orc('{}').to_parquet('{}.parquet')\"",
    endings: &["orc"],
};
const AVRO: Kind = Kind {
    what: "an Avro file",
    way: "convert it with: python3 -c \"import polars; polars.read_avro('{}').write_parquet('{}.parquet')\"",
    endings: &["avro"],
};
const NUMPY: Kind = Kind {
    what: "a NumPy file",
    way: "load it in Python and pass the arrays to fit, or write them as CSV with numpy.savetxt",
    endings: &["npy", "npz"],
};
const PICKLE: Kind = Kind {
    what: "a Python pickle",
    way: "convert it with: python3 -c \"import pandas; pandas.read_pickle('{}').to_parquet('{}.parquet')\"",
    endings: &["pkl", "pickle", "joblib"],
};
const HDF5: Kind = Kind {
    what: "an HDF5 file",
    way: "convert it with: python3 -c \"import pandas; pandas.read_hdf('{}').to_parquet('{}.parquet')\"",
    endings: &["h5", "hdf5", "hdf"],
};
const SQLITE: Kind = Kind {
    what: "an SQLite database",
    way: "export a table with: sqlite3 -header -csv {} 'select * from TABLE' > table.csv",
    endings: &["sqlite", "sqlite3", "db"],
};
const R_DATA: Kind = Kind {
    what: "an R data file",
    way: "write the table with: Rscript -e \"write.csv(readRDS('{}'), '{}.csv', row.names=FALSE)\"",
    endings: &["rds", "rda", "rdata"],
};
const ZIP: Kind =
    Kind { what: "a zip archive", way: "unpack it with: unzip {}", endings: &["zip"] };
const SEVEN_ZIP: Kind =
    Kind { what: "a 7z archive", way: "unpack it with: 7z x {}", endings: &["7z"] };
const XZ: Kind = Kind {
    what: "compressed with xz",
    way: "unpack it with: xz -d {}, or pass the rows through a pipe: xz -dc {} | parsimon ... -",
    endings: &["xz"],
};
const TAR: Kind =
    Kind { what: "a tar archive", way: "unpack it with: tar -xf {}", endings: &["tar"] };
const PDF: Kind = Kind { what: "a PDF document", way: EXPORT, endings: &["pdf"] };
const PICTURE: Kind = Kind {
    what: "a picture",
    way: "pass a table",
    endings: &["png", "jpg", "jpeg", "gif", "webp", "tif", "tiff"],
};
const AUDIO: Kind = Kind {
    what: "an audio file",
    way: "pass a table, or use `parsimon cancel` or `parsimon identify`, which read WAV files",
    endings: &["wav", "mp3", "flac", "ogg", "m4a", "opus"],
};
const IDX: Kind = Kind {
    what: "an IDX file, the format of MNIST,",
    way: "load it in Python and pass the arrays to fit, or write them as CSV with numpy.savetxt",
    endings: &[],
};
const MODEL: Kind = Kind {
    what: "a parsimon model or checkpoint",
    way: "pass it as MODEL, before DATA, to predict, evaluate or inspect it",
    endings: &[],
};
const UTF_32: Kind = Kind {
    what: "text in UTF-32",
    way: "convert it with: iconv -f UTF-32 -t UTF-8 {} > {}.utf8",
    endings: &[],
};
const HTML: Kind = Kind { what: "an HTML page", way: EXPORT, endings: &[] };

const ALL: [Kind; 24] = [
    EXCEL, ODS, SAS, STATA, SPSS, FEATHER_1, ORC, AVRO, NUMPY, PICKLE, HDF5, SQLITE, R_DATA, ZIP,
    SEVEN_ZIP, XZ, TAR, PDF, PICTURE, AUDIO, IDX, MODEL, UTF_32, HTML,
];

/// First bytes that no text has.
const MAGIC: [(&[u8], Kind); 19] = [
    (b"\0\0\x08\x01", IDX),
    (b"\0\0\x08\x03", IDX),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", EXCEL),
    (b"<stata_dta>", STATA),
    (b"\x93NUMPY", NUMPY),
    (b"\x80\x02", PICKLE),
    (b"\x80\x03", PICKLE),
    (b"\x80\x04", PICKLE),
    (b"\x80\x05", PICKLE),
    (b"\x89HDF\r\n\x1a\n", HDF5),
    (b"SQLite format 3\0", SQLITE),
    (b"7z\xbc\xaf\x27\x1c", SEVEN_ZIP),
    (b"\xfd7zXZ\0", XZ),
    (b"%PDF-", PDF),
    (b"\x89PNG\r\n\x1a\n", PICTURE),
    (b"\xff\xd8\xff", PICTURE),
    (b"II*\0", PICTURE),
    (b"MM\0*", PICTURE),
    (b"RDX3\n", R_DATA),
];

/// First bytes that a text may have as well: there must be others that it cannot have.
const MAGIC_OF_BINARY: [(&[u8], Kind); 12] = [
    (b"PARSIMON", MODEL),
    (b"$FL2", SPSS),
    (b"$FL3", SPSS),
    (b"FEA1", FEATHER_1),
    (b"ORC", ORC),
    (b"Obj\x01", AVRO),
    (b"GIF8", PICTURE),
    (b"fLaC", AUDIO),
    (b"OggS", AUDIO),
    (b"ID3", AUDIO),
    (b"X\n\0\0\0", R_DATA),
    (b"HEADER RECORD*******LIBRARY HEADER", SAS),
];

/// Bytes 12 to 31 of a SAS table; twelve zeros precede them.
const SAS_MAGIC: &[u8] =
    b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\0\x09\xc7\x31\x8c\x18\x1f\x10\x11";

/// Whether bytes are no text of one byte per letter.
pub(crate) fn is_binary(head: &[u8]) -> bool {
    head.iter().take(4096).any(|&b| b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c))
}

/// Why a file is not read, if it is of a kind that is not; `head` is the start of the decompressed bytes.
pub(crate) fn refusal(name: &str, head: &[u8]) -> Option<String> {
    let kind =
        by_bytes(name, head).or_else(|| by_name(name).filter(|_| is_unknown_binary(head)))?;
    let is_plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    let file = if name == "stdin" || !name.chars().all(is_plain) { "FILE" } else { name };
    Some(format!("is {} and not read; {}", kind.what, kind.way.replace("{}", file)))
}

fn is_unknown_binary(head: &[u8]) -> bool {
    let known = [&b"PAR1"[..], b"ARROW1", b"\xff\xff\xff\xff", b"PARSIMC"];
    is_binary(head) && !known.iter().any(|magic| head.starts_with(magic))
}

fn by_bytes(name: &str, head: &[u8]) -> Option<Kind> {
    let named = |list: &[(&[u8], Kind)]| {
        list.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, kind)| *kind)
    };
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Some(zipped(name, head));
    }
    if head.get(12..32) == Some(SAS_MAGIC) {
        return Some(SAS);
    }
    // The form of a RIFF file stands after its size.
    match (head.get(..4), head.get(8..12)) {
        (Some(b"RIFF" | b"RF64"), Some(b"WAVE")) => return Some(AUDIO),
        (Some(b"RIFF"), Some(b"WEBP")) => return Some(PICTURE),
        _ => {}
    }
    // Versions up to 115 begin with the version, the order of bytes and two numbers.
    if let [b'q'..=b's', 1 | 2, 1, 0, ..] = head {
        return Some(STATA);
    }
    if is_utf32(head) {
        return Some(UTF_32);
    }
    if head.get(257..262) == Some(b"ustar") {
        return Some(TAR);
    }
    let start = head.trim_ascii_start();
    let is_page = [&b"<!doctype html"[..], b"<html"]
        .iter()
        .any(|page| start.get(..page.len()).is_some_and(|text| text.eq_ignore_ascii_case(page)));
    match named(&MAGIC) {
        None if is_page => Some(HTML),
        None if is_binary(head) => named(&MAGIC_OF_BINARY),
        found => found,
    }
}

/// Whether text is UTF-32: by its byte order mark, or because three of four bytes are zero in each of its first letters.
fn is_utf32(head: &[u8]) -> bool {
    const LETTERS: usize = 8;
    if head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff") {
        return true;
    }
    let letters = || head.chunks_exact(4).take(LETTERS);
    let are = |place: usize| {
        letters().all(|unit| unit.iter().enumerate().all(|(i, b)| (*b != 0) == (i == place)))
    };
    letters().count() == LETTERS && (are(0) || are(3))
}

/// Recognizes the program that wrote a zip archive by the names of the files in it.
fn zipped(name: &str, head: &[u8]) -> Kind {
    let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    if has(b"application/vnd.oasis.opendocument") {
        ODS
    } else if has(b"[Content_Types].xml") || has(b"xl/") {
        EXCEL
    } else if has(b".npy") {
        NUMPY
    } else {
        by_name(name).unwrap_or(ZIP)
    }
}

fn by_name(name: &str) -> Option<Kind> {
    let ending = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    ALL.iter().find(|kind| kind.endings.contains(&ending.as_str())).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_named_with_the_way_out() {
        let sas = [&[0; 12][..], SAS_MAGIC, &[0; 40]].concat();
        let tar = [&[b'a'; 257][..], b"ustar\0"].concat();
        for (name, head, what) in [
            ("a.xlsx", &b"PK\x03\x04\x14\0[Content_Types].xml"[..], "Excel workbook"),
            ("data.csv", b"PK\x03\x04\x14\0xl/workbook.xml", "Excel workbook"),
            ("stdin", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Excel workbook"),
            (
                "a.ods",
                b"PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
                "OpenDocument",
            ),
            ("a.npz", b"PK\x03\x04\x14\0data.npy", "NumPy"),
            ("a.npy", b"\x93NUMPY\x01\0", "NumPy"),
            ("a.zip", b"PK\x03\x04\x14\0train.csv", "zip archive"),
            ("a.7z", b"7z\xbc\xaf\x27\x1c\0", "7z archive"),
            ("a.sas7bdat", &sas, "SAS"),
            ("a.dta", b"<stata_dta><header>", "Stata"),
            ("b.dta", b"\x72\x02\x01\x00", "Stata"),
            ("a.sav", b"$FL2@(#)\0\x01", "SPSS"),
            ("a.feather", b"FEA1\0\0\0\0", "Feather file of version 1"),
            ("a.orc", b"ORC\x0a\x03", "ORC"),
            ("a.avro", b"Obj\x01\x04\x16", "Avro"),
            ("a.pkl", b"\x80\x04\x95", "pickle"),
            ("a.pkl", b"(dp0\n\x01\x02", "pickle"),
            ("a.db", b"SQLite format 3\0", "SQLite"),
            ("a.pdf", b"%PDF-1.7\n", "PDF"),
            ("a.png", b"\x89PNG\r\n\x1a\n", "picture"),
            ("a.webp", b"RIFF\x10\0\0\0WEBPVP8 ", "picture"),
            ("a.wav", b"RIFF\x10\0\0\0WAVEfmt ", "audio file"),
            ("a", b"RIFF\x10\0\0\0WAVEfmt ", "audio file"),
            ("images", b"\0\0\x08\x03\0\0\x27\x10", "IDX file"),
            ("m.psm", b"PARSIMON\x02\0\0\0", "parsimon model"),
            ("a.h5", b"\x89HDF\r\n\x1a\n", "HDF5"),
            ("a.tar", &tar, "tar archive"),
            ("a.csv", b"\xff\xfe\0\0a\0\0\0", "UTF-32"),
            ("a.csv", b"\0\0\0a\0\0\0,\0\0\0b\0\0\0\n\0\0\x001\0\0\0,\0\0\x002\0\0\0\n", "UTF-32"),
            ("a.csv", b"\n<!DOCTYPE html><html>", "HTML"),
        ] {
            let words = refusal(name, head).unwrap_or_default();
            assert!(words.contains(what) && words.contains("; "), "{name}: {words}");
        }
        assert_eq!(
            refusal("my.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1").unwrap(),
            "is an Excel workbook and not read; save it as CSV, for example with: python3 -c \"import pandas; pandas.read_excel('my.xls').to_csv('my.xls.csv', index=False)\""
        );
        assert!(refusal("my data.db", b"SQLite format 3\0").unwrap().contains("-csv FILE "));
    }

    #[test]
    fn texts_are_not_taken_for_other_files() {
        for (name, head) in [
            ("a.csv", &b"ORC,label\n1,2\n"[..]),
            ("a.xls", b"x\tlabel\n1\t0\n"),
            ("a.csv", b"Obj,label\n"),
            ("a.csv", b"RIFF,GIF89\n"),
            ("a.db", b"1 |a b\n"),
            ("a.parquet", b"PAR1\0\0"),
            ("a.feather", b"ARROW1\0\0"),
            ("a.db", b"PARSIMC\x02"),
            ("a.csv", "Zoë,label\n".as_bytes()),
        ] {
            assert_eq!(refusal(name, head), None, "{name}");
        }
    }
}
