//! `ip` (iproute2 6.1) and `ifconfig` (net-tools 2.10): the loopback interface, which cannot be
//! changed.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};

#[derive(Clone, Copy, PartialEq, Eq)]
enum IpFlag {
    Brief,
    Family4,
    Family6,
    Ignored,
    Json,
    OneLine,
    Version,
}

const IP: Spec<IpFlag> = Spec::new(
    "[OPTION]... OBJECT [COMMAND]",
    "Print the interfaces, addresses and routes: there is the loopback, lo, and no route \
        beyond it. Nothing can be changed.",
    &[
        Opt::long(IpFlag::Brief, "brief")
            .with_help("Print one short line for each interface (-br)"),
        Opt::new(IpFlag::Family4, '4', "").with_help("Print IPv4 only"),
        Opt::new(IpFlag::Family6, '6', "").with_help("Print IPv6 only"),
        Opt::new(IpFlag::OneLine, 'o', "oneline").with_help("Print one line for each entry"),
        Opt::new(IpFlag::Json, 'j', "json").with_help("Print JSON"),
        Opt::new(IpFlag::Version, 'V', "").with_help(words::VERSION),
        Opt::new(IpFlag::Ignored, 'c', "color").with_help(words::IGNORED),
        Opt::new(IpFlag::Ignored, 'd', "details"),
        Opt::new(IpFlag::Ignored, 's', "stats"),
        Opt::new(IpFlag::Ignored, 'p', "pretty"),
        Opt::new(IpFlag::Ignored, 'n', "numeric"),
    ],
)
.with_footer("OBJECT is address (a), link (l), route (r), neighbour (n) or rule.")
.with_examples(&[("ip -br addr", "Interfaces and their addresses")])
.posix_order();

/// The status of a request that the kernel refuses, and of a bad command line.
const REFUSED: Exit = Exit::USAGE;
const BAD: Exit = Exit(255);

const FIRST_LINE: &str = "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN";
const LINK_LINE: &str = "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n";
const LIFETIME: &str = "       valid_lft forever preferred_lft forever\n";
/// The beginning of the interface in JSON.
const JSON: &str = "[{\"ifindex\":1,\"ifname\":\"lo\",\"flags\":[\"LOOPBACK\",\"UP\",\"LOWER_UP\"],\
                    \"mtu\":65536,\"operstate\":\"UNKNOWN\",\"link_type\":\"loopback\",";

pub(crate) fn run_ip(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = IP.parse_or_exit(ctx, &lengthen_dashes(args), BAD)?;
    if p.has_option(IpFlag::Version) {
        let text = ctx.version();
        return Ok(ctx.print(&text));
    }
    let Some((object, rest)) = p.operands.split_first() else {
        let text = IP.help_text("ip");
        let _ = ctx.stderr.write_all(text.as_bytes());
        return Ok(BAD);
    };
    let object = String::from_utf8_lossy(object).into_owned();
    let is = |full: &str| !object.is_empty() && full.starts_with(&object);
    let verb = rest.first().map_or("show".to_string(), |v| String::from_utf8_lossy(v).into_owned());
    let changes = ["add", "del", "delete", "set", "replace", "change", "flush", "append"];
    if changes.contains(&verb.as_str()) {
        let _ = writeln!(ctx.stderr, "RTNETLINK answers: Operation not permitted");
        return Ok(REFUSED);
    }
    if is("address") || is("link") {
        let shows = ["show", "list", "lst"].iter().any(|v| v.starts_with(&verb));
        let names = if shows { rest.get(1..).unwrap_or_default() } else { rest };
        let name = names.iter().find(|n| !matches!(n.as_slice(), b"dev" | b"up"));
        if let Some(name) = name.filter(|n| n.as_slice() != b"lo") {
            let shown = String::from_utf8_lossy(name).into_owned();
            let _ = writeln!(ctx.stderr, "Device \"{shown}\" does not exist.");
            return Ok(Exit::FAILURE);
        }
        let text = if is("address") { show_addresses(&p) } else { show_link(&p) };
        return Ok(ctx.print(&text));
    }
    if is("route") && verb == "get" {
        let target = rest.get(1).cloned().unwrap_or_default();
        return Ok(print_route(ctx, &target));
    }
    if is("route") || is("neighbour") || is("neighbor") {
        return Ok(if p.has_option(IpFlag::Json) { ctx.print("[]\n") } else { Exit::SUCCESS });
    }
    if is("rule") {
        return Ok(ctx.print("0:\tfrom all lookup local\n"));
    }
    let _ = writeln!(ctx.stderr, "Object \"{object}\" is unknown, try \"ip --help\".");
    Ok(Exit::FAILURE)
}

/// Gives a second dash to options that are words after one dash: -br, -json, -color=auto.
fn lengthen_dashes(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut is_option = true;
    let lengthen = |a: &Vec<u8>| {
        is_option &= a.starts_with(b"-");
        if !is_option || a.len() <= 2 || a.starts_with(b"--") {
            return a.clone();
        }
        [b"-", a.split(|c| *c == b'=').next().unwrap_or_default()].concat()
    };
    args.iter().map(lengthen).collect()
}

