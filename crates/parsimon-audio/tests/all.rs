//! All tests of this crate in one program: linking takes longer than most of them run. A new file needs its line here.

mod adaptive;
mod canceller;
mod common;
mod delay;
mod double_talk;
mod duplex;
mod live;
mod suppress;
mod twin;
mod wav;
