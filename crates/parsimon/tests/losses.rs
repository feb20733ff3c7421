//! The table of losses beside the settings and beside the oracle.

use parsimon::Spec;
use parsimon::algorithm::ALGORITHMS;
use parsimon::settings::Loss;
use parsimon::workspace::SettingKind as Kind;
use parsimon_oracle::loss::Loss as Twin;

/// The oracle writes each loss from its formula, under the word of the table.
#[test]
fn the_oracle_has_every_loss_of_the_table() {
    for loss in Loss::ALL {
        let twin = Twin::named(loss.word(), 1.0, 0.5);
        for y in [-1.0, 1.0] {
            for p in [-3.0, -1.0, -0.4, 0.0, 0.3, 1.0, 2.5] {
                let (value, slope) = (twin.value(p, y), twin.slope(p, y));
                assert!((loss.value(p, y) - value).abs() < 1e-14, "{loss:?} at {p}, {y}");
                assert!((loss.slope(p, y) - slope).abs() < 1e-14, "{loss:?} at {p}, {y}");
            }
        }
    }
}

/// Every word that a method takes as its loss means the loss that has the word, and every word of the table is taken.
#[test]
fn settings_have_the_words_of_the_table() {
    let sgd = ALGORITHMS.iter().find(|algorithm| algorithm.name == "sgd").unwrap();
    let loss = sgd.parameters().find(|parameter| parameter.name == "loss").unwrap();
    let Kind::Choice(words) = loss.kind else { panic!("a loss is one of several words") };
    for word in words {
        let settings = Spec::new("sgd").set("loss", *word).resolve().unwrap();
        assert_eq!(settings.loss().word(), *word);
    }
    for loss in Loss::ALL {
        assert!(words.contains(&loss.word()), "{loss:?} cannot be set");
    }
}
