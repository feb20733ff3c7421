//! Kinds of settings, parsing of their values, and the macros that declare them.
//!
//! An algorithm declares its settings once, with `settings!`: the struct with typed fields, the table of
//! parameters (names, defaults, ranges, help) and the reader all come from that one declaration.

use std::fmt::Debug;

use serde_json::{Map, Value, json};

use crate::error::BuildError;

/// One setting of an algorithm: name, kind, default and help text.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name in specs, Python and HTTP; flags have dashes instead of underscores.
    pub name: &'static str,
    /// Accepted values.
    pub kind: Kind,
    /// The default; `None` if the setting may stay unset.
    pub default: Option<Default>,
    /// One line of help.
    pub about: &'static str,
    accepts: fn(&Value) -> bool,
}

/// The rows of an affine projection become nearly dependent beyond this order, and the solve is no longer small.
const MAX_ORDER: u64 = 64;

/// The kind of a setting: which values are accepted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A finite number > 0.
    Positive,
    /// A finite number >= 0.
    NonNegative,
    /// A finite number <= 0.
    NonPositive,
    /// A number with 0 < x < 1.
    Fraction,
    /// A number with 0 <= x < 1.
    Decay,
    /// A number with 0 <= x <= 1.
    Unit,
    /// A number with 0 < x <= 1.
    Share,
    /// A number with -1 <= x <= 1.
    Signed,
    /// A number with 0 < x < 2: the steps for which a projection method is stable.
    Step,
    /// Any finite number.
    Number,
    /// A number >= 0 or "inf".
    Threshold,
    /// A whole number >= 1.
    Natural,
    /// A number of features: a whole number from 1 to 2^32 - 1.
    Dimension,
    /// A whole number from 1 to 64.
    Order,
    /// A whole number >= 1, or "none".
    NaturalOrNone,
    /// true or false.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of these words, or a list of different ones.
    Words(&'static [&'static str]),
    /// A list of finite numbers > 0.
    Positives,
    /// A list of whole numbers >= 1.
    Naturals,
    /// Lists of feature ids.
    Groups,
    /// Texts.
    Texts,
    /// "balanced", or a number > 0 per class.
    ClassWeights,
    /// A number >= 0 for each of some features, by name.
    Factors,
}

/// A default value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// A number.
    Number(f64),
    /// A word.
    Word(&'static str),
    /// true or false.
    Flag(bool),
}

impl From<f64> for Default {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

impl From<&'static str> for Default {
    fn from(word: &'static str) -> Self {
        Self::Word(word)
    }
}

