//! Tests `multiprocessing` in the guest: real processes over pipes. It must do the same as CPython
//! with the start method spawn.

use wasibox::{Isolation, Session};
use wasibox_sessions::*;

/// Runs a script from a file, because worker processes import it.
fn script(s: &Session, code: &str) -> String {
    let said = py(s, &format!("open('/tmp/work.py', 'w').write({code:?})"));
    assert!(said.parse::<usize>().is_ok(), "{said}");
    sh(s, "python3 /tmp/work.py")
}

#[test]
fn processes_share_pipes_locks_and_queues() {
    let s = engine(Isolation::Process).session(policy()).unwrap();
    let said = script(
        &s,
        "import multiprocessing as mp, os, sys, time

def child(connection, lock, queue, parent):
    with lock:
        connection.send((os.getppid() == parent, os.getpid() != parent, mp.current_process().name))
    queue.put(connection.recv() * 2)
    sys.exit(7)

def add(lock, times):
    for _ in range(times):
        with lock:
            n = int(open('/tmp/n').read())
            open('/tmp/n', 'w').write(str(n + 1))

def answer(event, connection):
    event.wait()
    connection.send_bytes(b'x' * 1_000_000)

def fail():
    raise ValueError('broken')

if __name__ == '__main__':
    print(mp.get_start_method(), mp.get_all_start_methods())
    here, there = mp.Pipe()
    lock, queue = mp.Lock(), mp.SimpleQueue()
    p = mp.Process(target=child, args=(there, lock, queue, os.getpid()))
    lock.acquire()
    p.start()
    print(p.is_alive(), here.poll(0.2))
    lock.release()
    print(here.recv())
    here.send([3])
    print(queue.get())
    p.join()
    print(p.exitcode, p.is_alive())
    open('/tmp/n', 'w').write('0')
    workers = [mp.Process(target=add, args=(lock, 50)) for _ in range(4)]
    [w.start() for w in workers]
    [w.join() for w in workers]
    print(open('/tmp/n').read(), [w.exitcode for w in workers])
    event = mp.Event()
    reader, writer = mp.Pipe(duplex=False)
    p = mp.Process(target=answer, args=(event, writer))
    p.start()
    writer.close()
    print(reader.poll(0.2))
    event.set()
    print(len(reader.recv_bytes()))
    p.join()
    try: reader.recv()
    except EOFError: print('end')
    p = mp.Process(target=time.sleep, args=(600,))
    p.start()
    p.join(0.2)
    print(p.exitcode)
    p.terminate()
    p.join()
    print(p.exitcode)
    p = mp.Process(target=fail)
    p.start()
    p.join()
    print(p.exitcode)
",
    );
    let expected = "spawn ['spawn']\nTrue False\n(True, True, 'Process-1')\n[3, 3]\n7 False\n\
                    200 [0, 0, 0, 0]\nFalse\n1000000\nend\nNone\n-15\n1\n";
    // The traceback of `fail` is on standard error.
    assert!(said.starts_with(expected), "{said}");
    assert!(said.ends_with("ValueError: broken\n"), "{said}");
}

#[test]
fn semaphores_keep_their_rules() {
    let s = engine(Isolation::Threads).session(policy()).unwrap();
    let said = script(
        &s,
        "import multiprocessing as mp
def raised(f):
    try: return f()
    except Exception as e: return f'{type(e).__name__}: {e}'
s = mp.BoundedSemaphore(2)
print(s.acquire(), s.acquire(), s.acquire(False), s.acquire(timeout=0.05), s.get_value())
print(s.release(), s.release(), raised(s.release), s.get_value())
l = mp.Lock()
print(raised(l.release), l.acquire(), l.acquire(False), l.release())
r = mp.RLock()
print(r.acquire(), r.acquire(), r.release(), r.release(), raised(r.release))
c = mp.Condition()
with c: print(c.wait(0.05))
e = mp.Event()
print(e.wait(0.05), e.set(), e.wait(), e.is_set())
print(raised(lambda: mp.Value('i', 1)))
from multiprocessing.shared_memory import SharedMemory
print(raised(lambda: SharedMemory(create=True, size=1)))
print(raised(lambda: mp.get_context('fork')))
",
    );
    let memory = "NotImplementedError: processes inside the sandbox share no memory, and files are mapped as copies; \
                  pipes";
    let expected = format!(
        "True True False False 0\nNone None ValueError: semaphore or lock released too many times 2\n\
         ValueError: semaphore or lock released too many times True False None\n\
         True True None None AssertionError: attempt to release recursive lock not owned by thread\n\
         False\nFalse None True True\n{memory} and queues serve instead\n\
         {memory}, queues and files serve instead\nValueError: cannot find context for 'fork'\n"
    );
    assert_eq!(said, expected);
}

