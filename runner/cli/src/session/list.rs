//! Information about sessions and commits: `list`, `show`, `history`, `log`.

use super::turn::LINE;
use crate::args::session::SessionNameArgs;
use crate::message::{escape_text, json_shown};
use crate::{CliFailure, print_text, table};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::io::Write;
use wasibox::FileChangeKind;
use wasibox::store::snapshot::{Blob, Commit};
use wasibox::store::{Info, Store};

fn print_json(value: &Value) -> Result<u8, CliFailure> {
    print_text(&json_shown(format!("{value:#}\n")))?;
    Ok(0)
}

fn info_json(info: &Info) -> Value {
    json!({
        "name": info.name,
        "head": info.head,
        "created": table::format_rfc3339(info.created),
        "image": info.image.map(|d| d.to_string()),
    })
}

/// Lists the sessions of a store.
pub fn list_sessions(store: &Store, json: bool) -> Result<u8, CliFailure> {
    let all = store.sessions()?;
    if json {
        return print_json(&all.iter().map(info_json).collect());
    }
    let row = |info: &Info| {
        let image = info.image.map_or("-".into(), |d| d.to_string().chars().take(12).collect());
        vec![info.name.clone(), info.head.to_string(), table::format_time(info.created), image]
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    print_text(&table::format_table(&["NAME", "N", "CREATED (UTC)", "IMAGE"], &[1], &rows))?;
    Ok(0)
}

/// A session's commits, with data to describe each of them.
struct CommitHistory {
    head: u64,
    commits: Vec<Commit>,
    /// The head and its ancestors.
    line: HashSet<u64>,
    tags: HashMap<u64, Vec<String>>,
}

impl CommitHistory {
    fn load_history(store: &Store, name: &str) -> Result<CommitHistory, CliFailure> {
        let (head, commits) = (store.session_info(name)?.head, store.history(name)?);
        let parents: HashMap<u64, Option<u64>> =
            commits.iter().map(|c| (c.number, c.parent)).collect();
        let (mut line, mut at) = (HashSet::new(), Some(head));
        while let Some(number) = at.filter(|n| line.insert(*n)) {
            at = parents.get(&number).copied().flatten();
        }
        let mut tags: HashMap<u64, Vec<String>> = HashMap::new();
        for (tag, number) in store.tags(name)? {
            tags.entry(number).or_default().push(tag);
        }
        Ok(CommitHistory { head, commits, line, tags })
    }

    fn tags_of(&self, number: u64) -> &[String] {
        self.tags.get(&number).map_or(&[], Vec::as_slice)
    }

    fn head_mark(&self, number: u64) -> &'static str {
        match () {
            () if number == self.head => "*",
            () if !self.line.contains(&number) => "-",
            () => "",
        }
    }

    fn json(&self, store: &Store, commit: &Commit) -> Result<Value, CliFailure> {
        let call = &commit.call;
        Ok(json!({
            "number": commit.number,
            "parent": commit.parent,
            "time": table::format_rfc3339(call.time),
            "duration_ms": call.duration as f64 / 1e6,
            "exit_code": call.exit_code,
            "command": String::from_utf8_lossy(&load_blob(store, &call.command)?),
            "changed_files": call.changed_count,
            "head": commit.number == self.head,
            "undone": !self.line.contains(&commit.number),
            "tags": self.tags_of(commit.number),
        }))
    }
}

fn load_blob(store: &Store, blob: &Blob) -> Result<Vec<u8>, CliFailure> {
    let bytes = store.with_objects(|objects| blob.load_bytes(objects, LINE));
    Ok(bytes.map_err(wasibox::store::StoreError::from)?)
}

fn status_text(commit: &Commit) -> String {
    commit.call.exit_code.map_or("-".into(), |code| code.to_string())
}

/// Returns the number of files that a call has changed, with a `+` if it has changed more than it
/// lists.
fn changed_text(commit: &Commit) -> String {
    let more = if commit.call.changed_cut { "+" } else { "" };
    format!("{}{more}", commit.call.changed_count)
}

/// Lists a session's commits.
pub fn show_history(named: &SessionNameArgs, json: bool) -> Result<u8, CliFailure> {
    let store = named.store.open()?;
    let history = CommitHistory::load_history(&store, &named.name)?;
    if json {
        let all: Result<Vec<_>, _> =
            history.commits.iter().map(|c| history.json(&store, c)).collect();
        return print_json(&all?.into());
    }
    let mut rows = Vec::new();
    for c in &history.commits {
        let mut what = table::first_line(&load_blob(&store, &c.call.command)?, 60);
        for tag in history.tags_of(c.number) {
            what += &format!("  [{}]", escape_text(tag));
        }
        rows.push(vec![
            history.head_mark(c.number).to_owned(),
            c.number.to_string(),
            table::format_time(c.call.time),
            status_text(c),
            table::format_duration(c.call.duration),
            changed_text(c),
            what,
        ]);
    }
    let head = ["", "N", "TIME (UTC)", "STATUS", "TOOK", "FILES", "COMMAND"];
    print_text(&table::format_table(&head, &[1, 3, 4, 5], &rows))?;
    Ok(0)
}

