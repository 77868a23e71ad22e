//! Records of pax headers, and `--pax-option`.

use std::collections::BTreeMap;

/// A keyword and its value.
pub type PaxRecord = (Vec<u8>, Vec<u8>);

/// Parses records of the form `LENGTH KEYWORD=VALUE\n`. Returns `None` if they are malformed.
pub fn parse_records(mut text: &[u8]) -> Option<Vec<PaxRecord>> {
    let mut records = Vec::new();
    while !text.is_empty() && text[0] != 0 {
        let space = text.iter().position(|c| *c == b' ')?;
        let length: usize = std::str::from_utf8(&text[..space]).ok()?.parse().ok()?;
        let record = text.get(space + 1..length)?.strip_suffix(b"\n")?;
        let equals = record.iter().position(|c| *c == b'=')?;
        records.push((record[..equals].to_vec(), record[equals + 1..].to_vec()));
        text = &text[length..];
    }
    Some(records)
}

/// Encodes one record. Its length includes the digits of the length.
pub fn encode_record(key: &[u8], value: &[u8]) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    [length.to_string().as_bytes(), b" ", key, b"=", value, b"\n"].concat()
}

/// The keywords without a dot for which `--pax-option` may set a value.
const KEYWORDS: &[&[u8]] = &[
    b"atime",
    b"comment",
    b"charset",
    b"ctime",
    b"gid",
    b"gname",
    b"linkpath",
    b"mtime",
    b"path",
    b"size",
    b"uid",
    b"uname",
];

/// The settings of `--pax-option`.
#[derive(Clone, Debug, Default)]
pub struct PaxOptions {
    /// The patterns of keywords that are not stored.
    pub deleted: Vec<Vec<u8>>,
    /// The template for the names of members' extended headers, in which `%d %f %n %p` are
    /// replaced.
    pub header_name: Option<Vec<u8>>,
    /// The template for the name of the archive's extended header.
    pub global_name: Option<Vec<u8>>,
    /// The time of members' extended headers, in seconds since the epoch.
    pub header_mtime: Option<u64>,
    /// The time of the archive's extended header, in seconds since the epoch.
    pub global_mtime: Option<u64>,
    /// The records of the whole archive (`keyword=value`).
    pub globals: Vec<PaxRecord>,
    /// The records that every member gets (`keyword:=value`).
    pub overrides: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl PaxOptions {
    /// Adds the options of a comma-separated list. The error is the message.
    pub fn add_list(&mut self, list: &[u8]) -> Result<(), String> {
        for item in list.split(|c| *c == b',') {
            let item = item.trim_ascii_start();
            if item.is_empty() {
                continue;
            }
            let Some(equals) = item.iter().position(|c| *c == b'=') else {
                let text = String::from_utf8_lossy(item);
                return Err(format!("Keyword {text} is unknown or not yet implemented"));
            };
            let (key, value) = (&item[..equals], &item[equals + 1..]);
            match key.strip_suffix(b":") {
                Some(key) => self.set_member(key.trim_ascii_end(), value)?,
                None => self.set_archive(key.trim_ascii_end(), value)?,
            }
        }
        Ok(())
    }

    /// Sets a record of every member.
    fn set_member(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        check_keyword(key)?;
        self.globals.push((key.to_vec(), value.to_vec()));
        self.overrides.insert(key.to_vec(), value.to_vec());
        Ok(())
    }

    /// Sets an option of the format or a record of the whole archive.
    fn set_archive(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let time = || {
            let text = String::from_utf8_lossy(value);
            let seconds = text.parse::<u64>().ok();
            seconds.ok_or_else(|| "Time stamp is out of allowed range".to_string())
        };
        match key {
            b"delete" => self.deleted.push(value.to_vec()),
            b"exthdr.name" => self.header_name = Some(value.to_vec()),
            b"globexthdr.name" => self.global_name = Some(value.to_vec()),
            b"exthdr.mtime" => self.header_mtime = Some(time()?),
            b"globexthdr.mtime" => self.global_mtime = Some(time()?),
            _ => {
                check_keyword(key)?;
                self.globals.push((key.to_vec(), value.to_vec()));
            }
        }
        Ok(())
    }

    /// Returns whether a keyword is not stored.
    pub fn is_deleted(&self, key: &[u8]) -> bool {
        use box_text::glob::{GlobOptions, GlobPattern};
        self.deleted.iter().any(|p| GlobPattern::new(p, GlobOptions::default()).is_match(key))
    }
}

fn check_keyword(key: &[u8]) -> Result<(), String> {
    // A keyword with a dot belongs to a vendor, so any is accepted.
    if KEYWORDS.contains(&key) || key.contains(&b'.') {
        return Ok(());
    }
    Err(format!("Keyword {} is unknown or not yet implemented", String::from_utf8_lossy(key)))
}

/// Returns the name of an extended header by a template. `%d` is the directory of the member's
/// name, `%f` its last part, `%n` the number of a global header, `%p` the number of the process,
/// and `%%` a percent sign.
pub fn header_name(template: &[u8], member: &[u8], number: u64) -> Vec<u8> {
    let member = box_sys::path::strip_slashes(member);
    let mut out = Vec::new();
    let mut bytes = template.iter();
    while let Some(&c) = bytes.next() {
        if c != b'%' {
            out.push(c);
            continue;
        }
        match bytes.next() {
            Some(b'd') => out.extend_from_slice(box_sys::path::dir_name(member)),
            Some(b'f') => out.extend_from_slice(box_sys::path::base_name(member)),
            Some(b'n') => out.extend_from_slice(number.to_string().as_bytes()),
            Some(b'p') => out.extend_from_slice(std::process::id().to_string().as_bytes()),
            Some(b'%') => out.push(b'%'),
            Some(&other) => out.extend_from_slice(&[b'%', other]),
            None => out.push(b'%'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the rule of POSIX `pax`, "pax Extended Header", that the length includes its own
    /// digits.
    #[test]
    fn records_count_their_own_length() {
        for value in 0..1200 {
            let value = vec![b'v'; value];
            let record = encode_record(b"path", &value);
            assert_eq!(parse_records(&record), Some(vec![(b"path".to_vec(), value)]));
        }
        assert_eq!(encode_record(b"atime", b"1"), b"11 atime=1\n");
        assert_eq!(parse_records(b"99 a=b\n"), None);
        assert_eq!(parse_records(b"3 a"), None);
        assert_eq!(parse_records(b"0 a=b\n"), None);
    }

    #[test]
    fn options_of_the_archive_and_of_members() {
        let mut options = PaxOptions::default();
        options
            .add_list(b"delete=?time,comment=hi there,atime:=1,exthdr.name=%d/%f.pax")
            .expect("valid");
        assert!(options.is_deleted(b"ctime") && !options.is_deleted(b"path"));
        assert_eq!(options.globals.len(), 2);
        assert_eq!(header_name(b"%d/%f.pax.%n%%", b"a/b/", 3), b"a/b.pax.3%");
        assert!(options.add_list(b"foo").is_err());
        assert!(options.add_list(b"foo=1").is_err());
    }
}
