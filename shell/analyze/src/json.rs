//! The report as JSON, one element of a list per line. Keys and their order are fixed and
//! described in `docs/analyze.md`.

use crate::report::{
    Access, AnalysisReport, CommandNameKind, CommandUse, Context, FileUse, Redirection, ScriptWord,
    Variable,
};

/// Writes a byte string as a JSON string; bytes that are not UTF-8 become U+FFFD.
fn put_string(out: &mut String, text: &[u8]) {
    out.push('"');
    for c in String::from_utf8_lossy(text).chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if u32::from(c) < 0x20 || c == '\u{7f}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A JSON object under construction.
struct Object {
    out: String,
}

impl Object {
    fn new() -> Object {
        Object { out: "{".into() }
    }

    fn add_key(&mut self, key: &str) -> &mut String {
        if self.out.len() > 1 {
            self.out.push_str(", ");
        }
        put_string(&mut self.out, key.as_bytes());
        self.out.push_str(": ");
        &mut self.out
    }

    fn add_text(mut self, key: &str, value: &[u8]) -> Object {
        put_string(self.add_key(key), value);
        self
    }

    /// Adds the members of a word: its text under `key`, then the flags that are set.
    fn add_word(mut self, key: &str, value: &ScriptWord) -> Object {
        put_string(self.add_key(key), &value.text);
        self.add_flag("dynamic", value.dynamic).add_flag("expands", value.expands)
    }

    fn add_flag(mut self, key: &str, on: bool) -> Object {
        if on {
            self.add_key(key).push_str("true");
        }
        self
    }

    fn add_raw(mut self, key: &str, value: &str) -> Object {
        self.add_key(key).push_str(value);
        self
    }

    fn add_place(self, line: u32, context: &Context) -> String {
        let mut o = self.add_raw("line", &line.to_string());
        if !context.is_empty() {
            let list = o.add_key("context");
            list.push('[');
            for (i, c) in context.iter().enumerate() {
                if i > 0 {
                    list.push_str(", ");
                }
                put_string(list, c.as_bytes());
            }
            list.push(']');
        }
        o.end()
    }

    fn end(mut self) -> String {
        self.out.push('}');
        self.out
    }
}

fn word_json(text: &ScriptWord) -> String {
    Object::new().add_word("text", text).end()
}

fn json_list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        return "[]".into();
    }
    format!("[\n    {}\n  ]", items.join(",\n    "))
}

impl AnalysisReport {
    /// Returns one JSON object, ended by a newline.
    pub fn to_json(&self) -> String {
        let functions = self
            .functions
            .iter()
            .map(|f| Object::new().add_text("name", &f.name).add_place(f.line, &f.context));
        let unknowns = self.unknowns.iter().map(|u| {
            Object::new()
                .add_text("what", u.what.as_bytes())
                .add_text("text", &u.text)
                .add_place(u.line, &u.context)
        });
        let errors = self
            .errors
            .iter()
            .map(|e| Object::new().add_text("message", &e.message).add_place(e.line, &e.context));
        let mut out = String::from("{\n  \"version\": 1,\n");
        out.push_str(&format!("  \"complete\": {},\n", self.is_complete()));
        let parts = [
            ("commands", json_list(self.commands.iter().map(CommandUse::to_object))),
            ("files", json_list(self.files.iter().map(FileUse::to_object))),
            ("redirections", json_list(self.redirections.iter().map(Redirection::to_object))),
            ("functions", json_list(functions)),
            ("variables", json_list(self.variables.iter().map(Variable::to_object))),
            ("unknowns", json_list(unknowns)),
            ("errors", json_list(errors)),
        ];
        let parts: Vec<String> = parts.iter().map(|(k, v)| format!("  \"{k}\": {v}")).collect();
        out.push_str(&parts.join(",\n"));
        out.push_str("\n}\n");
        out
    }
}

impl CommandUse {
    fn to_object(&self) -> String {
        let kind = match self.kind {
            CommandNameKind::Builtin => "builtin",
            CommandNameKind::Function => "function",
            CommandNameKind::Applet => "applet",
            CommandNameKind::Path => "path",
            CommandNameKind::Unknown => "unknown",
        };
        let args: Vec<String> = self.args.iter().map(word_json).collect();
        Object::new()
            .add_word("name", &self.name)
            .add_text("kind", kind.as_bytes())
            .add_raw("args", &format!("[{}]", args.join(", ")))
            .add_flag("more_args", self.more_args)
            .add_place(self.line, &self.context)
    }
}

impl FileUse {
    fn to_object(&self) -> String {
        let access = match self.access {
            Access::Read => "read",
            Access::Write => "write",
            Access::Delete => "delete",
            Access::Execute => "execute",
        };
        Object::new()
            .add_word("path", &self.path)
            .add_text("access", access.as_bytes())
            .add_text("by", &self.by)
            .add_place(self.line, &self.context)
    }
}

impl Redirection {
    fn to_object(&self) -> String {
        Object::new()
            .add_text("fd", self.fd.as_bytes())
            .add_text("op", self.op.as_bytes())
            .add_word("target", &self.target)
            .add_place(self.line, &self.context)
    }
}

impl Variable {
    fn to_object(&self) -> String {
        let object = Object::new().add_word("name", &self.name).add_text("by", self.by.as_bytes());
        match &self.value {
            Some(text) => object.add_raw("value", &word_json(text)),
            None => object,
        }
        .add_place(self.line, &self.context)
    }
}
