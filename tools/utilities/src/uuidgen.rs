//! `uuidgen` (util-linux 2.38): prints a UUID (RFC 9562: versions 1, 3, 4 and 5).

use std::hash::{BuildHasher, Hasher};
use std::io::Write;

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, clock};
use md5::Digest;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Hex,
    Md5,
    Name,
    Namespace,
    Random,
    Sha1,
    Time,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]...",
    "Print a new UUID; with -s or -m, the UUID that belongs to a name.",
    &[
        Opt::new(Flag::Random, 'r', "random").with_help("Make it of random numbers (the default)"),
        Opt::new(Flag::Time, 't', "time").with_help("Make it of the time"),
        Opt::new(Flag::Namespace, 'n', "namespace")
            .with_argument("NS", "Take the name in NS: a UUID, @dns, @url, @oid or @x500"),
        Opt::new(Flag::Name, 'N', "name").with_argument("NAME", "The name to hash"),
        Opt::new(Flag::Md5, 'm', "md5").with_help("Hash the name by MD5"),
        Opt::new(Flag::Sha1, 's', "sha1").with_help("Hash the name by SHA-1"),
        Opt::new(Flag::Hex, 'x', "hex").with_help("The name is in hexadecimal"),
    ],
)
.with_examples(&[("uuidgen -s -n @dns -N example.com", "The UUID of a domain")]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let id = match p.last_of(&[Flag::Random, Flag::Time, Flag::Md5, Flag::Sha1]) {
        Some(kind @ (Flag::Md5 | Flag::Sha1)) => match hash_name(&p, kind) {
            Ok(id) => id,
            Err(message) => {
                ctx.error_bytes(&[&message]);
                ctx.hint();
                return Ok(Exit::FAILURE);
            }
        },
        _ if p.has_option(Flag::Namespace) => {
            let text: &[u8] = if p.has_option(Flag::Name) {
                b"--namespace requires --md5 or --sha1"
            } else {
                b"--namespace requires --name argument"
            };
            ctx.error_bytes(&[text]);
            ctx.hint();
            return Ok(Exit::FAILURE);
        }
        Some(Flag::Time) => time_id(clock::current_time(), random_bytes()),
        _ => with_version(random_bytes(), 4),
    };
    let _ = writeln!(ctx.stdout, "{}", show_id(&id));
    Ok(Exit::SUCCESS)
}

/// Returns bytes that cannot be guessed: the system's random numbers, or those that seed the hash
/// maps of `std`, which come from there, too.
fn random_bytes() -> [u8; 16] {
    let mut out = [0; 16];
    let device = std::fs::File::open("/dev/urandom");
    if device.is_ok_and(|mut f| std::io::Read::read_exact(&mut f, &mut out).is_ok()) {
        return out;
    }
    let state = std::collections::hash_map::RandomState::new();
    for (n, part) in out.chunks_mut(8).enumerate() {
        let mut hasher = state.build_hasher();
        hasher.write_usize(n);
        part.copy_from_slice(&hasher.finish().to_le_bytes());
    }
    out
}

/// Sets the fields of the version and the variant.
fn with_version(mut id: [u8; 16], version: u8) -> [u8; 16] {
    id[6] = (id[6] & 0x0f) | (version << 4);
    id[8] = (id[8] & 0x3f) | 0x80;
    id
}

/// Returns a UUID of a time in seconds and nanoseconds, with a random node, because there is no
/// network card.
fn time_id((seconds, nanos): (i64, u32), random: [u8; 16]) -> [u8; 16] {
    /// The seconds from the beginning of the Gregorian calendar, 1582-10-15, to 1970.
    const GREGORIAN: u64 = 12_219_292_800;
    let seconds = u64::try_from(seconds).unwrap_or(0) + GREGORIAN;
    let ticks = seconds.wrapping_mul(10_000_000).wrapping_add(u64::from(nanos / 100));
    let mut id = random;
    id[..4].copy_from_slice(&(ticks as u32).to_be_bytes());
    id[4..6].copy_from_slice(&((ticks >> 32) as u16).to_be_bytes());
    id[6..8].copy_from_slice(&((ticks >> 48) as u16).to_be_bytes());
    id[10] |= 1;
    with_version(id, 1)
}

fn hash_name(p: &ParsedOptions<Flag>, kind: Flag) -> Result<[u8; 16], Vec<u8>> {
    let Some(space) = p.last_value(Flag::Namespace) else {
        return Err(b"--md5 or --sha1 requires --namespace argument".to_vec());
    };
    let Some(name) = p.last_value(Flag::Name) else {
        return Err(b"--namespace requires --name argument".to_vec());
    };
    let Some(space_id) = parse_space(space) else {
        return Err([b"invalid uuid for namespace: '".as_slice(), space, b"'"].concat());
    };
    let name = if p.has_option(Flag::Hex) {
        parse_hex(name).ok_or_else(|| b"not a valid hex string".to_vec())?
    } else {
        name.to_vec()
    };
    let mut id = [0; 16];
    let version = if kind == Flag::Md5 {
        id.copy_from_slice(&md5::Md5::new().chain_update(space_id).chain_update(&name).finalize());
        3
    } else {
        let digest = sha1::Sha1::new().chain_update(space_id).chain_update(&name).finalize();
        id.copy_from_slice(&digest[..16]);
        5
    };
    Ok(with_version(id, version))
}

/// Returns the UUID of a namespace (RFC 9562, section 6.6).
fn parse_space(word: &[u8]) -> Option<[u8; 16]> {
    let known = |last: u8| {
        let mut id = *b"\x6b\xa7\xb8\x10\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8";
        id[3] = last;
        Some(id)
    };
    match word {
        b"@dns" => known(0x10),
        b"@url" => known(0x11),
        b"@oid" => known(0x12),
        b"@x500" | b"@x.500" => known(0x14),
        _ => {
            let dashes = [8, 13, 18, 23];
            let shaped = word.len() == 36 && dashes.iter().all(|at| word[*at] == b'-');
            let digits: Vec<u8> = word.iter().copied().filter(|c| *c != b'-').collect();
            parse_hex(&digits).filter(|_| shaped)?.try_into().ok()
        }
    }
}

fn parse_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|d| u8::try_from(d).ok());
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

fn show_id(id: &[u8; 16]) -> String {
    let mut out = String::new();
    for (n, byte) in id.iter().enumerate() {
        if matches!(n, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        out.push_str(&format!("{byte:02x}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let id = with_version([0xff; 16], 4);
        assert_eq!(show_id(&id), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        // RFC 9562, appendix A.1: 2022-02-22 19:22:22 UTC.
        let id = time_id((1_645_557_742, 0), [0; 16]);
        assert_eq!(show_id(&id)[..18], *"c232ab00-9414-11ec");
    }
}
