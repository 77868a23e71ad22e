//! The system calls by name: the table from which each host builds the imports of guests.
//!
//! # Bounds of each call
//!
//! No call may delay a kill for long, nor make the host keep memory that is not counted. Therefore
//! each call is short, or waits where a kill wakes it
//! ([`Process::park_thread`](crate::Process::park_thread)), or checks for the kill between parts;
//! kept memory is charged to the [`wasibox_vfs::Budget`] or the disk's quota. All buffers and lists
//! lie within the guest's memory, or the call returns EFAULT.
//!
//! | call | work | kept by the host |
//! |---|---|---|
//! | `args_*`, `environ_*` | the lists: `ARG_MAX`, 2 MiB together | - |
//! | `clock_*`, `sched_yield`, `thread_*`, `tty_get` | constant | - |
//! | `proc_id`, `proc_parent` | constant | - |
//! | `random_get` | parts of 1 MiB, a check between them | - |
//! | `fd_read`, `fd_pread` | 1,024 vectors, 2 GiB; parts of 1 MiB, a check between them; waits | - |
//! | `fd_write`, `fd_pwrite` | the same | files: quota and budget; pipes: 64 KiB each |
//! | `fd_readdir` | one pass over the listing, a check every 4,096 entries | the listing: budget |
//! | `fd_sync`, `fd_datasync` | for a mount's file waits for the host's disk, which a kill does not end | - |
//! | `fd_close` | constant; the last one of an unlinked file frees it | - |
//! | `fd_dup`, `fd_dup2`, `fd_renumber` | one pass over at most 8,192 numbers | the table: budget |
//! | `fd_pipe` | constant | open files: budget; 1,024 pipes |
//! | `fd_advise`, `fd_fdflags_*`, `fd_fdstat_*` | constant | - |
//! | `fd_prestat_*`, `fd_seek`, `fd_tell` | constant | - |
//! | `fd_allocate`, `fd_filestat_*` | one operation of the file layer | holes cost nothing |
//! | `path_*` | paths of 4,096 bytes, 40 links: `wasibox_vfs::walk` | names: quota; open files: budget |
//! | `path_readlink` | a target of 4,096 bytes | - |
//! | `chdir`, `getcwd` | a lookup; a path of 64 KiB | the path: budget |
//! | `poll_oneoff` | 4,096 subscriptions; waits, and checks every 5 ms if streams of the host are among them | - |
//! | `thread_sleep`, `thread_join` | waits | - |
//! | `thread_spawn_v2` | constant; the new thread makes an instance | thread, tables, stack: budget, processes |
//! | `futex_wait` | waits | an entry of the sleepers |
//! | `futex_wake`, `futex_wake_all` | one pass over the threads | - |
//! | `proc_spawn3` | `ARG_MAX`; 16,384 file actions; `PATH` of 128 KiB, a check between two lookups | strings, table, directory, process: budget; processes and spawns: their limits |
//! | `proc_exec3` | the same without file actions | strings: budget |
//! | `proc_join` | waits; one pass over the children | 32,768 ended processes: budget |
//! | `proc_signal`, `proc_raise` | one pass over the processes | one bit for each signal |
//! | `callback_signal`, `proc_signals_*` | constant | - |
//! | `sock_open`, `sock_pair`, `sock_accept*` | constant; waits | 4,096 sockets: budget |
//! | `sock_connect`, `sock_bind`, `sock_listen` | at most one pass over the ports; waits | backlogs: sockets |
//! | `sock_recv*`, `sock_send*` | as `fd_read`, `fd_write`; a datagram: 64 KiB | 256 KiB each way: budget |
//! | other `sock_*`, `resolve` | constant | - |
//!
//! After each call of a process's first thread the guest's signal handler may run: it is guest
//! code, and at most four handlers are nested (`Process::take_pending`).

