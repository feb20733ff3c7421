//! Items that other crates of this repository use. They are not part of the public interface and change without notice.

pub use crate::algorithm::nature::Nature;
pub use crate::algorithm::objective::{Bound, Charge, FeasibleSet, Met, Objective};
pub use crate::algorithm::recipe::{Card, PENALTIES};
pub use crate::algorithm::setting::{
    ClassWeight, Default as DefaultValue, Kind as SettingKind, scalar,
};
pub use crate::algorithm::{all_parameters, filters};
pub use crate::identify::{
    BlockFilter, IdentifyPoint, Zeros, identify_in_blocks, identify_system_with, identify_with,
};
pub use crate::model::Provenance;
pub use crate::synthetic::{Regressors, System};
pub use crate::training::{
    BesideConstant, Constant, ConstantLoss, Content, Expect, Known, ModelEvaluator, Prior, Segment,
    Segments, Standing, Stopped, check_stamp, evaluate_models,
};
pub use parsimon_core::kernel::Dictionary;
pub use parsimon_core::rule::nag::{Nag, NagClock, Scaled};
pub use parsimon_core::{
    ArrayIndex, ArrayValue, ColumnMoments, Frozen, Head, NumberColumn, NumberScorer, SparseRows,
    StateWriter,
};
#[cfg(feature = "columnar")]
pub use parsimon_data::BatchIterator;
pub use parsimon_data::{
    Carried, Cell, ColumnKind, ColumnType, Curves, Door, Header, Kind, LabelCounter, LabelScan,
    LabelTexts, Message, NewNames, OddText, Pairs, Points, Position, Remedy, Setting, Stop,
    Stopper, TableFormat, TableSchema, TableWriter, bin_name, cache, count_labels, hash, knot_name,
    label_field, scan_labels,
};
pub use parsimon_eval::{
    AtThreshold, Bin, Binary, Bins, CalibrationMethod, Calibrator, ClassMetrics, Confusion, Counts,
    CountsMetrics, CurvePoint, Evaluator, LearningCurve, Mean, Measure, Multiclass, Progressive,
    Regression, Schedule, ScheduleError, Sum, Table, calibration, expected_calibration_error,
    number,
};
pub use parsimon_files::memory::{Claim, Shortage, amount, check, in_use, left, parse_amount};
