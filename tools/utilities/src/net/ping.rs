//! `ping` (iputils 20221126): the loopback answers, other hosts cannot be reached.
//!
//! There are no raw sockets, so that each echo is a datagram that goes to a socket on the pinged
//! address and back.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::net::{self, NetSocketKind};
use box_sys::{error_text, events};
use box_text::number;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Count,
    Deadline,
    Ignored,
    IgnoredValue,
    Interval,
    Quiet,
    Size,
    Version,
    Version4,
    Version6,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... HOST",
    "Send echoes to HOST and print how long they take. Only the session's own loopback \
        answers.",
    &[
        Opt::new(Flag::Count, 'c', "").with_argument("N", "End after N echoes"),
        Opt::new(Flag::Interval, 'i', "")
            .with_argument("SECONDS", "Wait that long between them (1)"),
        Opt::new(Flag::Deadline, 'w', "").with_argument("SECONDS", "End after that time"),
        Opt::new(Flag::Quiet, 'q', "").with_help("Print the summary only"),
        Opt::new(Flag::Size, 's', "").with_argument("SIZE", "Send SIZE bytes (56)"),
        Opt::new(Flag::Version4, '4', "").with_help("Use IPv4"),
        Opt::new(Flag::Version6, '6', "").with_help("Use IPv6"),
        Opt::new(Flag::Version, 'V', "").with_help(words::VERSION),
        Opt::new(Flag::Ignored, 'n', "").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'a', ""),
        Opt::new(Flag::Ignored, 'A', ""),
        Opt::new(Flag::Ignored, 'D', ""),
        Opt::new(Flag::Ignored, 'O', ""),
        Opt::new(Flag::Ignored, 'U', ""),
        Opt::new(Flag::Ignored, 'v', ""),
        Opt::new(Flag::IgnoredValue, 'W', "").with_argument("SECONDS", words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'I', "").with_argument("NAME", ""),
        Opt::new(Flag::IgnoredValue, 't', "").with_argument("TTL", ""),
    ],
);

/// The status if the host is unknown or cannot be reached.
const ERROR: Exit = Exit::USAGE;
/// The bytes of the headers of an echo and of its IPv4 packet, which the original prints.
const HEADERS: usize = 28;
/// The greatest size that a datagram has room for.
const LARGEST: f64 = 65_507.0;

struct PingPlan {
    count: Option<u64>,
    interval: Duration,
    deadline: Option<Duration>,
    size: usize,
    quiet: bool,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, ERROR)?;
    if p.has_option(Flag::Version) {
        let text = ctx.version();
        return Ok(ctx.print(&text));
    }
    let Some(host) = p.operands.last() else {
        ctx.error("usage error: Destination address required");
        return Ok(Exit::FAILURE);
    };
    let host = String::from_utf8_lossy(host).into_owned();
    let plan = make_plan(ctx, &p)?;
    let wanted = |a: &IpAddr| match p.last_of(&[Flag::Version4, Flag::Version6]) {
        Some(Flag::Version4) => a.is_ipv4(),
        Some(_) => a.is_ipv6(),
        None => true,
    };
    let Some(address) = net::resolve_name(&host).unwrap_or_default().into_iter().find(wanted)
    else {
        ctx.error(format_args!("{host}: Name or service not known"));
        ctx.error(super::BEYOND);
        return Ok(ERROR);
    };
    if !address.is_loopback() {
        ctx.error("connect: Network is unreachable");
        ctx.error(super::BEYOND);
        return Ok(ERROR);
    }
    ping(ctx, &host, address, &plan)
}

