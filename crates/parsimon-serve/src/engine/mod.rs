//! A model at work: scored by many, changed by one thread.

mod desk;
mod limits;
mod model;
mod pair;
mod replica;
mod score;

pub(crate) use desk::AT_ONCE;
pub use limits::Limits;
pub use model::{Model, check_name};
pub use replica::Version;
pub use score::Scored;
