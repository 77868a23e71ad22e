/* The imports of `wasix_32v1` that the layer rests on, and their layouts. The kernel's side is
 * runner/sandbox/src/kernel/call_proc.rs and call_sock.rs; tools/sys/src/wasix.rs is the same for box.wasm.
 * All return an errno of WASI preview 1, which is wasi-libc's errno; on a runtime
 * without WASIX, NOSYS. */
#ifndef WASIBOX_WASIX_CALLS_H
#define WASIBOX_WASIX_CALLS_H

#include <stddef.h>
#include <stdint.h>

#define WASIX(name) __attribute__((import_module("wasix_32v1"), import_name(#name))) extern int32_t

/* `proc_spawn_fd_op`: acts on the child's descriptors, in order. */
struct wasix_fd_op {
    uint8_t command;
    uint32_t fd;
    uint32_t from;
    const char *name;
    uint32_t name_len;
    uint32_t lookup;
    uint16_t oflags;
    uint64_t rights;
    uint64_t inheriting;
    uint16_t fdflags;
    uint16_t fdflags_ext;
};
_Static_assert(sizeof(struct wasix_fd_op) == 56, "WASIX's layout");
enum { WASIX_CLOSE, WASIX_DUP2, WASIX_OPEN, WASIX_CHDIR };

struct wasix_option_pid {
    uint8_t given;
    uint32_t pid;
};

/* Tag 0 is "nothing yet", 1 exited, 2 signalled. */
struct wasix_join_status {
    _Alignas(4) uint8_t tag;
    uint16_t code;
    uint8_t signal;
};
_Static_assert(sizeof(struct wasix_join_status) == 8, "WASIX's layout");

struct wasix_tty {
    uint32_t columns, rows, width, height;
    uint8_t in, out, err, echo, line_buffered, line_feeds;
};

/* A signal, and 1 for "ignored". */
struct wasix_disposition {
    uint8_t signal, ignored;
};

/* `addr_port`: the port in the machine's order, the address in the network's; a name of a Unix-domain
 * socket begins at the port. */
struct wasix_address {
    uint8_t family;
    uint16_t port;
    uint8_t bytes[106];
};
_Static_assert(sizeof(struct wasix_address) == 110, "WASIX's layout");

/* Tag 1: there is one; nanoseconds. */
struct wasix_option_time {
    uint8_t given;
    uint64_t ns;
};
_Static_assert(sizeof(struct wasix_option_time) == 16, "WASIX's layout");

struct iovec;

WASIX(proc_id) wasix_proc_id(uint32_t *pid);
WASIX(proc_parent) wasix_proc_parent(uint32_t pid, uint32_t *parent);
WASIX(proc_signal) wasix_proc_signal(uint32_t pid, uint32_t signal);
/* In place of a signal: ends all threads but the first one, which asks for it (`control` in tools/abi). */
enum { WASIBOX_ALONE = 0x400 };
WASIX(proc_join) wasix_proc_join(struct wasix_option_pid *pid, uint32_t flags,
                                 struct wasix_join_status *status);
WASIX(proc_spawn3) wasix_proc_spawn3(
    const char *name, size_t name_len, char *const *args, size_t args_len, char *const *envs,
    size_t envs_len, const struct wasix_fd_op *ops, size_t ops_len,
    const struct wasix_disposition *signals, size_t signals_len, uint32_t search_path,
    const char *path, size_t path_len, uint32_t *pid);
WASIX(proc_exec3) wasix_proc_exec3(const char *name, size_t name_len, const char *args,
                                   size_t args_len, const char *envs, size_t envs_len,
                                   uint32_t search_path, const char *path, size_t path_len);
WASIX(proc_signals_sizes_get) wasix_proc_signals_sizes_get(uint32_t *count);
WASIX(proc_signals_get) wasix_proc_signals_get(struct wasix_disposition *list);
/* Raises a signal after so many nanoseconds, 0 for never, and then again and again if it repeats. */
WASIX(proc_raise_interval) wasix_proc_raise_interval(uint32_t signal, uint64_t interval,
                                                     uint32_t repeats);