#[test]
fn pools_queues_and_executors() {
    let s = engine(Isolation::Process).session(policy()).unwrap();
    let said = script(
        &s,
        "import multiprocessing as mp, os, sys, time
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

def square(x): return x * x
def pid(_):
    time.sleep(0.2)
    return os.getpid()
def fail(x): raise ValueError(x)
def start(q): q.put('began')
def die(): os._exit(3)

if __name__ == '__main__':
    with mp.Pool(3) as pool:
        print(pool.map(square, range(10)))
        print(pool.apply(square, (5,)), pool.starmap(pow, [(2, 3), (3, 2)]))
        print(sorted(pool.imap_unordered(square, range(5))), list(pool.imap(square, range(3), chunksize=2)))
        pids = set(pool.map(pid, range(3), chunksize=1))
        print(len(pids) > 1, os.getpid() in pids)
        try: pool.map(fail, [7])
        except ValueError as e: print('ValueError', e)
        print(pool.map_async(square, [9]).get(60))
    q = mp.Queue(2)
    p = mp.Process(target=start, args=(q,))
    p.start()
    print(q.get(timeout=60), p.join(), q.empty())
    q.put(1); q.put(2)
    try: q.put(3, timeout=0.1)
    except Exception as e: print(type(e).__name__, q.get(), q.get())
    j = mp.JoinableQueue()
    j.put(1); j.get(); j.task_done(); j.join()
    with ProcessPoolExecutor(2) as pool:
        print(list(pool.map(square, range(5))), sorted(f.result() for f in as_completed([pool.submit(square, n) for n in range(3)])))
        try: pool.submit(fail, 'x').result()
        except ValueError as e: print('ValueError', e)
    with ProcessPoolExecutor(1) as pool:
        try: pool.submit(die).result()
        except BrokenProcessPool: print('broken')
",
    );
    let expected = "[0, 1, 4, 9, 16, 25, 36, 49, 64, 81]\n25 [8, 9]\n[0, 1, 4, 9, 16] [0, 1, 4]\nTrue False\n\
                    ValueError 7\n[81]\nbegan None True\nFull 1 2\n[0, 1, 4, 9, 16] [0, 1, 4]\nValueError x\nbroken\n";
    assert_eq!(said, expected);
}

/// A background process of a script begins with SIGINT ignored (POSIX 2.11), which a handler of its
/// own changes. CPython 3.11 on Linux prints the same.
#[test]
fn a_signal_that_was_ignored_can_be_caught() {
    let s = engine(Isolation::Process).session(policy()).unwrap();
    let child = "import signal; print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)";
    let code = format!(
        "import signal, subprocess, sys, time
def show(): subprocess.run([sys.executable, '-c', {child:?}], check=True)
print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN, flush=True)
show()
if sys.argv[1] == 'catch':
    signal.signal(signal.SIGINT, lambda *_: sys.exit(3))
    show()
print('ready', file=open('/tmp/ready', 'w'), flush=True)
sys.stdout.flush()
time.sleep(30 if sys.argv[1] == 'catch' else 1)
print('slept')
"
    );
    py(&s, &format!("open('/tmp/catch.py', 'w').write({code:?})"));
    let run = |how: &str| {
        sh(
            &s,
            &format!(
                "rm -f /tmp/ready; python3 /tmp/catch.py {how} & p=$!
                 until [ -s /tmp/ready ]; do sleep 0.02; done
                 kill -INT $p; wait $p; echo $?"
            ),
        )
    };
    assert_eq!(run("catch"), "True\nTrue\nFalse\n3\n");
    assert_eq!(run("ignore"), "True\nTrue\nslept\n0\n");
}
