//! `ss` (iproute2 6.1), `netstat` (net-tools 2.10) and `lsof` (lsof 4.95): the addresses that
//! sockets of the session have taken, from our host's list ([`box_sys::SOCKETS`]).
//!
//! The processes of sockets, connections and open files are not known.

use std::net::SocketAddr;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};

/// A socket with an address.
#[derive(Debug, PartialEq)]
struct SocketRow {
    is_tcp: bool,
    is_listening: bool,
    address: SocketAddr,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    All,
    Family4,
    Family6,
    Ignored,
    Interfaces,
    Listening,
    NoHeader,
    Processes,
    Routes,
    Summary,
    Tcp,
    Udp,
    Unix,
    Version,
}

const SS: Spec<Flag> = Spec::new(
    "[OPTION]...",
    "Print the sockets of the session that have an address. Their processes and connections \
        are not known.",
    &[
        Opt::new(Flag::All, 'a', "all").with_help("Print sockets that listen and others"),
        Opt::new(Flag::Listening, 'l', "listening").with_help("Print sockets that listen"),
        Opt::new(Flag::Tcp, 't', "tcp").with_help("Print TCP sockets"),
        Opt::new(Flag::Udp, 'u', "udp").with_help("Print UDP sockets"),
        Opt::new(Flag::Family4, '4', "ipv4").with_help("Print IPv4 only"),
        Opt::new(Flag::Family6, '6', "ipv6").with_help("Print IPv6 only"),
        Opt::new(Flag::NoHeader, 'H', "no-header").with_help("Print no headings"),
        Opt::new(Flag::Summary, 's', "summary").with_help("Print numbers"),
        Opt::new(Flag::Unix, 'x', "unix").with_help("Print nothing: Unix sockets are not listed"),
        Opt::new(Flag::Version, 'V', "").with_help(words::VERSION),
        Opt::new(Flag::Processes, 'p', "processes").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'n', "numeric").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'e', "extended"),
        Opt::new(Flag::Ignored, 'i', "info"),
        Opt::new(Flag::Ignored, 'm', "memory"),
        Opt::new(Flag::Ignored, 'o', "options"),
        Opt::new(Flag::Ignored, 'r', "resolve"),
        Opt::new(Flag::Ignored, 'O', "oneline"),
    ],
)
.with_examples(&[("ss -tln", "The ports on which servers of the session listen")]);

/// Reads the host's list. There is none on other hosts.
fn read_sockets() -> Vec<SocketRow> {
    parse_sockets(&std::fs::read_to_string(box_sys::SOCKETS).unwrap_or_default())
}

fn parse_sockets(text: &str) -> Vec<SocketRow> {
    let row = |line: &str| {
        let mut words = line.split(' ');
        let (kind, state, address) = (words.next()?, words.next()?, words.next()?);
        let address = address.parse().ok()?;
        Some(SocketRow { is_tcp: kind == "tcp", is_listening: state == "listen", address })
    };
    text.lines().filter_map(row).collect()
}

/// Returns the sockets that the options ask for.
fn select_sockets(p: &ParsedOptions<Flag>) -> Vec<SocketRow> {
    let kinds = p.has_option(Flag::Tcp) || p.has_option(Flag::Udp);
    let unix_only = p.has_option(Flag::Unix) && !kinds;
    let all = p.has_option(Flag::All) || p.has_option(Flag::Listening);
    let wanted = |s: &SocketRow| {
        let flag = if s.is_tcp { Flag::Tcp } else { Flag::Udp };
        let family = match p.last_of(&[Flag::Family4, Flag::Family6]) {
            Some(Flag::Family4) => s.address.is_ipv4(),
            Some(_) => s.address.is_ipv6(),
            None => true,
        };
        // A TCP address that is only taken belongs to a connection, or to a socket that does not
        // listen yet.
        let state = if s.is_tcp && !s.is_listening { p.has_option(Flag::All) } else { all };
        (!kinds || p.has_option(flag)) && family && state && !unix_only
    };
    read_sockets().into_iter().filter(wanted).collect()
}

fn host_text(address: &SocketAddr) -> String {
    match address {
        SocketAddr::V4(a) => a.ip().to_string(),
        SocketAddr::V6(a) => format!("[{}]", a.ip()),
    }
}

fn any_text(address: &SocketAddr) -> &'static str {
    if address.is_ipv4() { "0.0.0.0" } else { "[::]" }
}

pub(crate) fn run_ss(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SS.parse_or_exit(ctx, args, Exit(255))?;
    if p.has_option(Flag::Version) {
        let text = ctx.version();
        return Ok(ctx.print(&text));
    }
    if p.has_option(Flag::Summary) {
        let (tcp, udp): (Vec<_>, Vec<_>) = read_sockets().into_iter().partition(|s| s.is_tcp);
        let all = tcp.len() + udp.len();
        let text = format!("Total: {all}\nTCP:   {}\nUDP:   {}\n", tcp.len(), udp.len());
        return Ok(ctx.print(&text));
    }
    let text = ss_table(&p);
    Ok(ctx.print(&text))
}