fn show_addresses(p: &ParsedOptions<IpFlag>) -> String {
    let (v4, v6) = (!p.has_option(IpFlag::Family6), !p.has_option(IpFlag::Family4));
    let pick = |first: &str, second: &str, between: &str| {
        let both = [(v4, first), (v6, second)];
        let parts: Vec<&str> = both.iter().filter(|(shown, _)| *shown).map(|(_, t)| *t).collect();
        parts.join(between)
    };
    if p.has_option(IpFlag::Json) {
        let list = pick(
            "{\"family\":\"inet\",\"local\":\"127.0.0.1\",\"prefixlen\":8,\"scope\":\"host\"}",
            "{\"family\":\"inet6\",\"local\":\"::1\",\"prefixlen\":128,\"scope\":\"host\"}",
            ",",
        );
        return format!("{JSON}\"addr_info\":[{list}]}}]\n");
    }
    if p.has_option(IpFlag::Brief) {
        return format!(
            "{:<16} {:<14} {} \n",
            "lo",
            "UNKNOWN",
            pick("127.0.0.1/8", "::1/128", " ")
        );
    }
    if p.has_option(IpFlag::OneLine) {
        let row = |address: &str| format!("1: lo    {address}\\{LIFETIME}");
        return pick(&row("inet 127.0.0.1/8 scope host lo"), &row("inet6 ::1/128 scope host "), "");
    }
    let row = |address: &str| format!("    {address}\n{LIFETIME}");
    let rows = pick(&row("inet 127.0.0.1/8 scope host lo"), &row("inet6 ::1/128 scope host "), "");
    let link = if v4 && v6 { LINK_LINE } else { "" };
    format!("{FIRST_LINE} group default qlen 1000\n{link}{rows}")
}

fn show_link(p: &ParsedOptions<IpFlag>) -> String {
    if p.has_option(IpFlag::Json) {
        return format!("{JSON}\"address\":\"00:00:00:00:00:00\"}}]\n");
    }
    if p.has_option(IpFlag::Brief) {
        let (name, state) = ("lo", "UNKNOWN");
        return format!("{name:<16} {state:<14} 00:00:00:00:00:00 <LOOPBACK,UP,LOWER_UP> \n");
    }
    let end = if p.has_option(IpFlag::OneLine) { "\\" } else { "\n" };
    format!("{FIRST_LINE} mode DEFAULT group default qlen 1000{end}{LINK_LINE}")
}

/// Prints the route to an address (`ip route get`): only the loopback has one.
fn print_route(ctx: &mut Ctx<'_>, target: &[u8]) -> Exit {
    let text = String::from_utf8_lossy(target).into_owned();
    match text.parse::<std::net::IpAddr>() {
        Ok(a) if a.is_loopback() => {
            ctx.print(&format!("local {a} dev lo src {a} uid 1000 \n    cache <local> \n"))
        }
        Ok(_) => {
            let _ = writeln!(ctx.stderr, "RTNETLINK answers: Network is unreachable");
            REFUSED
        }
        Err(_) => {
            ctx.error(format_args!("'{text}' is not an address"));
            Exit::FAILURE
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum IfconfigFlag {
    All,
    Short,
}

const IFCONFIG: Spec<IfconfigFlag> = Spec::new(
    "[-a] [-s] [INTERFACE]",
    "Print the interfaces: there is the loopback, lo. Nothing can be changed.",
    &[
        Opt::new(IfconfigFlag::All, 'a', "").with_help("Print all interfaces, as always"),
        Opt::new(IfconfigFlag::Short, 's', "").with_help("Print a line for each"),
    ],
);

pub(crate) fn run_ifconfig(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = IFCONFIG.parse_or_exit(ctx, args, Exit::FAILURE)?;
    match p.operands.as_slice() {
        [] => {}
        [name] if name == b"lo" => {}
        [name] => {
            let shown = String::from_utf8_lossy(name).into_owned();
            let text = "error fetching interface information: Device not found";
            let _ = writeln!(ctx.stderr, "{shown}: {text}");
            return Ok(Exit::FAILURE);
        }
        _ => {
            let _ = writeln!(ctx.stderr, "SIOCSIFFLAGS: Operation not permitted");
            return Ok(BAD);
        }
    }
    // Nothing counts packets.
    if p.has_option(IfconfigFlag::Short) {
        return Ok(ctx.print("Iface             MTU Flg\nlo              65536 LRU\n"));
    }
    Ok(ctx.print(
        "lo: flags=73<UP,LOOPBACK,RUNNING>  mtu 65536\n        inet 127.0.0.1  netmask 255.0.0.0\n        \
         inet6 ::1  prefixlen 128  scopeid 0x10<host>\n        loop  txqueuelen 1000  (Local Loopback)\n\n",
    ))
}
