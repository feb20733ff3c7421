//! The names of settings as flags, for messages of the libraries.

use parsimon::workspace::{Door, Message, Setting};

/// The program: settings are flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags;

impl Door for Flags {
    fn setting(&self, setting: Setting, value: Option<&str>) -> Option<String> {
        let flag = match setting {
            // Several flags make cells travel with rows.
            Setting::Carried => "keep-columns, --id or --by".to_owned(),
            setting => setting.name().replace('_', "-"),
        };
        Some(match value {
            Some(value) => format!("--{flag} {value}"),
            None => format!("--{flag}"),
        })
    }
}

/// The message with flags.
pub(crate) fn in_flags(message: &Message) -> String {
    message.words(&Flags)
}
