//! `-w`: text with variables, printed after a transfer. Values that only the host knows (addresses,
//! connection times) are empty or 0.

use std::io::Write;

use box_applet::Ctx;

use crate::head;
use crate::output;
use crate::run::VERSION;
use crate::transfer::Stats;

enum WriteOutValue {
    Text(Option<Vec<u8>>),
    Number(u64),
    Seconds(f64),
}

/// All variables of a transfer, by name.
const NAMES: &[&str] = &[
    "certs",
    "content_type",
    "conn_id",
    "errormsg",
    "exitcode",
    "filename_effective",
    "ftp_entry_path",
    "http_code",
    "http_connect",
    "http_version",
    "local_ip",
    "local_port",
    "method",
    "num_certs",
    "num_connects",
    "num_headers",
    "num_redirects",
    "num_retries",
    "proxy_ssl_verify_result",
    "redirect_url",
    "referer",
    "remote_ip",
    "remote_port",
    "response_code",
    "scheme",
    "size_download",
    "size_header",
    "size_request",
    "size_upload",
    "speed_download",
    "speed_upload",
    "ssl_verify_result",
    "time_appconnect",
    "time_connect",
    "time_namelookup",
    "time_pretransfer",
    "time_redirect",
    "time_starttransfer",
    "time_total",
    "url",
    "url_effective",
    "urlnum",
    "xfer_id",
];

fn variable_value(stats: &Stats, name: &str) -> Option<WriteOutValue> {
    let head = stats.head.as_ref();
    let text = |text: &[u8]| WriteOutValue::Text(Some(text.to_vec()));
    let speed = |bytes: u64| {
        WriteOutValue::Number((bytes as f64 / stats.total.as_secs_f64().max(1e-6)) as u64)
    };
    Some(match name {
        "content_type" => WriteOutValue::Text(
            head.and_then(|h| head::header_value(h, "content-type")).map(<[u8]>::to_vec),
        ),
        "errormsg" => WriteOutValue::Text(stats.error.as_ref().map(|e| e.to_string().into_bytes())),
        "exitcode" => WriteOutValue::Number(stats.error.as_ref().map_or(0, |e| e.code().into())),
        "filename_effective" => {
            WriteOutValue::Text(Some(stats.file.clone()).filter(|f| !f.is_empty()))
        }
        "http_code" | "response_code" => WriteOutValue::Number(head.map_or(0, |h| h.status.into())),
        "http_version" => text(head.map_or("0", head::version_text).as_bytes()),
        "method" => text(&stats.method),
        "num_connects" => WriteOutValue::Number(u64::from(head.is_some())),
        "num_headers" => WriteOutValue::Number(head.map_or(0, |h| h.headers.len() as u64)),
        "num_redirects" => WriteOutValue::Number(stats.redirects),
        "num_retries" => WriteOutValue::Number(stats.retries),
        "redirect_url" => WriteOutValue::Text(stats.redirect_url.clone()),
        "referer" => WriteOutValue::Text(stats.referer.clone()),
        "scheme" => text(if stats.https { b"https" } else { b"http" }),
        "size_download" => WriteOutValue::Number(stats.downloaded),
        "size_header" => WriteOutValue::Number(stats.head_bytes),
        "size_request" => WriteOutValue::Number(stats.request_bytes),
        "size_upload" => WriteOutValue::Number(stats.uploaded),
        "speed_download" => speed(stats.downloaded),
        "speed_upload" => speed(stats.uploaded),
        "time_redirect" => WriteOutValue::Seconds(stats.redirecting.as_secs_f64()),
        "time_starttransfer" => WriteOutValue::Seconds(stats.first_byte.as_secs_f64()),
        "time_total" => WriteOutValue::Seconds(stats.total.as_secs_f64()),
        "time_appconnect" | "time_connect" | "time_namelookup" | "time_pretransfer" => {
            WriteOutValue::Seconds(0.0)
        }
        "url" => text(&stats.given),
        "url_effective" => text(&stats.url),
        "urlnum" | "xfer_id" => WriteOutValue::Number(stats.number as u64),
        "conn_id"
        | "http_connect"
        | "local_port"
        | "num_certs"
        | "proxy_ssl_verify_result"
        | "remote_port"
        | "ssl_verify_result" => WriteOutValue::Number(0),
        "certs" | "local_ip" | "remote_ip" => text(b""),
        "ftp_entry_path" => WriteOutValue::Text(None),
        _ => return None,
    })
}