WASIX(callback_signal) wasix_callback_signal(const char *name, size_t name_len);
WASIX(tty_get) wasix_tty_get(struct wasix_tty *tty);
WASIX(chdir) wasix_chdir(const char *path, size_t path_len);
WASIX(fd_pipe) wasix_fd_pipe(uint32_t *read, uint32_t *write);
WASIX(fd_dup2) wasix_fd_dup2(uint32_t fd, uint32_t min, uint32_t cloexec, uint32_t *to);
WASIX(fd_fdflags_get) wasix_fd_fdflags_get(uint32_t fd, uint16_t *flags);
WASIX(sched_yield) wasix_sched_yield(void);
/* `start` is 64 bytes, of which the kernel looks at none. */
WASIX(thread_spawn_v2) wasix_thread_spawn_v2(const void *start, uint32_t *thread);
WASIX(thread_id) wasix_thread_id(uint32_t *number);
WASIX(futex_wait) wasix_futex_wait(uint32_t *word, uint32_t expected,
                                   const struct wasix_option_time *time, uint8_t *woken);
WASIX(futex_wake) wasix_futex_wake(uint32_t *word, uint8_t *woken);
WASIX(futex_wake_all) wasix_futex_wake_all(uint32_t *word, uint8_t *woken);
WASIX(fd_fdflags_set) wasix_fd_fdflags_set(uint32_t fd, uint32_t flags);

WASIX(sock_open) wasix_sock_open(uint32_t family, uint32_t kind, uint32_t protocol, uint32_t *fd);
WASIX(sock_pair) wasix_sock_pair(uint32_t family, uint32_t kind, uint32_t protocol, uint32_t *one,
                                 uint32_t *other);
WASIX(sock_bind) wasix_sock_bind(uint32_t fd, const struct wasix_address *address);
WASIX(sock_listen) wasix_sock_listen(uint32_t fd, uint32_t backlog);
WASIX(sock_accept_v2) wasix_sock_accept_v2(uint32_t fd, uint32_t flags, uint32_t *new,
                                           struct wasix_address *from);
WASIX(sock_connect) wasix_sock_connect(uint32_t fd, const struct wasix_address *to);
WASIX(sock_addr_local) wasix_sock_addr_local(uint32_t fd, struct wasix_address *own);
WASIX(sock_addr_peer) wasix_sock_addr_peer(uint32_t fd, struct wasix_address *peer);
WASIX(sock_send_to) wasix_sock_send_to(uint32_t fd, const struct iovec *list, uint32_t count,
                                       uint32_t flags, const struct wasix_address *to,
                                       uint32_t *sent);
WASIX(sock_recv_from) wasix_sock_recv_from(uint32_t fd, const struct iovec *list, uint32_t count,
                                           uint32_t flags, uint32_t *got, uint16_t *about,
                                           struct wasix_address *from);
WASIX(sock_set_opt_flag) wasix_sock_set_opt_flag(uint32_t fd, uint32_t option, uint32_t on);
WASIX(sock_get_opt_flag) wasix_sock_get_opt_flag(uint32_t fd, uint32_t option, uint8_t *on);
WASIX(sock_set_opt_time) wasix_sock_set_opt_time(uint32_t fd, uint32_t option,
                                                 const struct wasix_option_time *time);
WASIX(sock_get_opt_time) wasix_sock_get_opt_time(uint32_t fd, uint32_t option,
                                                 struct wasix_option_time *time);
WASIX(sock_set_opt_size) wasix_sock_set_opt_size(uint32_t fd, uint32_t option, uint64_t size);
WASIX(sock_get_opt_size) wasix_sock_get_opt_size(uint32_t fd, uint32_t option, uint64_t *size);

#undef WASIX

/* Two of preview 1, here with the types of this header. */
#define PREVIEW1(name) \
    __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name))) extern int32_t

PREVIEW1(sock_send) wasix_sock_send(uint32_t fd, const struct iovec *list, uint32_t count,
                                    uint32_t flags, uint32_t *sent);
PREVIEW1(sock_shutdown) wasix_sock_shutdown(uint32_t fd, uint32_t how);

#undef PREVIEW1

__attribute__((import_module("wasix_32v1"), import_name("thread_exit"), noreturn))
extern void wasix_thread_exit(int32_t code);
#endif
