//! The packages of the image. A package is built in if its commands are there; commands that follow
//! one version of an original ([`version`]) are one package.

use std::path::Path;

use box_applet::{Ctx, instead, program, version};

/// Packages that are not named like their command, and a command of each part they stand for. A
/// package without commands has data, which is there.
const NAMED: &[(&str, &[&str])] = &[
    ("apt-transport-https", &[]),
    ("apt-utils", &["apt-get"]),
    ("bash-completion", &["bash"]),
    ("binutils-common", &["strings"]),
    ("bind9-dnsutils", &["dig"]),
    ("bind9-host", &["host"]),
    ("bsdextrautils", &["column", "hexdump"]),
    ("bsdmainutils", &["cal", "column", "hexdump"]),
    ("bsdutils", &["script"]),
    ("bzip2", &["bzip2"]),
    ("ca-certificates", &[]),
    ("coreutils", &["ls"]),
    ("diffutils", &["diff"]),
    ("dnsutils", &["dig", "nslookup"]),
    ("dos2unix", &["dos2unix", "unix2dos"]),
    ("findutils", &["find", "xargs"]),
    ("gawk", &["gawk"]),
    ("gettext-base", &["envsubst"]),
    ("git-core", &["git"]),
    ("grep", &["grep"]),
    ("gzip", &["gzip"]),
    ("iproute", &["ip", "ss"]),
    ("iproute2", &["ip", "ss"]),
    ("iputils-ping", &["ping"]),
    ("libc-bin", &["getconf", "getent", "iconv", "locale"]),
    ("locales", &["locale"]),
    ("man-db", &["man"]),
    ("moreutils", &["sponge", "ts"]),
    ("ncal", &["cal"]),
    ("less", &["less"]),
    ("ncurses-bin", &["tput", "clear", "reset", "infocmp"]),
    ("net-tools", &["ifconfig", "netstat"]),
    ("netcat", &["nc"]),
    ("netcat-openbsd", &["nc"]),
    ("netcat-traditional", &["nc"]),
    ("nodejs", &["node"]),
    ("original-awk", &["awk"]),
    ("procps", &["ps", "pgrep"]),
    ("procps-ng", &["ps", "pgrep"]),
    ("psmisc", &["killall", "pstree"]),
    ("python-is-python3", &["python"]),
    ("python3-full", &["python3"]),
    ("python3-minimal", &["python3"]),
    ("python3-pip", &["python3"]),
    ("python3-venv", &["python3"]),
    ("python3.13", &["python3"]),
    ("ripgrep", &["rg"]),
    ("fd-find", &["fd"]),
    ("sharutils", &["uuencode"]),
    ("software-properties-common", &[]),
    ("tzdata", &[]),
    ("util-linux", &["flock"]),
    ("uuid-runtime", &["uuidgen"]),
    ("vim-common", &["xxd"]),
    ("xz", &["xz"]),
    ("xz-utils", &["xz"]),
    ("zstd", &["zstd"]),
];

/// Packages that are missing and the command that users want of them, for its hint.
const WANTED: &[(&str, &str)] = &[
    ("build-essential", "gcc"),
    ("default-jdk", "javac"),
    ("default-jre", "java"),
    ("docker-ce", "docker"),
    ("docker.io", "docker"),
    ("golang", "go"),
    ("golang-go", "go"),
    ("gnupg", "gpg"),
    ("libxml2-utils", "xmllint"),
    ("mariadb-client", "mysql"),
    ("mariadb-server", "mysql"),
    ("mysql-client", "mysql"),
    ("mysql-server", "mysql"),
    ("openssh-client", "ssh"),
    ("openssh-server", "ssh"),
    ("p7zip", "7z"),
    ("p7zip-full", "7z"),
    ("postgresql", "psql"),
    ("postgresql-client", "psql"),
    ("python2", "python2"),
    ("python3-dev", "gcc"),
    ("redis", "redis-cli"),
    ("redis-server", "redis-cli"),
    ("ripgrep", "rg"),
    ("ruby-full", "ruby"),
    ("silversearcher-ag", "ag"),
];

/// Commands that belong to no package of a distribution.
const OWN: &[&str] = &["kv", "replace", "tool"];

/// A package that is built in.
pub(super) struct Package {
    pub name: String,
    pub version: String,
    pub commands: Vec<&'static str>,
    pub summary: String,
}

/// Returns whether a command is there: in the table, or as a program in PATH, because images differ
/// in their programs.
fn has_command(ctx: &Ctx<'_>, name: &str) -> bool {
    let search = ctx.env.get(b"PATH").unwrap_or(program::DEFAULT_PATH);
    ctx.table.is_program(name.as_bytes())
        || program::find_program(name.as_bytes(), search, &ctx.cwd, ctx.table).is_some()
}

/// Returns a package's name without version, release and architecture: `git` for `git=1:2.39`,
/// `git/stable` and `git:amd64`.
pub(super) fn plain_name(word: &[u8]) -> String {
    let end = word.iter().position(|c| matches!(c, b'=' | b'/' | b':')).unwrap_or(word.len());
    String::from_utf8_lossy(&word[..end]).into_owned()
}

