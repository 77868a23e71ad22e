//! The help pages of adapted tools. They have our own wording, because much of the libraries' help
//! text is GNU's.
//!
//! A test checks that the pages list all options that the libraries declare.

use box_applet::help::{HelpPage, HelpSection, words};

/// Returns the page of a tool. A tool without a page fails the tests.
pub(super) fn find_page(util: &str) -> Option<&'static HelpPage<'static>> {
    PAGES.iter().find(|(name, _)| *name == util).map(|(_, page)| page)
}

/// The options of `md5sum` and the `sha*sum` tools.
const DIGEST_OPTIONS: &[(&str, &str)] = &[
    ("  -c, --check", "Read digests and names from the FILEs, and compare"),
    ("  -b, --binary", "Print * before names"),
    ("  -t, --text", "Print a space before names (default)"),
    ("      --tag", "Print lines as BSD does: MD5 (FILE) = ..."),
    ("  -z, --zero", "End lines with a NUL byte, and do not escape names"),
    ("      --ignore-missing", "With -c: skip files that are not there"),
    ("      --quiet", "With -c: do not print OK for unchanged files"),
    ("      --status", "With -c: print nothing; only end with a status"),
    ("      --strict", "With -c: fail for lines that are no digests, too"),
    ("  -w, --warn", "With -c: report lines that are no digests"),
];

/// The options of `b2sum`.
const B2_OPTIONS: &[(&str, &str)] = &[
    ("  -l, --length=BITS", "Print digests of BITS bits, a multiple of 8 (512)"),
    ("  -c, --check", "Read digests and names from the FILEs, and compare"),
    ("  -b, --binary", "Print * before names"),
    ("  -t, --text", "Print a space before names (default)"),
    ("      --tag", "Print lines as BSD does: MD5 (FILE) = ..."),
    ("  -z, --zero", "End lines with a NUL byte, and do not escape names"),
    ("      --ignore-missing", "With -c: skip files that are not there"),
    ("      --quiet", "With -c: do not print OK for unchanged files"),
    ("      --status", "With -c: print nothing; only end with a status"),
    ("      --strict", "With -c: fail for lines that are no digests, too"),
    ("  -w, --warn", "With -c: report lines that are no digests"),
];

/// The options of `base32` and `base64`.
const BASE_OPTIONS: &[(&str, &str)] = &[
    ("  -d, -D, --decode", "Decode instead"),
    ("  -i, --ignore-garbage", "With -d: skip characters outside of the alphabet"),
    ("  -w, --wrap=COLS", "Break lines after COLS characters (76); 0 sets no limit"),
];

