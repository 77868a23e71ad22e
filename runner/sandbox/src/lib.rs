//! wasibox-sandbox
