//! The loop that reads, converts and writes blocks.

use std::io::{self, SeekFrom, Write};
use std::time::{Duration, Instant};

use super::options::{Case, Options};
use super::output::Out;
use super::records::Records;
use super::report::{Counts, transfer_line};
use super::source::ReadSeek;

pub(super) fn transfer(
    reader: &mut dyn ReadSeek,
    out: &mut Out<'_>,
    o: &Options,
    counts: &mut Counts,
    errors: &mut Vec<(bool, io::Error)>,
    start: Instant,
    mut progress: Option<&mut dyn Write>,
) {
    let mut buf = vec![0u8; o.ibs];
    let mut records = Records::default();
    let mut last_report = start;
    let converts = o.block || o.unblock;
    let mut odd: Option<u8> = None;
    let mut total_in = 0u64;
    loop {
        let mut want = o.ibs;
        match o.count {
            Some((n, true)) => {
                want = want.min(usize::try_from(n - total_in.min(n)).unwrap_or(usize::MAX))
            }
            Some((n, false)) if counts.in_full + counts.in_part >= n => want = 0,
            _ => {}
        }
        if want == 0 {
            break;
        }
        let mut got = 0;
        let mut failed = false;
        loop {
            match reader.read(&mut buf[got..want]) {
                Ok(0) => break,
                Ok(n) => {
                    got += n;
                    if got == want || !o.fullblock {
                        break;
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    errors.push((true, e));
                    failed = true;
                    break;
                }
            }
        }
        if failed {
            // With noerror a bad block is passed over, as far as the input can seek.
            let passed = o.noerror
                && errors.len() < 1000
                && reader.seek(SeekFrom::Current(o.ibs as i64)).is_ok();
            if !passed {
                break;
            }
        } else if got == 0 {
            break;
        }
        total_in += got as u64;
        if got == o.ibs {
            counts.in_full += 1;
        } else if got > 0 {
            counts.in_part += 1;
        }
        let mut len = got;
        if o.pad && len < o.ibs {
            let fill = if converts { b' ' } else { 0 };
            buf[len..].fill(fill);
            len = o.ibs;
        }
        let data = &mut buf[..len];
        if let Some(t) = o.table {
            data.iter_mut().for_each(|b| *b = t[usize::from(*b)]);
        }
        match o.case {
            Case::Lower => data.make_ascii_lowercase(),
            Case::Upper => data.make_ascii_uppercase(),
            Case::Keep => {}
        }
        let mut owned;
        let data: &[u8] = if o.swab {
            owned = Vec::with_capacity(data.len() + 1);
            owned.extend(odd.take());
            owned.extend_from_slice(data);
            if owned.len() % 2 == 1 {
                odd = owned.pop();
            }
            owned.chunks_exact_mut(2).for_each(|p| p.swap(0, 1));
            &owned
        } else {
            data
        };
        let written = if converts {
            let mut converted = Vec::with_capacity(data.len() * 2);
            if o.block {
                records.block(data, o, counts, &mut converted)
            } else {
                records.unblock(data, o, &mut converted)
            }
            out.put(&converted, counts)
        } else if o.direct && !o.swab {
            out.write_block(data, counts)
        } else {
            out.put(data, counts)
        };
        if let Err(e) = written {
            errors.push((false, e));
            return;
        }
        if let Some(w) = progress.as_deref_mut()
            && last_report.elapsed() >= Duration::from_secs(1)
        {
            last_report = Instant::now();
            let text = format!("\r{}", transfer_line(counts.bytes, start.elapsed()));
            let _ = w.write_all(text.as_bytes());
        }
    }
    let mut tail = Vec::new();
    if o.block {
        records.finish_block(o, &mut tail);
    } else if o.unblock {
        records.finish_unblock(o, &mut tail);
    }
    tail.extend(odd);
    if let Err(e) = out.put(&tail, counts).and_then(|()| out.finish(counts)) {
        errors.push((false, e));
    }
}