impl From<bool> for Default {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl Default {
    /// The value as JSON.
    pub fn value(self) -> Value {
        match self {
            Default::Number(x) if x.fract() == 0.0 && x.abs() < 1e15 => Value::from(x as i64),
            Default::Number(x) => Value::from(x),
            Default::Word(word) => Value::from(word),
            Default::Flag(flag) => Value::from(flag),
        }
    }
}

impl Kind {
    /// Text after "must be".
    pub fn expectation(self) -> String {
        match self {
            Kind::Positive => "a finite number > 0".into(),
            Kind::NonNegative => "a finite number >= 0".into(),
            Kind::NonPositive => "a finite number <= 0".into(),
            Kind::Fraction => "a number between 0 and 1".into(),
            Kind::Decay => "a number >= 0 and < 1".into(),
            Kind::Unit => "a number from 0 to 1".into(),
            Kind::Share => "a number > 0 and <= 1".into(),
            Kind::Signed => "a number from -1 to 1".into(),
            Kind::Step => "a number > 0 and < 2".into(),
            Kind::Number => "a finite number".into(),
            Kind::Threshold => "a number >= 0 or \"inf\"".into(),
            Kind::Natural => "a whole number >= 1".into(),
            Kind::Dimension => format!("a whole number from 1 to {}", u32::MAX),
            Kind::Order => format!("a whole number from 1 to {MAX_ORDER}"),
            Kind::NaturalOrNone => "a whole number >= 1 or \"none\"".into(),
            Kind::Flag => "true or false".into(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Words(words) => format!("one or a list of {}", words.join(", ")),
            Kind::Positives => "a list of finite numbers > 0".into(),
            Kind::Naturals => "a list of whole numbers >= 1".into(),
            Kind::Groups => "a list of lists of feature ids".into(),
            Kind::Texts => "a list of at least two different texts".into(),
            Kind::ClassWeights => "\"balanced\" or a finite number > 0 for each class".into(),
            Kind::Factors => "a finite number >= 0 for each of some features".into(),
        }
    }

    /// Whether values of this kind are whole numbers.
    pub fn is_whole(self) -> bool {
        matches!(self, Kind::Natural | Kind::Dimension | Kind::Order | Kind::NaturalOrNone)
    }

    /// The kind as JSON Schema.
    pub fn json_schema(self) -> Value {
        let list = |items: Value| json!({"type": "array", "items": items, "minItems": 1});
        match self {
            Kind::Positive => json!({"type": "number", "exclusiveMinimum": 0}),
            Kind::NonNegative => json!({"type": "number", "minimum": 0}),
            Kind::NonPositive => json!({"type": "number", "maximum": 0}),
            Kind::Fraction => {
                json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1})
            }
            Kind::Decay => json!({"type": "number", "minimum": 0, "exclusiveMaximum": 1}),
            Kind::Unit => json!({"type": "number", "minimum": 0, "maximum": 1}),
            Kind::Share => json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
            Kind::Signed => json!({"type": "number", "minimum": -1, "maximum": 1}),
            Kind::Step => json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 2}),
            Kind::Number => json!({"type": "number"}),
            Kind::Threshold => {
                json!({"anyOf": [{"type": "number", "minimum": 0}, {"const": "inf"}]})
            }
            Kind::Natural => json!({"type": "integer", "minimum": 1}),
            Kind::Dimension => json!({"type": "integer", "minimum": 1, "maximum": u32::MAX}),
            Kind::Order => json!({"type": "integer", "minimum": 1, "maximum": MAX_ORDER}),
            Kind::NaturalOrNone => {
                json!({"anyOf": [{"type": "integer", "minimum": 1}, {"const": "none"}]})
            }
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Choice(words) => json!({"enum": words}),
            Kind::Words(words) => {
                let several = json!({"type": "array", "items": {"enum": words}, "minItems": 1, "uniqueItems": true});
                json!({"anyOf": [{"enum": words}, several]})
            }
            Kind::Positives => list(Kind::Positive.json_schema()),
            Kind::Naturals => list(Kind::Natural.json_schema()),
            Kind::Groups => list(
                json!({"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1}),
            ),
            Kind::Texts => {
                json!({"type": "array", "items": {"type": ["string", "number"]}, "minItems": 2})
            }
            Kind::ClassWeights => {
                let each = json!({"type": "object", "additionalProperties": Kind::Positive.json_schema(), "minProperties": 1});
                json!({"anyOf": [{"const": "balanced"}, each]})
            }
            Kind::Factors => {
                json!({"type": "object", "additionalProperties": Kind::NonNegative.json_schema(), "minProperties": 1})
            }
        }
    }
}

impl Parameter {
    /// A parameter whose values are of the type `S`.
    pub(crate) fn of<S: Setting>(
        name: &'static str,
        default: Option<Default>,
        about: &'static str,
    ) -> Self {
        Self { name, kind: S::kind(), default, about, accepts: |value| S::read(value).is_some() }
    }

    /// Whether a value is of this kind.
    pub fn accepts(&self, value: &Value) -> bool {
        (self.accepts)(value)
    }

    /// Checks a value.
    pub fn check(&self, value: &Value) -> Result<(), BuildError> {
        if self.accepts(value) { Ok(()) } else { Err(unacceptable(self.name, self.kind, value)) }
    }
}