fn make_plan(ctx: &mut Ctx<'_>, p: &ParsedOptions<Flag>) -> Result<PingPlan, Exit> {
    let mut number = |flag, least: f64, most: f64| -> Result<Option<f64>, Exit> {
        let Some(text) = p.last_value(flag) else { return Ok(None) };
        let (value, used) = number::parse_float(text);
        if used == 0 || used != text.len() || !(least..=most).contains(&value) {
            ctx.error_bytes(&[b"invalid argument: '", text, b"'"]);
            return Err(Exit::FAILURE);
        }
        Ok(Some(value))
    };
    let count = number(Flag::Count, 1.0, 1e15)?.map(|n| n as u64);
    let interval = number(Flag::Interval, 0.0, 1e6)?.unwrap_or(1.0).max(0.002);
    let deadline = number(Flag::Deadline, 0.0, 1e6)?.map(Duration::from_secs_f64);
    let size = number(Flag::Size, 0.0, LARGEST)?.unwrap_or(56.0) as usize;
    let interval = Duration::from_secs_f64(interval);
    Ok(PingPlan { count, interval, deadline, size, quiet: p.has_option(Flag::Quiet) })
}

fn ping(ctx: &mut Ctx<'_>, host: &str, address: IpAddr, plan: &PingPlan) -> Ended {
    let total = plan.size + HEADERS;
    let shown = if host.parse::<IpAddr>().is_ok() {
        address.to_string()
    } else {
        format!("{host} ({address})")
    };
    let head = match address {
        IpAddr::V4(a) => format!("PING {host} ({a}) {}({total}) bytes of data.\n", plan.size),
        IpAddr::V6(a) => format!("PING {host}({a}) {} data bytes\n", plan.size),
    };
    ctx.print(&head);
    let began = Instant::now();
    let mut times: Vec<f64> = Vec::new();
    let mut sent = 0u64;
    loop {
        sent += 1;
        match echo(address, plan.size) {
            Ok(time) => {
                let ms = time.as_secs_f64() * 1000.0;
                times.push(ms);
                if !plan.quiet {
                    let bytes = plan.size + 8;
                    let line = format!(
                        "{bytes} bytes from {shown}: icmp_seq={sent} ttl=64 time={ms:.3} ms\n"
                    );
                    let _ = ctx.stdout.write_all(line.as_bytes());
                }
            }
            Err(e) => ctx.error(format_args!("sendmsg: {}", error_text(&e))),
        }
        if ctx.stdout.flush().is_err() {
            return Ok(Exit::FAILURE);
        }
        let late = plan.deadline.is_some_and(|d| began.elapsed() + plan.interval > d);
        if plan.count.is_some_and(|n| sent >= n) || late || !events::sleep_for(plan.interval) {
            break;
        }
    }
    print_summary(ctx, host, sent, &times, began.elapsed());
    Ok(if times.is_empty() { Exit::FAILURE } else { Exit::SUCCESS })
}

fn print_summary(ctx: &mut Ctx<'_>, host: &str, sent: u64, times: &[f64], elapsed: Duration) {
    let received = times.len() as u64;
    let lost = (sent - received) * 100 / sent.max(1);
    let mut text = format!(
        "\n--- {host} ping statistics ---\n{sent} packets transmitted, {received} received, \
         {lost}% packet loss, time {}ms\n",
        elapsed.as_millis()
    );
    if !times.is_empty() {
        let n = times.len() as f64;
        let (least, most) =
            times.iter().fold((f64::MAX, 0.0f64), |(l, m), t| (l.min(*t), m.max(*t)));
        let mean = times.iter().sum::<f64>() / n;
        let spread = (times.iter().map(|t| t * t).sum::<f64>() / n - mean * mean).max(0.0).sqrt();
        text.push_str(&format!(
            "rtt min/avg/max/mdev = {least:.3}/{mean:.3}/{most:.3}/{spread:.3} ms\n"
        ));
    }
    ctx.print(&text);
}

/// Sends a datagram to a socket on the address and back; returns the time.
fn echo(address: IpAddr, size: usize) -> io::Result<Duration> {
    let patience = Some(Duration::from_secs(1));
    let mut far = net::listen(SocketAddr::new(address, 0), NetSocketKind::Datagram)?;
    let mut near = net::connect(net::local_address(&far)?, NetSocketKind::Datagram, patience)?;
    let data = vec![0; size.max(1)];
    let mut got = vec![0; size.max(1)];
    let began = Instant::now();
    near.write_all(&data)?;
    net::meet(&far)?;
    let n = far.read(&mut got)?;
    far.write_all(&got[..n])?;
    near.read_exact(&mut got[..n])?;
    Ok(began.elapsed())
}
