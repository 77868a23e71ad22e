//! box-diff
