//! Signals in and out: WAV files, and columns of CSV files.

use std::path::{Path, PathBuf};

use parsimon::filter::Regularization;
#[cfg(feature = "audio")]
use parsimon_audio::{AudioError, wav};

use crate::args::SpecArgs;
use crate::fault::Fault;
use crate::output::write_text;

/// A signal from a file.
pub(crate) struct Signal {
    pub(crate) samples: Vec<f64>,
    /// Samples per second; `None` for a CSV file.
    pub(crate) rate: Option<u32>,
    /// Samples at full scale, in runs.
    pub(crate) clipped: u64,
}

/// Source of a signal: a file, and for a CSV file optionally a column.
pub(crate) struct Source<'a> {
    path: &'a Path,
    column: Option<&'a str>,
}

impl<'a> Source<'a> {
    /// `FILE` or `FILE.csv:COLUMN`.
    pub(crate) fn new(text: &'a str) -> Self {
        match text.rsplit_once(':') {
            Some((path, column)) if is_table(Path::new(path)) => {
                Self { path: Path::new(path), column: Some(column) }
            }
            _ => Self { path: Path::new(text), column: None },
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.path
    }

    pub(crate) fn read(&self, channel: Option<usize>) -> Result<Signal, Fault> {
        if is_table(self.path) {
            let text = parsimon_files::read_text(self.path)?;
            let samples = column(&text, self.column)
                .map_err(|message| Fault::Input(format!("{}:{message}", self.path.display())))?;
            return Ok(Signal { samples, rate: None, clipped: 0 });
        }
        read_wav(self.path, channel)
    }
}

/// Seconds that a multiplication and an addition of a filter take, roughly.
const OPERATION: f64 = 5e-10;
/// A run of more seconds is announced.
const LONG: f64 = 120.0;

/// Returns a warning for a filter whose cost grows with the square of its length, where a run takes minutes; `None` otherwise.
pub(crate) fn long_run(algorithm: &str, taps: usize, samples: u64) -> Option<String> {
    // RLS multiplies its matrix by the regressor and updates all of it, at every sample.
    let operations = if algorithm == "rls" { 2.0 * (taps as f64).powi(2) } else { 0.0 };
    let seconds = OPERATION * operations * samples as f64;
    (seconds > LONG).then(|| {
        format!(
            "warning: {algorithm} with {taps} taps takes about {} for these {samples} samples, because its cost grows with the square of \
             the taps; use fewer --taps or another algorithm",
            parsimon::workspace::number::duration(std::time::Duration::from_secs_f64(seconds)),
        )
    })
}

#[cfg(feature = "audio")]
fn read_wav(path: &Path, channel: Option<usize>) -> Result<Signal, Fault> {
    let signal = wav::read(path, channel)?;
    Ok(Signal {
        samples: signal.samples.iter().map(|&x| f64::from(x)).collect(),
        rate: Some(signal.rate),
        clipped: signal.clipped,
    })
}

#[cfg(feature = "audio")]
fn write_wav(path: &Path, samples: &[f64], rate: u32) -> Result<(), Fault> {
    let samples: Vec<f32> = samples.iter().map(|&x| x as f32).collect();
    wav::write(path, &samples, rate, wav::SampleFormat::Float32)?;
    Ok(())
}

#[cfg(not(feature = "audio"))]
fn read_wav(path: &Path, _: Option<usize>) -> Result<Signal, Fault> {
    Err(without_wav(path, "reads no WAV files"))
}

#[cfg(not(feature = "audio"))]
fn write_wav(path: &Path, _: &[f64], _: u32) -> Result<(), Fault> {
    Err(without_wav(path, "writes no WAV files"))
}

#[cfg(not(feature = "audio"))]
fn without_wav(path: &Path, lacks: &str) -> Fault {
    let words = crate::features::left_out(lacks, "audio");
    Fault::Usage(format!("{}: {words}", path.display()))
}

fn is_table(path: &Path) -> bool {
    let known = ["csv", "tsv", "txt"];
    path.extension()
        .and_then(|e| e.to_str())
        .is_some_and(|e| known.contains(&e.to_lowercase().as_str()))
}

/// Reads one column of numbers: the one with this name or number (from 1), or the only column.
fn column(text: &str, wanted: Option<&str>) -> Result<Vec<f64>, String> {
    let split = |line: &str| -> Vec<String> {
        let cells =
            line.split([',', ';', '\t']).map(|cell| cell.trim().trim_matches('"').to_owned());
        cells.collect()
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).peekable();
    let Some((_, first)) = lines.peek() else {
        return Err("1: there are no samples in the file".into());
    };
    let header = split(first);
    let is_header = header.iter().any(|cell| cell.parse::<f64>().is_err());
    let place = match wanted {
        None if header.len() == 1 => 0,
        None => {
            return Err(format!(
                "1: there are {} columns; choose one with FILE:COLUMN, by name or by number from 1",
                header.len()
            ));
        }
        Some(name) => {
            let named = is_header.then(|| header.iter().position(|cell| cell == name)).flatten();
            let numbered = name.parse::<usize>().ok().filter(|n| (1..=header.len()).contains(n));
            named.or(numbered.map(|n| n - 1)).ok_or_else(|| {
                format!("1: there is no column {name:?}; there are {}", header.join(", "))
            })?
        }
    };
    if is_header {
        lines.next();
    }
    let mut samples = Vec::new();
    for (number, line) in lines {
        let cells = split(line);
        let cell = cells.get(place).map_or("", String::as_str);
        match cell.parse::<f64>() {
            Ok(x) if x.is_finite() => samples.push(x),
            _ => return Err(format!("{number}: a finite number was expected, got {cell:?}")),
        }
    }
    if samples.is_empty() {
        return Err("1: there are no samples in the file".into());
    }
    Ok(samples)
}

/// Writes a response: a WAV file of 32-bit floats, or a CSV file of lags and coefficients.
pub(crate) fn write(path: &Path, samples: &[f64], rate: u32) -> Result<(), Fault> {
    if is_table(path) {
        let rows = samples.iter().enumerate().map(|(lag, w)| format!("{lag},{w}\n"));
        return write_text(path, &format!("lag,coefficient\n{}", rows.collect::<String>()));
    }
    write_wav(path, samples, rate)
}

/// Refuses a file extension that [`write()`] does not know, before any work is done.
pub(crate) fn check_ending(path: Option<&PathBuf>) -> Result<(), Fault> {
    match path {
        Some(path) if !is_table(path) && !is_wav(path) => {
            Err(Fault::Usage(format!("{}: a response is written as .wav or .csv", path.display())))
        }
        #[cfg(not(feature = "audio"))]
        Some(path) if is_wav(path) => Err(without_wav(path, "writes no WAV files")),
        _ => Ok(()),
    }
}

fn is_wav(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("wav"))
}