fn ss_table(p: &ParsedOptions<Flag>) -> String {
    let heads = ["Netid", "State", "Recv-Q", "Send-Q", "Local Address:Port", "Peer Address:Port"];
    let row = |s: &SocketRow| {
        let state = if s.is_tcp && s.is_listening { "LISTEN" } else { "UNCONN" };
        [
            if s.is_tcp { "tcp" } else { "udp" }.to_string(),
            state.to_string(),
            "0".to_string(),
            "0".to_string(),
            format!("{}:{}", host_text(&s.address), s.address.port()),
            format!("{}:*", any_text(&s.address)),
        ]
    };
    let mut rows: Vec<[String; 6]> = select_sockets(p).iter().map(row).collect();
    rows.insert(0, heads.map(str::to_string));
    let skipped = usize::from(p.has_option(Flag::NoHeader));
    // Without a header, the addresses are only as wide as they must be.
    let width = |n: usize| {
        let counted = rows.iter().skip(if n < 4 { 0 } else { skipped });
        counted.map(|r| r[n].len()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..6).map(width).collect();
    // The kind is shown where there may be several.
    let first = usize::from(p.has_option(Flag::Tcp) != p.has_option(Flag::Udp));
    let mut text = String::new();
    for row in rows.iter().skip(skipped) {
        let cell = |n: usize| match n {
            4 | 5 => format!("{:>1$}", row[n], widths[n]),
            _ => format!("{:<1$}", row[n], widths[n]),
        };
        let line = (first..6).map(cell).collect::<Vec<_>>().join(" ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

const NETSTAT: Spec<Flag> = Spec::new(
    "[OPTION]...",
    "Print the sockets of the session that have an address; with -r its routes, with -i its \
        interfaces. The processes and connections of sockets are not known.",
    &[
        Opt::new(Flag::All, 'a', "all").with_help("Print sockets that listen and others"),
        Opt::new(Flag::Listening, 'l', "listening").with_help("Print sockets that listen"),
        Opt::new(Flag::Tcp, 't', "tcp").with_help("Print TCP sockets"),
        Opt::new(Flag::Udp, 'u', "udp").with_help("Print UDP sockets"),
        Opt::new(Flag::Routes, 'r', "route").with_help("Print routes: there are none"),
        Opt::new(Flag::Interfaces, 'i', "interfaces").with_help("Print interfaces"),
        Opt::new(Flag::Unix, 'x', "unix").with_help("Print nothing: Unix sockets are not listed"),
        Opt::new(Flag::Family4, '4', "inet").with_help("Print IPv4 only"),
        Opt::new(Flag::Family6, '6', "inet6").with_help("Print IPv6 only"),
        Opt::new(Flag::Processes, 'p', "programs").with_help("Print - for each process"),
        Opt::new(Flag::Version, 'V', "").with_help(words::VERSION),
        Opt::new(Flag::Ignored, 'n', "numeric").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'e', "extend"),
        Opt::new(Flag::Ignored, 'o', "timers"),
        Opt::new(Flag::Ignored, 'v', "verbose"),
        Opt::new(Flag::Ignored, 'W', "wide"),
    ],
);

pub(crate) fn run_netstat(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = NETSTAT.parse_or_exit(ctx, args, Exit(3))?;
    if p.has_option(Flag::Version) {
        let text = ctx.version();
        return Ok(ctx.print(&text));
    }
    if p.has_option(Flag::Routes) {
        return Ok(ctx.print(
            "Kernel IP routing table\n\
             Destination     Gateway         Genmask         Flags   MSS Window  irtt Iface\n",
        ));
    }
    if p.has_option(Flag::Interfaces) {
        let head = "Kernel Interface table\nIface             MTU Flg\n";
        return Ok(ctx.print(&format!("{head}lo              65536 LRU\n")));
    }
    let text = netstat_table(&p);
    Ok(ctx.print(&text))
}

fn netstat_table(p: &ParsedOptions<Flag>) -> String {
    let what = match (p.has_option(Flag::All), p.has_option(Flag::Listening)) {
        (true, _) => "servers and established",
        (false, true) => "only servers",
        (false, false) => "w/o servers",
    };
    let programs = p.has_option(Flag::Processes);
    let last = if programs { "       PID/Program name" } else { "" };
    let mut text = format!(
        "Active Internet connections ({what})\n\
         Proto Recv-Q Send-Q Local Address           Foreign Address         State{last}\n"
    );
    let bare = |text: &str| text.trim_matches(['[', ']']).to_string();
    for s in select_sockets(p) {
        let proto = match (s.is_tcp, s.address.is_ipv6()) {
            (true, false) => "tcp",
            (true, true) => "tcp6",
            (false, false) => "udp",
            (false, true) => "udp6",
        };
        let local = format!("{}:{}", bare(&host_text(&s.address)), s.address.port());
        let foreign = format!("{}:*", bare(any_text(&s.address)));
        let state = if s.is_tcp && s.is_listening { "LISTEN" } else { "" };
        let owner = if programs { "-" } else { "" };
        let line =
            format!("{proto:<5}      0      0 {local:<23} {foreign:<23} {state:<11} {owner}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LsofFlag {
    Ignored,
    IgnoredValue,
    Internet,
    Terse,
    Version,
}

const LSOF: Spec<LsofFlag> = Spec::new(
    "[OPTION]... -i[KIND][:PORT]",
    "Print the sockets of the session that have an address. Which process has which file or \
        socket open is not known.",
    &[
        Opt::new(LsofFlag::Internet, 'i', "")
            .may_take("KIND:PORT", "Print sockets; KIND is tcp or udp, PORT a number or A-B"),
        Opt::new(LsofFlag::Terse, 't', "").with_help("Refused: it prints process numbers"),
        Opt::new(LsofFlag::Version, 'v', "").with_help(words::VERSION),
        Opt::new(LsofFlag::Ignored, 'n', "").with_help(words::IGNORED),
        Opt::new(LsofFlag::Ignored, 'P', "").with_help(words::SAME),
        Opt::new(LsofFlag::Ignored, 'a', ""),
        Opt::new(LsofFlag::Ignored, 'l', ""),
        Opt::new(LsofFlag::Ignored, 'w', ""),
        Opt::new(LsofFlag::IgnoredValue, 's', "").may_take("STATE", ""),
        Opt::new(LsofFlag::IgnoredValue, 'p', "").with_argument("PID", ""),
        Opt::new(LsofFlag::IgnoredValue, 'u', "").with_argument("USER", ""),
        Opt::new(LsofFlag::IgnoredValue, 'c', "").with_argument("NAME", ""),
    ],
)
.with_examples(&[("lsof -i :8000", "See whether a server listens on a port")]);

pub(crate) fn run_lsof(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = LSOF.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.has_option(LsofFlag::Version) {
        let text = ctx.version();
        return Ok(ctx.print(&text));
    }
    if !p.has_option(LsofFlag::Internet) {
        ctx.error("which process has which file open is not known here; lsof -i lists sockets");
        return Ok(Exit::FAILURE);
    }
    // `-i :8000` is two words.
    let attached = p.last_value(LsofFlag::Internet).map(<[u8]>::to_vec);
    let filter = attached.or_else(|| p.operands.first().cloned()).unwrap_or_default();
    let filter = String::from_utf8_lossy(&filter).to_lowercase();
    let rows: Vec<SocketRow> =
        read_sockets().into_iter().filter(|s| fits_filter(s, &filter)).collect();
    if p.has_option(LsofFlag::Terse) && !rows.is_empty() {
        ctx.error("the processes of sockets are not known");
    }
    if rows.is_empty() || p.has_option(LsofFlag::Terse) {
        return Ok(Exit::FAILURE);
    }
    let mut text = "COMMAND PID USER FD TYPE NODE NAME\n".to_string();
    for s in rows {
        let family = if s.address.is_ipv4() { "IPv4" } else { "IPv6" };
        let host = match s.address.ip() {
            ip if ip.is_unspecified() => "*".to_string(),
            _ => host_text(&s.address),
        };
        let node = if s.is_tcp { "TCP " } else { "UDP " };
        let state = if s.is_tcp && s.is_listening { " (LISTEN)" } else { "" };
        let port = s.address.port();
        text.push_str(&format!("-       -   -    -  {family} {node} {host}:{port}{state}\n"));
    }
    Ok(ctx.print(&text))
}

/// Returns whether a socket fits the argument of `-i`: `tcp`, `:80`, `udp:1-1023`, `TCP@host:80`.
fn fits_filter(s: &SocketRow, filter: &str) -> bool {
    let (kind, ports) = filter.split_once(':').unwrap_or((filter, ""));
    let kind = kind.split('@').next().unwrap_or_default().trim_start_matches(['4', '6']);
    let own = s.address.port();
    let has_port = |part: &str| match part.split_once('-') {
        Some((a, b)) => {
            a.parse().is_ok_and(|a: u16| a <= own) && b.parse().is_ok_and(|b: u16| own <= b)
        }
        None => part.parse() == Ok(own),
    };
    let fits_kind = kind.is_empty() || kind == if s.is_tcp { "tcp" } else { "udp" };
    fits_kind && (ports.is_empty() || ports.split(',').any(has_port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_host() {
        let rows =
            parse_sockets("tcp listen 127.0.0.1:80\nudp bound [::]:53\njunk\ntcp listen x\n");
        let [tcp, udp] = rows.as_slice() else { panic!("two sockets") };
        assert!(tcp.is_tcp && tcp.is_listening && tcp.address.port() == 80);
        assert!(!udp.is_tcp && !udp.is_listening && udp.address.is_ipv6());
        for (filter, fits) in
            [("", true), (":80", true), ("tcp:1-100", true), ("udp", false), ("4tcp@x:8,81", false)]
        {
            assert_eq!(fits_filter(tcp, filter), fits, "{filter}");
        }
    }
}