/// Passes the table of calls to the macro `$then`. The table has modules; a call in a module has a
/// name, the function that implements it, the parameters that a guest passes, and the arguments to
/// which these are converted. The types of [`border`](crate::border) must be in scope where the
/// macro is used. All calls return an error number.
///
/// In addition, guests end by `proc_exit`, `proc_exit2` and `thread_exit` of either module, which
/// return nothing.
#[macro_export]
macro_rules! with_calls {
    ($then:ident) => {
        $then! {
                "wasi_snapshot_preview1" {
                    "args_get" => $crate::call_misc::args_get, (argv: u32, buf: u32) => (argv, buf);
                    "args_sizes_get" => $crate::call_misc::args_sizes_get, (count: u32, size: u32) => (count, size);
                    "environ_get" => $crate::call_misc::environ_get, (env: u32, buf: u32) => (env, buf);
                    "environ_sizes_get" => $crate::call_misc::environ_sizes_get, (count: u32, size: u32)
                        => (count, size);
                    "clock_res_get" => $crate::call_misc::clock_res_get, (id: u32, out: u32) => (id, out);
                    "clock_time_get" => $crate::call_misc::clock_time_get, (id: u32, _precision: u64, out: u32)
                        => (id, out);
                    "random_get" => $crate::call_misc::random_get, (buf: u32, len: u32) => (GuestBuf::from_raw(buf, len));
                    "sched_yield" => $crate::call_thread::sched_yield, () => ();
                    "proc_raise" => $crate::call_proc::proc_raise, (sig: u32) => (sig);
                    "fd_advise" => $crate::call_fd::fd_advise, (fd: u32, _off: u64, _len: u64, _advice: u32)
                        => (Fd(fd));
                    "fd_allocate" => $crate::call_fd::fd_allocate, (fd: u32, off: u64, len: u64)
                        => (Fd(fd), off, len);
                    "fd_close" => $crate::call_fd::fd_close, (fd: u32) => (Fd(fd));
                    "fd_datasync" => $crate::call_fd::fd_sync, (fd: u32) => (Fd(fd));
                    "fd_sync" => $crate::call_fd::fd_sync, (fd: u32) => (Fd(fd));
                    "fd_fdstat_get" => $crate::call_fd::fd_fdstat_get, (fd: u32, out: u32) => (Fd(fd), out);
                    "fd_fdstat_set_flags" => $crate::call_fd::fd_fdstat_set_flags, (fd: u32, flags: u32)
                        => (Fd(fd), flags.into());
                    "fd_fdstat_set_rights" => $crate::call_fd::fd_fdstat_set_rights, (fd: u32, _base: u64, _inh: u64)
                        => (Fd(fd));
                    "fd_filestat_get" => $crate::call_fd::fd_filestat_get, (fd: u32, out: u32) => (Fd(fd), out);
                    "fd_filestat_set_size" => $crate::call_fd::fd_filestat_set_size, (fd: u32, size: u64)
                        => (Fd(fd), size);
                    "fd_filestat_set_times" => $crate::call_fd::fd_filestat_set_times,
                        (fd: u32, atime: u64, mtime: u64, flags: u32)
                        => (Fd(fd), SetTimes { atime, mtime, flags });
                    "fd_pread" => $crate::call_fd::fd_pread, (fd: u32, iovs: u32, n: u32, off: u64, out: u32)
                        => (Fd(fd), GuestList::from_raw(iovs, n), off, out);
                    "fd_pwrite" => $crate::call_fd::fd_pwrite, (fd: u32, iovs: u32, n: u32, off: u64, out: u32)
                        => (Fd(fd), GuestList::from_raw(iovs, n), off, out);
                    "fd_read" => $crate::call_fd::fd_read, (fd: u32, iovs: u32, n: u32, out: u32)
                        => (Fd(fd), GuestList::from_raw(iovs, n), out);
                    "fd_write" => $crate::call_fd::fd_write, (fd: u32, iovs: u32, n: u32, out: u32)
                        => (Fd(fd), GuestList::from_raw(iovs, n), out);
                    "fd_prestat_get" => $crate::call_fd::fd_prestat_get, (fd: u32, out: u32) => (Fd(fd), out);
                    "fd_prestat_dir_name" => $crate::call_fd::fd_prestat_dir_name, (fd: u32, buf: u32, len: u32)
                        => (Fd(fd), GuestBuf::from_raw(buf, len));
                    "fd_readdir" => $crate::call_fd::fd_readdir, (fd: u32, buf: u32, len: u32, cookie: u64, out: u32)
                        => (Fd(fd), GuestBuf::from_raw(buf, len), cookie, out);
                    "fd_renumber" => $crate::call_fd::fd_renumber, (from: u32, to: u32) => (Fd(from), Fd(to));
                    "fd_seek" => $crate::call_fd::fd_seek, (fd: u32, delta: i64, whence: u32, out: u32)
                        => (Fd(fd), delta, whence, out);
                    "fd_tell" => $crate::call_fd::fd_tell, (fd: u32, out: u32) => (Fd(fd), out);
                    "path_create_directory" => $crate::call_path::create_directory, (fd: u32, path: u32, len: u32)
                        => (PathAt::from_raw(fd, path, len));
                    "path_filestat_get" => $crate::call_path::filestat_get,
                        (fd: u32, flags: u32, path: u32, len: u32, out: u32)
                        => (PathAt::from_raw(fd, path, len), LookupFlags(flags), out);
                    "path_filestat_set_times" => $crate::call_path::filestat_set_times,
                        (fd: u32, lookup: u32, path: u32, len: u32, atime: u64, mtime: u64, flags: u32)
                        => (PathAt::from_raw(fd, path, len), LookupFlags(lookup), SetTimes { atime, mtime, flags });
                    "path_link" => $crate::call_path::link,
                        (fd: u32, lookup: u32, path: u32, len: u32, to_fd: u32, to: u32, to_len: u32)
                        => (LookupFlags(lookup), PathAt::from_raw(fd, path, len), PathAt::from_raw(to_fd, to, to_len));
                    "path_open" => $crate::call_path::open,
                        (fd: u32, lookup: u32, path: u32, len: u32, oflags: u32, base: u64, _inh: u64,
                         fdflags: u32, out: u32)
                        => (PathAt::from_raw(fd, path, len), Opening::from_raw(lookup, oflags, base, fdflags),
                            CloseOnExec(false), out);
                    "path_readlink" => $crate::call_path::readlink,
                        (fd: u32, path: u32, len: u32, buf: u32, buf_len: u32, out: u32)
                        => (PathAt::from_raw(fd, path, len), GuestBuf::from_raw(buf, buf_len), out);
                    "path_remove_directory" => $crate::call_path::remove_directory, (fd: u32, path: u32, len: u32)
                        => (PathAt::from_raw(fd, path, len));
                    "path_rename" => $crate::call_path::rename,
                        (fd: u32, path: u32, len: u32, to_fd: u32, to: u32, to_len: u32)
                        => (PathAt::from_raw(fd, path, len), PathAt::from_raw(to_fd, to, to_len));
                    "path_symlink" => $crate::call_path::symlink,
                        (target: u32, target_len: u32, fd: u32, path: u32, len: u32)
                        => (GuestStr::from_raw(target, target_len), PathAt::from_raw(fd, path, len));
                    "path_unlink_file" => $crate::call_path::unlink_file, (fd: u32, path: u32, len: u32)
                        => (PathAt::from_raw(fd, path, len));
                    "poll_oneoff" => $crate::call_poll::poll_oneoff, (subs: u32, out: u32, n: u32, count: u32)
                        => (GuestList::from_raw(subs, n), out, count);
                    "sock_accept" => $crate::call_sock::sock_accept, (fd: u32, flags: u32, out: u32)
                        => (Fd(fd), flags.into(), out);
                    "sock_recv" => $crate::call_sock::sock_recv,
                        (fd: u32, iovs: u32, n: u32, flags: u32, out: u32, out_flags: u32)
                        => (Fd(fd), SocketTransfer::from_raw(iovs, n, flags), ReceiveResult { count: out, flags: out_flags });
                    "sock_send" => $crate::call_sock::sock_send, (fd: u32, iovs: u32, n: u32, flags: u32, out: u32)
                        => (Fd(fd), SocketTransfer::from_raw(iovs, n, flags), out);
                    "sock_shutdown" => $crate::call_sock::sock_shutdown, (fd: u32, how: u32) => (Fd(fd), how);
                }
                "wasix_32v1" {
                    "proc_signals_sizes_get" => $crate::call_proc::proc_signals_sizes_get, (count: u32) => (count);
                    "proc_signals_get" => $crate::call_proc::proc_signals_get, (out: u32) => (out);
                    // WASIX has all of preview 1 in its own module, too.
                    "proc_raise" => $crate::call_proc::proc_raise, (sig: u32) => (sig);
                    "proc_raise_interval" => $crate::timer::proc_raise_interval,
                        (sig: u32, interval: u64, repeats: u32) => (sig, interval, repeats);
                    "callback_signal" => $crate::call_proc::callback_signal, (name: u32, len: u32)
                        => (GuestStr::from_raw(name, len));
                    "chdir" => $crate::call_proc::chdir, (path: u32, len: u32) => (GuestStr::from_raw(path, len));
                    "getcwd" => $crate::call_proc::getcwd, (buf: u32, len: u32) => (buf, len);
                    "fd_dup" => $crate::call_proc::fd_dup2, (fd: u32, out: u32)
                        => (Fd(fd), Fd(0), CloseOnExec(false), out);
                    "fd_dup2" => $crate::call_proc::fd_dup2, (fd: u32, min: u32, cloexec: u32, out: u32)
                        => (Fd(fd), Fd(min), CloseOnExec(cloexec != 0), out);
                    "fd_fdflags_get" => $crate::call_proc::fd_fdflags_get, (fd: u32, out: u32) => (Fd(fd), out);
                    "fd_fdflags_set" => $crate::call_proc::fd_fdflags_set, (fd: u32, flags: u32)
                        => (Fd(fd), flags.into());
                    "fd_pipe" => $crate::call_proc::fd_pipe, (read: u32, write: u32) => (read, write);
                    "path_open2" => $crate::call_path::open,
                        (fd: u32, lookup: u32, path: u32, len: u32, oflags: u32, base: u64, _inh: u64,
                         fdflags: u32, ext: u32, out: u32)
                        => (PathAt::from_raw(fd, path, len), Opening::from_raw(lookup, oflags, base, fdflags), ext.into(), out);
                    "proc_exec3" => $crate::call_proc::proc_exec3,
                        (name: u32, name_len: u32, args: u32, args_len: u32, envs: u32, envs_len: u32, search: u32,
                         path: u32, path_len: u32)
                        => (ProgramRequest { name: GuestStr::from_raw(name, name_len), args: GuestList::from_raw(args, args_len),
                            env: GuestList::from_raw(envs, envs_len), path: GuestStr::from_raw(path, path_len),
                            search: search != 0 });
                    "proc_id" => $crate::call_proc::proc_id, (out: u32) => (out);
                    "proc_join" => $crate::call_proc::proc_join, (pid: u32, flags: u32, status: u32)
                        => (pid, flags, status);
                    "proc_parent" => $crate::call_proc::proc_parent, (pid: u32, out: u32) => (pid, out);
                    "proc_signal" => $crate::call_proc::proc_signal, (pid: u32, sig: u32) => (pid, sig);
                    "proc_spawn3" => $crate::call_proc::proc_spawn3,
                        (name: u32, name_len: u32, args: u32, args_len: u32, envs: u32, envs_len: u32, ops: u32,
                         ops_len: u32, signals: u32, signals_len: u32, search: u32, path: u32, path_len: u32,
                         out: u32)
                        => (ProgramRequest { name: GuestStr::from_raw(name, name_len), args: GuestList::from_raw(args, args_len),
                            env: GuestList::from_raw(envs, envs_len), path: GuestStr::from_raw(path, path_len),
                            search: search != 0 },
                            ProcessChanges { files: GuestList::from_raw(ops, ops_len), signals: GuestList::from_raw(signals, signals_len)
                            },
                            out);
                    "sched_yield" => $crate::call_thread::sched_yield, () => ();
                    "futex_wait" => $crate::call_thread::futex_wait,
                        (at: u32, expected: u32, timeout: u32, woken: u32)
                        => (at, expected, timeout, woken);
                    "futex_wake" => $crate::call_thread::futex_wake, (at: u32, woken: u32) => (at, woken);
                    "futex_wake_all" => $crate::call_thread::futex_wake_all, (at: u32, woken: u32) => (at, woken);
                    "thread_id" => $crate::call_thread::thread_id, (out: u32) => (out);
                    "thread_join" => $crate::call_thread::thread_join, (tid: u32) => (tid);
                    "thread_parallelism" => $crate::call_thread::thread_parallelism, (out: u32) => (out);
                    "thread_spawn_v2" => $crate::call_thread::thread_spawn_v2, (start: u32, out: u32) => (start, out);
                    "thread_sleep" => $crate::call_poll::thread_sleep, (ns: u64) => (ns);
                    "tty_get" => $crate::call_proc::tty_get, (out: u32) => (out);
                    "sock_status" => $crate::call_sock::sock_status, (fd: u32, out: u32) => (Fd(fd), out);
                    "sock_addr_local" => $crate::call_sock::sock_addr_local, (fd: u32, out: u32) => (Fd(fd), out);
                    "sock_addr_peer" => $crate::call_sock::sock_addr_peer, (fd: u32, out: u32) => (Fd(fd), out);
                    "sock_open" => $crate::call_sock::sock_open, (family: u32, kind: u32, protocol: u32, out: u32)
                        => (Domain { family, kind, protocol }, out);
                    "sock_pair" => $crate::call_sock::sock_pair,
                        (family: u32, kind: u32, protocol: u32, one: u32, other: u32)
                        => (Domain { family, kind, protocol }, one, other);
                    "sock_set_opt_flag" => $crate::call_sock::sock_set_opt_flag, (fd: u32, option: u32, on: u32)
                        => (Fd(fd), option, on);
                    "sock_get_opt_flag" => $crate::call_sock::sock_get_opt_flag, (fd: u32, option: u32, out: u32)
                        => (Fd(fd), option, out);
                    "sock_set_opt_time" => $crate::call_sock::sock_set_opt_time, (fd: u32, option: u32, value: u32)
                        => (Fd(fd), option, value);
                    "sock_get_opt_time" => $crate::call_sock::sock_get_opt_time, (fd: u32, option: u32, out: u32)
                        => (Fd(fd), option, out);
                    "sock_set_opt_size" => $crate::call_sock::sock_set_opt_size, (fd: u32, option: u32, value: u64)
                        => (Fd(fd), option, value);
                    "sock_get_opt_size" => $crate::call_sock::sock_get_opt_size, (fd: u32, option: u32, out: u32)
                        => (Fd(fd), option, out);
                    "sock_bind" => $crate::call_sock::sock_bind, (fd: u32, address: u32) => (Fd(fd), address);
                    "sock_listen" => $crate::call_sock::sock_listen, (fd: u32, backlog: u32) => (Fd(fd), backlog);
                    "sock_accept" => $crate::call_sock::sock_accept, (fd: u32, flags: u32, out: u32)
                        => (Fd(fd), flags.into(), out);
                    "sock_accept_v2" => $crate::call_sock::sock_accept_v2, (fd: u32, flags: u32, out: u32, from: u32)
                        => (Fd(fd), flags.into(), out, from);
                    "sock_connect" => $crate::call_sock::sock_connect, (fd: u32, address: u32) => (Fd(fd), address);
                    "sock_recv" => $crate::call_sock::sock_recv,
                        (fd: u32, iovs: u32, n: u32, flags: u32, out: u32, out_flags: u32)
                        => (Fd(fd), SocketTransfer::from_raw(iovs, n, flags), ReceiveResult { count: out, flags: out_flags });
                    "sock_recv_from" => $crate::call_sock::sock_recv_from,
                        (fd: u32, iovs: u32, n: u32, flags: u32, out: u32, out_flags: u32, from: u32)
                        => (Fd(fd), SocketTransfer::from_raw(iovs, n, flags), ReceiveResult { count: out, flags: out_flags }, from);
                    "sock_send" => $crate::call_sock::sock_send, (fd: u32, iovs: u32, n: u32, flags: u32, out: u32)
                        => (Fd(fd), SocketTransfer::from_raw(iovs, n, flags), out);
                    "sock_send_to" => $crate::call_sock::sock_send_to,
                        (fd: u32, iovs: u32, n: u32, flags: u32, to: u32, out: u32)
                        => (Fd(fd), SocketTransfer::from_raw(iovs, n, flags), to, out);
                    "sock_shutdown" => $crate::call_sock::sock_shutdown, (fd: u32, how: u32) => (Fd(fd), how);
                    "resolve" => $crate::call_sock::resolve,
                        (name: u32, len: u32, _port: u32, list: u32, most: u32, out: u32)
                        => (GuestStr::from_raw(name, len), GuestList::from_raw(list, most), out);
                }
        }
    };
}

macro_rules! names {
    ($($module:literal { $($name:literal => $f:path, ($($a:ident: $t:ty),*) => ($($arg:expr),*);)* })*) => {
        /// The module, the name and the Rust types of the parameters of each call, for tests that
        /// cover all calls.
        pub const CALLS: &[(&str, &str, &[&str])] =
            &[$($(($module, $name, &[$(stringify!($t)),*]),)*)*];
    };
}

with_calls!(names);
