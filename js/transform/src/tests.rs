//! Tests of the transformations. The expected texts are from TypeScript's handbook and ECMA-426,
//! and not recorded from a run.

use crate::{CompilerOptions, Jsx, SourceKind, check, helpers, minify, module, transform};

fn js(source: &str, name: &str, options: &CompilerOptions) -> String {
    transform::transform_source(source, name, options).unwrap().0.code
}

#[test]
fn types_go_and_places_stay_known() {
    let (output, module) = transform::transform_source(
        "type A = 1;\nlet b: A = 1;\n",
        "/a.ts",
        &CompilerOptions::default(),
    )
    .unwrap();
    assert_eq!((output.code.as_str(), module), ("\nlet b = 1;\n", false));
    // Line 2 of the output is line 2 of the source: `AACA` means column 0 of the next line.
    assert!(output.mappings.starts_with(";AACA"), "{}", output.mappings);
}

#[test]
fn names_of_commonjs_in_a_module_are_declared() {
    let code =
        js("import a from 'a'; console.log(a, __dirname);", "/a.ts", &CompilerOptions::default());
    assert!(code.starts_with("const __dirname=import.meta.dirname;\n"), "{code}");
    let kind = Some(SourceKind::Module);
    let code = js(
        "export {}; __dirname;",
        "/a.ts",
        &CompilerOptions { kind, ..CompilerOptions::default() },
    );
    assert!(code.starts_with('\n'), "{code}");
    let own = js("export const __dirname = 1;", "/a.ts", &CompilerOptions::default());
    assert!(own.starts_with('\n'), "{own}");
    let common =
        js("import fs = require('fs'); export = fs;", "/a.ts", &CompilerOptions::default());
    assert!(common.contains("module.exports = fs"), "{common}");
}

#[test]
fn jsx_is_what_the_options_say() {
    let classic = CompilerOptions { jsx_factory: Some("h".into()), ..CompilerOptions::default() };
    assert!(js("x = <a b={1}>t</a>", "/a.tsx", &classic).contains("h(\"a\", { b: 1 }, \"t\")"));
    let automatic = CompilerOptions {
        jsx: Jsx::Automatic,
        jsx_import_source: Some("preact".into()),
        ..CompilerOptions::default()
    };
    let code = js("export default <a/>", "/a.jsx", &automatic);
    assert!(code.contains("from \"preact/jsx-runtime\""), "{code}");
}

#[test]
fn helpers_are_there_when_they_are_called() {
    let options = CompilerOptions { experimental_decorators: true, ..CompilerOptions::default() };
    let code = js("@d class A { @p x = 1; }", "/a.ts", &options);
    assert!(code.starts_with("const babelHelpers={decorate:"), "{code}");
    assert_eq!(helpers("let a;"), None);
    assert!(check::check_syntax(&code, "/a.js", None).is_ok(), "{code}");
    let code = js("{ using a = f(); }", "/a.ts", &CompilerOptions::default());
    assert!(
        code.contains("usingCtx:") && check::check_syntax(&code, "/a.js", None).is_ok(),
        "{code}"
    );
}

#[test]
fn errors_have_places() {
    let e = check::check_syntax("let a = 1;\n  let ž = ;\n", "/a.js", None).unwrap_err();
    assert_eq!((e.line, e.column, e.length, e.text.as_str()), (2, 11, 1, "  let ž = ;"));
    let e = transform::transform_source("let a: = 1", "/a.ts", &CompilerOptions::default())
        .unwrap_err();
    assert_eq!((e.line, e.column), (1, 8));
    for (source, module) in [
        ("import 'a'", true),
        ("export {}", true),
        ("import.meta.url", true),
        ("await 1", true),
        ("for await (const a of b);", true),
        ("import('a')", false),
        ("async () => await 1", false),
        ("'import a from b'", false),
        ("return 1", false),
    ] {
        assert_eq!(check::is_module(source, "/a.js"), module, "{source}");
    }
}

#[test]
fn modules_tell_what_they_ask_for_and_give() {
    let source = "import a, { b as c } from './x'; import * as n from './n'; export * from './s';\n\
                  export { q as r } from './q'; export default 1; export const [k] = [a, c, n];\n\
                  import('./later'); require('./no');";
    let made = module::bundle_body(source, "/a.js", &CompilerOptions::default(), false).unwrap();
    let asked: Vec<_> =
        made.requests.iter().map(|r| (r.specifier.as_str(), r.names.join(","))).collect();
    let all = |name| (name, "*".to_string());
    let wanted = [
        ("./x", "default,b".to_string()),
        all("./n"),
        all("./s"),
        ("./q", "q".to_string()),
        all("./later"),
        all("./no"),
    ];
    assert_eq!(asked, wanted);
    let names: Vec<_> = made.exports.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(
        (names, made.stars, made.waits),
        (vec!["r", "default", "k"], vec!["./s".into()], false)
    );
    assert!(!made.output.code.contains("await __vite_ssr_import__"), "{}", made.output.code);
    let waits =
        module::bundle_body("import 'a'; await 1;", "/a.mjs", &CompilerOptions::default(), true)
            .unwrap();
    assert!(waits.waits && waits.output.code.contains("await __vite_ssr_import__(\"a\")"));
}

#[test]
fn small_texts_mean_the_same() {
    let small = minify::minify_program(
        "function f(longName) { return longName + 1 }\nif (false) f();\nexport const a = f(2);",
        "/a.js",
        SourceKind::Module,
    );
    let code = small.unwrap().code;
    assert!(
        !code.contains("longName") && !code.contains('\n') && code.contains("export"),
        "{code}"
    );
}
