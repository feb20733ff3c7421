//! The real data sets the experiments know: where each comes from, and how to get it.
