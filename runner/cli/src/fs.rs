//! `runner fs ...`: access to a session's files from the host.

use crate::args::fs::{FsCommand as Command, FsSessionArgs};
use crate::args::grants::PoolSettings;
use crate::message::{escape_text, json_shown};
use crate::{CliFailure, call, print_bytes, print_text};
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use wasibox::files::{
    Answer, EditOf, FileBytes, FileEntry, FileEntryKind, FileText, GlobOf, GrepOf, LsOf, PatchOf,
    PatternSyntax, ReadOf, Request, UploadOf, WriteOf,
};
use wasibox::{Error, Session};

/// Maximum number of bytes in one request.
const PART: u64 = 4 << 20;

/// Runs a command.
pub fn run(command: Command) -> Result<u8, CliFailure> {
    let of = command.session_of();
    let sessions =
        call::open_engine(&of.image, PoolSettings::default())?.sessions(of.named.store.open()?);
    let session = sessions.session(&of.named.name, of.workspace.policy())?;
    let request = match &command {
        Command::Read { lines: false, of, path, .. } if !of.json => {
            // A terminal must not obey control sequences in a file.
            let mut filter =
                std::io::stdout().is_terminal().then(wasibox::terminal::Filter::default);
            return download_file(&session, path, &mut |bytes| match &mut filter {
                Some(filter) => print_bytes(&filter.filter_bytes(bytes)),
                None => print_bytes(bytes),
            });
        }
        Command::Read { offset, limit, lines, path, .. } => Request::Read(ReadOf {
            offset: *offset,
            limit: *limit,
            numbers: *lines,
            ..ReadOf::new(&**path)
        }),
        Command::Write { append, path, text, .. } if text == "-" => {
            return upload_file(&session, &mut std::io::stdin().lock(), path, *append);
        }
        Command::Write { append, path, text, .. } => {
            Request::Write(WriteOf { append: *append, ..WriteOf::new(&**path, &**text) })
        }
        Command::Edit { all, path, old, new, .. } => {
            let mut edit = EditOf::new(&**path, &**old, &**new);
            edit.edits.iter_mut().for_each(|e| e.replace_all = *all);
            Request::Edit(edit)
        }
        Command::Patch { strip, dry_run, file, .. } => {
            let patch = match file {
                Some(file) => std::fs::read_to_string(file).map_err(|e| path_failure(file, &e))?,
                None => std::io::read_to_string(std::io::stdin())?,
            };
            Request::ApplyPatch(PatchOf { patch, strip: *strip, fuzz: None, dry_run: *dry_run })
        }
        Command::Ls { depth, path, .. } => Request::Ls(LsOf {
            path: path.clone(),
            depth: *depth,
            hidden: true,
            offset: 0,
            limit: None,
        }),
        Command::Glob { newest, pattern, path, .. } => Request::Glob(GlobOf {
            pattern: pattern.clone(),
            path: path.clone(),
            hidden: false,
            newest: *newest,
            directories: false,
            limit: None,
        }),
        Command::Grep { literal, ignore_case, context, include, pattern, path, .. } => {
            Request::Grep(GrepOf {
                path: path.clone(),
                syntax: if *literal { PatternSyntax::Literal } else { PatternSyntax::Perl },
                ignore_case: *ignore_case,
                include: include.clone(),
                before: *context,
                after: *context,
                ..GrepOf::new(&**pattern)
            })
        }
        Command::Stat { path, .. } => Request::Stat { path: path.clone(), follow: false },
        Command::Rm { recursive, path, .. } => {
            Request::Delete { path: path.clone(), recursive: *recursive }
        }
        Command::Mv { from, to, .. } => Request::Move { from: from.clone(), to: to.clone() },
        Command::Mkdir { path, .. } => Request::MakeDir { path: path.clone() },
        Command::Upload { file, path, .. } => {
            let mut from = std::fs::File::open(file).map_err(|e| path_failure(file, &e))?;
            return upload_file(&session, &mut from, path, false);
        }
        Command::Download { path, file, .. } => {
            let mut to = std::fs::File::create(file).map_err(|e| path_failure(file, &e))?;
            return download_file(&session, path, &mut |bytes| {
                to.write_all(bytes).map_err(|e| path_failure(file, &e))
            });
        }
    };
    print_answer(of, &ask_session(&session, &request)?)
}

fn path_failure(path: &Path, e: &std::io::Error) -> CliFailure {
    CliFailure::new(125, format!("{}: {e}", path.display()))
}

/// Sends a request to the session. An error about a file ends with status 1, as in any tool.
fn ask_session(session: &Session, request: &Request) -> Result<Answer, CliFailure> {
    session.files(request).map_err(|e| match e {
        Error::Files(e) => CliFailure::new(1, e),
        e => e.into(),
    })
}

