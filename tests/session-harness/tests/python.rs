//! Tests cells of the session's Python interpreter. Expected values are CPython's.

use wasibox::{Engine, Error, Exec, Isolation, Session};
use wasibox_sessions::*;

fn both() -> [Engine; 2] {
    [Isolation::Process, Isolation::Threads].map(engine)
}

#[test]
fn variables_stay_and_values_come_back() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        assert_eq!(py(&s, "x = 41"), "");
        assert_eq!(py(&s, "x + 1"), "42");
        s.park();
        let o = s.python("import math\nprint('out')\n{'a': [x, math.pi, None, True]}").unwrap();
        assert_eq!(o.stdout, b"out\n");
        let json = o.value_json.unwrap();
        let plain: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(plain, serde_json::json!({"a": [41, std::f64::consts::PI, null, true]}));
        // The traceback names the line, and an error loses no variable.
        let o = s.python("def f():\n    return 1 / 0\nf()").unwrap();
        let text = String::from_utf8(o.stderr).unwrap();
        assert!(
            o.exit_code == 1 && text.contains("ZeroDivisionError") && text.contains("line 2"),
            "{text}"
        );
        assert!(text.contains("return 1 / 0"), "{text}");
        assert_eq!(py(&s, "x"), "41");
        assert_eq!(s.python("import sys; sys.exit(3)").unwrap().exit_code, 3);
        assert_eq!(py(&s, "x"), "41");
    }
}

#[test]
fn undo_fork_and_reset_reach_the_interpreter() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        py(&s, "x = [1]");
        py(&s, "x.append(2)");
        let fork = s.fork("f").unwrap();
        py(&fork, "x.append(3)");
        s.undo().unwrap();
        assert_eq!((py(&s, "x").as_str(), py(&fork, "x").as_str()), ("[1]", "[1, 2, 3]"));
        s.reset().unwrap();
        assert!(py(&s, "x").contains("NameError"));
        s.undo().unwrap();
        s.undo().unwrap();
        assert_eq!(py(&s, "x"), "[1]");
    }
}

#[test]
fn an_interpreter_that_is_lost_is_put_back() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        py(&s, "x = 1");
        let mut endless = Exec::python("x = 2\nwhile True: pass");
        endless.timeout = Some(std::time::Duration::from_millis(300));
        let o = s.exec(endless).unwrap();
        assert_eq!(o.exit_code, 124);
        assert_eq!(py(&s, "x"), "1");
        let o = s.python("x = 3\nimport os; os._exit(7)").unwrap();
        assert!(o.exit_code == 7 && o.put_back, "{o:?}");
        assert_eq!(py(&s, "x"), "1");
    }
}

/// Tests that an interpreter has one thread between two cells: threads are waited for, the rest end
/// as in the child of a fork, and everything that starts threads still works.
#[test]
fn threads_end_with_their_cell() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        let begin = "import threading, time, queue
from concurrent.futures import ThreadPoolExecutor
done = []
def late():
    time.sleep(0.1)
    done.append('late')
threading.Thread(target=late).start()
pool = ThreadPoolExecutor(2)
future = pool.submit(lambda: time.sleep(0.1) or 'work')
def for_ever():
    while True:
        time.sleep(0.001)
        done[:1] = done[:1]
daemon = threading.Thread(target=for_ever, daemon=True)
daemon.start()
waiter = threading.Thread(target=queue.Queue().get, daemon=True)
waiter.start()
busy = threading.Thread(target=lambda: [0 for _ in iter(int, 1)], daemon=True)
busy.start()";
        assert_eq!(py(&s, begin), "");
        assert_eq!(py(&s, "done, future.done(), future.result()"), "(['late'], True, 'work')");
        s.park();
        let alive =
            "daemon.is_alive(), waiter.is_alive(), busy.is_alive(), threading.active_count()";
        assert_eq!(py(&s, alive), "(False, False, False, 1)");
        assert_eq!(py(&s, "daemon.join(); list(pool.map(abs, [-1, 2, -3]))"), "[1, 2, 3]");
        let fork = s.fork("f").unwrap();
        for s in [&s, &fork] {
            let again = "t = threading.Thread(target=done.append, args=['again']); t.start(); t.join(); done";
            assert_eq!(py(s, again), "['late', 'again']");
            assert_eq!(py(s, "import asyncio\nawait asyncio.to_thread(sum, [1, 2])"), "3");
        }
        // An error does not prevent the threads from ending.
        assert!(
            py(&s, "threading.Thread(target=late).start(); 1 / 0").contains("ZeroDivisionError")
        );
        assert_eq!(py(&s, "done"), "['late', 'again', 'late']");
    }
}

