//! box-coreutils
