//! Commands beside the coreutils that agents and people type: from util-linux, moreutils, iproute2,
//! net-tools, GNU parallel, rsync and others; and package managers, which list built-in packages.
//!
//! | file | contents |
//! |---|---|
//! | `packages` | `apt`, `apt-get`, `apt-cache`, `dpkg`, `yum`, `dnf`, `apk`, `brew` |
//! | `net` | `ping`, `ip`, `ifconfig`, `ss`, `netstat`, `lsof`, `dig`, `host`, `nslookup` |
//! | `parallel` | `parallel` |
//! | `rsync` | `rsync` |
//! | `sudo` | `sudo` |
//! | `dos2unix` | `dos2unix`, `unix2dos` |
//! | `look`, `mount`, `pv`, `rename`, `script`, `sponge`, `su`, `ts`, `uuidgen`, `watch` | the command of that name |
#![forbid(unsafe_code)]

mod dos2unix;
mod look;
mod mount;
mod net;
mod packages;
mod parallel;
mod pv;
mod rename;
mod rsync;
mod script;
mod sponge;
mod su;
mod sudo;
mod ts;
mod uuidgen;
mod watch;

use box_applet::Applet;

/// The table that `tools/box` merges, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet::quick("apk", packages::others::run, "say which packages are built in"),
    Applet::quick("apt", packages::apt::run, "say which packages are built in"),
    Applet::quick("apt-cache", packages::apt::run_cache, "print facts about built-in packages"),
    Applet::quick("apt-get", packages::apt::run, "say which packages are built in"),
    Applet::quick("brew", packages::others::run, "say which packages are built in"),
    Applet::quick("dig", net::names::run_dig, "print addresses of known names"),
    Applet::quick("dnf", packages::others::run, "say which packages are built in"),
    Applet::new("dos2unix", dos2unix::run, "convert line ends to LF"),
    Applet::quick("dpkg", packages::dpkg::run, "list built-in packages"),
    Applet::quick("host", net::names::run_host, "print addresses of known names"),
    Applet::quick("ifconfig", net::interfaces::run_ifconfig, "print interfaces"),
    Applet::quick("ip", net::interfaces::run_ip, "print interfaces and addresses"),
    Applet::quick("look", look::run, "print lines that begin with a text"),
    Applet::quick("lsof", net::sockets::run_lsof, "print sockets that listen"),
    Applet::quick("mount", mount::run, "print what is mounted"),
    Applet::quick("netstat", net::sockets::run_netstat, "print sockets that listen"),
    Applet::quick("nslookup", net::names::run_nslookup, "print addresses of known names"),
    Applet::new("parallel", parallel::run, "run a command for many arguments at a time"),
    Applet::new("ping", net::ping::run, "send echoes to the loopback"),
    Applet::new("pv", pv::run, "copy data and show the progress"),
    Applet::new("rename", rename::run, "rename files by a text or an expression"),
    Applet::new("rsync", rsync::run, "copy what differs between folders"),
    Applet::new("script", script::run, "keep the output of a command in a file"),
    Applet::new("sponge", sponge::run, "write a file after all input is read"),
    Applet::quick("ss", net::sockets::run_ss, "print sockets that listen"),
    Applet::new("su", su::run, "run a shell"),
    Applet::new("sudo", sudo::run, "run a command"),
    Applet::new("ts", ts::run, "put the time before each line"),
    Applet::new("unix2dos", dos2unix::run, "convert line ends to CR LF"),
    Applet::quick("uuidgen", uuidgen::run, "print a new UUID"),
    Applet::new("watch", watch::run, "run a command again and again"),
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
