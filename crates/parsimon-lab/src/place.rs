//! Position of a number in a result.

/// A place in a result: `method.measure@round`.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The method's name.
    pub method: String,
    /// The measure's name.
    pub measure: String,
    /// The round.
    pub round: Round,
}

/// A round, or the last one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Round {
    /// The last.
    End,
    /// This one, or the last before it that was measured.
    At(f64),
}

impl Place {
    /// Reads `PDA.mismatch@20000`; a method's name may contain dots.
    pub fn parse(text: &str) -> Result<Self, String> {
        let odd = || format!("a place reads method.measure@round, got {text:?}");
        let (front, round) = text.rsplit_once('@').ok_or_else(odd)?;
        let (method, measure) = front.rsplit_once('.').ok_or_else(odd)?;
        let round = match round {
            "end" => Round::End,
            number => Round::At(number.parse().map_err(|_| odd())?),
        };
        Ok(Self { method: method.into(), measure: measure.into(), round })
    }
}
