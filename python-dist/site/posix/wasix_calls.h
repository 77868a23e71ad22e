/* The imports of `wasix_32v1` that the layer rests on, and their layouts. The kernel's side is
 * runner/sandbox/src/kernel/call_proc.rs; tools/sys/src/wasix.rs is the same for box.wasm.
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

WASIX(proc_id) wasix_proc_id(uint32_t *pid);
WASIX(proc_parent) wasix_proc_parent(uint32_t pid, uint32_t *parent);
WASIX(proc_signal) wasix_proc_signal(uint32_t pid, uint32_t signal);
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
WASIX(callback_signal) wasix_callback_signal(const char *name, size_t name_len);
WASIX(tty_get) wasix_tty_get(struct wasix_tty *tty);
WASIX(chdir) wasix_chdir(const char *path, size_t path_len);
WASIX(fd_pipe) wasix_fd_pipe(uint32_t *read, uint32_t *write);
WASIX(fd_dup2) wasix_fd_dup2(uint32_t fd, uint32_t min, uint32_t cloexec, uint32_t *to);
WASIX(fd_fdflags_get) wasix_fd_fdflags_get(uint32_t fd, uint16_t *flags);
WASIX(fd_fdflags_set) wasix_fd_fdflags_set(uint32_t fd, uint32_t flags);

#undef WASIX
#endif