fn download_file(
    session: &Session,
    path: &str,
    to: &mut dyn FnMut(&[u8]) -> Result<(), CliFailure>,
) -> Result<u8, CliFailure> {
    let mut offset = Some(0);
    while let Some(from) = offset {
        let part = Request::Download { path: path.into(), offset: from, limit: Some(PART) };
        let Answer::Data { data, next_offset, .. } = ask_session(session, &part)? else { break };
        to(&data.0)?;
        offset = next_offset;
    }
    Ok(0)
}

fn upload_file(
    session: &Session,
    from: &mut dyn Read,
    path: &str,
    is_appended: bool,
) -> Result<u8, CliFailure> {
    let mut offset = None;
    if is_appended {
        let stat = Request::Stat { path: path.into(), follow: true };
        if let Ok(Answer::Stat(FileEntry { size, .. })) = session.files(&stat) {
            offset = Some(size);
        }
    }
    loop {
        let mut part = Vec::new();
        from.take(PART).read_to_end(&mut part)?;
        let read = part.len() as u64;
        if read == 0 && offset.is_some() {
            return Ok(0);
        }
        let data = FileBytes(part);
        ask_session(
            session,
            &Request::Upload(UploadOf { path: path.into(), data, offset, mode: None }),
        )?;
        offset = Some(offset.unwrap_or(0) + read);
        if read < PART {
            return Ok(0);
        }
    }
}

/// Prints an answer, and returns the status.
fn print_answer(of: &FsSessionArgs, answer: &Answer) -> Result<u8, CliFailure> {
    if of.json {
        let json = serde_json::to_string(answer).map_err(|e| CliFailure::new(125, e))?;
        print_text(&(json_shown(json) + "\n"))?;
        return Ok(0);
    }
    let (mut out, mut status, mut note) = (String::new(), 0, None);
    let more = |next: Option<u64>| next.map(|_| "there is more".to_owned());
    match answer {
        Answer::Read { content: FileText::Text { text, note: found, .. }, .. } => {
            out.push_str(text);
            note.clone_from(found);
        }
        Answer::Read { content: FileText::Binary { note: found, .. }, .. } => {
            (status, note) = (1, Some(found.clone()));
        }
        Answer::Read { content: FileText::Data { mime, data }, .. } => {
            out = format!("{mime}, {} bytes\n", data.0.len());
        }
        Answer::Read { content: FileText::Directory { entries, next_offset }, .. }
        | Answer::Entries { entries, next_offset, .. } => {
            entries.iter().for_each(|e| out += &entry_line(e));
            note = more(*next_offset);
        }
        Answer::Stat(entry) => out = entry_line(entry),
        Answer::Edited { shown, .. } => out.push_str(shown),
        Answer::Patched(patched) => {
            for f in &patched.files {
                let did = match (f.created, f.deleted) {
                    (true, _) => "created",
                    (_, true) => "deleted",
                    _ => "patched",
                };
                out += &format!("{did} {}\n", escape_text(&f.path));
            }
        }
        Answer::Paths { paths, more } => {
            paths.iter().for_each(|p| out += &(escape_text(p) + "\n"));
            note = more.then(|| "there are more".to_owned());
            status = u8::from(paths.is_empty());
        }
        Answer::Matches(found) => {
            for hit in &found.files {
                for l in &hit.lines {
                    let sign = if l.matches { ':' } else { '-' };
                    out +=
                        &format!("{}{sign}{}{sign}{}\n", escape_text(&hit.path), l.number, l.text);
                }
            }
            note = more(found.next_offset).or_else(|| found.note.clone());
            status = u8::from(found.files.is_empty());
        }
        Answer::Found(_)
        | Answer::Data { .. }
        | Answer::Written { .. }
        | Answer::Deleted { .. }
        | Answer::Moved { .. }
        | Answer::Made { .. } => {}
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    if std::io::stdout().is_terminal() {
        out = String::from_utf8_lossy(
            &wasibox::terminal::Filter::default().filter_bytes(out.as_bytes()),
        )
        .into_owned();
    }
    print_text(&out)?;
    if let Some(note) = note {
        crate::message::say_message(&note);
    }
    Ok(status)
}

/// Returns an entry in the format of `ls -l`.
fn entry_line(e: &FileEntry) -> String {
    let kind = match e.kind {
        FileEntryKind::File => '-',
        FileEntryKind::Directory => 'd',
        FileEntryKind::Symlink => 'l',
        FileEntryKind::Fifo => 'p',
        FileEntryKind::Socket => 's',
        FileEntryKind::Device => 'c',
    };
    let bits: String = (0..9)
        .map(|n| if e.mode & (0o400 >> n) == 0 { '-' } else { ['r', 'w', 'x'][n % 3] })
        .collect();
    let target = e.target.as_ref().map_or(String::new(), |t| format!(" -> {}", escape_text(t)));
    format!(
        "{kind}{bits} {:>10} {} {}{target}\n",
        e.size,
        crate::table::format_time(e.modified),
        escape_text(&e.path)
    )
}