fn unacceptable(name: &str, kind: Kind, value: &Value) -> BuildError {
    BuildError::new(name, format!("{name} must be {}, got {value}", kind.expectation()))
}

/// The type of a setting: its allowed values, and their conversion.
pub trait Setting {
    /// Type of the field of this setting.
    type Value: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// Description.
    fn kind() -> Kind;
    /// The value, if it is acceptable.
    fn read(value: &Value) -> Option<Self::Value>;
    /// The value as it is read; `None` if it is absent.
    fn write(value: &Self::Value) -> Option<Value>;
    /// The value when it is absent and has no default; `None` when it cannot be absent.
    fn absent() -> Option<Self::Value> {
        None
    }
}

/// A setting that may be absent.
impl<S: Setting> Setting for Option<S> {
    type Value = Option<S::Value>;
    fn kind() -> Kind {
        S::kind()
    }
    fn read(value: &Value) -> Option<Self::Value> {
        S::read(value).map(Some)
    }
    fn write(value: &Self::Value) -> Option<Value> {
        value.as_ref().and_then(S::write)
    }
    fn absent() -> Option<Self::Value> {
        Some(None)
    }
}

/// Number types with a range.
macro_rules! numbers {
    ($($name:ident $accepts:expr;)+) => {$(
        #[doc = concat!("See [`Kind::", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl Setting for $name {
            type Value = f64;
            fn kind() -> Kind {
                Kind::$name
            }
            fn read(value: &Value) -> Option<f64> {
                let accepts: fn(f64) -> bool = $accepts;
                value.as_f64().filter(|x| x.is_finite() && accepts(*x))
            }
            fn write(value: &f64) -> Option<Value> {
                Some(number(*value))
            }
        }
    )+};
}

numbers! {
    Positive |x| x > 0.0;
    NonNegative |x| x >= 0.0;
    NonPositive |x| x <= 0.0;
    Fraction |x| 0.0 < x && x < 1.0;
    Decay |x| (0.0..1.0).contains(&x);
    Unit |x| (0.0..=1.0).contains(&x);
    Share |x| 0.0 < x && x <= 1.0;
    Signed |x| (-1.0..=1.0).contains(&x);
    Step |x| 0.0 < x && x < 2.0;
    Number |_| true;
}

/// The other types.
macro_rules! kinds {
    ($($vis:vis $name:ident: $type:ty = $read:expr, $write:expr;)+) => {$(
        #[doc = concat!("See [`Kind::", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug)]
        $vis struct $name;
        impl Setting for $name {
            type Value = $type;
            fn kind() -> Kind {
                Kind::$name
            }
            fn read(value: &Value) -> Option<$type> {
                let read: fn(&Value) -> Option<$type> = $read;
                read(value)
            }
            fn write(value: &$type) -> Option<Value> {
                let write: fn(&$type) -> Value = $write;
                Some(write(value))
            }
        }
    )+};
}

kinds! {
    pub Threshold: f64 = |v| if v == "inf" { Some(f64::INFINITY) } else { NonNegative::read(v) },
        |x| if *x == f64::INFINITY { "inf".into() } else { number(*x) };
    pub Natural: u64 = |v| v.as_u64().filter(|n| *n >= 1), |n| (*n).into();
    pub Dimension: u32 = |v| Natural::read(v).and_then(|n| u32::try_from(n).ok()), |n| (*n).into();
    pub Order: usize = |v| v.as_u64().filter(|n| (1..=MAX_ORDER).contains(n)).map(|n| n as usize),
        |n| (*n).into();
    pub NaturalOrNone: Option<u64> = |v| if v == "none" { Some(None) } else { Natural::read(v).map(Some) },
        |n| n.map_or("none".into(), Value::from);
    pub Flag: bool = Value::as_bool, |flag| (*flag).into();
    pub Positives: Vec<f64> = |v| list(v, Positive::read), |list| list.iter().map(|x| number(*x)).collect();
    pub Naturals: Vec<u32> = |v| list(v, Dimension::read), |list| list.clone().into();
    pub Groups: Vec<Vec<u32>> = |v| {
        let id = |v: &Value| v.as_u64().and_then(|id| u32::try_from(id).ok()).filter(|id| *id < u32::MAX);
        v.as_array()?.iter().map(|ids| list(ids, id)).collect()
    }, |groups| groups.iter().map(|ids| Value::from(ids.clone())).collect();
    pub Texts: Vec<String> = |v| {
        let texts: Option<Vec<String>> = v.as_array()?.iter().map(text_of).collect();
        let distinct: std::collections::BTreeSet<_> = texts.iter().flatten().collect();
        let is_good = distinct.len() >= 2 && distinct.len() == v.as_array()?.len();
        texts.filter(|_| is_good)
    }, |texts| texts.clone().into();
}