/// Prints a format; `%{stderr}` and `%{stdout}` switch the stream from there on.
pub(crate) fn print_format(ctx: &mut Ctx<'_>, format: &[u8], stats: &Stats) {
    let (mut out, mut to_stderr) = (Vec::new(), false);
    let mut rest = format;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match (first, behind) {
            (b'%', [b'%', after @ ..]) => {
                out.push(b'%');
                rest = after;
            }
            (b'%', [b'{', inside @ ..]) => {
                let Some(end) = inside.iter().position(|b| *b == b'}') else {
                    out.push(b'%');
                    continue;
                };
                let (name, after) = (&inside[..end], &inside[end + 1..]);
                rest = after;
                match name {
                    b"onerror" if stats.error.is_none() => break,
                    b"onerror" => {}
                    b"stderr" | b"stdout" => {
                        flush(ctx, &mut out, to_stderr);
                        to_stderr = name == b"stderr";
                    }
                    _ => put_variable(ctx, &mut out, name, stats),
                }
            }
            (b'%', _) if behind.starts_with(b"header{") => {
                let inside = &behind[7..];
                let end = inside.iter().position(|b| *b == b'}').unwrap_or(inside.len());
                let name = String::from_utf8_lossy(&inside[..end]);
                let found = stats.head.as_ref().and_then(|h| head::header_value(h, name.trim()));
                out.extend(found.unwrap_or_default());
                rest = inside.get(end + 1..).unwrap_or_default();
            }
            (b'\\', [sign, after @ ..]) => {
                rest = after;
                match sign {
                    b'n' => out.push(b'\n'),
                    b'r' => out.push(b'\r'),
                    b't' => out.push(b'\t'),
                    other => out.extend([b'\\', *other]),
                }
            }
            _ => out.push(*first),
        }
    }
    flush(ctx, &mut out, to_stderr);
}

fn flush(ctx: &mut Ctx<'_>, out: &mut Vec<u8>, to_stderr: bool) {
    let bytes = std::mem::take(out);
    if to_stderr {
        let _ = ctx.stderr.write_all(&bytes);
    } else if !bytes.is_empty() {
        let _ = output::write_stdout(ctx, &bytes);
    }
}

fn put_variable(ctx: &mut Ctx<'_>, out: &mut Vec<u8>, name: &[u8], stats: &Stats) {
    match (name, std::str::from_utf8(name).ok().and_then(|name| variable_value(stats, name))) {
        (b"json", _) => out.extend(stats_json(stats)),
        (b"header_json", _) => out.extend(header_json(stats)),
        // A status always has three digits.
        (b"http_code" | b"response_code", Some(WriteOutValue::Number(n))) => {
            out.extend(format!("{n:03}").bytes())
        }
        (_, Some(WriteOutValue::Text(text))) => out.extend(text.unwrap_or_default()),
        (_, Some(WriteOutValue::Number(n))) => out.extend(n.to_string().bytes()),
        (_, Some(WriteOutValue::Seconds(s))) => out.extend(format!("{s:.6}").bytes()),
        (_, None) => {
            let name = String::from_utf8_lossy(name);
            let _ = writeln!(ctx.stderr, "{}: unknown --write-out variable: '{name}'", ctx.name);
        }
    }
}

fn stats_json(stats: &Stats) -> Vec<u8> {
    let mut out = b"{".to_vec();
    for name in NAMES {
        out.extend(format!("\"{name}\":").bytes());
        match variable_value(stats, name) {
            Some(WriteOutValue::Text(Some(text))) => put_json_string(&mut out, &text),
            Some(WriteOutValue::Number(n)) => out.extend(n.to_string().bytes()),
            Some(WriteOutValue::Seconds(s)) => out.extend(format!("{s:.6}").bytes()),
            Some(WriteOutValue::Text(None)) | None => out.extend(b"null"),
        }
        out.push(b',');
    }
    out.extend(format!("\"curl_version\":\"curl/{VERSION}\"}}").bytes());
    out
}

/// Returns the headers as a JSON object: names in lower case, each with an array of its values.
fn header_json(stats: &Stats) -> Vec<u8> {
    let headers = stats.head.as_ref().map(|h| h.headers.as_slice()).unwrap_or_default();
    let mut names: Vec<Vec<u8>> = Vec::new();
    for (name, _) in headers {
        let name = name.to_ascii_lowercase();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let fields = names.iter().map(|name| {
        let mut out = Vec::new();
        put_json_string(&mut out, name);
        out.extend(b":[");
        let values = headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
        for (i, (_, value)) in values.enumerate() {
            if i > 0 {
                out.push(b',');
            }
            put_json_string(&mut out, value);
        }
        out.push(b']');
        out
    });
    let fields: Vec<Vec<u8>> = fields.collect();
    [b"{", fields.join(&b",\n"[..]).as_slice(), b"\n}"].concat()
}

/// Appends a text as a JSON string; bytes that are not UTF-8 become U+FFFD.
fn put_json_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for c in String::from_utf8_lossy(text).chars() {
        match c {
            '"' => out.extend(b"\\\""),
            '\\' => out.extend(b"\\\\"),
            '\n' => out.extend(b"\\n"),
            '\r' => out.extend(b"\\r"),
            '\t' => out.extend(b"\\t"),
            c if c < ' ' => out.extend(format!("\\u{:04x}", c as u32).bytes()),
            c => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    out.push(b'"');
}
