//! Adapters of uutils coreutils: each wraps `uumain` of one crate as an applet that runs only as a
//! process.
//!
//! The adapters are declared with [`Applet::globals`], because uutils' tools use `std`'s global
//! streams, environment and directory. The tools' texts live in Fluent resources that are embedded
//! at compile time. They must be set up before `uumain`
//! ([`uucore::locale::setup_localization`]), because otherwise messages are bare keys.
//!
//! | file | contents |
//! |---|---|
//! | `uutils/arguments` | command lines, from GNU's rules to clap's |
//! | `uutils/digests` | mutually exclusive options of the checksum tools |
//! | `uutils/help` | the text of `--help` |
//! | `uutils/numbers` | bounds of the numbers that options take |
//! | `uutils/refusal` | clap's errors, in GNU's words |

mod arguments;
mod digests;
mod help;
mod numbers;
mod refusal;

use std::ffi::OsString;
use std::io::Write;

use box_applet::Applet;
use clap::Command;

use crate::own;
use refusal::UsageRefusal;

/// Returns the options that make a tool behave like GNU's by default.
fn implied_options(util: &str) -> &'static [&'static str] {
    match util {
        // GNU counts columns in bytes.
        "expand" | "unexpand" => &["-U"],
        _ => &[],
    }
}

/// Returns the reason for refusing a call that the library would accept and get wrong.
fn refusal_reason(util: &str, argv: &[OsString]) -> Option<&'static str> {
    match util {
        // The library would lock standard input twice.
        "comm" if argv.iter().filter(|a| *a == "-").count() > 1 => {
            Some("both files cannot be standard input")
        }
        _ => None,
    }
}

/// Returns the text of `--help`.
fn help_text(util: &str) -> String {
    help::find_page(util).map(|page| page.text(util)).unwrap_or_default()
}

/// Runs a tool of uutils and returns its exit status. Localisation, closed pipes and the final
/// flush are handled here for all adapters.
fn run_adapted(
    util: &str,
    argv: Vec<OsString>,
    command: fn() -> Command,
    uumain: fn(std::vec::IntoIter<OsString>) -> i32,
) -> i32 {
    silence_closed_pipes();
    // uucore takes the tool's name for messages from the process's own argv. The name is the
    // second word if the call is `box NAME`.
    let own = |n| std::env::args_os().nth(n).map(std::path::PathBuf::from);
    let is_called = |p: Option<std::path::PathBuf>| {
        p.is_some_and(|p| {
            p.file_name() == argv.first().and_then(|a| std::path::Path::new(a).file_name())
        })
    };
    if !is_called(own(0)) && is_called(own(1)) {
        uucore::set_utility_is_second_arg();
    }
    if let Some(why) = refusal_reason(util, &argv) {
        eprintln!("{util}: {why}");
        return 1;
    }
    uucore::error::set_exit_code(0);
    if let Err(e) = uucore::locale::setup_localization(util) {
        eprintln!("{util}: {e}");
        return 1;
    }
    box_sys::ignore_empty_locale_variables();
    let mut argv = match arguments::rewrite_arguments(util, command(), argv) {
        Ok(argv) => argv,
        Err(UsageRefusal::Value(why)) => {
            eprintln!("{util}: {why}");
            return 1;
        }
        Err(UsageRefusal::Usage(why)) => {
            eprintln!("{util}: {why}\nTry '{util} --help' for more information.");
            return 1;
        }
    };
    // `rewrite_arguments` writes one of these as the first word only if it replaces the tool's
    // work; an operand of the same text comes after `--`.
    let text = match argv.get(1).and_then(|word| word.to_str()) {
        Some("--help") => Some(help_text(util)),
        Some("--version") => Some(box_applet::version::version_text(util)),
        _ => None,
    };
    if let Some(text) = text {
        return i32::from(std::io::stdout().write_all(text.as_bytes()).is_err());
    }
    let at = argv.len().min(1);
    argv.splice(at..at, implied_options(util).iter().map(OsString::from));
    let code = uumain(argv.into_iter());
    match std::io::stdout().flush() {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => 141,
        Err(e) => {
            eprintln!("{util}: write error: {}", box_sys::error_text(&e));
            1
        }
        Ok(()) => code,
    }
}

/// Makes a panic about a closed pipe (`println!` after the reader has gone) end the process
/// silently, with the status that a shell reports for SIGPIPE.
fn silence_closed_pipes() {
    box_sys::events::end_by_closed_pipes();
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.to_string().contains("Broken pipe") || info.to_string().contains("os error 64") {
            std::process::exit(141);
        }
        previous(info);
    }));
}

/// The adapter of `cksum`. A call without options runs our own tool instead.
pub(crate) const CKSUM: Applet = Applet::globals(
    "cksum",
    |argv| run_adapted("cksum", argv, uu_cksum::uu_app, run_cksum),
    "print or check checksums and byte counts",
)
.with_help(|| help_text("cksum"));

