//! Parses a script, command by command, and shows the tree or the printed text.
//! Usage: `shparse [-n|-p|-d|-f|-r] [-O extglob] FILE`

use std::io::Write;

use sh_syntax::parse::{NoAliases, ParseOptions, Parser};

fn main() -> std::io::Result<()> {
    let mut mode = "-d".to_string();
    let mut options = ParseOptions::default();
    let mut file = None;
    let mut args = std::env::args().skip(1);
    while let Some(a) = args.next() {
        match a.as_str() {
            "-O" => {
                args.next();
                options.extglob = true;
            }
            "-n" | "-p" | "-d" | "-f" => mode = a,
            _ => file = Some(a),
        }
    }
    let src = std::fs::read(file.unwrap_or_else(|| "/dev/stdin".into()))?;
    let mut parser = Parser::new(src, options);
    let mut out = std::io::stdout().lock();
    loop {
        let result = parser.next_command(&NoAliases);
        for w in parser.take_warnings() {
            eprintln!("line {}: warning: {}", w.line, String::from_utf8_lossy(&w.message));
        }
        match result {
            Ok(None) => return Ok(()),
            Ok(Some(list)) => match mode.as_str() {
                "-p" => out.write_all(&sh_syntax::print::list(&list))?,
                "-d" => writeln!(out, "{list:#?}")?,
                "-f" => {
                    for item in &list.items {
                        for stage in &item.and_or.first.stages {
                            if let sh_syntax::ast::CommandKind::Function(f) = &stage.command.kind {
                                out.write_all(&sh_syntax::print::function(f))?;
                                out.write_all(b"\n")?;
                            }
                        }
                    }
                }
                _ => {}
            },
            Err(e) => {
                out.flush()?;
                std::io::stderr().write_all(&e.render(b"bash: "))?;
                std::process::exit(2);
            }
        }
    }
}
