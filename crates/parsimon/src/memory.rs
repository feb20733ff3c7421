//! The memory budget of the process.
//!
//! Memory whose size depends on data, specs or files is checked against the budget before it is allocated, so that an operation
//! that needs too much returns an error instead of ending the process. By default the budget is three quarters of the memory of
//! the machine, the control group or the address space.
//!
//! ```
//! use parsimon::memory::{budget, set_budget};
//!
//! set_budget(1 << 30);
//! assert_eq!(budget(), 1 << 30);
//! ```

#[doc(inline)]
pub use parsimon_files::memory::{budget, set_budget};
