//! The report as JSON, one element of a list per line. Keys and their order are fixed and
//! described in `docs/analyze.md`.

use crate::report::{
    Access, AnalysisReport, CommandNameKind, CommandUse, Context, FileUse, Redirection, ScriptWord,
    Variable,
};

/// JSON text of a byte string; bytes that are no UTF-8 become U+FFFD.
fn string(out: &mut String, text: &[u8]) {
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

/// An object in the making.
struct Object {
    out: String,
}

impl Object {
    fn new() -> Object {
        Object { out: "{".into() }
    }

    fn key(&mut self, key: &str) -> &mut String {
        if self.out.len() > 1 {
            self.out.push_str(", ");
        }
        string(&mut self.out, key.as_bytes());
        self.out.push_str(": ");
        &mut self.out
    }

    fn text(mut self, key: &str, value: &[u8]) -> Object {
        string(self.key(key), value);
        self
    }

    /// Members of a word: its text under `key`, then the flags that are set.
    fn word(mut self, key: &str, value: &ScriptWord) -> Object {
        string(self.key(key), &value.text);
        self.flag("dynamic", value.dynamic).flag("expands", value.expands)
    }

    fn flag(mut self, key: &str, on: bool) -> Object {
        if on {
            self.key(key).push_str("true");
        }
        self
    }

    fn raw(mut self, key: &str, value: &str) -> Object {
        self.key(key).push_str(value);
        self
    }

    fn at(self, line: u32, context: &Context) -> String {
        let mut o = self.raw("line", &line.to_string());
        if !context.is_empty() {
            let list = o.key("context");
            list.push('[');
            for (i, c) in context.iter().enumerate() {
                if i > 0 {
                    list.push_str(", ");
                }
                string(list, c.as_bytes());
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

fn word(text: &ScriptWord) -> String {
    Object::new().word("text", text).end()
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        return "[]".into();
    }
    format!("[\n    {}\n  ]", items.join(",\n    "))
}

impl AnalysisReport {
    /// One JSON object, ended by a newline.
    pub fn to_json(&self) -> String {
        let functions = self
            .functions
            .iter()
            .map(|f| Object::new().text("name", &f.name).at(f.line, &f.context));
        let unknowns = self.unknowns.iter().map(|u| {
            Object::new()
                .text("what", u.what.as_bytes())
                .text("text", &u.text)
                .at(u.line, &u.context)
        });
        let errors = self
            .errors
            .iter()
            .map(|e| Object::new().text("message", &e.message).at(e.line, &e.context));
        let mut out = String::from("{\n  \"version\": 1,\n");
        out.push_str(&format!("  \"complete\": {},\n", self.is_complete()));
        let parts = [
            ("commands", list(self.commands.iter().map(CommandUse::to_object))),
            ("files", list(self.files.iter().map(FileUse::to_object))),
            ("redirections", list(self.redirections.iter().map(Redirection::to_object))),
            ("functions", list(functions)),
            ("variables", list(self.variables.iter().map(Variable::to_object))),
            ("unknowns", list(unknowns)),
            ("errors", list(errors)),
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
        let args: Vec<String> = self.args.iter().map(word).collect();
        Object::new()
            .word("name", &self.name)
            .text("kind", kind.as_bytes())
            .raw("args", &format!("[{}]", args.join(", ")))
            .flag("more_args", self.more_args)
            .at(self.line, &self.context)
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
            .word("path", &self.path)
            .text("access", access.as_bytes())
            .text("by", &self.by)
            .at(self.line, &self.context)
    }
}

impl Redirection {
    fn to_object(&self) -> String {
        Object::new()
            .text("fd", self.fd.as_bytes())
            .text("op", self.op.as_bytes())
            .word("target", &self.target)
            .at(self.line, &self.context)
    }
}

impl Variable {
    fn to_object(&self) -> String {
        let object = Object::new().word("name", &self.name).text("by", self.by.as_bytes());
        match &self.value {
            Some(text) => object.raw("value", &word(text)),
            None => object,
        }
        .at(self.line, &self.context)
    }
}
