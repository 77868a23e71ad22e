//! box-find