/// Factors on the importance of rows, by class.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassWeight {
    /// Rare classes get larger factors: the rows so far, divided by the number of classes times the rows of the class so far.
    Balanced,
    /// A factor per class, by label; classes that are not named have the factor 1.
    Fixed(Vec<(String, f64)>),
}

/// See [`Kind::ClassWeights`].
#[derive(Clone, Copy, Debug)]
pub struct ClassWeights;

impl Setting for ClassWeights {
    type Value = ClassWeight;
    fn kind() -> Kind {
        Kind::ClassWeights
    }
    fn read(value: &Value) -> Option<ClassWeight> {
        match value {
            Value::String(word) => (word == "balanced").then_some(ClassWeight::Balanced),
            Value::Object(each) if !each.is_empty() => {
                let pair =
                    |(label, x): (&String, &Value)| Some((label.clone(), Positive::read(x)?));
                Some(ClassWeight::Fixed(each.iter().map(pair).collect::<Option<_>>()?))
            }
            _ => None,
        }
    }
    fn write(value: &ClassWeight) -> Option<Value> {
        Some(match value {
            ClassWeight::Balanced => "balanced".into(),
            ClassWeight::Fixed(each) => {
                let pair = |(label, x): &(String, f64)| (label.clone(), number(*x));
                Value::Object(each.iter().map(pair).collect())
            }
        })
    }
}

/// See [`Kind::Factors`].
#[derive(Clone, Copy, Debug)]
pub struct FeatureFactors;

impl Setting for FeatureFactors {
    type Value = Vec<(String, f64)>;
    fn kind() -> Kind {
        Kind::Factors
    }
    fn read(value: &Value) -> Option<Self::Value> {
        let pair = |(name, x): (&String, &Value)| Some((name.clone(), NonNegative::read(x)?));
        value.as_object().filter(|each| !each.is_empty())?.iter().map(pair).collect()
    }
    fn write(value: &Self::Value) -> Option<Value> {
        Some(value.iter().map(|(name, x)| (name.clone(), number(*x))).collect())
    }
}

/// A number as specs have it: whole numbers have no decimal point.
fn number(x: f64) -> Value {
    Default::Number(x).value()
}

/// A nonempty list.
fn list<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    items.iter().map(read).collect()
}

/// Accepts a text, or a number as its digits.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Reads a value from text: a number, true or false, or else a string.
pub fn scalar(text: &str) -> Value {
    if let Ok(n) = text.parse::<u64>() {
        return n.into();
    }
    match (text, text.parse::<f64>()) {
        ("true", _) => true.into(),
        ("false", _) => false.into(),
        (_, Ok(x)) if x.is_finite() => x.into(),
        _ => text.into(),
    }
}

/// One of several words, each a variant of an enum.
macro_rules! choice {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// The words, in the order of the variants.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Returns the word of this variant.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl $crate::algorithm::setting::Setting for $name {
            type Value = $name;
            fn kind() -> $crate::algorithm::setting::Kind {
                $crate::algorithm::setting::Kind::Choice(Self::WORDS)
            }
            fn read(value: &serde_json::Value) -> Option<Self> {
                match value.as_str()? { $($word => Some(Self::$variant),)+ _ => None }
            }
            fn write(value: &Self) -> Option<serde_json::Value> {
                Some(value.word().into())
            }
        }
    };
}
pub(crate) use choice;

