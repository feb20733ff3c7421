//! Stored files: a model, a checkpoint and a cache load, predict and resume with the bits of the program that wrote them.
//!
//! `tests/data/` holds the files that these commands wrote. The expected numbers are the output of `inspect --weights json` and
//! `predict --as margin` of that program. A change of a file format writes the headers again and keeps the numbers.
//!
//! ```text
//! parsimon train mail-first.vw -a ftrl --l1 0.5 --rate 0.5 -b 10 -o mail.psm --checkpoint mail.ckpt
//! parsimon train kinds-first.svm -a ftrl --multiclass --l1 0.1 --rate 0.5 --precision f64 -o kinds.psm --checkpoint kinds.ckpt
//! parsimon convert mail-rest.vw -b 10 -o mail-rest.psc
//! ```

use std::path::PathBuf;

use parsimon::data::{Input, Options, Reader};
use parsimon::rows::Chunk;
use parsimon::workspace::Expect;
use parsimon::{Model, Trainer};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A bias and the weights that are not zero.
type Head<'a> = (f64, &'a [(&'a str, f64)]);

fn check_weights(model: &Model, expected: &[Head<'_>]) {
    assert_eq!(model.heads().len(), expected.len());
    for (head, (bias, weights)) in model.heads().iter().zip(expected) {
        assert_eq!(head.bias(), *bias);
        let found: Vec<(String, f64)> =
            head.indices().iter().map(|&j| (model.name(j).into_owned(), head.weight(j))).collect();
        let expected: Vec<(String, f64)> =
            weights.iter().map(|(name, w)| ((*name).to_owned(), *w)).collect();
        assert_eq!(found, expected);
    }
}

/// The margins of the first three rows.
fn margins(model: &Model, data: &str) -> Vec<f64> {
    let options = model.options(&Options::default(), Expect::Nothing);
    let mut reader = Reader::open(&[Input::Path(file(data))], &options).unwrap();
    let (mut chunk, mut margins) = (Chunk::new(), Vec::new());
    assert!(reader.read(&mut chunk).unwrap());
    model.scorer().margins(&chunk, &mut margins);
    margins.truncate(3 * model.outputs());
    margins
}

/// Learns 20 more rows.
fn resumed(checkpoint: &str, data: &str) -> Model {
    let mut trainer = Trainer::resume(&file(checkpoint)).unwrap();
    assert_eq!(trainer.progressive().rows(), 40);
    let precision = trainer.options().precision;
    let options = trainer.schema().options(trainer.settings(), precision, &Options::default());
    let mut reader = Reader::open(&[Input::Path(file(data))], &options).unwrap();
    let mut chunk = Chunk::new();
    while reader.read(&mut chunk).unwrap() {
        trainer.learn(&chunk, &mut |_| {}).unwrap();
    }
    assert_eq!(trainer.progressive().rows(), 60);
    trainer.model()
}

#[test]
fn a_model_of_two_classes_with_names() {
    let model = Model::load(&file("mail.psm")).unwrap();
    check_weights(
        &model,
        &[(
            0.330_233_335_494_995_1,
            &[
                ("w^money", 0.438_503_086_566_925_05),
                ("w^lunch", 0.137_169_525_027_275_09),
                ("w^hello", 0.128_807_917_237_281_8),
                ("u^len", 0.033_094_186_335_802_08),
                ("w^offer", -0.026_011_345_908_045_77),
                ("w^report", -0.422_192_394_733_428_96),
                ("w^now", 0.376_629_501_581_192),
                ("w^price", 0.662_284_791_469_574),
                ("w^free", 0.653_641_521_930_694_6),
                ("w^meeting", 0.231_309_458_613_395_7),
            ],
        )],
    );
    let expected = [1.638_909_578_323_364_3, 2.055_918_216_705_322_3, 1.356_997_370_719_909_7];
    assert_eq!(margins(&model, "mail-rest.vw"), expected);
    // The cache gives the same rows.
    assert_eq!(margins(&model, "mail-rest.psc"), expected);
}

#[test]
fn a_checkpoint_of_two_classes_resumes() {
    for data in ["mail-rest.vw", "mail-rest.psc"] {
        check_weights(
            &resumed("mail.ckpt", data),
            &[(
                0.209_159_344_434_738_16,
                &[
                    ("w^money", 0.245_227_679_610_252_38),
                    ("w^lunch", 0.157_310_739_159_584_05),
                    ("w^hello", 0.011_576_733_551_919_46),
                    ("u^len", -0.029_534_183_442_592_62),
                    ("w^report", -0.418_883_174_657_821_66),
                    ("w^now", 0.413_510_292_768_478_4),
                    ("w^price", 0.813_388_943_672_180_2),
                    ("w^team", -0.144_480_645_656_585_7),
                    ("w^free", 0.736_640_930_175_781_2),
                    ("w^meeting", 0.028_610_611_334_443_092),
                ],
            )],
        );
    }
}

#[test]
fn a_model_of_three_classes() {
    let model = Model::load(&file("kinds.psm")).unwrap();
    assert_eq!(model.classes(), ["1", "2", "3"]);
    check_weights(
        &model,
        &[
            (
                -0.572_756_812_013_968_4,
                &[
                    ("1", 1.161_414_155_551_366_6),
                    ("2", -0.884_822_080_504_451_8),
                    ("3", -0.482_705_199_986_735_2),
                    ("4", -0.320_206_240_306_249_5),
                    ("5", -0.101_825_635_073_248_8),
                    ("6", 0.203_522_137_263_250_02),
                    ("7", 0.043_218_273_914_227_55),
                    ("8", 0.643_824_887_090_493_2),
                    ("9", -0.237_750_659_263_660_96),
                ],
            ),
            (
                -0.182_840_566_613_814_9,
                &[
                    ("1", -1.074_898_664_084_683_8),
                    ("2", 1.010_996_313_101_187_6),
                    ("3", -0.903_037_874_463_412_7),
                    ("4", 0.151_250_949_832_474_42),
                    ("5", 0.084_374_100_455_505_95),
                    ("6", -0.142_973_118_590_036_56),
                    ("8", -0.306_677_397_066_962_1),
                ],
            ),
            (
                -0.666_226_408_633_383,
                &[
                    ("1", -0.782_161_362_314_675_5),
                    ("2", -0.965_206_250_771_982_1),
                    ("3", 0.897_424_448_592_533),
                    ("6", -0.019_503_541_826_758_928),
                    ("7", -0.034_389_312_764_787_364),
                    ("8", -0.169_226_186_098_553_14),
                    ("9", 0.073_257_328_331_839_46),
                ],
            ),
        ],
    );
    assert_eq!(
        margins(&model, "kinds-rest.svm"),
        [
            -1.149_654_473_194_819_3,
            0.386_182_988_866_418_2,
            -1.148_829_534_019_374_2,
            -0.960_824_218_173_292_4,
            -1.152_360_941_221_594_5,
            0.222_128_893_009_707_06,
            0.462_677_140_571_446_4,
            -1.169_238_870_291_266_2,
            -1.436_315_078_557_294_7,
        ]
    );
}

#[test]
fn a_checkpoint_of_three_classes_resumes() {
    check_weights(
        &resumed("kinds.ckpt", "kinds-rest.svm"),
        &[
            (
                -0.631_048_511_945_852_5,
                &[
                    ("1", 1.469_897_386_779_177),
                    ("2", -1.056_576_351_140_955_6),
                    ("3", -0.810_672_982_702_972_1),
                    ("4", -0.422_764_395_394_592_54),
                    ("5", -0.091_378_902_460_900_76),
                    ("6", -0.012_089_867_649_439_073),
                    ("7", 0.101_963_761_053_374_14),
                    ("8", 0.669_069_310_207_476_6),
                    ("9", -0.280_157_334_614_120_3),
                ],
            ),
            (
                -0.318_553_475_557_624_53,
                &[
                    ("1", -1.279_311_673_702_181_2),
                    ("2", 1.259_467_681_613_419_8),
                    ("3", -1.272_815_569_617_608_2),
                    ("4", 0.182_796_995_302_332_82),
                    ("5", 0.079_923_739_337_448_31),
                    ("6", -0.077_110_030_202_445_45),
                    ("8", -0.361_577_403_405_296_54),
                ],
            ),
            (
                -0.543_141_711_521_824_2,
                &[
                    ("1", -0.961_284_924_801_967_3),
                    ("2", -1.094_468_643_648_156_3),
                    ("3", 1.402_574_318_945_492_7),
                    ("4", 0.030_154_696_633_694_064),
                    ("6", 0.124_665_432_421_236_27),
                    ("7", -0.058_123_890_789_155_29),
                    ("8", -0.122_069_850_133_483_34),
                    ("9", 0.079_875_772_539_406_85),
                ],
            ),
        ],
    );
}
