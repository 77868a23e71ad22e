//! sh-cli