/// Refuses the settings of tables, which a signal has no use for.
pub(crate) fn refuse_settings(spec: &SpecArgs) -> Result<(), Fault> {
    let of_tables = ["multiclass", "classes", "dimension"];
    match spec.names().find(|name| of_tables.contains(name)) {
        Some(name) => Err(Fault::Usage(format!("--{name} is for tables, not for signals"))),
        None => Ok(()),
    }
}

/// Regularization as a share of the energy.
pub(crate) fn regularization(share: Option<f64>) -> Result<Regularization, Fault> {
    match share.unwrap_or(0.01) {
        relative if relative.is_finite() && relative >= 0.0 => Ok(Regularization { relative }),
        share => Err(Fault::Usage(format!("--regularization must be a number >= 0, got {share}"))),
    }
}

#[cfg(feature = "audio")]
impl From<AudioError> for Fault {
    fn from(error: AudioError) -> Self {
        match error {
            AudioError::Setting(_) => Fault::Usage(error.to_string()),
            _ => Fault::Input(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::column;

    #[test]
    fn columns_by_name_number_or_none() {
        assert_eq!(column("1\n2\n", None).unwrap(), [1.0, 2.0]);
        assert_eq!(column("\u{feff}far\n1\n", Some("far")).unwrap(), [1.0]);
        assert_eq!(column("far\n1\n2\n", None).unwrap(), [1.0, 2.0]);
        assert_eq!(column("far,near\n1,3\n2,4\n", Some("near")).unwrap(), [3.0, 4.0]);
        assert_eq!(column("1;3\n2;4\n", Some("2")).unwrap(), [3.0, 4.0]);
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_line() {
        let error = |text, wanted| column(text, wanted).unwrap_err();
        assert_eq!(error("x\n1\nnan\n", None), "3: a finite number was expected, got \"nan\"");
        assert_eq!(error("1,2\n3\n", Some("2")), "2: a finite number was expected, got \"\"");
        assert!(error("a,b\n1,2\n", None).contains("there are 2 columns"));
        assert!(error("a,b\n1,2\n", Some("c")).contains("no column \"c\""));
        assert!(error("", None).contains("no samples"));
        assert!(error("header\n", None).contains("no samples"));
    }
}
