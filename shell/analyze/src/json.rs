//! The report as JSON, one element of a list per line. Keys and their order are fixed and
//! described in `docs/analyze.md`.

use crate::report::{Access, Context, Kind, Report, Text};

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
    fn word(mut self, key: &str, value: &Text) -> Object {
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

fn word(text: &Text) -> String {
    Object::new().word("text", text).end()
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        return "[]".into();
    }
    format!("[\n    {}\n  ]", items.join(",\n    "))
}

impl Report {
    /// One JSON object, ended by a newline.
    pub fn to_json(&self) -> String {
        let kind = |k: Kind| match k {
            Kind::Builtin => "builtin",
            Kind::Function => "function",
            Kind::Applet => "applet",
            Kind::Path => "path",
            Kind::Unknown => "unknown",
        };
        let access = |a: Access| match a {
            Access::Read => "read",
            Access::Write => "write",
            Access::Delete => "delete",
            Access::Execute => "execute",
        };
        let commands = self.commands.iter().map(|c| {
            let args: Vec<String> = c.args.iter().map(word).collect();
            Object::new()
                .word("name", &c.name)
                .text("kind", kind(c.kind).as_bytes())
                .raw("args", &format!("[{}]", args.join(", ")))
                .flag("more_args", c.more_args)
                .at(c.line, &c.context)
        });
        let files = self.files.iter().map(|f| {
            Object::new()
                .word("path", &f.path)
                .text("access", access(f.access).as_bytes())
                .text("by", &f.by)
                .at(f.line, &f.context)
        });
        let redirections = self.redirections.iter().map(|r| {
            Object::new()
                .text("fd", r.fd.as_bytes())
                .text("op", r.op.as_bytes())
                .word("target", &r.target)
                .at(r.line, &r.context)
        });
        let functions = self
            .functions
            .iter()
            .map(|f| Object::new().text("name", &f.name).at(f.line, &f.context));
        let variables = self.variables.iter().map(|v| {
            let o = Object::new().word("name", &v.name).text("by", v.by.as_bytes());
            match &v.value {
                Some(t) => o.raw("value", &word(t)),
                None => o,
            }
            .at(v.line, &v.context)
        });
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
            ("commands", list(commands)),
            ("files", list(files)),
            ("redirections", list(redirections)),
            ("functions", list(functions)),
            ("variables", list(variables)),
            ("unknowns", list(unknowns)),
            ("errors", list(errors)),
        ];
        let parts: Vec<String> = parts.iter().map(|(k, v)| format!("  \"{k}\": {v}")).collect();
        out.push_str(&parts.join(",\n"));
        out.push_str("\n}\n");
        out
    }
}