/// A set of settings that can list its parameters and be read from checked values.
pub trait Configuration: Clone + Debug + PartialEq + Send + Sync + Sized + 'static {
    /// Appends its parameters.
    fn parameters(list: &mut Vec<Parameter>);
    /// Reads it; a value that is not acceptable is an error.
    fn read(values: Values<'_>) -> Result<Self, BuildError>;
    /// Adds its values by name, as they are read.
    fn write(&self, values: &mut Map<String, Value>);
}

/// The settings with their defaults: those of the algorithm if they are the settings of one, which may have a default of its own for a
/// setting that it shares with others.
pub(crate) fn default_of<C: Configuration>() -> C {
    let algorithm = super::ALGORITHMS.iter().find(|a| a.is_of::<C>());
    let mut parameters = Vec::new();
    match algorithm {
        Some(algorithm) => parameters.extend_from_slice(algorithm.own_parameters()),
        None => C::parameters(&mut parameters),
    }
    let mut values = defaults(&parameters);
    if let Some(algorithm) = algorithm {
        algorithm.complete(&mut values);
    }
    C::read(Values(&values)).expect("every default is acceptable, which a test holds")
}

/// The defaults of settings that have one.
pub(super) fn defaults(parameters: &[Parameter]) -> Map<String, Value> {
    let default = |p: &Parameter| Some((p.name.to_owned(), p.default?.value()));
    parameters.iter().filter_map(default).collect()
}

/// Values by name, defaults included.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a>(pub(crate) &'a Map<String, Value>);

impl Values<'_> {
    /// Reads one setting.
    pub fn read<S: Setting>(self, name: &'static str) -> Result<S::Value, BuildError> {
        match self.0.get(name) {
            Some(value) => S::read(value).ok_or_else(|| unacceptable(name, S::kind(), value)),
            None => S::absent().ok_or_else(|| BuildError::new(name, format!("{name} is missing"))),
        }
    }
}

