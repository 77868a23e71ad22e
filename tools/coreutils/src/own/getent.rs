//! `getent` (glibc): entries of `/etc/passwd`, `/etc/group`, `/etc/hosts` and similar files.
//!
//! Deliberately absent: name services other than files, because there is no network.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

/// An option of `getent`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GetentFlag {
    NoAddrconfig,
    NoIdn,
    Service,
}

const SPEC: Spec<GetentFlag> = Spec::new(
    "[OPTION]... DATABASE [KEY]...",
    "Print entries of a system database.",
    &[
        Opt::new(GetentFlag::NoAddrconfig, 'A', "no-addrconfig").with_help(words::IGNORED),
        Opt::new(GetentFlag::NoIdn, 'i', "no-idn").with_help(words::IGNORED),
        Opt::new(GetentFlag::Service, 's', "service").with_argument("CONFIG", words::IGNORED),
    ],
)
.with_examples(&[("getent passwd root", "The user's entry")])
.with_footer(
    "DATABASE is one of ahosts, ahostsv4, ahostsv6, group, gshadow, hosts, initgroups, \
        networks, passwd, protocols, services, shadow.",
);

const HINT: &str = "Try `getent --help' or `getent --usage' for more information.\n";

/// The status if a key is not found.
const NOT_FOUND: Exit = Exit(2);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit(64))?;
    let Some((database, keys)) = p.operands.split_first() else {
        ctx.error("wrong number of arguments");
        let _ = ctx.stderr.write_all(HINT.as_bytes());
        return Ok(Exit::FAILURE);
    };
    Ok(match database.as_slice() {
        b"passwd" => search_colon_file(ctx, "passwd", keys, Some(2)),
        b"group" => search_colon_file(ctx, "group", keys, Some(2)),
        b"shadow" => search_colon_file(ctx, "shadow", keys, None),
        b"gshadow" => search_colon_file(ctx, "gshadow", keys, None),
        b"hosts" => search_hosts(ctx, keys),
        b"ahosts" => search_addresses(ctx, keys, |_| true),
        b"ahostsv4" => search_addresses(ctx, keys, |a| a.is_ipv4()),
        b"ahostsv6" => search_addresses(ctx, keys, |a| a.is_ipv6()),
        b"services" => search_services(ctx, keys),
        b"protocols" => search_numbered_file(ctx, "protocols", keys),
        b"networks" => search_numbered_file(ctx, "networks", keys),
        b"initgroups" => search_initgroups(ctx, keys),
        other => {
            let shown = String::from_utf8_lossy(other).into_owned();
            let text = format!("Unknown database: {shown}\n{HINT}");
            let _ = ctx.stderr.write_all(text.as_bytes());
            Exit::FAILURE
        }
    })
}

