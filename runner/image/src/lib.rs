//! wasibox-image
