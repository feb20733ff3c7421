//! Information from the types of columns that their cells do not have.

/// A column whose type decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeNote {
    /// Texts that are all plain numbers: a category.
    Digits(String),
    /// Floats of 32 bits or fewer, read with the values that they have.
    Single(String),
    /// Lists, each of whose items is a category.
    List(String),
    /// Whole numbers that are codes, by the name of the column.
    Code(String),
}

impl TypeNote {
    /// The name of the column.
    pub fn column(&self) -> &String {
        let (Self::Digits(name) | Self::Single(name) | Self::List(name) | Self::Code(name)) = self;
        name
    }
}

/// The reason why a column was taken for the label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelReason {
    /// Its name.
    Name,
    /// It is the first column, and has two values.
    FirstOfTwo,
    /// It is the last column, and has two values.
    LastOfTwo,
}

impl LabelReason {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Name => "because of its name",
            Self::FirstOfTwo => "the first column, because it has two values",
            Self::LastOfTwo => "the last column, because it has two values",
        }
    }
}

/// A guess of the label's column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelGuess {
    /// Why it was taken.
    pub reason: LabelReason,
    /// The columns that are the next plausible ones, at most two.
    pub runners_up: Vec<String>,
}

/// The columns whose types decided, and how the label was guessed. They are for messages: files do not have them, and two schemas that
/// differ in them are equal.
#[derive(Clone, Debug, Default)]
pub struct TypeNotes(Vec<TypeNote>, Option<LabelGuess>);

impl TypeNotes {
    /// Takes notes of columns.
    pub(crate) fn take(&mut self, notes: Vec<TypeNote>) {
        self.0.extend(notes);
    }

    /// Notes how the label was guessed.
    pub(crate) fn guessed(guess: Option<LabelGuess>) -> Self {
        Self(Vec::new(), guess)
    }

    /// Reason for the guessed label; `None` where the caller has named it.
    pub fn label_guess(&self) -> Option<&LabelGuess> {
        self.1.as_ref()
    }

    /// The notes, in the order of the columns.
    pub fn iter(&self) -> impl Iterator<Item = &TypeNote> {
        self.0.iter()
    }
}

impl PartialEq for TypeNotes {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for TypeNotes {}
