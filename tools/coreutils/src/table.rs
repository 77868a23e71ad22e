//! All applets of this crate, sorted by name: one explicit list.
//!
//! `quick` ones neither read standard input, nor block, nor start commands.

use box_applet::Applet;

use crate::{own, uutils};

/// The table that `tools/box` merges.
pub const APPLETS: &[Applet] = &[
    Applet::quick("[", own::test::run, "evaluate a condition"),
    Applet::quick("arch", own::system::arch, "print the machine hardware name"),
    uutils::B2SUM,
    uutils::BASE32,
    uutils::BASE64,
    Applet::quick("basename", own::basename::run, "print a file name without its directory"),
    uutils::BASENC,
    Applet::new("cat", own::cat::run, "concatenate files to standard output"),
    Applet::quick("chgrp", own::chown::chgrp, "change the group"),
    Applet::quick("chmod", own::chmod::run, "change permission bits"),
    Applet::quick("chown", own::chown::chown, "change owner and group"),
    uutils::CKSUM,
    Applet::quick("clear", own::system::clear, "clear the terminal screen"),
    uutils::COMM,
    Applet::new("cp", own::copy::cp::run, "copy files and directories"),
    uutils::CSPLIT,
    Applet::new("cut", own::cut::run, "print selected parts of lines"),
    Applet::quick("date", own::date::run, "print the date and time"),
    uutils::DD,
    Applet::quick("df", own::df::run, "print file system sizes"),
    Applet::quick("dir", own::ls::dir, "list directory contents in columns"),
    uutils::DIRCOLORS,
    Applet::quick("dirname", own::dirname::run, "print the directory part of a file name"),
    Applet::new("du", own::du::run, "print the space files take"),
    Applet::quick("echo", own::echo::run, "print its arguments"),
    uutils::ENV,
    uutils::EXPAND,
    uutils::EXPR,
    uutils::FACTOR,
    Applet::quick("false", own::truth::run_false, "do nothing, unsuccessfully"),
    uutils::FMT,
    uutils::FOLD,
    Applet::quick("groups", own::id::groups, "print the groups a user is in"),
    Applet::new("head", own::head::run, "print the first part of files"),
    Applet::quick("hostname", own::system::hostname, "print the name of the host"),
    Applet::quick("id", own::id::id, "print user and group ids"),
    Applet::new("install", own::copy::install::run, "copy files and set attributes"),
    uutils::JOIN,
    Applet::quick("link", own::link::run, "make a hard link"),
    Applet::quick("ln", own::ln::run, "make links between files"),
    Applet::quick("logname", own::system::logname, "print the login name"),
    Applet::quick("ls", own::ls::ls, "list directory contents"),
    uutils::MD5SUM,
    Applet::quick("mkdir", own::mkdir::run, "make directories"),
    Applet::quick("mkfifo", own::mkfifo::run, "make named pipes"),
    Applet::quick("mknod", own::mkfifo::mknod, "make special files"),
    Applet::quick("mktemp", own::mktemp::run, "make a temporary file or directory"),
    Applet::quick("mv", own::copy::mv::run, "move or rename files"),
    uutils::NL,
    Applet::quick("nproc", own::system::nproc, "print the number of processing units"),
    uutils::NUMFMT,
    uutils::OD,
    uutils::PASTE,
    uutils::PATHCHK,
    uutils::PR,
    Applet::quick("printenv", own::printenv::run, "print environment variables"),
    Applet::quick("printf", own::printf::run, "format and print data"),
    uutils::PTX,
    Applet::quick("pwd", own::pwd::run, "print the working directory"),
    Applet::quick("readlink", own::readlink::readlink, "print the target of a symbolic link"),
    Applet::quick("realpath", own::readlink::realpath, "print the resolved path"),
    Applet::new("rev", own::rev::run, "reverse the characters of lines"),
    Applet::quick("rm", own::rm::run, "remove files or directories"),
    Applet::quick("rmdir", own::mkdir::run_rmdir, "remove empty directories"),
    Applet::new("seq", own::seq::run, "print a sequence of numbers"),
    uutils::SHA1SUM,
    uutils::SHA224SUM,
    uutils::SHA256SUM,
    uutils::SHA384SUM,
    uutils::SHA512SUM,
    uutils::SHRED,
    uutils::SHUF,
    Applet::new("sleep", own::sleep::run, "wait for a time"),
    Applet::new("sort", own::sort::run, "sort lines of text"),
    uutils::SPLIT,
    Applet::quick("stat", own::stat::run, "print file metadata"),
    uutils::SUM,
    Applet::quick("sync", own::system::sync, "write cached data to storage"),
    Applet::new("tac", own::tac::run, "print files in reverse"),
    Applet::new("tail", own::tail::run, "print the last part of files"),
    Applet::new("tee", own::tee::run, "copy standard input to files and standard output"),
    Applet::quick("test", own::test::run, "evaluate a condition"),
    Applet::quick("touch", own::touch::run, "change file times"),
    Applet::new("tr", own::tr::run, "translate or delete characters"),
    Applet::quick("true", own::truth::run_true, "do nothing, successfully"),
    uutils::TRUNCATE,
    uutils::TSORT,
    Applet::quick("tty", own::system::tty, "print the name of the terminal"),
    Applet::quick("uname", own::system::uname, "print system information"),
    uutils::UNEXPAND,
    Applet::new("uniq", own::uniq::run, "report or drop repeated lines"),
    Applet::quick("unlink", own::link::run_unlink, "remove a file"),
    Applet::quick("uptime", own::system::uptime, "print how long the system has been running"),
    Applet::quick("vdir", own::ls::vdir, "list directory contents in long format"),
    Applet::new("wc", own::wc::run, "count lines, words and bytes"),
    Applet::quick("which", own::which::run, "locate a command in PATH"),
    Applet::quick("whoami", own::id::whoami, "print the effective user name"),
    Applet::new("yes", own::yes::run, "print a string until killed"),
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
