//! Parses a script, command by command, and shows the tree or the printed text.
//! Usage: `shparse [-n|-p|-d|-f|-r] [-O extglob] [-a NAME=VALUE]... FILE`

#[path = "../tests/common/canonical.rs"]
mod canonical;

use std::io::Write;

use sh_syntax::parse::{Aliases, ParseOptions, Parser};

struct Table(Vec<(Vec<u8>, std::rc::Rc<[u8]>)>);

impl Aliases for Table {
    fn get(&self, name: &[u8]) -> Option<std::rc::Rc<[u8]>> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone())
    }
}

fn main() -> std::io::Result<()> {
    let mut mode = "-d".to_string();
    let mut options = ParseOptions::default();
    let mut file = None;
    let mut aliases = Table(Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(a) = args.next() {
        match a.as_str() {
            "-O" => {
                args.next();
                options.extglob = true;
            }
            "-a" => {
                options.expand_aliases = true;
                if let Some((n, v)) = args.next().as_deref().and_then(|a| a.split_once('=')) {
                    aliases.0.push((n.as_bytes().to_vec(), v.as_bytes().into()));
                }
            }
            "-n" | "-p" | "-d" | "-f" | "-r" => mode = a,
            _ => file = Some(a),
        }
    }
    let src = std::fs::read(file.unwrap_or_else(|| "/dev/stdin".into()))?;
    let extglob = options.clone();
    let mut parser = Parser::new(src, options);
    let mut out = std::io::stdout().lock();
    loop {
        let result = parser.next_command(&aliases);
        for w in parser.take_warnings() {
            eprintln!("line {}: warning: {}", w.line, String::from_utf8_lossy(&w.message));
        }
        match result {
            Ok(None) => return Ok(()),
            Ok(Some(list)) => match mode.as_str() {
                "-p" => out.write_all(&sh_syntax::print::print_list(&list))?,
                "-d" => writeln!(out, "{list:#?}")?,
                "-f" => {
                    for item in &list.items {
                        for stage in &item.and_or.first.stages {
                            if let sh_syntax::ast::CommandKind::Function(f) = &stage.command.kind {
                                out.write_all(&sh_syntax::print::print_function(f))?;
                                out.write_all(b"\n")?;
                            }
                        }
                    }
                }
                "-r" => round_trip(&list, &extglob),
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

/// Checks that printed text parses to the same tree.
fn round_trip(list: &sh_syntax::ast::CommandList, options: &ParseOptions) {
    let text = sh_syntax::print::print_list(list);
    let show = |t: &[u8]| String::from_utf8_lossy(t).into_owned();
    let again = match sh_syntax::parse::parse_all(&text, options) {
        Ok(l) => l,
        Err(e) => {
            println!("REPARSE {e}\n{}", show(&text));
            return;
        }
    };
    let twice = sh_syntax::print::print_list(&again);
    if twice != text {
        println!("IDEMPOTENT\n{}\n---\n{}", show(&text), show(&twice));
    }
    let (mut a, mut b) = (list.clone(), again);
    canonical::list(&mut a);
    canonical::list(&mut b);
    if a != b {
        println!("TREE\n{}", show(&text));
    }
}
