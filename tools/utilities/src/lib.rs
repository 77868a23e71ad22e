//! Commands beside the coreutils that agents and people type: from util-linux, moreutils, iproute2,
//! net-tools, GNU parallel, rsync and others; and package managers, which say what is built in.
//!
//! | file | contents |
//! |---|---|
//! | `packages` | `apt`, `apt-get`, `apt-cache`, `dpkg`, `yum`, `dnf`, `apk`, `brew` |
//! | `sudo` | `sudo` |
#![forbid(unsafe_code)]

mod packages;
mod sudo;

use box_applet::Applet;

/// The table that `tools/box` merges, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet::quick("apk", packages::others::run, "say which packages are built in"),
    Applet::quick("apt", packages::apt::run, "say which packages are built in"),
    Applet::quick("apt-cache", packages::apt::run_cache, "print facts about built-in packages"),
    Applet::quick("apt-get", packages::apt::run, "say which packages are built in"),
    Applet::quick("brew", packages::others::run, "say which packages are built in"),
    Applet::quick("dnf", packages::others::run, "say which packages are built in"),
    Applet::quick("dpkg", packages::dpkg::run, "list built-in packages"),
    Applet::new("sudo", sudo::run, "run a command"),
    Applet::quick("yum", packages::others::run, "say which packages are built in"),
];

#[cfg(test)]
mod tests {
    use super::APPLETS;

    #[test]
    fn sorted_and_described() {
        for pair in APPLETS.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} {}", pair[0].name, pair[1].name);
        }
        assert!(APPLETS.iter().all(|a| !a.summary.is_empty()));
    }
}
