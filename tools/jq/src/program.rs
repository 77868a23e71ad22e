//! Loads a program with its modules (jq manual, "Modules"), and makes the messages for programs
//! that do not compile.

use std::path::{Path, PathBuf};

use crate::builtins::BuiltinLibrary;
use crate::json;
use crate::lang::ast::{Def, Import, JqExpr, JqModule};
use crate::lang::{JqSyntaxError, parse_module};
use crate::machine::{CompileError, JqCompiler, JqProgram, NameBinding, NameScope};
use crate::value::{Map, Value};

/// The name of the main program in messages.
const TOP_LEVEL: &str = "<top-level>";

/// The maximum number of modules inside one another.
const MAX_DEPTH: usize = 100;

/// The directories in which modules are searched for.
pub struct ModulePaths {
    /// Directories of `-L`, absolute.
    pub library: Vec<PathBuf>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The directory from which relative search paths of the main program start.
    pub origin: PathBuf,
    /// `~/.jq`: a directory of modules, or a file of definitions that every program may use.
    pub home: PathBuf,
}

/// A loaded module with those it imports.
struct LoadedModule {
    module: JqModule,
    imports: Vec<LoadedModule>,
    /// Values of data imports by name.
    data: Vec<(String, Value)>,
    text: String,
    /// The name of the file in messages.
    file: String,
    /// The prefix of its functions (`import ... as NAME`); none if they have no prefix (`include`).
    alias: Option<String>,
}

/// Compiles `code`. `globals` are variables by name without `$`. The error is the message that jq
/// prints.
pub fn compile_program(
    code: &str,
    globals: Vec<(String, Value)>,
    paths: &ModulePaths,
) -> Result<JqProgram, String> {
    let main = parse_module(code).map_err(|e| syntax_text(&e, code, TOP_LEVEL))?;
    let mut top = load_module(main, (code, TOP_LEVEL), &paths.origin, None, paths, 0)?;
    if let Ok(text) = std::fs::read_to_string(&paths.home) {
        let module = parse_module(&text).map_err(|e| syntax_text(&e, &text, "~/.jq"))?;
        top.imports
            .insert(0, load_module(module, (&text, "~/.jq"), &paths.origin, None, paths, 1)?);
    }
    let mut texts = Vec::new();
    collect_texts(&top, &mut texts);
    let library = BuiltinLibrary::new(texts);
    let mut compiler = JqCompiler::new(&library);
    let scope = globals.into_iter().fold(NameScope::default(), |scope, (name, value)| {
        scope.with_binding(NameBinding::Global { name, value })
    });
    let identity = JqExpr::Id;
    let mut modules = Vec::new();
    let (_, scope) = compile_module(&mut compiler, &top, &scope, &mut modules);
    let body = top.module.body.as_ref().unwrap_or(&identity);
    compiler.finish_program(body, &scope).map_err(|e| undefined_text(&e, &modules))
}

/// Compiles a module's definitions and those of its imports. Returns the definitions with their
/// numbers, and the scope inside the module. `modules` are the modules compiled so far; an index in
/// it is a module's number.
fn compile_module<'a>(
    compiler: &mut JqCompiler<'a>,
    loaded: &'a LoadedModule,
    outer: &NameScope<'a>,
    modules: &mut Vec<&'a LoadedModule>,
) -> (Vec<(&'a Def, u32)>, NameScope<'a>) {
    let number = modules.len();
    modules.push(loaded);
    let mut scope = outer.clone();
    for import in &loaded.imports {
        let (defs, _) = compile_module(compiler, import, outer, modules);
        for (def, id) in defs {
            let name = match &import.alias {
                Some(alias) => format!("{alias}::{}", def.name),
                None => def.name.clone(),
            };
            scope =
                scope.with_binding(NameBinding::GlobalFunc { name, arity: def.params.len(), id });
        }
    }
    for (name, value) in &loaded.data {
        let value = value.clone();
        scope = scope.with_binding(NameBinding::Global { name: name.clone(), value });
    }
    compiler.module = number;
    let mut defs = Vec::new();
    for def in &loaded.module.defs {
        let (id, inner) = compiler.define_global(def, &scope);
        scope = inner;
        defs.push((&**def, id));
    }
    (defs, scope)
}

fn collect_texts<'l>(loaded: &'l LoadedModule, out: &mut Vec<&'l str>) {
    out.push(&loaded.text);
    loaded.imports.iter().for_each(|l| collect_texts(l, out));
}

