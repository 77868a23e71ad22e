//! box-grep
