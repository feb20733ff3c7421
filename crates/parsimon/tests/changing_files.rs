//! Files that another program cuts short or overwrites while they are read: an error or the whole file, and the process lives.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use parsimon::data::{Input, Options, Reader, Space};
use parsimon::error::FormatErrorKind;
use parsimon::rows::{Chunk, Repeats};
use parsimon::workspace::cache::Writer;
use parsimon::{InputSchema, LearnerOptions, Model, Spec, Trainer};

/// Rows enough that a file has many pages.
fn rows() -> Chunk {
    let mut chunk = Chunk::new();
    for i in 0..20_000u32 {
        chunk.push_feature(1 + i, 1.0);
        let label = if i % 2 == 0 { 1.0 } else { -1.0 };
        chunk.finish_row(Some(label), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

fn trainer(chunk: &Chunk) -> Trainer {
    let settings = Spec::new("sgd").resolve().unwrap();
    let mut trainer =
        Trainer::new(settings, LearnerOptions::default(), InputSchema::default()).unwrap();
    trainer.learn(chunk, &mut |_| {}).unwrap();
    trainer
}

/// Cuts a file short and writes it again, over and over, while `read` reads it. A memory map ends the process here with SIGBUS.
fn while_changing(path: &Path, mut read: impl FnMut()) {
    let whole = std::fs::read(path).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0;
            while !is_done.load(Ordering::Relaxed) {
                round += 1;
                let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
                file.set_len(whole.len() as u64 * (round % 4) / 5).unwrap();
                std::thread::yield_now();
                std::fs::write(path, &whole).unwrap();
                std::thread::yield_now();
            }
        });
        (0..200).for_each(|_| read());
        is_done.store(true, Ordering::Relaxed);
    });
    std::fs::write(path, &whole).unwrap();
    read();
}

#[test]
fn models_and_checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let trainer = trainer(&rows());
    let path = folder.path().join("model.psm");
    trainer.model().save(&path).unwrap();
    let nonzeros = trainer.model().nonzeros();
    while_changing(&path, || match Model::load(&path) {
        Ok(model) => assert_eq!(model.nonzeros(), nonzeros),
        Err(e) => {
            assert!(matches!(e.kind(), FormatErrorKind::Damaged | FormatErrorKind::NotOurs), "{e}");
        }
    });
    let path = folder.path().join("state.ckpt");
    trainer.save_checkpoint(&path).unwrap();
    while_changing(&path, || match Trainer::resume(&path) {
        Ok(resumed) => assert_eq!(resumed.model().nonzeros(), nonzeros),
        Err(e) => assert!(e.to_string().contains("state.ckpt"), "{e}"),
    });
}

#[test]
fn data_and_caches() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.svm");
    let text: String = (1..20_000).map(|i| format!("{} {i}:1 {}:2\n", i % 2, i + 1)).collect();
    std::fs::write(&path, text).unwrap();
    let cache = folder.path().join("data.psc");
    let mut writer = Writer::create(&cache, Space::Ids).unwrap();
    writer.write(&rows()).unwrap();
    writer.finish().unwrap();
    for path in [path, cache] {
        while_changing(&path, || {
            let mut chunk = Chunk::new();
            let read = Reader::open(&[Input::Path(path.clone())], &Options::default()).and_then(
                |mut reader| {
                    while reader.read(&mut chunk)? {}
                    Ok(())
                },
            );
            if let Err(e) = read {
                assert!(e.to_string().contains("data.ps") || e.to_string().contains("data.svm"));
            }
        });
    }
}