/// Declares settings: a struct with typed fields, its parameters and its reader.
///
/// `name: Type = default, "help";` is one setting; without a default the type is an `Option`.
/// `..name: Group;` includes the settings of another struct.
macro_rules! settings {
    ($(#[$about:meta])* pub struct $name:ident { $($body:tt)* }) => {
        $crate::algorithm::setting::settings!(
            @fields [$(#[$about])* #[derive(Clone, Debug, PartialEq)] pub] $name [] [] [] $($body)*);
    };
    ($(#[$about:meta])* pub(crate) struct $name:ident { $($body:tt)* }) => {
        $crate::algorithm::setting::settings!(
            @fields [$(#[$about])* #[derive(Clone, Debug, PartialEq)] pub(crate)] $name [] [] [] $($body)*);
    };
    (@fields [$($about:tt)*] $name:ident [$($field:tt)*] [$($list:tt)*] [$($read:tt)*]
     $setting:ident: $type:ty = $default:expr, $help:literal; $($rest:tt)*) => {
        $crate::algorithm::setting::settings!(@fields [$($about)*] $name
            [$($field)* #[doc = $help] pub $setting: <$type as $crate::algorithm::setting::Setting>::Value,]
            [$($list)* {$crate::algorithm::setting::Parameter::of::<$type>(stringify!($setting),
                Some($crate::algorithm::setting::Default::from($default)), $help)}]
            [$($read)* {$setting @setting {$type}}]
            $($rest)*);
    };
    (@fields [$($about:tt)*] $name:ident [$($field:tt)*] [$($list:tt)*] [$($read:tt)*]
     $setting:ident: $type:ty, $help:literal; $($rest:tt)*) => {
        $crate::algorithm::setting::settings!(@fields [$($about)*] $name
            [$($field)* #[doc = $help] pub $setting: <$type as $crate::algorithm::setting::Setting>::Value,]
            [$($list)* {$crate::algorithm::setting::Parameter::of::<$type>(stringify!($setting), None, $help)}]
            [$($read)* {$setting @setting {$type}}]
            $($rest)*);
    };
    (@fields [$($about:tt)*] $name:ident [$($field:tt)*] [$($list:tt)*] [$($read:tt)*]
     ..$group:ident: $type:ty; $($rest:tt)*) => {
        $crate::algorithm::setting::settings!(@fields [$($about)*] $name
            [$($field)* #[doc = concat!("The settings of [`", stringify!($type), "`].")] pub $group: $type,]
            [$($list)* @group {$type}]
            [$($read)* {$group @group {$type}}]
            $($rest)*);
    };
    (@fields [$($about:tt)*] $name:ident [$($field:tt)*] [$($list:tt)*] [$({$place:ident $($how:tt)*})*]) => {
        $($about)* struct $name { $($field)* }

        impl $crate::algorithm::setting::Configuration for $name {
            #[allow(unused_variables, reason = "an algorithm may have no setting of its own")]
            fn parameters(list: &mut Vec<$crate::algorithm::setting::Parameter>) {
                $crate::algorithm::setting::settings!(@list list $($list)*);
            }
            #[allow(unused_variables, reason = "an algorithm may have no setting of its own")]
            fn read(values: $crate::algorithm::setting::Values<'_>) -> Result<Self, $crate::error::BuildError> {
                Ok(Self { $($place: $crate::algorithm::setting::settings!(@read values $place $($how)*),)* })
            }
            #[allow(unused_variables, reason = "an algorithm may have no setting of its own")]
            fn write(&self, values: &mut serde_json::Map<String, serde_json::Value>) {
                $($crate::algorithm::setting::settings!(@write self values $place $($how)*);)*
            }
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                $crate::algorithm::setting::default_of()
            }
        }
    };
    (@read $values:ident $place:ident @setting {$type:ty}) => {
        $values.read::<$type>(stringify!($place))?
    };
    (@read $values:ident $place:ident @group {$type:ty}) => {
        <$type as $crate::algorithm::setting::Configuration>::read($values)?
    };
    (@write $this:ident $values:ident $place:ident @setting {$type:ty}) => {
        if let Some(value) = <$type as $crate::algorithm::setting::Setting>::write(&$this.$place) {
            $values.insert(stringify!($place).to_owned(), value);
        }
    };
    (@write $this:ident $values:ident $place:ident @group {$type:ty}) => {
        $crate::algorithm::setting::Configuration::write(&$this.$place, $values)
    };
    (@list $all:ident) => {};
    (@list $all:ident {$parameter:expr} $($rest:tt)*) => {
        $all.push($parameter);
        $crate::algorithm::setting::settings!(@list $all $($rest)*);
    };
    (@list $all:ident @group {$type:ty} $($rest:tt)*) => {
        <$type as $crate::algorithm::setting::Configuration>::parameters($all);
        $crate::algorithm::setting::settings!(@list $all $($rest)*);
    };
}
pub(crate) use settings;

/// Several algorithms with the same settings: a type each around the shared struct.
macro_rules! family {
    ($shared:ident: $($(#[$about:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(pub $shared);

        impl $crate::algorithm::setting::Configuration for $name {
            fn parameters(list: &mut Vec<$crate::algorithm::setting::Parameter>) {
                <$shared as $crate::algorithm::setting::Configuration>::parameters(list);
            }
            fn read(values: $crate::algorithm::setting::Values<'_>) -> Result<Self, $crate::error::BuildError> {
                <$shared as $crate::algorithm::setting::Configuration>::read(values).map(Self)
            }
            fn write(&self, values: &mut serde_json::Map<String, serde_json::Value>) {
                $crate::algorithm::setting::Configuration::write(&self.0, values);
            }
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                $crate::algorithm::setting::default_of()
            }
        }
    )+};
}
pub(crate) use family;
