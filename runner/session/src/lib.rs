//! wasibox
