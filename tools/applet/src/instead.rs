//! Replacements for commands that do not exist. The shell adds them to `command not found`, because
//! a user who knows only common systems (mostly a model) would otherwise try more names that do not
//! exist either.
//!
//! A test of `tools/box` checks the list: no name in it is a program of the image, and all programs
//! that a text refers to are. So a command that is added to the image must be removed from the
//! list.

use crate::AppletTable;

/// A command that does not exist.
#[derive(Clone, Copy, Debug)]
pub struct CommandAdvice {
    pub names: &'static [&'static str],
    /// Programs of the image that the text refers to.
    pub programs: &'static [&'static str],
    /// One line, which is printed after `NAME: `.
    pub text: &'static str,
}

const fn instead_line(
    names: &'static [&'static str],
    programs: &'static [&'static str],
    text: &'static str,
) -> CommandAdvice {
    CommandAdvice { names, programs, text }
}

/// The whole list; each name occurs once.
pub const LIST: &[CommandAdvice] = &[
    // Programs that an image may lack: git and make with `cargo xtask dist --without-copyleft`.
    instead_line(
        &["git"],
        &["cp", "diff", "patch"],
        "not in this image; use cp -a for copies, diff -ruN OLD NEW for changes, patch -p1 to apply them",
    ),
    instead_line(
        &["make", "gmake"],
        &["bash"],
        "not in this image; run the recipe's commands with bash",
    ),
    instead_line(
        &["rg"],
        &["grep"],
        "not in this image; use grep -rn PATTERN DIR (-E, -P, --include=GLOB)",
    ),
    instead_line(
        &["sqlite3"],
        &["python3"],
        "not in this image; use python3 -m sqlite3 FILE 'SQL'",
    ),
    instead_line(&["lua", "lua5.4"], &["python3", "awk"], "not in this image; use python3 or awk"),
    instead_line(&["hg", "svn", "cvs"], &[], "use git, where the image has it"),
    instead_line(&["aria2c", "http"], &["curl"], "use curl, for what the sandbox's policy allows"),
    instead_line(
        &["ssh", "scp", "sftp", "ftp", "traceroute", "tracepath", "mtr", "nmap", "route", "arp"],
        &["curl"],
        "no network here but requests by curl, as the sandbox's policy allows, and the session's own loopback",
    ),
    instead_line(
        &["telnet", "ncat", "netcat", "socat"],
        &["nc"],
        "use nc, for the session's own loopback",
    ),
    instead_line(
        &["cmake", "ninja", "meson"],
        &["bash"],
        "use make, where the image has it, or bash; there are no compilers here",
    ),
    instead_line(
        &[
            "gcc", "cc", "g++", "c++", "clang", "ld", "as", "rustc", "cargo", "go", "javac",
            "java", "dotnet", "ghc",
        ],
        &["python3", "awk", "bash"],
        "no compilers here; python3, awk and bash are",
    ),
    instead_line(&["perl"], &["sed", "awk", "python3"], "use sed -E, awk or python3"),
    instead_line(
        &["ruby", "php", "Rscript", "tclsh", "julia"],
        &["python3", "awk"],
        "use python3 or awk",
    ),
    instead_line(&["nodejs"], &["node"], "use node"),
    instead_line(
        &["yarn", "pnpm", "bun", "bunx", "deno", "corepack"],
        &["node", "npm", "npx"],
        "use npm install, npm run SCRIPT, npx COMMAND or node FILE, which takes TypeScript, too",
    ),
    instead_line(&["python2", "python2.7", "py", "ipython"], &["python3"], "use python3"),
    instead_line(
        &["uv", "pipx", "poetry", "conda", "mamba", "micromamba", "pipenv", "pyenv", "virtualenv"],
        &["python3"],
        "use python3 -m pip install NAME, for packages without native code",
    ),
    instead_line(
        &["sqlite"],
        &["python3"],
        "use sqlite3, where the image has it, or python3 -m sqlite3 FILE 'SQL'",
    ),
    instead_line(
        &["psql", "mysql", "mongosh", "redis-cli"],
        &["python3"],
        "no database servers here; python3 -m sqlite3 FILE 'SQL' has one in a file",
    ),
    instead_line(
        &["ag", "ack"],
        &["grep"],
        "use rg, where the image has it, or grep -rn PATTERN DIR (-E, -P, --include=GLOB)",
    ),
    instead_line(&["fd", "fdfind", "locate"], &["find"], "use find DIR -name PATTERN"),
    instead_line(&["bat", "batcat"], &["cat"], "use cat -n"),
    instead_line(&["exa", "eza", "lsd"], &["ls"], "use ls -l"),
    instead_line(&["fzf"], &["grep"], "no terminal here; use grep"),
    instead_line(&["sd"], &["sed"], "use sed -i 's/OLD/NEW/g' FILE"),
    instead_line(
        &["vi", "vim", "nvim", "nano", "emacs", "pico", "code", "view", "vimdiff", "mcedit"],
        &["sed", "ed", "cat"],
        "no full-screen editors here; use sed -i, ed -s, or cat > FILE <<'EOF'",
    ),
    instead_line(
        &["aptitude", "rpm", "pacman", "zypper", "snap", "flatpak", "nix", "nix-env"],
        &["apt-get"],
        "nothing can be installed; apt-get install NAME says what is built in or serves instead",
    ),
    instead_line(&["su", "doas"], &["sudo"], "there is one user here; use sudo or no prefix"),
    instead_line(&["useradd", "adduser", "passwd", "usermod"], &[], "there is one user here"),
    instead_line(
        &[
            "docker",
            "docker-compose",
            "podman",
            "kubectl",
            "helm",
            "minikube",
            "vagrant",
            "terraform",
            "ansible",
            "ansible-playbook",
        ],
        &[],
        "no containers and no other machines here; run the program itself",
    ),
    instead_line(
        &["systemctl", "service", "journalctl", "initctl", "supervisorctl", "nginx", "apache2"],
        &["python3"],
        "no services here; run a server itself with & (python3 -m http.server, for example)",
    ),
    instead_line(
        &["crontab", "at", "batch"],
        &["watch", "sleep"],
        "no schedules here; use watch, or sleep in a loop, within one call",
    ),
    instead_line(
        &["aws", "gcloud", "az", "gh", "glab", "heroku", "vercel"],
        &["curl"],
        "no client here; use curl on the service's API, for what the sandbox's policy allows",
    ),
    instead_line(
        &["openssl", "gpg"],
        &["sha256sum", "base64", "python3"],
        "use sha256sum and base64, or python3 with hashlib, hmac and secrets",
    ),
    instead_line(&["screen", "tmux", "expect"], &[], "no terminal here; run the command itself"),
    instead_line(&["info", "tldr"], &["man"], "use man NAME"),
    instead_line(&["whereis"], &["which"], "use which"),
    instead_line(&["top", "htop", "btop", "pidof"], &["ps", "pgrep"], "use ps aux, or pgrep NAME"),
    instead_line(
        &["strace", "ltrace", "gdb", "dmesg", "mount", "umount"],
        &[],
        "the system behind the sandbox is not to be seen; /proc has some of it",
    ),
    instead_line(&["yq"], &["python3"], "use python3 -c 'import yaml, sys; ...'"),
    instead_line(&["xmllint", "xmlstarlet"], &["python3"], "use python3 with xml.etree"),
    instead_line(
        &["7z", "7za", "rar", "unrar", "lz4"],
        &["tar", "gzip", "xz", "zstd"],
        "use tar, gzip, xz or zstd",
    ),
    instead_line(&["md5"], &["md5sum"], "use md5sum"),
    instead_line(&["gsed"], &["sed"], "use sed, which is like GNU's"),
    instead_line(&["ggrep"], &["grep"], "use grep, which is like GNU's"),
    instead_line(&["gtar", "bsdtar"], &["tar"], "use tar"),
    instead_line(
        &["zsh", "ksh", "dash", "ash", "fish", "csh", "tcsh", "pwsh"],
        &["bash"],
        "use bash",
    ),
    instead_line(&["sdiff"], &["diff"], "use diff -y"),
    instead_line(
        &["csvkit", "csvcut", "mlr", "xsv", "qsv"],
        &["awk", "python3"],
        "use awk -F, or python3 with csv or pandas",
    ),
];

/// Returns the advice about a command that was not found, if there is any.
pub fn find_instead(name: &[u8], table: &AppletTable) -> Option<&'static str> {
    let known = LIST.iter().find(|i| i.names.iter().any(|n| n.as_bytes() == name))?;
    (!table.is_program(name)).then_some(known.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_listed_and_missing() {
        const EMPTY: AppletTable = AppletTable::new(&[], &[]);
        assert!(find_instead(b"ag", &EMPTY).is_some_and(|t| t.contains("or grep -rn")));
        assert_eq!(find_instead(b"nosuchcommand", &EMPTY), None);
        assert_eq!(find_instead(b"ag", &AppletTable::new(&[], &[("ag", "")])), None);
    }

    #[test]
    fn each_name_once_each_text_one_line() {
        let mut names: Vec<_> = LIST.iter().flat_map(|i| i.names).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        for i in LIST {
            assert!(
                !i.text.contains('\n') && !i.text.ends_with('.') && i.text.len() < 130,
                "{i:?}"
            );
        }
    }
}
