//! A response's head: its text, and lookups of headers in it.

use box_sys::http::Response;

/// Returns the last value of a header.
pub(crate) fn header_value<'a>(response: &'a Response, name: &str) -> Option<&'a [u8]> {
    let mut fields = response.headers.iter().rev();
    fields.find(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes())).map(|(_, v)| v.as_slice())
}

/// Returns the head as an HTTP/1 server sends it, or in the form that curl prints for HTTP/2.
pub(crate) fn head_text(response: &Response) -> Vec<u8> {
    let status = response.status;
    let first = match response.version {
        10 => format!("HTTP/1.0 {status} {}", reason_phrase(status)),
        20 => format!("HTTP/2 {status} "),
        _ => format!("HTTP/1.1 {status} {}", reason_phrase(status)),
    };
    let mut out = first.into_bytes();
    out.extend(b"\r\n");
    for (name, value) in &response.headers {
        out.extend([name, &b": "[..], value, b"\r\n"].concat());
    }
    out.extend(b"\r\n");
    out
}

/// Returns the version as `%{http_version}` prints it.
pub(crate) fn version_text(response: &Response) -> &'static str {
    match response.version {
        10 => "1.0",
        20 => "2",
        _ => "1.1",
    }
}

/// Returns the name that `Content-Disposition` gives a file, without folders.
pub(crate) fn file_name(response: &Response) -> Option<Vec<u8>> {
    let value = header_value(response, "content-disposition")?;
    let lower = value.to_ascii_lowercase();
    let at = lower.windows(9).position(|w| w == b"filename=")? + 9;
    let rest = value[at..].trim_ascii_start();
    let name = match rest.strip_prefix(b"\"") {
        Some(quoted) => quoted.split(|b| *b == b'"').next()?,
        None => rest.split(|b| *b == b';').next()?.trim_ascii_end(),
    };
    let name = name.rsplit(|b| b"/\\".contains(b)).next()?;
    let plain =
        !name.is_empty() && name != b"." && name != b".." && !name.iter().any(|b| *b < b' ');
    plain.then(|| name.to_vec())
}

/// Returns the reason phrase of a status (RFC 9110, 15).
pub(crate) fn reason_phrase(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        422 => "Unprocessable Content",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}