fn load_module(
    module: JqModule,
    (text, file): (&str, &str),
    origin: &Path,
    alias: Option<String>,
    paths: &ModulePaths,
    depth: usize,
) -> Result<LoadedModule, String> {
    if depth > MAX_DEPTH {
        return Err("modules import each other without end".to_string());
    }
    let (mut imports, mut data) = (Vec::new(), Vec::new());
    for import in &module.imports {
        let file = find_module(import, &search_dirs(import, origin, paths))?;
        let content = std::fs::read_to_string(&file).map_err(|e| {
            format!("Could not open {}: {}", file.display(), box_sys::error_text(&e))
        })?;
        if import.is_data {
            let name = import.alias.clone().unwrap_or_default();
            let values = json::parse_many(content.as_bytes()).map_err(|e| e.to_string())?;
            data.push((format!("{name}::{name}"), Value::arr(values.clone())));
            data.push((name, Value::arr(values)));
            continue;
        }
        let shown = file.display().to_string();
        let inner = parse_module(&content).map_err(|e| syntax_text(&e, &content, &shown))?;
        if inner.body.is_some() {
            return Err(format!(
                "library should only have function definitions, not a main \
                expression at {shown}"
            ));
        }
        let dir = file.parent().unwrap_or(origin).to_path_buf();
        let read = (content.as_str(), shown.as_str());
        imports.push(load_module(inner, read, &dir, import.alias.clone(), paths, depth + 1)?);
    }
    Ok(LoadedModule {
        module,
        imports,
        data,
        text: text.to_string(),
        file: file.to_string(),
        alias,
    })
}

/// Returns the result of `modulemeta` for a module: its metadata, `deps` and `defs`. The outer
/// error is the message of jq for a module that cannot be read; the inner one is for a module that
/// does not parse.
pub fn describe_module(name: &str, paths: &ModulePaths) -> Result<Result<Value, String>, String> {
    let import = Import { path: name.to_string(), alias: None, is_data: false, meta: None };
    let file =
        find_module(&import, &paths.library).map_err(|_| format!("module not found: {name}"))?;
    let shown = file.display().to_string();
    let content = std::fs::read_to_string(&file)
        .map_err(|e| format!("Could not open {shown}: {}", box_sys::error_text(&e)))?;
    let module = match parse_module(&content) {
        Ok(module) => module,
        Err(e) => return Ok(Err(syntax_text(&e, &content, &shown))),
    };
    let fields = |meta: &Option<Value>| match meta {
        Some(Value::Obj(m)) => (**m).clone(),
        _ => Map::default(),
    };
    let key = |name: &str| std::rc::Rc::new(name.to_string());
    let deps = module.imports.iter().map(|i| {
        let mut dep = fields(&i.meta);
        if let Some(alias) = &i.alias {
            dep.insert(key("as"), alias.as_str().into());
        }
        dep.insert(key("is_data"), i.is_data.into());
        dep.insert(key("relpath"), i.path.as_str().into());
        Value::obj(dep)
    });
    let mut out = fields(&module.meta);
    out.insert(key("deps"), deps.collect());
    let mut defs: Vec<String> = Vec::new();
    for def in &module.defs {
        let name = format!("{}/{}", def.name, def.params.len());
        if !defs.contains(&name) {
            defs.push(name);
        }
    }
    out.insert(key("defs"), defs.iter().map(|d| Value::from(d.as_str())).collect());
    Ok(Ok(Value::obj(out)))
}

