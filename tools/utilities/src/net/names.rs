//! `dig`, `host` and `nslookup` (BIND 9.18): names of `/etc/hosts` and `localhost`. There is no name
//! server, so other names have no answer.

use std::io::Write;
use std::net::IpAddr;

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::net;

/// The sentence about names without an answer.
const NO_SERVER: &str = "there is no name server here, only /etc/hosts; curl finds the hosts that \
        the sandbox's policy allows";

/// The record types that names have here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordType {
    A,
    Aaaa,
    Any,
    /// A name for an address.
    Ptr,
    /// A type of which there are no records.
    Other,
}

impl RecordType {
    fn parse(word: &str) -> Option<RecordType> {
        const OTHERS: &[&str] =
            &["ns", "mx", "txt", "soa", "cname", "srv", "caa", "ds", "dnskey", "https", "svcb"];
        Some(match word.to_ascii_lowercase().as_str() {
            "a" => RecordType::A,
            "aaaa" => RecordType::Aaaa,
            "any" => RecordType::Any,
            "ptr" => RecordType::Ptr,
            other if OTHERS.contains(&other) => RecordType::Other,
            _ => return None,
        })
    }

    fn includes(self, address: &IpAddr) -> bool {
        match self {
            RecordType::A => address.is_ipv4(),
            RecordType::Aaaa => address.is_ipv6(),
            RecordType::Any => true,
            RecordType::Ptr | RecordType::Other => false,
        }
    }
}

/// Returns the addresses of a name; `None` if the name is unknown.
fn find_addresses(name: &str) -> Option<Vec<IpAddr>> {
    if name.parse::<IpAddr>().is_ok() {
        return None;
    }
    net::resolve_name(name)
}

