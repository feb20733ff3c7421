//! The curves and pairs that are asked for.

use std::fmt;

use super::{Kind, Points, TableSchema, select};

/// Which number columns have a curve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Curves {
    /// As the method has it: `auto` decides by the data, others have lines.
    #[default]
    ByMethod,
    /// Lines alone.
    None,
    /// Decided by the data.
    Auto,
    /// These columns, with so many knots each: names, numbers, ranges, patterns or `all`, and `name:8` for another number of knots. Columns that `all` and patterns name and that are no
    /// numbers, or have fewer than three values, stay as they are.
    Of {
        /// The columns.
        columns: Vec<String>,
        /// The most knots of a column.
        knots: u8,
    },
}

/// The knots of a curve where no number is given.
pub(crate) const USUAL_KNOTS: u8 = 16;

impl Curves {
    /// Reads `auto`, `none`, a number of knots for all columns, or columns separated by commas.
    ///
    /// ```
    /// use parsimon_data::Curves;
    ///
    /// assert_eq!(Curves::parse("none").unwrap(), Curves::None);
    /// assert_eq!(Curves::parse("8").unwrap(), Curves::Of { columns: vec!["all".into()], knots: 8 });
    /// let columns = vec!["age".into(), "fare".into()];
    /// assert_eq!(Curves::parse("age,fare").unwrap(), Curves::Of { columns, knots: 16 });
    /// assert!(Curves::parse("2").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "auto" => return Ok(Curves::Auto),
            "none" => return Ok(Curves::None),
            _ => {}
        }
        if let Ok(knots) = text.parse::<u32>() {
            return match u8::try_from(knots) {
                Ok(knots) if knots >= 3 => Ok(Curves::Of { columns: vec!["all".into()], knots }),
                _ => Err(format!("a curve has 3 to 255 knots, got {knots}")),
            };
        }
        let columns: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        match columns.iter().all(|name| !name.is_empty()) {
            true => Ok(Curves::Of { columns, knots: USUAL_KNOTS }),
            false => Err(format!("{text:?} has a column without a name")),
        }
    }
}

/// Which pairs of columns are features.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pairs {
    /// As the method has it: `auto` decides by the data, others have none.
    #[default]
    ByMethod,
    /// None.
    None,
    /// Decided by the data.
    Auto,
    /// These.
    Of(Vec<[String; 2]>),
}

impl Pairs {
    /// Reads `auto`, `none`, or pairs of names such as `age:city,age:fare`.
    ///
    /// ```
    /// use parsimon_data::Pairs;
    ///
    /// assert_eq!(Pairs::parse("age:city").unwrap(), Pairs::Of(vec![["age".into(), "city".into()]]));
    /// assert!(Pairs::parse("age").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "auto" => return Ok(Pairs::Auto),
            "none" => return Ok(Pairs::None),
            _ => {}
        }
        let pair = |text: &str| match text.split_once(':') {
            Some((a, b)) if !a.is_empty() && !b.is_empty() => Ok([a.to_owned(), b.to_owned()]),
            _ => Err(format!("{text:?} is no pair of columns such as age:city")),
        };
        text.split(',').map(pair).collect::<Result<_, _>>().map(Pairs::Of)
    }
}

/// The number of bins of a number column that is in a pair.
pub(crate) const BINS: usize = 8;

impl TableSchema {
    /// Whether a column may have a curve.
    pub fn may_curve(&self, name: &str) -> bool {
        let is_role = [&self.label, &self.weight].iter().any(|role| role.as_deref() == Some(name));
        !is_role && self.column(name).is_some_and(|column| column.kind == Kind::Number)
    }

    /// Gives columns the curves that are asked for, with knots of a sample of each column, and pairs. `cells` returns the sample
    /// of a number column.
    pub fn shaped(
        &self,
        curves: &Curves,
        pairs: &Pairs,
        cells: &dyn Fn(&str) -> Vec<f64>,
    ) -> Result<Self, String> {
        let mut shaped = self.clone();
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        if let Curves::Of { columns, knots } = curves {
            for asked in columns {
                // A column may have its own number of knots: age:8.
                let own = asked.rsplit_once(':').filter(|_| !names.contains(asked));
                let own = own.and_then(|(name, own)| Some((name, own.parse::<u8>().ok()?)));
                let (asked, knots) =
                    own.filter(|own| own.1 > 2).unwrap_or((asked.as_str(), *knots));
                for i in select(&names, asked)? {
                    let name = &names[i];
                    if !self.may_curve(name) {
                        if name == asked {
                            let kind = self.columns[i].kind;
                            return Err(format!(
                                "column {name:?} is not a number column with a curve: it is the label, the weight or of kind {kind}"
                            ));
                        }
                        continue;
                    }
                    shaped.columns[i].knots = Points::knots(&cells(name), usize::from(knots));
                }
            }
        }
        if let Pairs::Of(pairs) = pairs {
            for [a, b] in pairs {
                let find = |name: &String| super::find(&names, name).map(|i| names[i].clone());
                let pair = [find(a)?, find(b)?];
                let reversed = [pair[1].clone(), pair[0].clone()];
                if !shaped.pairs.contains(&pair) && !shaped.pairs.contains(&reversed) {
                    shaped.pairs.push(pair);
                }
            }
            shaped.cut(cells);
        }
        shaped.check().map_err(|message| message.fact().to_owned())?;
        Ok(shaped)
    }

    /// Gives the number columns of pairs their bins, and takes the bins of others away.
    pub fn cut(&mut self, cells: &dyn Fn(&str) -> Vec<f64>) {
        for i in 0..self.columns.len() {
            let name = &self.columns[i].name;
            let is_paired = self.pairs.iter().flatten().any(|side| side == name);
            if !is_paired {
                self.columns[i].cuts = Points::default();
            } else if self.columns[i].kind == Kind::Number && self.columns[i].cuts.is_empty() {
                self.columns[i].cuts = Points::cuts(&cells(name), BINS);
            }
        }
    }
}

impl fmt::Display for Curves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Curves::ByMethod | Curves::Auto => f.write_str("auto"),
            Curves::None => f.write_str("none"),
            Curves::Of { columns, knots } if columns[..] == ["all"] => write!(f, "{knots}"),
            Curves::Of { columns, .. } => f.write_str(&columns.join(",")),
        }
    }
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pairs::ByMethod | Pairs::Auto => f.write_str("auto"),
            Pairs::None => f.write_str("none"),
            Pairs::Of(pairs) => {
                let pairs: Vec<String> = pairs.iter().map(|pair| pair.join(":")).collect();
                f.write_str(&pairs.join(","))
            }
        }
    }
}
