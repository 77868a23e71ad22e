//! sh-exec
