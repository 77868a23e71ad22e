//! The list of replacements for commands that do not exist.

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
        &[
            "ssh",
            "scp",
            "sftp",
            "ftp",
            "traceroute",
            "tracepath",
            "mtr",
            "nmap",
            "route",
            "arp",
            "ssh-keygen",
            "ssh-add",
            "ssh-agent",
            "ssh-copy-id",
            "lftp",
        ],
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
            "java", "jar", "kotlinc", "dotnet", "ghc", "rustup", "tcc", "zig",
        ],
        &["python3", "awk", "bash"],
        "no compilers here; python3, awk and bash are",
    ),
    instead_line(
        &["mvn", "mvnw", "gradle", "gradlew", "ant", "sbt"],
        &[],
        "no Java here, and nothing that builds it",
    ),
    instead_line(&["perl"], &["sed", "awk", "python3"], "use sed -E, awk or python3"),
    instead_line(
        &["ruby", "php", "R", "Rscript", "tclsh", "julia", "octave"],
        &["python3", "awk"],
        "use python3 or awk",
    ),
    instead_line(&["nodejs"], &["node"], "use node"),
    instead_line(
        &["yarn", "pnpm", "bun", "bunx", "deno", "corepack"],
        &["node", "npm", "npx"],
        "use npm install, npm run SCRIPT, npx COMMAND or node FILE, which takes TypeScript, too",
    ),
    instead_line(
        &[
            "tsc", "eslint", "prettier", "jest", "vitest", "mocha", "vite", "webpack", "rollup",
            "esbuild", "next", "ng", "vue",
        ],
        &["npm", "npx"],
        "comes with a package of Node: npm install PACKAGE, then npx COMMAND, where the policy allows it",
    ),
    instead_line(&["python2", "python2.7", "py", "ipython"], &["python3"], "use python3"),
    instead_line(
        &[
            "python3.6",
            "python3.7",
            "python3.8",
            "python3.9",
            "python3.10",
            "python3.11",
            "python3.12",
            "python3.14",
        ],
        &["python3"],
        "use python3, which is Python 3.13",
    ),
    instead_line(
        &["pip2", "pip3.9", "pip3.10", "pip3.11", "pip3.12", "pip3.14", "easy_install"],
        &["python3"],
        "use python3 -m pip",
    ),
    instead_line(
        &[
            "pylint",
            "pyreverse",
            "flake8",
            "black",
            "isort",
            "mypy",
            "tox",
            "nox",
            "coverage",
            "pre-commit",
            "sphinx-build",
            "sphinx-quickstart",
            "django-admin",
            "cookiecutter",
            "twine",
        ],
        &["python3"],
        "comes with a package of Python: python3 -m pip install PACKAGE, where the policy allows it",
    ),
    instead_line(
        &["jupyter", "jupyter-lab", "jupyter-notebook", "nbconvert"],
        &["python3"],
        "no notebooks here; run the code with python3",
    ),
    instead_line(
        &["pipx", "poetry", "conda", "mamba", "micromamba", "pipenv", "pyenv", "virtualenv"],
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
    instead_line(&["locate"], &["find"], "use find DIR -name PATTERN"),
    instead_line(&["bat", "batcat"], &["cat"], "use cat -n"),
    instead_line(&["exa", "eza", "lsd"], &["ls"], "use ls -l"),
    instead_line(&["fzf"], &["grep"], "no terminal here; use grep"),
    instead_line(&["sd"], &["sed"], "use sed -i 's/OLD/NEW/g' FILE"),
    instead_line(
        &["vi", "vim", "nvim", "nano", "emacs", "pico", "code", "view", "vimdiff", "mcedit"],
        &["sed", "ed", "cat"],
        "use sed -i, ed -s, or cat > FILE <<'EOF'; on a terminal vim, where the image has it",
    ),
    instead_line(
        &[
            "aptitude",
            "add-apt-repository",
            "rpm",
            "pacman",
            "zypper",
            "snap",
            "flatpak",
            "nix",
            "nix-env",
        ],
        &["apt-get"],
        "nothing can be installed; apt-get install NAME says what is built in or serves instead",
    ),
    instead_line(&["doas"], &["sudo"], "there is one user here; use sudo or no prefix"),
    instead_line(
        &["useradd", "adduser", "userdel", "groupadd", "passwd", "usermod"],
        &[],
        "there is one user here",
    ),
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
        &["gpg"],
        &["sha256sum", "base64", "python3"],
        "use sha256sum and base64, or python3 with hashlib, hmac and secrets",
    ),
    instead_line(&["finger"], &["who", "getent"], "use who, or getent passwd"),
    instead_line(&["compress", "uncompress"], &["gzip"], "use gzip"),
    instead_line(&["mail", "mailx", "sendmail", "mutt"], &[], "no mail here"),
    instead_line(
        &["ffmpeg", "ffprobe", "sox", "mplayer", "vlc", "yt-dlp", "youtube-dl"],
        &[],
        "nothing for sound or video here",
    ),
    instead_line(
        &["convert", "mogrify", "magick", "identify"],
        &["python3"],
        "use python3 with PIL (Pillow)",
    ),
    instead_line(
        &["pbcopy", "pbpaste", "xclip", "xsel", "open", "xdg-open"],
        &[],
        "no desktop here; use a file",
    ),
    instead_line(
        &["pdftotext", "pdfinfo", "pdftoppm", "qpdf", "pdftk"],
        &["python3"],
        "use python3 with pypdf",
    ),
    instead_line(&["markdown", "pandoc"], &["python3"], "use python3 -m markdown FILE"),
    instead_line(
        &["html2text", "lynx", "w3m", "links", "elinks"],
        &["curl", "python3"],
        "use curl, and python3 with lxml.html for the text of a page",
    ),
    instead_line(&["m4", "cpp"], &["sed", "awk", "python3"], "use sed, awk or python3"),
    instead_line(&["screen", "tmux", "expect"], &[], "no terminal here; run the command itself"),
    instead_line(&["info", "tldr"], &["man"], "use man NAME"),
    instead_line(&["whereis"], &["which"], "use which"),
    instead_line(&["htop", "btop", "atop"], &["top"], "use top, or ps aux"),
    instead_line(&["pidof"], &["pgrep"], "use pgrep NAME"),
    instead_line(
        &[
            "strace", "ltrace", "gdb", "dmesg", "umount", "lsblk", "fdisk", "blkid", "lsmod",
            "modprobe", "sysctl", "iptables", "ufw",
        ],
        &[],
        "the system behind the sandbox is not to be seen; /proc has some of it",
    ),
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
        &["csvkit", "csvcut", "csvlook", "csvstat", "mlr", "xan", "xsv", "qsv"],
        &["awk", "python3"],
        "use awk -F, or python3 with csv or pandas",
    ),
];

/// Returns the line about a command, which the caller knows not to exist.
pub fn find_advice(name: &[u8]) -> Option<&'static CommandAdvice> {
    LIST.iter().find(|i| i.names.iter().any(|n| n.as_bytes() == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_listed() {
        assert!(find_advice(b"ag").is_some_and(|line| line.text.contains("or grep -rn")));
        assert!(find_advice(b"nosuchcommand").is_none());
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