fn run_cksum(argv: std::vec::IntoIter<OsString>) -> i32 {
    let files = argv.as_slice().get(1..).unwrap_or_default();
    // If `--` is the first word, there are only operands.
    if let Some((_, files)) = files.split_first().filter(|(first, _)| *first == "--") {
        own::cksum::run(files)
    } else {
        uu_cksum::uumain(argv)
    }
}

macro_rules! adapters {
    ($($konst:ident $krate:ident $util:literal $name:literal $summary:literal;)*) => { $(
        pub(crate) const $konst: Applet = Applet::globals(
            $name,
            |argv| run_adapted($util, argv, $krate::uu_app, $krate::uumain),
            $summary,
        )
        .with_help(|| help_text($util));
    )* };
}

adapters! {
    B2SUM uu_b2sum "b2sum" "b2sum" "print or check BLAKE2b message digests";
    BASE32 uu_base32 "base32" "base32" "encode or decode base32 data";
    BASE64 uu_base64 "base64" "base64" "encode or decode base64 data";
    BASENC uu_basenc "basenc" "basenc" "encode or decode data in several bases";
    COMM uu_comm "comm" "comm" "show what two sorted files have in common";
    DIRCOLORS uu_dircolors "dircolors" "dircolors" "print commands that set LS_COLORS";
    EXPAND uu_expand "expand" "expand" "replace tabs by spaces";
    FACTOR uu_factor "factor" "factor" "print prime factors";
    FOLD uu_fold "fold" "fold" "wrap lines to a width";
    JOIN uu_join "join" "join" "join lines of two files by a field";
    MD5SUM uu_md5sum "md5sum" "md5sum" "print or check MD5 message digests";
    PATHCHK uu_pathchk "pathchk" "pathchk" "check whether names can be used for files";
    SHA1SUM uu_sha1sum "sha1sum" "sha1sum" "print or check SHA1 message digests";
    SHA224SUM uu_sha224sum "sha224sum" "sha224sum" "print or check SHA224 message digests";
    SHA256SUM uu_sha256sum "sha256sum" "sha256sum" "print or check SHA256 message digests";
    SHA384SUM uu_sha384sum "sha384sum" "sha384sum" "print or check SHA384 message digests";
    SHA512SUM uu_sha512sum "sha512sum" "sha512sum" "print or check SHA512 message digests";
    SHRED uu_shred "shred" "shred" "overwrite a file to hide its contents";
    SHUF uu_shuf "shuf" "shuf" "print lines in random order";
    SUM uu_sum "sum" "sum" "print checksum and block count";
    TSORT uu_tsort "tsort" "tsort" "sort topologically";
    UNEXPAND uu_unexpand "unexpand" "unexpand" "replace spaces by tabs";
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::help_text;

    /// Options that duplicate others or have no meaning here.
    const UNLISTED: &[&str] = &["---debug", "---presume-input-tty"];

    /// Returns the options of a tool that its page does not list.
    fn missing_options(util: &str, mut command: Command) -> Vec<String> {
        let mut missing = Vec::new();
        let text = help_text(util);
        let words: Vec<&str> = text.split([' ', ',', '=', '[', '\n']).collect();
        command.build();
        for arg in command.get_arguments().filter(|a| !a.is_positional() && !a.is_hide_set()) {
            let longs = arg.get_long_and_visible_aliases().unwrap_or_default();
            let longs = longs.iter().map(|long| format!("--{long}"));
            let shorts = arg.get_short_and_visible_aliases().unwrap_or_default();
            let shorts = shorts.iter().map(|short| format!("-{short}"));
            let is_common = matches!(arg.get_id().as_str(), "help" | "version");
            for name in longs.chain(shorts).filter(|_| !is_common) {
                if !words.contains(&name.as_str()) && !UNLISTED.contains(&name.as_str()) {
                    missing.push(format!("{util} {name}"));
                }
            }
        }
        missing
    }

    macro_rules! missing_options {
        ($($krate:ident $util:literal;)*) => {
            [$( missing_options($util, $krate::uu_app()) ),*].concat()
        };
    }

    #[test]
    fn pages_list_the_options_of_the_libraries() {
        let missing = missing_options! {
            uu_b2sum "b2sum"; uu_base32 "base32"; uu_base64 "base64"; uu_basenc "basenc";
            uu_cksum "cksum"; uu_comm "comm"; uu_dircolors "dircolors";
            uu_expand "expand"; uu_factor "factor"; uu_fold "fold"; uu_join "join";
            uu_md5sum "md5sum"; uu_pathchk "pathchk";
            uu_sha1sum "sha1sum"; uu_sha224sum "sha224sum"; uu_sha256sum "sha256sum";
            uu_sha384sum "sha384sum"; uu_sha512sum "sha512sum"; uu_shred "shred"; uu_shuf "shuf";
            uu_sum "sum"; uu_tsort "tsort"; uu_unexpand "unexpand";
        };
        assert_eq!(missing, [""; 0]);
    }
}