/// Returns the directories in which an import is searched for: the ones that it names, relative to
/// the importing module's directory. If it names none, these are the working directory and the
/// directories of `-L`.
fn search_dirs(import: &Import, origin: &Path, paths: &ModulePaths) -> Vec<PathBuf> {
    let within = |dir: &str| match dir {
        "." => paths.cwd.clone(),
        _ => origin.join(dir),
    };
    let search = match &import.meta {
        Some(Value::Obj(m)) => m.get("search"),
        _ => None,
    };
    match search {
        None => std::iter::once(&paths.cwd).chain(&paths.library).cloned().collect(),
        Some(Value::Str(dir)) => vec![within(dir)],
        Some(Value::Arr(all)) => all.iter().filter_map(Value::as_str).map(within).collect(),
        Some(_) => Vec::new(),
    }
}

/// Finds the file of an import: `a/b.jq` or `a/b/b.jq` in one of the directories.
fn find_module(import: &Import, dirs: &[PathBuf]) -> Result<PathBuf, String> {
    let relative = Path::new(&import.path);
    let last = relative.file_name().unwrap_or_default();
    let extension = if import.is_data { ".json" } else { ".jq" };
    let with = |p: &Path| {
        let mut name = p.as_os_str().to_os_string();
        name.push(extension);
        PathBuf::from(name)
    };
    for dir in dirs {
        let plain = with(&dir.join(relative));
        let inner = with(&dir.join(relative).join(last));
        if let Some(found) = [plain, inner].into_iter().find(|p| p.is_file()) {
            return Ok(found);
        }
    }
    let searched: Vec<String> = dirs.iter().map(|d| d.display().to_string()).collect();
    Err(format!("module not found: {}\n(search paths: {})", import.path, searched.join(", ")))
}

/// Returns the line number and column of an offset, and the text of its line.
fn locate_offset(code: &str, at: usize) -> (usize, usize, &str) {
    let before = code.get(..at.min(code.len())).unwrap_or(code);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    let end = code[start..].find('\n').map_or(code.len(), |i| start + i);
    (line, before.len() - start + 1, &code[start..end])
}

fn syntax_text(e: &JqSyntaxError, code: &str, file: &str) -> String {
    let (line, column, text) = locate_offset(code, e.at);
    format!("{} at {file}, line {line}, column {column}:\n    {text}", e.message)
}

fn undefined_text(e: &CompileError, modules: &[&LoadedModule]) -> String {
    let (code, file) =
        modules.get(e.module).map_or(("", TOP_LEVEL), |m| (m.text.as_str(), m.file.as_str()));
    let (line, column, text) = locate_offset(code, e.at);
    format!("{} at {file}, line {line}, column {column}:\n    {text}", e.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The module `c` of jq 1.8's own tests, with the expected result of `modulemeta` there.
    #[test]
    fn describes_a_module() {
        let text = "module {whatever:null};\nimport \"a\" as foo;\nimport \"d\" as d {search:\"./\"};\n\
            import \"data\" as $d;\ndef a: 0;\ndef c: 1;\n";
        let dir = std::env::temp_dir().join(format!("box-jq-modules-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder");
        std::fs::write(dir.join("c.jq"), text).expect("a file");
        let paths = ModulePaths {
            library: vec![dir.clone()],
            origin: dir.clone(),
            cwd: dir.clone(),
            home: dir.join(".jq"),
        };
        let described = describe_module("c", &paths).expect("a module").expect("it parses");
        assert_eq!(
            json::to_text(&described),
            r#"{"whatever":null,"deps":[{"as":"foo","is_data":false,"relpath":"a"},{"search":"./","as":"d","is_data":false,"relpath":"d"},{"as":"d","is_data":true,"relpath":"data"}],"defs":["a/0","c/0"]}"#
        );
        assert_eq!(
            describe_module("nosuch", &paths).expect_err("missing"),
            "module not found: nosuch"
        );
        std::fs::remove_dir_all(&dir).expect("removable");
    }
}