/// Returns whether a package is built in.
pub(super) fn is_built_in(ctx: &Ctx<'_>, name: &str) -> bool {
    if let Some((_, commands)) = NAMED.iter().find(|(package, _)| *package == name) {
        return commands.iter().all(|c| has_command(ctx, c));
    }
    if OWN.contains(&name) || name.is_empty() {
        return false;
    }
    has_command(ctx, name) || python_module(name).is_some_and(has_module)
}

/// Returns the Python package that a package of a distribution holds: `requests` for
/// `python3-requests`.
fn python_module(name: &str) -> Option<&str> {
    name.strip_prefix("python3-").or(name.strip_prefix("python-")).filter(|m| !m.is_empty())
}

/// Returns whether Python's library of the image has a package.
fn has_module(module: &str) -> bool {
    let file = module.replace('-', "_");
    let Ok(library) = std::fs::read_dir("/usr/lib") else { return false };
    let versions = library.flatten().map(|e| e.path());
    let is_python = |p: &std::path::PathBuf| p.to_string_lossy().contains("/python3.");
    versions.filter(is_python).any(|dir| has_module_in(&dir.join("site-packages"), &file))
}

fn has_module_in(dir: &Path, file: &str) -> bool {
    [file.to_string(), file.to_lowercase()].iter().any(|f| dir.join(f).is_dir())
}

/// Returns the replacement for a missing package.
pub(super) fn find_advice(ctx: &Ctx<'_>, name: &str) -> String {
    let wanted = WANTED.iter().find(|(p, _)| *p == name).map_or(name, |(_, command)| *command);
    let stem = wanted.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let hint = [wanted, stem]
        .iter()
        .find_map(|command| instead::find_instead(command.as_bytes(), ctx.table));
    if let Some(text) = hint {
        return text.to_string();
    }
    if wanted.starts_with("openjdk") {
        return instead::find_instead(b"java", ctx.table).unwrap_or_default().to_string();
    }
    if let Some(module) = python_module(name) {
        return format!("use python3 -m pip install {module}, where the policy allows it");
    }
    if name.starts_with("lib") || name.ends_with("-dev") {
        return "no compilers here, so libraries for them would have no use".to_string();
    }
    "nothing can be installed here; ls /bin shows the commands there are".to_string()
}

/// Returns all packages that are built in, sorted by name.
pub(super) fn list_packages(ctx: &Ctx<'_>) -> Vec<Package> {
    let mut list: Vec<Package> = Vec::new();
    for group in version::tool_groups() {
        let named = NAMED
            .iter()
            .find(|(_, parts)| parts.first().is_some_and(|first| group.contains(first)));
        let own = group.iter().find(|t| group.len() == 1 || is_group_name(t, group));
        let Some(first) = group.first() else { continue };
        let name = named.map_or(*own.unwrap_or(first), |(name, _)| *name);
        let member = if group.contains(&name) { name } else { *first };
        list.push(make_package(ctx, name, member, group.to_vec()));
    }
    let grouped = |name: &str| version::first_line(name).is_some() || OWN.contains(&name);
    let applets = ctx.table.applets().iter().map(|a| a.name);
    let programs = ctx.table.programs().iter().map(|(name, _)| *name);
    for name in applets.chain(programs).filter(|name| !grouped(name)) {
        list.push(make_package(ctx, name, name, vec![name]));
    }
    list.sort_by(|a, b| a.name.cmp(&b.name));
    list.dedup_by(|a, b| a.name == b.name);
    list
}

/// Returns whether the other tools of a group are variants of this one, as `egrep` is of `grep`.
fn is_group_name(tool: &str, group: &[&str]) -> bool {
    group.iter().all(|other| other.contains(tool))
}

fn make_package(
    ctx: &Ctx<'_>,
    name: &str,
    member: &'static str,
    commands: Vec<&'static str>,
) -> Package {
    let line = version::first_line(member).unwrap_or_default();
    let number = line.split(|c: char| c.is_whitespace() || c == '-').rev().find_map(|word| {
        let word = word.trim_start_matches('v');
        word.starts_with(|c: char| c.is_ascii_digit()).then_some(word)
    });
    let program = ctx.table.programs().iter().find(|(p, _)| *p == member).map(|(_, s)| *s);
    let applet = ctx.table.find(member.as_bytes()).map(|a| a.summary);
    let summary = if commands.len() > 1 && !commands.contains(&name) {
        format!("{} commands, among them {}", commands.len(), commands[commands.len() - 1])
    } else {
        applet.or(program).unwrap_or_default().to_string()
    };
    Package {
        name: name.to_string(),
        version: number.unwrap_or(env!("CARGO_PKG_VERSION")).to_string(),
        commands,
        summary,
    }
}

/// Returns the built-in package with this name, for lists; also under a name that another
/// distribution has.
pub(super) fn find_package(ctx: &Ctx<'_>, name: &str) -> Option<Package> {
    if let Some(package) = list_packages(ctx).into_iter().find(|p| p.name == name) {
        return Some(package);
    }
    if !is_built_in(ctx, name) {
        return None;
    }
    let parts = NAMED.iter().find(|(p, _)| *p == name).map(|(_, parts)| *parts);
    let known = ctx.table.find(name.as_bytes()).map(|a| a.name);
    let member = parts.and_then(|p| p.first().copied()).or(known).unwrap_or_default();
    let commands = parts.map_or_else(|| known.into_iter().collect(), <[_]>::to_vec);
    Some(make_package(ctx, name, member, commands))
}
