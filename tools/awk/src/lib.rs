//! box-awk
