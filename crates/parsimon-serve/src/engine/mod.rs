//! A model at work: scored by many, changed by one thread.
//!
//! A row that is learned goes this way: `intake` checks it, looks up its id and appends it to the log; the log's writer syncs it;
//! `learner` learns it in both copies of the model (`pair`), one after the other, so that scores never wait.

mod archive;
mod breaker;
mod feed;
mod follow;
mod frame;
#[cfg(test)]
mod id_check;
mod id_entries;
mod id_save;
mod id_table;
mod ids;
mod intake;
mod label;
mod learner;
mod limits;
mod model;
mod open;
mod pair;
mod parsed;
mod pause;
mod policy;
mod proof;
mod record;
mod replay;
mod replica;
mod request_buffers;
mod rows;
mod score;
mod shadow;
mod snapshot;
mod status;
mod status_json;
mod upgrade;
mod upkeep;
mod versions;
mod warming;
mod watch;

pub use archive::{Replayed, Without, export, export_set_aside, formats, inspect, replay, verify};
pub use breaker::Breaker;
pub(crate) use feed::Pull;
pub use follow::Lag;
pub(crate) use follow::NotTaken;
pub(crate) use frame::decode as decode_frame;
pub use intake::{Request, Taken};
pub use label::Labelled;
pub use limits::Limits;
pub use model::{Ack, Learning, Model, Report, check_name};
pub use open::{ARITHMETIC, OpenError, Source};
pub use policy::{Labels, Policy};
pub use record::Backlog;
pub use replica::Version;
pub(crate) use request_buffers::AT_ONCE;
pub use score::Scored;
pub use status::Reached;
pub use upgrade::{Upgraded, upgrade};
pub use upkeep::{backup, damage, duplicate, repair};
