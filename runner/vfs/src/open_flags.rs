//! How a file is opened.

/// The options of opening a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenFlags {
    pub read: bool,
    pub write: bool,
    pub append: bool,
    pub create: bool,
    /// With `create`: fail if it exists.
    pub excl: bool,
    pub truncate: bool,
    /// Fail unless it is a directory.
    pub directory: bool,
    /// Follow a symbolic link in the last component.
    pub follow: bool,
}