/// Creates an object graph with most kinds of state that an interpreter has.
const MAKE: &str = "
import pandas as pd, random, threading, pickle, collections
frame = pd.DataFrame({'a': range(1000), 'b': [i * 0.5 for i in range(1000)], 'c': list('xy') * 500})
def counter():
    n = 0
    def more(by=1):
        nonlocal n
        n += by
        return n
    return more
count = counter(); count(); count(5)
def numbers():
    for i in range(100):
        yield i * i
squares = numbers(); next(squares); next(squares); next(squares)
file = open('/tmp/lines', 'w+'); file.write('one\\ntwo\\nthree\\n'); file.seek(0); file.readline()
random.seed(5); random.random()
lock = threading.Lock(); lock.acquire()
class Point:
    kinds = collections.Counter('aab')
    def __init__(self, x): self.x = x
    def __eq__(self, other): return type(other) is Point and self.x == other.x
point = Point([1, 2]); point.self = point
";
const LOOK: &str = "
again = pickle.loads(pickle.dumps(Point(7)))
print(frame.groupby('c')['b'].sum().to_dict(), frame.shape, count(), next(squares), file.readline().strip())
print(random.random(), lock.locked(), again == Point(7), point.self is point, Point.kinds['a'])
";
/// The output of native CPython.
const SEEN: &str =
    "{'x': 124750.0, 'y': 125000.0} (1000, 3) 7 9 two\n0.7417869892607294 True True True 2\n";

#[test]
fn an_object_graph_survives_sleep_undo_fork_and_travel() {
    let [process, threads] = both();
    let dir = tempfile::tempdir().unwrap();
    let store = process.store(&dir.path().join("w.wbx")).unwrap();
    let s = store.create("a", policy()).unwrap();
    assert_eq!(py(&s, MAKE), "");
    let made = s.head().unwrap().number;
    assert_eq!(py(&s, LOOK), SEEN);
    // The look changed state; going back and looking again must show the same.
    s.undo().unwrap();
    assert_eq!(py(&s, LOOK), SEEN);
    s.restore(made).unwrap();
    s.park();
    assert_eq!(py(&s, LOOK), SEEN);
    s.restore(made).unwrap();
    let mut file = Vec::new();
    s.snapshot(false, &mut file).unwrap();
    drop(s);
    // The session moves to another store, engine and kind of sandbox.
    let other = threads.store(&dir.path().join("v.wbx")).unwrap();
    let there = other.import("b", &*file, policy()).unwrap();
    assert_eq!(py(&there, LOOK), SEEN);
    // A fork draws different random numbers; the rest is the same.
    let s = store.session("a", policy()).unwrap();
    let fork = s.fork("c").unwrap();
    let seen = py(&fork, LOOK);
    let drawn = |text: &str| text.lines().nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert_ne!(drawn(&seen), drawn(SEEN));
    assert_eq!(seen.replace(&drawn(&seen), &drawn(SEEN)), SEEN);
}

#[test]
fn files_and_shell_of_a_session_open_with_other_images() {
    // The memory is recorded for another module, as it would be in another image.
    let engine = engine(Isolation::Process);
    let dir = tempfile::tempdir().unwrap();
    let store = engine.store(&dir.path().join("w.wbx")).unwrap();
    let s: Session = store.create("a", policy()).unwrap();
    sh(&s, "x=1; echo kept > f");
    py(&s, "x = 1");
    drop(s);
    let raw = wasibox::store::Store::open(&dir.path().join("w.wbx")).unwrap();
    let held = raw.session("a").unwrap();
    held.commit(|w| w.set_cell("python", wasibox::store::snapshot::Digest([7; 32]), 0, b"", b""))
        .unwrap();
    drop((held, raw));
    let s = store.session("a", policy()).unwrap();
    assert!(matches!(s.python("x"), Err(Error::Cell(_))));
    assert_eq!(sh(&s, "echo $x; cat f"), "1\nkept\n");
    s.reset().unwrap();
    assert!(py(&s, "x").contains("NameError"));
}
