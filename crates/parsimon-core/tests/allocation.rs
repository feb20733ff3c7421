//! The hot loop does not allocate: after a first pass over the rows, learning them again takes nothing from the
//! allocator. A program of its own, for the allocator that counts is that of the whole process.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
use parsimon_core::filter::metric::MagnitudeMetric;
use parsimon_core::filter::projection::{
    Form, Projection, ProjectionSettings, Shrinking, SolutionSet,
};
use parsimon_core::filter::{Delta, Filter, Tapped};
use parsimon_core::kernel::{Kernel, Multikernel, Tuning, Update};
use parsimon_core::metric::{AdaGrad, Global, Pace};
use parsimon_core::penalty::{ElasticNet, L1};
use parsimon_core::rule::Rule;
use parsimon_core::rule::fading::Fading;
use parsimon_core::rule::leader::{Accrual, Iterate, Leader, Origin};
use parsimon_core::rule::mirror::{Adaptive, HalfStep, Scheduled};
use parsimon_core::{
    Chunk, HalfLife, Lane, Lanes, Learner, Loss, Normalized, Online, Packed, Repeats, Schedule,
    StandardizedTarget, Table,
};
use parsimon_testing::allocation::{Counting, allocations};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Rows of different lengths; some features far out, where the table has an index instead of an array.
fn rows() -> Chunk {
    let mut chunk = Chunk::new();
    for i in 0..500u32 {
        for k in 0..=i % 20 {
            chunk.push_feature((i * 7 + k * 131) % 4000 + k * 4000, f64::from(k + 1) * 0.1);
        }
        if i % 50 == 0 {
            chunk.push_feature(3_000_000_000 + i, 1.0);
        }
        let y = if i % 3 == 0 { 1.0 } else { -1.0 };
        chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

fn check<R: Rule<f64> + Rule<f32>>(name: &str, rule: R, bias: R) {
    let (f64s, f32s) = (Table::growing(), Table::growing());
    measure(
        name,
        &mut Learner::<f64, R>::new(rule.clone(), Some(bias.clone()), Loss::Logistic, f64s),
    );
    measure(name, &mut Learner::<f32, R>::new(rule, Some(bias), Loss::Logistic, f32s));
}

fn measure(name: &str, learner: &mut dyn Online) {
    let chunk = rows();
    let mut margins = Vec::with_capacity(10 * chunk.len() * learner.heads());
    let first = allocations(|| learner.learn(&chunk, &mut margins));
    assert!(first > 0, "{name}: the first pass must make room, or nothing is counted here");
    let later = allocations(|| (0..9).for_each(|_| learner.learn(&chunk, &mut margins)));
    assert_eq!(later, 0, "{name}");
    assert!(learner.nonzeros() > 0, "{name} learned nothing");
}

#[test]
fn filtering_allocates_nothing_after_the_largest_block() {
    let signal: Vec<f32> =
        (0..4000u16).map(|t| (f32::from(t) * 0.7).sin() + (f32::from(t) * 0.31).cos()).collect();
    let settings = ProjectionSettings {
        rate: 0.5f32,
        l1: 0.01,
        delta: Delta { absolute: 1e-5, relative: 0.01 },
        metric: Some(MagnitudeMetric { alpha: 0.5, epsilon: 1e-5 }),
        order: 2,
        set: SolutionSet::Hyperplane,
        form: Form::Dual,
        shrinking: Shrinking::default(),
    };
    let mut filter = Tapped::new(Projection::new(64, 64, settings));
    assert!(
        allocations(|| {
            filter.push(&signal[..160], &signal[1..161]);
        }) > 0
    );
    let later = allocations(|| {
        for (x, y) in signal.chunks(160).zip(signal[1..].chunks(160)) {
            let len = x.len().min(y.len());
            filter.push(&x[..len], &y[..len]);
        }
    });
    assert_eq!(later, 0);
    assert!(filter.taps().iter().any(|w| *w != 0.0));
}

#[test]
fn learning_rows_seen_before_allocates_nothing() {
    let schedule = Schedule::Sqrt { rate: 0.5 };
    let adagrad = AdaGrad { rate: 0.5, delta: 1.0 };
    let elastic = |l1, l2| ElasticNet { l1, l2 };

    let ftrl = |l1, l2| Leader {
        penalty: elastic(l1, l2),
        accrual: Accrual::Once,
        center: Iterate,
        metric: adagrad,
    };
    check("ftrl", ftrl(0.1, 0.1), ftrl(0.0, 0.0));

    let half_life = HalfLife::new(10).unwrap();
    let fading = |l1| Fading { penalty: elastic(l1, 0.0), metric: adagrad, half_life };
    check("fading ftrl", fading(0.1), fading(0.0));

    let rda = |l1| Leader {
        penalty: elastic(l1, 0.0),
        accrual: Accrual::EveryRound,
        center: Origin,
        metric: Global(Pace::Sqrt { rate: 0.5 }),
    };
    check("rda", rda(1e-3), rda(0.0));

    let half_step = HalfStep::Same;
    let fobos = |l1| Scheduled { penalty: L1 { l1 }, schedule, half_step };
    check("fobos l1", fobos(1e-3), fobos(0.0));
    check("sgd", fobos(0.0), fobos(0.0));

    let fobos = |l1, l2| Scheduled { penalty: elastic(l1, l2), schedule, half_step };
    check("fobos elastic", fobos(1e-3, 1e-2), fobos(0.0, 0.0));

    let adaptive = |l1| Adaptive { penalty: L1 { l1 }, metric: adagrad };
    check("adagrad-fobos", adaptive(1e-3), adaptive(0.0));
}

#[test]
fn normalizing_rows_and_labels_allocates_nothing() {
    let lane = |l1| Lane { l1, l2: 0.0, rate: 0.5, delta: 1.0 };
    let lanes = [0.0, 0.1, 0.2, 0.5].map(lane);
    let (accrual, center) = (Accrual::Once, Iterate);
    let inner =
        Lanes::<f32, _, 4>::new(lanes, accrual, center, true, Loss::Squared, Packed::growing());
    let inner = Normalized::<f32, _>::new(inner, true, Table::growing());
    measure("lanes", &mut StandardizedTarget::new(inner, false));
    let rule = Scheduled {
        penalty: L1 { l1: 1e-3 },
        schedule: Schedule::Sqrt { rate: 0.5 },
        half_step: HalfStep::Same,
    };
    let inner = Learner::<f64, _>::new(rule, Some(rule), Loss::Logistic, Table::growing());
    let inner: Box<dyn Online> = Box::new(inner);
    measure("fobos", &mut Normalized::<f64, _>::new(inner, true, Table::growing()));
}

#[test]
fn a_dictionary_allocates_only_to_grow() {
    let chunk = rows();
    for update in [Update::DualAveraging, Update::ForwardBackward] {
        let tuning = Tuning {
            update,
            rate: 0.3,
            l1: 0.01,
            delta: 1e-5,
            dictionary_max: 50,
            dictionary_threshold: 1e-3,
        };
        let kernels = vec![Kernel::Gaussian { variance: 0.5 }, Kernel::Linear];
        let mut learner = Multikernel::<f32>::new(tuning, kernels);
        let mut margins = Vec::with_capacity(4 * chunk.len());
        let taken = allocations(|| (0..4).for_each(|_| learner.learn(&chunk, &mut margins)));
        // Five arrays that double, from a few numbers to some thousands: not 2,000 rows.
        assert!(taken < 5 * 16, "{update:?}: {taken} allocations, {} rows kept", learner.len());
        assert!(learner.len() > 10, "{update:?} keeps {} rows", learner.len());
    }
}