fn read_lines(ctx: &Ctx<'_>, file: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read(ctx.path(format!("/etc/{file}").as_bytes())).unwrap_or_default();
    text.split(|c| *c == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Reads the words of each line, without comments.
fn read_words(ctx: &Ctx<'_>, file: &str) -> Vec<Vec<Vec<u8>>> {
    let words = |l: &Vec<u8>| -> Vec<Vec<u8>> {
        let end = l.iter().position(|c| *c == b'#').unwrap_or(l.len());
        let parts = l[..end].split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        parts.map(<[u8]>::to_vec).collect()
    };
    read_lines(ctx, file).iter().map(words).filter(|w| w.len() > 1).collect()
}

fn print_line(ctx: &mut Ctx<'_>, line: &[u8]) {
    let _ = ctx.stdout.write_all(&[line, b"\n"].concat());
}

/// Prints the result of `find` for each key, or all entries if there are no keys.
fn look_up_keys(
    ctx: &mut Ctx<'_>,
    keys: &[Vec<u8>],
    all: Vec<Vec<u8>>,
    find: impl Fn(&[u8]) -> Vec<Vec<u8>>,
) -> Exit {
    if keys.is_empty() {
        all.iter().for_each(|l| print_line(ctx, l));
        return Exit::SUCCESS;
    }
    let mut exit = Exit::SUCCESS;
    for key in keys {
        let found = find(key);
        if found.is_empty() {
            exit = NOT_FOUND;
        }
        found.iter().for_each(|l| print_line(ctx, l));
    }
    exit
}

/// Searches a file whose fields are separated by colons, by name or by the number in field `id`.
fn search_colon_file(ctx: &mut Ctx<'_>, file: &str, keys: &[Vec<u8>], id: Option<usize>) -> Exit {
    let all: Vec<Vec<u8>> =
        read_lines(ctx, file).into_iter().filter(|l| l.contains(&b':')).collect();
    let find = |key: &[u8]| {
        let number = !key.is_empty() && key.iter().all(u8::is_ascii_digit);
        let field = if number { id.unwrap_or(0) } else { 0 };
        let hit = all.iter().find(|l| l.split(|c| *c == b':').nth(field) == Some(key));
        hit.cloned().into_iter().collect()
    };
    look_up_keys(ctx, keys, all.clone(), find)
}

/// Formats a line of the hosts file for output.
fn host_line(words: &[Vec<u8>]) -> Vec<u8> {
    let address = String::from_utf8_lossy(&words[0]);
    [format!("{address:<15} ").as_bytes(), &words[1..].join(&b' ')].concat()
}

fn parse_address(word: &[u8]) -> Option<IpAddr> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// Returns the first IPv4 address of a host in `/etc/hosts`.
pub(super) fn find_ipv4(ctx: &Ctx<'_>, name: &[u8]) -> Option<Ipv4Addr> {
    let rows = read_words(ctx, "hosts");
    let named = |w: &&Vec<Vec<u8>>| w[1..].iter().any(|n| n.eq_ignore_ascii_case(name));
    rows.iter().filter(named).find_map(|w| match parse_address(&w[0]) {
        Some(IpAddr::V4(address)) => Some(address),
        _ => None,
    })
}

fn search_hosts(ctx: &mut Ctx<'_>, keys: &[Vec<u8>]) -> Exit {
    let table = read_words(ctx, "hosts");
    let find = |key: &[u8]| {
        if let Some(a) = parse_address(key) {
            let hit = table.iter().find(|w| parse_address(&w[0]) == Some(a));
            return hit.map(|w| host_line(w)).into_iter().collect();
        }
        let named = |v6: bool| {
            table.iter().find(|w| {
                w[1..].iter().any(|n| n.eq_ignore_ascii_case(key))
                    && parse_address(&w[0]).is_some_and(|a| a.is_ipv6() == v6)
            })
        };
        named(true).or_else(|| named(false)).map(|w| host_line(w)).into_iter().collect()
    };
    look_up_keys(ctx, keys, table.iter().map(|w| host_line(w)).collect(), find)
}

fn search_addresses(ctx: &mut Ctx<'_>, keys: &[Vec<u8>], wanted: impl Fn(&IpAddr) -> bool) -> Exit {
    let table = read_words(ctx, "hosts");
    let rows = |name: &[u8], a: &str| {
        let shown = String::from_utf8_lossy(name);
        ["STREAM", "DGRAM", "RAW"]
            .iter()
            .enumerate()
            .map(|(n, kind)| format!("{a:<15} {kind:<6} {}", if n == 0 { &shown } else { "" }))
            .map(String::into_bytes)
            .collect::<Vec<_>>()
    };
    let find = |key: &[u8]| -> Vec<Vec<u8>> {
        if let Some(a) = parse_address(key).filter(|a| wanted(a)) {
            return rows(key, &a.to_string());
        }
        let hits = table.iter().filter(|w| w[1..].iter().any(|n| n.eq_ignore_ascii_case(key)));
        let found: Vec<_> = hits
            .filter_map(|w| Some((parse_address(&w[0]).filter(|a| wanted(a))?, &w[1])))
            .collect();
        found
            .iter()
            .enumerate()
            .flat_map(|(n, (a, name))| rows(if n == 0 { name } else { b"" }, &a.to_string()))
            .collect()
    };
    if keys.is_empty() {
        return search_hosts(ctx, keys);
    }
    look_up_keys(ctx, keys, Vec::new(), find)
}

fn search_services(ctx: &mut Ctx<'_>, keys: &[Vec<u8>]) -> Exit {
    let table = read_words(ctx, "services");
    let show = |w: &Vec<Vec<u8>>| {
        let (name, port) = (String::from_utf8_lossy(&w[0]), String::from_utf8_lossy(&w[1]));
        let mut line = format!("{name:<21} {port}").into_bytes();
        w[2..].iter().for_each(|alias| line.extend([&b" "[..], alias].concat()));
        line
    };
    let find = |key: &[u8]| {
        let mut parts = key.splitn(2, |c| *c == b'/');
        let (name, protocol) = (parts.next().unwrap_or_default(), parts.next());
        let hit = table.iter().find(|w| {
            let mut port = w[1].splitn(2, |c| *c == b'/');
            let number = port.next() == Some(name);
            let protocols = protocol.is_none() || port.next() == protocol;
            (number || w[0] == name || w[2..].iter().any(|a| a == name)) && protocols
        });
        hit.map(show).into_iter().collect()
    };
    look_up_keys(ctx, keys, table.iter().map(show).collect(), find)
}

/// Searches `protocols` or `networks`, whose fields are name, number, aliases.
fn search_numbered_file(ctx: &mut Ctx<'_>, file: &str, keys: &[Vec<u8>]) -> Exit {
    let table = read_words(ctx, file);
    let show = |w: &Vec<Vec<u8>>| {
        let (name, number) = (String::from_utf8_lossy(&w[0]), w[1..].join(&b' '));
        [format!("{name:<21} ").as_bytes(), &number].concat()
    };
    let find = |key: &[u8]| {
        let hit = table.iter().find(|w| w.iter().any(|n| n == key));
        hit.map(show).into_iter().collect()
    };
    look_up_keys(ctx, keys, table.iter().map(show).collect(), find)
}

fn search_initgroups(ctx: &mut Ctx<'_>, keys: &[Vec<u8>]) -> Exit {
    if keys.is_empty() {
        let _ = ctx.stderr.write_all(b"Enumeration not supported on initgroups\n");
        return Exit(3);
    }
    let groups = read_lines(ctx, "group");
    for key in keys {
        let mut line = format!("{:<21}", String::from_utf8_lossy(key));
        for group in &groups {
            let fields: Vec<&[u8]> = group.split(|c| *c == b':').collect();
            let members = fields.get(3).copied().unwrap_or_default();
            if members.split(|c| *c == b',').any(|m| m == key.as_slice()) {
                line.push(' ');
                line.push_str(&String::from_utf8_lossy(fields[2]));
            }
        }
        print_line(ctx, line.as_bytes());
    }
    Exit::SUCCESS
}
