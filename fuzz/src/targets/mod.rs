//! The targets, one function each.

mod cache;
mod columnar;
mod compressed;
mod http;
mod log;
mod models;
mod settings;
mod sound;
mod text;

use crate::Target;

const MIB: u64 = 1 << 20;

/// Every target.
pub static TARGETS: &[Target] = &[
    Target {
        name: "svmlight",
        about: "svmlight text",
        seeds: text::svmlight_seeds,
        dictionary: include_str!("../../dictionaries/svmlight.dict"),
        run: text::svmlight,
        inputs: 30_000,
        floor: 0.9,
        memory: 64 * MIB,
    },
    Target {
        name: "vw",
        about: "Vowpal Wabbit's text",
        seeds: text::vw_seeds,
        dictionary: include_str!("../../dictionaries/vw.dict"),
        run: text::vw,
        inputs: 30_000,
        floor: 0.9,
        memory: 64 * MIB,
    },
    Target {
        name: "csv",
        about: "CSV tables, cell by cell and by the kinds of columns",
        seeds: text::csv_seeds,
        dictionary: include_str!("../../dictionaries/csv.dict"),
        run: text::csv,
        inputs: 20_000,
        floor: 0.7,
        memory: 64 * MIB,
    },
    Target {
        name: "tsv",
        about: "TSV tables, cell by cell and by the kinds of columns",
        seeds: text::tsv_seeds,
        dictionary: include_str!("../../dictionaries/csv.dict"),
        run: text::tsv,
        inputs: 10_000,
        floor: 0.7,
        memory: 64 * MIB,
    },
    Target {
        name: "jsonl",
        about: "JSON lines, from files and from bodies of requests",
        seeds: text::jsonl_seeds,
        dictionary: include_str!("../../dictionaries/json.dict"),
        run: text::jsonl,
        inputs: 20_000,
        floor: 0.9,
        memory: 64 * MIB,
    },
    Target {
        name: "any-format",
        about: "text whose format is recognized from its first bytes",
        seeds: text::any_seeds,
        dictionary: include_str!("../../dictionaries/vw.dict"),
        run: text::any_format,
        inputs: 10_000,
        // More headers than of one format are refused: titles, names without a column, repeated names.
        floor: 0.55,
        memory: 64 * MIB,
    },
    Target {
        name: "compressed",
        about: "text compressed with gzip, zstd or bzip2",
        seeds: compressed::seeds,
        dictionary: "",
        run: compressed::run,
        inputs: 8_000,
        floor: 0.05,
        memory: 512 * MIB,
    },
    Target {
        name: "arrow",
        about: "Arrow IPC files",
        seeds: columnar::arrow_seeds,
        dictionary: include_str!("../../dictionaries/columnar.dict"),
        run: columnar::arrow,
        inputs: 6_000,
        floor: 0.2,
        memory: 256 * MIB,
    },
    Target {
        name: "parquet",
        about: "Parquet files",
        seeds: columnar::parquet_seeds,
        dictionary: include_str!("../../dictionaries/columnar.dict"),
        run: columnar::parquet,
        inputs: 5_000,
        floor: 0.2,
        // The library takes what the header of a page claims, up to 2^31 bytes.
        memory: 2200 * MIB,
    },
    Target {
        name: "cache",
        about: "caches, checksums repaired",
        seeds: cache::seeds,
        dictionary: "",
        run: cache::run,
        inputs: 20_000,
        // Most of a small cache is its footer, and a footer that moved is none.
        floor: 0.3,
        memory: 64 * MIB,
    },
    Target {
        name: "model",
        about: "models with and without a calibration, checksum repaired",
        seeds: models::model_seeds,
        dictionary: include_str!("../../dictionaries/container.dict"),
        run: models::model,
        inputs: 20_000,
        // Most of a small file is its header, and most mutations of JSON are no JSON.
        floor: 0.15,
        // A feature with a large id makes an array of at most 2^26 weights.
        memory: 600 * MIB,
    },
    Target {
        name: "checkpoint",
        about: "checkpoints, checksum repaired",
        seeds: models::checkpoint_seeds,
        dictionary: include_str!("../../dictionaries/container.dict"),
        run: models::checkpoint,
        inputs: 3_000,
        // Most of a small file is its header, and most mutations of JSON are no JSON.
        floor: 0.15,
        // As above, with the sums of a method for each weight.
        memory: 3072 * MIB,
    },
    Target {
        name: "delta",
        about: "deltas of a merge, checksum repaired",
        seeds: models::delta_seeds,
        dictionary: include_str!("../../dictionaries/container.dict"),
        run: models::delta,
        inputs: 10_000,
        // Most of a small file is its header, and most mutations of JSON are no JSON.
        floor: 0.15,
        memory: 3072 * MIB,
    },
    Target {
        name: "calibration",
        about: "the numbers of a calibration",
        seeds: models::calibration_seeds,
        dictionary: "",
        run: models::calibration,
        inputs: 10_000,
        floor: 0.3,
        memory: MIB,
    },
    Target {
        name: "log-segment",
        about: "a segment of the log of a service, checksums repaired",
        seeds: log::segment_seeds,
        dictionary: "",
        run: log::segment,
        inputs: 10_000,
        floor: 0.4,
        memory: 64 * MIB,
    },
    Target {
        name: "log-snapshot",
        about: "a snapshot of the log of a service, checksum repaired",
        seeds: log::snapshot_seeds,
        dictionary: "",
        run: log::snapshot,
        inputs: 2_000,
        floor: 0.3,
        memory: 64 * MIB,
    },
    Target {
        name: "schema",
        about: "schemas of tables as JSON",
        seeds: settings::schema_seeds,
        dictionary: include_str!("../../dictionaries/schema.dict"),
        run: settings::schema,
        inputs: 10_000,
        // Most mutations of JSON are no JSON.
        floor: 0.15,
        memory: 64 * MIB,
    },
    Target {
        name: "spec",
        about: "specs as JSON and TOML",
        seeds: settings::spec_seeds,
        dictionary: include_str!("../../dictionaries/spec.dict"),
        run: settings::spec,
        inputs: 10_000,
        // Most mutations of JSON are no JSON.
        floor: 0.1,
        memory: 256 * MIB,
    },
    Target {
        name: "wav",
        about: "WAV files",
        seeds: sound::wav_seeds,
        dictionary: include_str!("../../dictionaries/wav.dict"),
        run: sound::wav,
        inputs: 10_000,
        floor: 0.5,
        memory: 64 * MIB,
    },
    Target {
        name: "canceller",
        about: "the state of an echo canceller, checksum repaired",
        seeds: sound::canceller_seeds,
        dictionary: "",
        run: sound::canceller,
        inputs: 5_000,
        floor: 0.5,
        memory: 256 * MIB,
    },
    Target {
        name: "http",
        about: "bodies of requests to the service: a byte for the address, a byte for the content type, the body",
        seeds: http::seeds,
        dictionary: include_str!("../../dictionaries/json.dict"),
        run: http::run,
        inputs: 4_000,
        floor: 0.5,
        memory: 64 * MIB,
    },
];

/// The target of a name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
