//! sh-expand
