//! wasibox-tests