/// The pages by name.
static PAGES: &[(&str, HelpPage<'_>)] = &[
    (
        "b2sum",
        HelpPage::new(
            "[OPTION]... [FILE]...",
            "Print or check BLAKE2b digests of files.",
            &[HelpSection::new("Options", B2_OPTIONS)],
        )
        .reads_standard_input()
        .with_examples(&[
            ("b2sum FILE > SUMS", "Write digests"),
            ("b2sum -c SUMS", "Check them later"),
        ]),
    ),
    (
        "base32",
        HelpPage::new(
            "[OPTION]... [FILE]",
            "Encode bytes as base32 text, or decode it.",
            &[HelpSection::new("Options", BASE_OPTIONS)],
        )
        .reads_standard_input()
        .with_examples(&[
            ("printf %s TEXT | base32", "Encode a text"),
            ("base32 -d FILE", "Decode a file"),
        ]),
    ),
    (
        "base64",
        HelpPage::new(
            "[OPTION]... [FILE]",
            "Encode bytes as base64 text, or decode it.",
            &[HelpSection::new("Options", BASE_OPTIONS)],
        )
        .reads_standard_input()
        .with_examples(&[
            ("printf %s TEXT | base64", "Encode a text"),
            ("base64 -d FILE", "Decode a file"),
        ]),
    ),
    (
        "basenc",
        HelpPage::new(
            "[OPTION]... [FILE]",
            "Encode bytes as text in one of several ways, or decode it.",
            &[HelpSection::new(
                "Options",
                &[
                    ("      --base64", "As base64 does"),
                    ("      --base64url", "The same, with - and _ for + and /"),
                    ("      --base32", "As base32 does"),
                    ("      --base32hex", "The same, with the digits 0 to V"),
                    ("      --base16", "Hexadecimal digits"),
                    ("      --base2lsbf", "Bits, the lowest of each byte first"),
                    ("      --base2msbf", "Bits, the highest of each byte first"),
                    ("      --z85", "5 characters for 4 bytes, as ZeroMQ does"),
                    ("      --base58", "Without digits and letters that look alike"),
                    ("  -d, -D, --decode", "Decode instead"),
                    ("  -i, --ignore-garbage", "With -d: skip characters outside of the alphabet"),
                    (
                        "  -w, --wrap=COLS",
                        "Break lines after COLS characters (76); 0 sets no limit",
                    ),
                ],
            )],
        )
        .reads_standard_input(),
    ),
    (
        "cksum",
        HelpPage::new(
            "[OPTION]... [FILE]...",
            "Print or check checksums of files: the CRC of POSIX and the \
        size, or another one.",
            &[HelpSection::new(
                "Options",
                &[
                    (
                        "  -a, --algorithm=NAME",
                        "sysv, bsd, crc (default), crc32b, md5, sha1, sha2, sha3, \
        sha224, sha256, sha384, sha512, blake2b, blake3, sm3, shake128 \
        or shake256",
                    ),
                    ("  -l, --length=BITS", "With blake2b, sha2, sha3: digests of BITS bits"),
                    ("  -c, --check", "Read digests and names from the FILEs, and compare"),
                    ("      --tag", "Print lines as BSD does (default): MD5 (FILE) = ..."),
                    ("      --untagged", "Print lines as md5sum does"),
                    ("      --base64", "Print digests in base64"),
                    ("      --raw", "Print the bytes of the digest"),
                    ("  -z, --zero", "End lines with a NUL byte, and do not escape names"),
                    ("      --ignore-missing", "With -c: skip files that are not there"),
                    ("      --quiet", "With -c: do not print OK for unchanged files"),
                    ("      --status", "With -c: print nothing; only end with a status"),
                    ("      --strict", "With -c: fail for lines that are no digests, too"),
                    ("  -w, --warn", "With -c: report lines that are no digests"),
                    ("      --debug", "Report which processor features are used"),
                ],
            )],
        )
        .reads_standard_input()
        .with_examples(&[("cksum -a sha256 FILE", "One of several algorithms")]),
    ),
    (
        "comm",
        HelpPage::new(
            "[OPTION]... FILE1 FILE2",
            "Compare two sorted files: lines of the first, of the second, \
        and of both, in three columns.",
            &[HelpSection::new(
                "Options",
                &[
                    ("  -1", "Leave out lines of FILE1 alone"),
                    ("  -2", "Leave out lines of FILE2 alone"),
                    ("  -3", "Leave out lines of both"),
                    ("      --output-delimiter=TEXT", "Put TEXT between columns instead of a tab"),
                    ("      --total", "Print the numbers of lines at the end"),
                    ("      --check-order", "Fail if a file is not sorted"),
                    ("      --nocheck-order", "Do not check whether files are sorted"),
                    ("  -z, --zero-terminated", words::NUL_LINES),
                ],
            )],
        )
        .with_notes("Standard input is read for one FILE named -.")
        .with_examples(&[
            ("comm -12 A B", "Lines that both have"),
            ("comm -23 A B", "Lines that only A has"),
        ]),
    ),
    (
        "dircolors",
        HelpPage::new(
            "[OPTION]... [FILE]",
            "Print shell commands that set LS_COLORS, from FILE or the defaults.",
            &[HelpSection::new(
                "Options",
                &[
                    ("  -b, --sh, --bourne-shell", "For sh and bash"),
                    ("  -c, --csh, --c-shell", "For csh"),
                    ("  -p, --print-database", "Print the defaults"),
                    ("      --print-ls-colors", "Print each kind in its color"),
                ],
            )],
        )
        .with_examples(&[("eval \"$(dircolors -b)\"", "Set the variable")]),
    ),
    (
        "expand",
        HelpPage::new(
            "[OPTION]... [FILE]...",
            "Replace tabs by spaces.",
            &[HelpSection::new(
                "Options",
                &[
                    ("  -i, --initial", "Only at the start of lines"),
                    (
                        "  -t, --tabs=N, --tabs=LIST",
                        "Tab stops N apart (8), or at the columns of LIST",
                    ),
                    ("  -U, --no-utf8", "Count bytes as columns (always on)"),
                ],
            )],
        )
        .reads_standard_input(),
    ),
    (
        "factor",
        HelpPage::new(
            "[OPTION]... [NUMBER]...",
            "Print the prime factors of numbers: operands, or words of \
        standard input.",
            &[HelpSection::new("Options", &[("  -h, --exponents", "Print 2^3 instead of 2 2 2")])],
        ),
    ),
    (
        "fold",
        HelpPage::new(
            "[OPTION]... [FILE]...",
            "Break long lines, without joining any.",
            &[HelpSection::new(
                "Options",
                &[
                    ("  -w, --width=N, -N", "Break after N columns (80)"),
                    ("  -s, --spaces", "Break after a space"),
                    ("  -b, --bytes", "Count bytes"),
                    ("  -c, --characters", "Count characters, whatever their width"),
                ],
            )],
        )
        .reads_standard_input(),
    ),
    (
        "join",
        HelpPage::new(
            "[OPTION]... FILE1 FILE2",
            "Join lines of two files, sorted by a field, where the field is \
        equal.",
            &[HelpSection::new(
                "Options",
                &[
                    ("  -1 N, -2 N", "Join on field N of FILE1, of FILE2 (1)"),
                    ("  -j N", "Join on field N of both"),
                    ("  -t CHAR", "Split fields at CHAR instead of blanks"),
                    ("  -o LIST", "Print these fields: 0 (the common one), 1.2, 2.3, ..., or auto"),
                    ("  -e TEXT", "Print TEXT for fields that are missing"),
                    ("  -a 1, -a 2", "Also print lines of that file that have no match"),
                    ("  -v 1, -v 2", "Print only these"),
                    ("  -i, --ignore-case", "Take upper and lower case as equal"),
                    ("      --header", "The first lines are headers"),
                    ("      --check-order", "Fail if a file is not sorted"),
                    ("      --nocheck-order", "Do not check whether files are sorted"),
                    ("  -z, --zero-terminated", words::NUL_LINES),
                ],
            )],
        )
        .with_notes("Standard input is read for one FILE named -.")
        .with_examples(&[("join -t, -1 1 -2 3 A B", "Two CSV files, by fields 1 and 3")]),
    ),
    (
        "md5sum",
        HelpPage::new(
            "[OPTION]... [FILE]...",
            "Print or check MD5 digests of files.",
            &[HelpSection::new("Options", DIGEST_OPTIONS)],
        )
        .reads_standard_input()
        .with_examples(&[
            ("md5sum FILE > SUMS", "Write digests"),
            ("md5sum -c SUMS", "Check them later"),
        ]),
    ),
    (
        "pathchk",
        HelpPage::new(
            "[OPTION]... NAME...",
            "Check whether names can be used for files.",
            &[HelpSection::new(
                "Options",
                &[
                    ("  -p", "Check for what every POSIX system accepts"),
                    ("  -P", "Refuse empty names, and a - at the start"),
                    ("      --portability", "Both"),
                ],
            )],
        ),
    ),
    (
        "sha1sum",
        HelpPage::new(
            "[OPTION]... [FILE]...",
            "Print or check SHA-1 digests of files.",
            &[HelpSection::new("Options", DIGEST_OPTIONS)],
        )
        .reads_standard_input()
        .with_examples(&[
            ("sha1sum FILE > SUMS", "Write digests"),
            ("sha1sum -c SUMS", "Check them later"),
        ]),
    ),
    (
        "sha224sum",
        HelpPage::new(
            "[OPTION]... [FILE]...",
            "Print or check SHA-224 digests of files.",
            &[HelpSection::new("Options", DIGEST_OPTIONS)],
        )
        .reads_standard_input()
        .with_examples(&[
            ("sha224sum FILE > SUMS", "Write digests"),
            ("sha224sum -c SUMS", "Check them later"),
        ]),
    ),
    (
        "sha256sum",
        HelpPage::new(
            "[OPTION]... [FILE]...",
            "Print or check SHA-256 digests of files.",
            &[HelpSection::new("Options", DIGEST_OPTIONS)],
        )
        .reads_standard_input()
        .with_examples(&[
            ("sha256sum FILE > SUMS", "Write digests"),
            ("sha256sum -c SUMS", "Check them later"),
        ]),
    ),
    (
        "sha384sum",
        HelpPage::new(
            "[OPTION]... [FILE]...",
            "Print or check SHA-384 digests of files.",
            &[HelpSection::new("Options", DIGEST_OPTIONS)],
        )
        .reads_standard_input()
        .with_examples(&[
            ("sha384sum FILE > SUMS", "Write digests"),
            ("sha384sum -c SUMS", "Check them later"),
        ]),
    ),
    (
        "sha512sum",
        HelpPage::new(
            "[OPTION]... [FILE]...",
            "Print or check SHA-512 digests of files.",
            &[HelpSection::new("Options", DIGEST_OPTIONS)],
        )
        .reads_standard_input()
        .with_examples(&[
            ("sha512sum FILE > SUMS", "Write digests"),
            ("sha512sum -c SUMS", "Check them later"),
        ]),
    ),
    (
        "shred",
        HelpPage::new(
            "[OPTION]... FILE...",
            "Overwrite a file with random bytes.",
            &[HelpSection::new(
                "Options",
                &[
                    ("  -n, --iterations=N", "Overwrite N times (3)"),
                    ("  -u", "Remove the file, too"),
                    (
                        "      --remove[=HOW]",
                        "The same: unlink, wipe (change its name first) or wipesync (default)",
                    ),
                    ("  -z, --zero", "Finally write zeros"),
                    ("  -s, --size=SIZE", "Overwrite SIZE bytes: 10, 4K, 1M"),
                    ("  -x, --exact", "Do not round up to a whole block"),
                    ("  -f, --force", "Change permissions if they are in the way"),
                    ("  -v, --verbose", "Report each round"),
                    ("      --random-source=FILE", "Take random bytes from FILE"),
                ],
            )],
        )
        .with_notes(
            "Storage below a file system may keep old contents, and so may \
        snapshots of a session.",
        ),
    ),
    (
        "shuf",
        HelpPage::new(
            "[OPTION]... [FILE]\n-e [OPTION]... [ARG]...\n-i LOW-HIGH [OPTION]...",
            "Print lines in random order.",
            &[HelpSection::new(
                "Options",
                &[
                    ("  -n, --head-count=N", "Print at most N of them"),
                    ("  -e, --echo", "Take operands as lines"),
                    ("  -i, --input-range=LOW-HIGH", "Take the numbers from LOW to HIGH"),
                    ("  -r, --repeat", "Print lines repeatedly; with -n, N lines"),
                    ("  -o, --output=FILE", "Write to FILE"),
                    ("      --random-source=FILE", "Take random bytes from FILE"),
                    ("      --random-seed=TEXT", "Give the same order for the same TEXT"),
                    ("  -z, --zero-terminated", words::NUL_LINES),
                ],
            )],
        )
        .reads_standard_input()
        .with_examples(&[("shuf -n 1 FILE", "One line"), ("shuf -i 1-6 -n 1", "Throw a die")]),
    ),
    (
        "sum",
        HelpPage::new(
            "[OPTION]... [FILE]...",
            "Print a 16-bit checksum and the number of blocks.",
            &[HelpSection::new(
                "Options",
                &[
                    ("  -r", "The algorithm of BSD, blocks of 1024 bytes (default)"),
                    ("  -s, --sysv", "The algorithm of System V, blocks of 512 bytes"),
                ],
            )],
        )
        .reads_standard_input(),
    ),
    (
        "tsort",
        HelpPage::new(
            "[OPTION] [FILE]",
            "Sort names so that in each pair of the input the first comes \
        before the second.",
            &[],
        )
        .reads_standard_input()
        .with_examples(&[("printf 'a b\\nb c\\n' | tsort", "Prints a, b, c")]),
    ),
    (
        "unexpand",
        HelpPage::new(
            "[OPTION]... [FILE]...",
            "Replace spaces at the start of lines by tabs.",
            &[HelpSection::new(
                "Options",
                &[
                    ("  -a, --all", "Everywhere, where two or more end at a tab stop"),
                    ("  -f, --first-only", "Only at the start of lines; stronger than -a"),
                    (
                        "  -t, --tabs=N, --tabs=LIST",
                        "Tab stops N apart (8), or at the columns of LIST; implies -a",
                    ),
                    ("  -U, --no-utf8", "Count bytes as columns (always on)"),
                ],
            )],
        )
        .reads_standard_input(),
    ),
];
