//! Multikernel adaptive filters: nonlinear regression over a dictionary of rows (Ushio 2018, appendix A.3; Yukawa 2012).
//!
//! The function learned is a sum over kernels `k_1 .. k_M` and over the rows `x_j` kept in the dictionary (A.22):
//!
//! ```text
//! f(x) = sum_m sum_j h_j^(m) k_m(x, x_j) = <H, K(x)>
//! ```
//!
//! `H` has a column `h_j` of `M` coefficients per row kept; `K` has the kernels' values in the same places. The loss of a
//! row is half its squared distance to the hyperplane of all `H` that would have predicted it, `{H: <H, K> = y}` (A.27), and the
//! penalty `l1 sum_j |h_j|` takes whole columns out, hence whole rows of the dictionary. A round is:
//!
//! 1. the row joins the dictionary with a column of zeros;
//! 2. `G = v (<H, K> - y) / (|K|^2 + delta) K`, with `v` the importance weight (A.28, A.29);
//! 3. APFBS: `V = H - eta G` (A.30). PDA: `S += G`, `V = -eta S` (A.32);
//! 4. each column: `h = max(0, 1 - l1 eta / |v|) v` (A.31, A.33);
//! 5. if the dictionary has `dictionary_max` rows or more, the columns with `|h| < dictionary_threshold` leave it. A row that
//!    leaves takes its sum `S` along.
//!
//! [`Kernel`] is one kernel, [`Multikernel`] learns, [`Dictionary`] is what is left and predicts.
//!
//! **When to use it.** The answer is a smooth function of few features, a linear model cannot draw it, and one pass must do.
//! Features should be scaled: a Gaussian sees nothing beyond a few times the root of its variance. PDA keeps fewer rows than
//! APFBS at the same error.
//!
//! The threshold is in the labels' own unit. The thesis prints 1e-12 with an `l1` so small that nothing ever falls below it, and its
//! dictionaries keep every row; on its function a threshold of 1e-3 keeps some 80 rows of 3,000 at the same error, which is why
//! the program's default is that. Labels much smaller than 1 want a smaller one, or everything is dropped.
//!
//! **Limits.** It has no bias and no classes. It does not bound its memory: `dictionary_max` says
//! when the dictionary begins to be refined, not how large it may become, and while no column falls below the threshold every row
//! stays. A row costs time and memory proportional to the dictionary, regardless of its features. A row that comes again, in a second
//! pass too, joins again.

mod multikernel;

pub use crate::dictionary::{Dictionary, Kernel};
pub use multikernel::{Multikernel, Tuning, Update};
