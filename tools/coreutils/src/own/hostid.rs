//! `hostid` (GNU): a number for the host, computed as in `gethostid(3)` of glibc.

use box_applet::opts::Spec;
use box_applet::{Ctx, Ended, Exit};

use super::{getent, system};
use crate::common::input;

const SPEC: Spec = Spec::new("[OPTION]", "Print a number of this host, in hexadecimal.", &[]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(extra) = p.operands.first() {
        return Err(input::extra_operand(ctx, extra));
    }
    let stored = std::fs::read(ctx.path(b"/etc/hostid")).ok();
    let id = match stored.as_deref().and_then(|b| b.first_chunk()) {
        Some(bytes) => u32::from_le_bytes(*bytes),
        None => {
            let address = getent::find_ipv4(ctx, system::host_name().as_bytes());
            address.map_or(0, |a| u32::from_le_bytes(a.octets()).rotate_left(16))
        }
    };
    Ok(ctx.print(&format!("{id:08x}\n")))
}