/// Shows a session.
pub fn show_session(named: &SessionNameArgs, json: bool) -> Result<u8, CliFailure> {
    let store = named.store.open()?;
    let info = store.session_info(&named.name)?;
    let history = CommitHistory::load_history(&store, &named.name)?;
    let keys = store.keys(&named.name)?;
    let head = store.commit(&named.name, info.head)?;
    let totals = head.state.files.totals;
    let tags: Vec<(String, u64)> = store.tags(&named.name)?;
    if json {
        let mut all = info_json(&info);
        all["commits"] = history.commits.len().into();
        all["bytes"] = totals.bytes.into();
        all["inodes"] = totals.entries.into();
        all["keys"] = keys.len().into();
        all["tags"] = tags.into_iter().map(|(tag, n)| json!({"tag": tag, "number": n})).collect();
        return print_json(&all);
    }
    let mut out = format!("{}\n", escape_text(&info.name));
    let mut put = |what: &str, text: String| out += &format!("{what:<9} {text}\n");
    put("created", format!("{} UTC", table::format_time(info.created)));
    put("image", info.image.map_or("-".into(), |d| d.to_string()));
    put("at", format!("commit {} of {}", info.head, history.commits.len()));
    put("files", format!("{} bytes, {} files and folders", totals.bytes, totals.entries));
    put("values", keys.len().to_string());
    for (tag, number) in tags {
        put("tag", format!("{} {number}", escape_text(&tag)));
    }
    print_text(&out)?;
    Ok(0)
}

/// Shows a commit.
pub fn show_commit(named: &SessionNameArgs, number: u64, json: bool) -> Result<u8, CliFailure> {
    let store = named.store.open()?;
    let commit = store.commit(&named.name, number)?;
    let history = CommitHistory::load_history(&store, &named.name)?;
    let files = store.with_objects(|objects| commit.call.changed_paths(objects));
    let files = files.map_err(wasibox::store::StoreError::from)?;
    if json {
        let mut all = history.json(&store, &commit)?;
        all["files"] = files
            .iter()
            .map(|f| {
                let path = String::from_utf8_lossy(&f.path);
                json!({"path": path, "change": f.kind.name(), "size": f.size})
            })
            .collect();
        all["files_truncated"] = commit.call.changed_cut.into();
        all["cells"] = commit.state.cells.iter().map(|c| c.name.clone()).collect();
        return print_json(&all);
    }
    let mut out = format!("commit {}{}\n", commit.number, history.head_mark(number));
    let mut put = |what: &str, text: String| out += &format!("{what:<9} {text}\n");
    if let Some(parent) = commit.parent {
        put("after", parent.to_string());
    }
    put("time", format!("{} UTC", table::format_time(commit.call.time)));
    put("took", table::format_duration(commit.call.duration));
    put("status", status_text(&commit));
    for tag in history.tags_of(number) {
        put("tag", escape_text(tag));
    }
    for cell in &commit.state.cells {
        put("cell", escape_text(&cell.name));
    }
    put("files", changed_text(&commit));
    for f in files {
        let mark = match f.kind {
            FileChangeKind::Created => 'A',
            FileChangeKind::Modified => 'M',
            FileChangeKind::Deleted => 'D',
        };
        out += &format!(
            "  {mark} {:>10}  {}\n",
            f.size,
            escape_text(&String::from_utf8_lossy(&f.path))
        );
    }
    let command = load_blob(&store, &commit.call.command)?;
    for line in String::from_utf8_lossy(&command).lines() {
        out += &format!("  | {}\n", escape_text(line));
    }
    print_text(&out)?;
    Ok(0)
}

/// Shows the session's log: the record of each call, with its time.
pub fn show_log(named: &SessionNameArgs) -> Result<u8, CliFailure> {
    let store = named.store.open()?;
    let out = std::io::stdout().lock();
    let mut out = std::io::BufWriter::new(out);
    let done = store.audit(&named.name, &mut |time, entry| {
        let mut entry: Value =
            serde_json::from_str(entry).unwrap_or_else(|_| json!({"text": entry}));
        if let Some(object) = entry.as_object_mut() {
            object.insert("time".into(), table::format_rfc3339(time).into());
        }
        Ok(writeln!(out, "{}", json_shown(entry.to_string()))?)
    });
    match done.and_then(|()| Ok(out.flush()?)) {
        Err(wasibox::store::StoreError::Io(e)) if e.kind() == std::io::ErrorKind::BrokenPipe => {
            Ok(0)
        }
        done => Ok(done.map(|()| 0)?),
    }
}