/// Returns the first name of an address in `/etc/hosts`.
fn find_name(ctx: &Ctx<'_>, address: IpAddr) -> Option<String> {
    let text = ctx.read_file(b"/etc/hosts").unwrap_or_default();
    let row = |line: &str| {
        let mut words = line.split('#').next()?.split_ascii_whitespace();
        let own: IpAddr = words.next()?.parse().ok()?;
        (own == address).then(|| words.next().map(str::to_string)).flatten()
    };
    let found = String::from_utf8_lossy(&text).lines().find_map(row);
    found.or_else(|| address.is_loopback().then(|| "localhost".to_string()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DigFlag {
    Ignored,
    Reverse,
    Type,
    Version,
}

const DIG: Spec<DigFlag> = Spec::new(
    "[@SERVER] [OPTION]... NAME [TYPE] [+OPTION]...",
    "Print the addresses of NAME. Names of /etc/hosts and localhost are known; there is no name \
        server.",
    &[
        Opt::new(DigFlag::Type, 't', "").with_argument("TYPE", "Look for records of TYPE (A)"),
        Opt::new(DigFlag::Reverse, 'x', "")
            .with_argument("ADDRESS", "Look for the name of ADDRESS"),
        Opt::new(DigFlag::Version, 'v', "").with_help(words::VERSION),
        Opt::new(DigFlag::Ignored, '4', "").with_help(words::IGNORED),
        Opt::new(DigFlag::Ignored, '6', "").with_help(words::SAME),
    ],
)
.with_footer("+short prints the addresses only; other words with + are accepted, without effect.");

/// The status of `dig` if no server answers.
const NO_REPLY: Exit = Exit(9);

pub(crate) fn run_dig(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = DIG.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.has_option(DigFlag::Version) {
        let text = ctx.version();
        return Ok(ctx.print(&text));
    }
    let mut wanted = p
        .last_value(DigFlag::Type)
        .and_then(|t| RecordType::parse(&String::from_utf8_lossy(t)))
        .unwrap_or(RecordType::A);
    let (mut names, mut short) = (Vec::new(), false);
    for word in &p.operands {
        let word = String::from_utf8_lossy(word).into_owned();
        if word.starts_with('+') {
            short |= word == "+short";
        } else if let Some(kind) = RecordType::parse(&word).filter(|_| !names.is_empty()) {
            wanted = kind;
        } else if !word.starts_with('@') && !word.eq_ignore_ascii_case("in") {
            names.push(word);
        }
    }
    if let Some(address) = p.last_value(DigFlag::Reverse) {
        wanted = RecordType::Ptr;
        names = vec![String::from_utf8_lossy(address).into_owned()];
    }
    let mut exit = Exit::SUCCESS;
    for name in &names {
        if !print_records(ctx, name, wanted, short) {
            ctx.print(";; no servers could be reached\n");
            ctx.error(format_args!("{name}: {NO_SERVER}"));
            exit = NO_REPLY;
        }
    }
    Ok(exit)
}

/// Prints the records of a name; returns whether the name is known.
fn print_records(ctx: &mut Ctx<'_>, name: &str, wanted: RecordType, short: bool) -> bool {
    let rows = if wanted == RecordType::Ptr {
        let found = name.parse().ok().and_then(|address| find_name(ctx, address));
        found.map(|f| vec![("PTR", format!("{f}."))])
    } else {
        let row = |a: IpAddr| (if a.is_ipv4() { "A" } else { "AAAA" }, a.to_string());
        find_addresses(name)
            .map(|all| all.into_iter().filter(|a| wanted.includes(a)).map(row).collect())
    };
    let Some(rows) = rows else { return false };
    let mut text = String::new();
    if !short {
        text.push_str(";; from /etc/hosts: there is no name server here\n;; ANSWER SECTION:\n");
    }
    for (kind, value) in rows {
        let full = format!("{}.", name.trim_end_matches('.'));
        if short {
            text.push_str(&format!("{value}\n"));
        } else {
            text.push_str(&format!("{full:<24}0\tIN\t{kind}\t{value}\n"));
        }
    }
    ctx.print(&text);
    true
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HostFlag {
    Ignored,
    IgnoredValue,
    Type,
    Version,
}

const HOST: Spec<HostFlag> = Spec::new(
    "[OPTION]... NAME|ADDRESS [SERVER]",
    "Print the addresses of NAME, or the name of ADDRESS. Names of /etc/hosts and localhost are \
        known; there is no name server.",
    &[
        Opt::new(HostFlag::Type, 't', "").with_argument("TYPE", "Look for records of TYPE"),
        Opt::new(HostFlag::Version, 'V', "").with_help(words::VERSION),
        Opt::new(HostFlag::Ignored, 'a', "").with_help(words::IGNORED),
        Opt::new(HostFlag::Ignored, '4', "").with_help(words::SAME),
        Opt::new(HostFlag::Ignored, '6', ""),
        Opt::new(HostFlag::Ignored, 'v', ""),
        Opt::new(HostFlag::IgnoredValue, 'W', "").with_argument("SECONDS", ""),
    ],
);

pub(crate) fn run_host(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = HOST.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.has_option(HostFlag::Version) {
        let text = ctx.version();
        return Ok(ctx.print(&text));
    }
    let Some(name) = p.operands.first() else {
        let text = HOST.help_text("host");
        let _ = ctx.stderr.write_all(text.as_bytes());
        return Ok(Exit::FAILURE);
    };
    let name = String::from_utf8_lossy(name).into_owned();
    let wanted = match p.last_value(HostFlag::Type) {
        Some(t) => RecordType::parse(&String::from_utf8_lossy(t)).unwrap_or(RecordType::Other),
        None => RecordType::Any,
    };
    let text = match name.parse::<IpAddr>() {
        Ok(address) => {
            find_name(ctx, address).map(|n| format!("{name} domain name pointer {n}.\n"))
        }
        Err(_) => find_addresses(&name).map(|all| host_rows(&name, &all, wanted)),
    };
    match text {
        Some(text) => Ok(ctx.print(&text)),
        None => Ok(report_no_answer(ctx, &name)),
    }
}

fn host_rows(name: &str, all: &[IpAddr], wanted: RecordType) -> String {
    let found: Vec<&IpAddr> = all.iter().filter(|a| wanted.includes(a)).collect();
    if found.is_empty() {
        return format!("{name} has no such record\n");
    }
    let row = |a: &&IpAddr| {
        let kind = if a.is_ipv4() { "address" } else { "IPv6 address" };
        format!("{name} has {kind} {a}\n")
    };
    found.iter().map(row).collect()
}

/// Prints that no server answers, as `host` and `nslookup` do; returns the status.
fn report_no_answer(ctx: &mut Ctx<'_>, name: &str) -> Exit {
    ctx.print(";; connection timed out; no servers could be reached\n");
    ctx.error(format_args!("{name}: {NO_SERVER}"));
    Exit::FAILURE
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NslookupFlag {
    Ignored,
}

const NSLOOKUP: Spec<NslookupFlag> = Spec::new(
    "[OPTION]... NAME|ADDRESS [SERVER]",
    "Print the addresses of NAME, or the name of ADDRESS. Names of /etc/hosts and localhost are \
        known; there is no name server.",
    &[
        Opt::long(NslookupFlag::Ignored, "type").with_argument("TYPE", words::IGNORED),
        Opt::long(NslookupFlag::Ignored, "query").with_argument("TYPE", words::SAME),
    ],
);

pub(crate) fn run_nslookup(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    // Options are words after one dash: -type=mx.
    let is_word = |a: &Vec<u8>| a.len() > 2 && a[0] == b'-' && a[1] != b'-';
    let lengthen = |a: &Vec<u8>| if is_word(a) { [b"-", a.as_slice()].concat() } else { a.clone() };
    let args: Vec<Vec<u8>> = args.iter().map(lengthen).collect();
    let p = NSLOOKUP.parse_or_exit(ctx, &args, Exit::FAILURE)?;
    let Some(name) = p.operands.first() else {
        ctx.error("a name is needed: questions on a terminal do not exist here");
        return Ok(Exit::FAILURE);
    };
    let name = String::from_utf8_lossy(name).into_owned();
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(match find_name(ctx, address) {
            Some(found) => ctx.print(&format!("{name}\tname = {found}.\n")),
            None => report_no_answer(ctx, &name),
        });
    }
    let Some(all) = find_addresses(&name) else { return Ok(report_no_answer(ctx, &name)) };
    let mut text = "Server:\t\t/etc/hosts\n\n".to_string();
    for address in all {
        text.push_str(&format!("Name:\t{name}\nAddress: {address}\n"));
    }
    Ok(ctx.print(&text))
}
