//! Input that must end with a clear error or within seconds, never in exhausted memory, a stack
//! overflow or quadratic time. The sizes are chosen so that a quadratic step would take minutes.

mod support;

use std::time::{Duration, Instant};

use support::Shell;

fn run(script: &str) -> (String, String) {
    let start = Instant::now();
    let mut shell = Shell::new(std::env::temp_dir());
    shell.budget = 1 << 27;
    if let Err(what) = shell.run(script) {
        shell.complain(what.as_bytes());
    }
    println!("{:?} {}", start.elapsed(), &script[..script.len().min(100)]);
    assert!(start.elapsed() < Duration::from_secs(60), "took {:?}", start.elapsed());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&shell.out), text(&shell.err))
}

#[test]
fn bombs_hit_the_budget() {
    for script in [
        "p {1..1000000000}",
        "p {1..9223372036854775807}",
        "p {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
        "x=aaaaaaaa; for i in {1..40}; do x=${x//a/$x}; done",
        "x=aaaaaaaa; for i in {1..40}; do x=$x$x; done",
        "x=aaaaaaaa; for i in {1..40}; do x=\"${x/a/$x$x}\"; done",
        "a=(aaaaaaaa); for i in {1..40}; do a=(\"${a[@]}\" \"${a[@]}\"); done",
        "set -- aaaaaaaa; for i in {1..40}; do set -- \"$@\" \"$@\"; done",
    ] {
        let (_, err) = run(script);
        assert!(
            err.contains("expansion too large") || err.contains("brace expansion: failed"),
            "{script}: {err}"
        );
    }
}

#[test]
fn deep_arithmetic_stays_on_the_stack() {
    let nested = format!("x='{}1{}'; p $((x))", "(".repeat(100_000), ")".repeat(100_000));
    assert!(run(&nested).1.contains("recursion level exceeded"));
    let signs = format!("let '{}1'; p done", "- ".repeat(100_000));
    assert!(run(&signs).1.contains("recursion level exceeded"));
    let subscripts = format!("x='{}1{}'; p $((x))", "a[".repeat(100_000), "]".repeat(100_000));
    assert!(run(&subscripts).1.contains("recursion level exceeded"));
    let chain = format!("x='1{}'; p $((x))", "+1".repeat(100_000));
    assert_eq!(run(&chain).0, "1:<100001>\n");
    let tower = format!("x='{}1'; p done$((x))", "2**".repeat(100_000));
    assert!(run(&tower).1.contains("recursion level exceeded"));
    let variables: String = (0..3000).map(|i| format!("v{i}=v{}+1;", i + 1)).collect();
    assert!(run(&format!("{variables} p $((v0))")).1.contains("recursion level exceeded"));
    let names: String = (0..1000).map(|i| format!("v{i}=v{};", i + 1)).collect();
    assert_eq!(run(&format!("{names} v1000=7; p $((v0))")).0, "1:<7>\n");
}

#[test]
fn large_values_in_good_time() {
    let big = "for i in {1..17}; do x=$x$x; done";
    let cases = [
        (format!("x='a b '; {big}; set -- $x; p $#"), "1:<262144>\n"),
        (format!("x=ab; {big}; y=${{x//a/cc}}; p ${{#y}}"), "1:<393216>\n"),
        (format!("x=ab; {big}; y=${{x//[a]/cc}}; p ${{#y}}"), "1:<393216>\n"),
        (format!("shopt -s extglob; x=ab; {big}; y=${{x//+(a)/cc}}; p ${{#y}}"), "1:<393216>\n"),
        (format!("x=ab; {big}; y=${{x//a*c/cc}}; p ${{#y}}"), "1:<262144>\n"),
        (format!("x=ab; {big}; y=${{x##*b}}; p ${{#y}} ${{x%%b*}}"), "2:<0><a>\n"),
        (
            format!("x=ab; {big}; y=${{x^^}}; p ${{#y}} ${{y:2:2}} ${{x: -1}}"),
            "3:<262144><AB><b>\n",
        ),
        (format!("x=é; {big}; p ${{#x}} ${{x:131071}}"), "2:<131072><é>\n"),
        (
            "p {1..200000} >/dev/null; a=({1..200000}); p ${#a[@]} ${a[199999]}"
                .replace("p {1..200000} >/dev/null; ", ""),
            "2:<200000><200000>\n",
        ),
        ("for ((i=0;i<100000;i++)); do a[i]=$i; done; p ${#a[@]}".into(), "1:<100000>\n"),
        ("for ((i=0;i<50000;i++)); do x+=ab; done; p ${#x}".into(), "1:<100000>\n"),
        (
            "declare -A h; for ((i=0;i<20000;i++)); do h[k$i]=$i; done; p ${#h[@]} ${h[k777]}"
                .into(),
            "2:<20000><777>\n",
        ),
        (format!("p {}x", "{".repeat(100_000)), ""),
        (format!("p {}x{}", "{a,".repeat(300), "}".repeat(300)), ""),
    ];
    for (script, expected) in &cases {
        let (out, err) = run(script);
        assert_eq!(err, "", "{}", &script[..script.len().min(80)]);
        if !expected.is_empty() {
            assert_eq!(out, *expected, "{}", &script[..script.len().min(80)]);
        }
    }
}
