//! box-archive
