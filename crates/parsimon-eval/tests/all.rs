//! All tests of this crate in one program: linking takes longer than most of them run. A new file needs its line here.

mod chunking;
