//! The text of `--version`, which names the tool whose behaviour ours follows. Scripts choose their
//! GNU or BSD branch by the first line, so that line is the original's (`sed --version | grep -q
//! GNU`, `grep --version | head -n 1`).

/// The tools of one package and the first line of their `--version`, in which `{}` is the tool's
/// name.
struct VersionLine {
    line: &'static str,
    tools: &'static [&'static str],
}

const fn version_line(line: &'static str, tools: &'static [&'static str]) -> VersionLine {
    VersionLine { line, tools }
}

/// Versions are those of Debian 12, which the expected values of the tests come from.
static PACKAGES: &[VersionLine] = &[
    version_line(
        "{} (GNU coreutils) 9.1",
        &[
            "[",
            "arch",
            "b2sum",
            "base32",
            "base64",
            "basename",
            "basenc",
            "cat",
            "chgrp",
            "chmod",
            "chown",
            "cksum",
            "comm",
            "cp",
            "csplit",
            "cut",
            "date",
            "dd",
            "df",
            "dir",
            "dircolors",
            "dirname",
            "du",
            "echo",
            "env",
            "expand",
            "expr",
            "factor",
            "false",
            "fmt",
            "fold",
            "groups",
            "head",
            "hostid",
            "id",
            "install",
            "join",
            "link",
            "ln",
            "logname",
            "ls",
            "md5sum",
            "mkdir",
            "mkfifo",
            "mknod",
            "mktemp",
            "mv",
            "nice",
            "nl",
            "nohup",
            "nproc",
            "numfmt",
            "od",
            "paste",
            "pathchk",
            "pr",
            "printenv",
            "printf",
            "ptx",
            "pwd",
            "readlink",
            "realpath",
            "rm",
            "rmdir",
            "seq",
            "sha1sum",
            "sha224sum",
            "sha256sum",
            "sha384sum",
            "sha512sum",
            "shred",
            "shuf",
            "sleep",
            "sort",
            "split",
            "stat",
            "stdbuf",
            "stty",
            "sum",
            "sync",
            "tac",
            "tail",
            "tee",
            "test",
            "timeout",
            "touch",
            "tr",
            "true",
            "truncate",
            "tsort",
            "tty",
            "uname",
            "unexpand",
            "uniq",
            "unlink",
            "users",
            "vdir",
            "wc",
            "who",
            "whoami",
            "yes",
        ],
    ),
    version_line("sed (GNU sed) 4.9", &["sed"]),
    version_line("grep (GNU grep) 3.8", &["egrep", "fgrep", "grep", "rgrep"]),
    version_line("GNU Awk 5.2.1", &["awk", "gawk", "mawk", "nawk"]),
    version_line("{} (GNU findutils) 4.9.0", &["find", "xargs"]),
    version_line("fd 10.5.0", &["fd", "fdfind"]),
    version_line("{} (GNU diffutils) 3.8", &["cmp", "diff", "diff3"]),
    version_line("GNU patch 2.7.6", &["patch"]),
    version_line("tar (GNU tar) 1.34", &["tar"]),
    version_line("cpio (GNU cpio) 2.13", &["cpio"]),
    version_line("gzip 1.12", &["gzip"]),
    version_line("{} (gzip) 1.12", &["gunzip", "zcat"]),
    version_line(
        "bzip2, a block-sorting file compressor.  Version 1.0.8",
        &["bunzip2", "bzcat", "bzip2"],
    ),
    version_line("xz (XZ Utils) 5.4.1", &["unxz", "xz", "xzcat"]),
    version_line("Zstandard CLI v1.5.4", &["unzstd", "zstd", "zstdcat"]),
    version_line("Zip 3.0", &["zip"]),
    version_line("UnZip 6.00", &["unzip"]),
    version_line("ZipInfo 3.00", &["zipinfo"]),
    version_line("bc 1.07.1", &["bc"]),
    version_line("dc (GNU bc 1.07.1) 1.4.1", &["dc"]),
    version_line("GNU ed 1.19", &["ed"]),
    version_line("jq-1.8.1", &["jq"]),
    version_line("envsubst (GNU gettext-runtime) 0.21", &["envsubst"]),
    version_line("{} (GNU libc) 2.36", &["getconf", "getent", "iconv", "locale"]),
    version_line("GNU strings (GNU Binutils) 2.40", &["strings"]),
    version_line("time (GNU Time) 1.9", &["time"]),
    version_line(
        "{} from util-linux 2.38.1",
        &[
            "column", "flock", "getopt", "hd", "hexdump", "look", "mount", "rename", "rev",
            "script", "setsid", "su", "uuidgen",
        ],
    ),
    version_line(
        "{} from procps-ng 4.0.2",
        &["free", "kill", "pgrep", "pkill", "ps", "top", "uptime", "w", "watch"],
    ),
    version_line("{} (PSmisc) 23.6", &["killall"]),
    version_line("file-5.44", &["file"]),
    version_line("hostname 3.23", &["hostname"]),
    version_line("{} 2.11.2", &["apropos", "man", "whatis"]),
    version_line("6.04", &["shasum"]),
    version_line("{} (GNU sharutils) 4.15.2", &["uudecode", "uuencode"]),
    version_line("Sudo version 1.9.13p3", &["sudo"]),
    version_line("apt 2.6.1 (wasm32)", &["apt", "apt-cache", "apt-get"]),
    version_line("dpkg 1.21.22 (wasm32)", &["dpkg"]),
    version_line("{} 7.4.3 (2022-06-05)", &["dos2unix", "unix2dos"]),
    version_line("{} (moreutils) 0.67", &["sponge", "ts"]),
    version_line("pv 1.6.20", &["pv"]),
    version_line("GNU {} 20221122", &["parallel"]),
    version_line("{} (PSmisc) 23.6", &["pstree"]),
    version_line("{} from iputils 20221126", &["ping"]),
    version_line("{} utility, iproute2-6.1.0", &["ip", "ss"]),
    version_line("net-tools 2.10", &["ifconfig", "netstat"]),
    version_line("lsof 4.95.0", &["lsof"]),
    version_line("{} 9.18", &["dig", "host", "nslookup"]),
    version_line("{}  version 3.2.7  protocol version 31", &["rsync"]),
    version_line("tree v2.1.0", &["tree"]),
    version_line("xxd 2022-01-14", &["xxd"]),
];

/// Returns the text of a tool's `--version`: the version of the original that it follows, and its
/// own version.
pub fn version_text(tool: &str) -> String {
    let own = env!("CARGO_PKG_VERSION");
    match first_line(tool) {
        // Programs compare the whole output of these two.
        Some(line) if matches!(tool, "jq" | "getopt") => format!("{line}\n"),
        Some(line) => {
            format!(
                "{line}\nWasibox {own}: a program of its own that behaves as this version does.\n"
            )
        }
        None => format!("{tool} (Wasibox) {own}\n"),
    }
}

/// Returns the first line of the original's `--version`; `None` for a tool that follows no other.
pub fn first_line(tool: &str) -> Option<String> {
    let package = PACKAGES.iter().find(|p| p.tools.contains(&tool))?;
    Some(package.line.replace("{}", tool))
}

/// Returns the tools of each package that has one version.
pub fn tool_groups() -> impl Iterator<Item = &'static [&'static str]> {
    PACKAGES.iter().map(|p| p.tools)
}

/// Returns the names in the table.
pub fn known_tools() -> impl Iterator<Item = &'static str> {
    PACKAGES.iter().flat_map(|p| p.tools.iter().copied())
}
