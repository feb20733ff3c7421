//! The calibration in a model's file.

use parsimon_eval::{CalibrationMethod, Calibrator};
use serde_json::json;

use crate::container::{Container, bytes_of, numbers_of};

/// Adds the calibration to a file. Models that were not calibrated have no such section.
pub(crate) fn push(container: &mut Container<'_>, calibrator: &Calibrator) {
    container.about["calibration"] = json!({"method": calibrator.method().to_string()});
    container.push("calibration", bytes_of(&calibrator.numbers(), f64::to_le_bytes));
}

/// Reads the calibration; `None` if the model was not calibrated.
pub(crate) fn read(container: &Container<'_>) -> Result<Option<Calibrator>, String> {
    let stated = &container.about["calibration"];
    if stated.is_null() {
        return Ok(None);
    }
    let method: CalibrationMethod = stated["method"].as_str().unwrap_or_default().parse()?;
    let numbers = numbers_of(container.section("calibration"), f64::from_le_bytes);
    let calibrator = numbers.and_then(|numbers| Calibrator::from_numbers(method, &numbers));
    Ok(Some(calibrator.ok_or("calibration: these numbers make no sense")?))
}
