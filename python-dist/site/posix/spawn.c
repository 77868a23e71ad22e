/* posix_spawn: file actions become the kernel's operations on the child's descriptors. */
#include "process.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct wasibox_action {
    struct wasix_fd_op op;
    char *path;
};

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions)
{
    *actions = (posix_spawn_file_actions_t){0};
    return 0;
}

int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions)
{
    for (unsigned i = 0; i < actions->used; i++)
        free(actions->list[i].path);
    free(actions->list);
    return 0;
}

static int add(posix_spawn_file_actions_t *actions, struct wasix_fd_op op, const char *path)
{
    if ((int)op.fd < 0 || (int)op.from < 0)
        return EBADF;
    if (actions->used == actions->room) {
        unsigned room = actions->room * 2 + 8;
        struct wasibox_action *more = realloc(actions->list, room * sizeof *more);
        if (more == NULL)
            return ENOMEM;
        actions->list = more;
        actions->room = room;
    }
    char *copy = path == NULL ? NULL : strdup(path);
    if (path != NULL && copy == NULL)
        return ENOMEM;
    op.name = copy;
    op.name_len = copy == NULL ? 0 : strlen(copy);
    actions->list[actions->used++] = (struct wasibox_action){op, copy};
    return 0;
}

int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions, int fd,
                                     const char *path, int flags, mode_t mode)
{
    (void)mode; /* what WASI's path_open creates has the umask's */
    const uint64_t every = ~(uint64_t)0 >> 34;
    uint64_t rights = every & ~(uint64_t)(__WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_WRITE);
    if (flags & O_RDONLY)
        rights |= __WASI_RIGHTS_FD_READ;
    if (flags & O_WRONLY)
        rights |= __WASI_RIGHTS_FD_WRITE;
    struct wasix_fd_op op = {
        .command = WASIX_OPEN, .fd = (uint32_t)fd, .lookup = !(flags & O_NOFOLLOW),
        .oflags = (uint16_t)(flags >> 12 & 15), .fdflags = (uint16_t)(flags & 31),
        .rights = rights, .inheriting = every};
    return add(actions, op, path);
}

int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *actions, int fd)
{
    return add(actions, (struct wasix_fd_op){.command = WASIX_CLOSE, .fd = (uint32_t)fd}, NULL);
}

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int fd, int to)
{
    return add(actions, (struct wasix_fd_op){
        .command = WASIX_DUP2, .fd = (uint32_t)to, .from = (uint32_t)fd}, NULL);
}

int posix_spawnattr_init(posix_spawnattr_t *attributes)
{
    *attributes = (posix_spawnattr_t){0};
    return 0;
}

int posix_spawnattr_destroy(posix_spawnattr_t *attributes)
{
    (void)attributes;
    return 0;
}

int posix_spawnattr_setflags(posix_spawnattr_t *attributes, short flags)
{
    attributes->flags = flags;
    return 0;
}

int posix_spawnattr_setpgroup(posix_spawnattr_t *attributes, pid_t group)
{
    attributes->group = group;
    return 0;
}

int posix_spawnattr_setsigdefault(posix_spawnattr_t *attributes, const sigset_t *set)
{
    attributes->defaults = *set;
    return 0;
}

/* A child starts with no signal blocked; there is no way to tell it another mask. */
int posix_spawnattr_setsigmask(posix_spawnattr_t *attributes, const sigset_t *set)
{
    attributes->mask = *set;
    return 0;
}

/* Whether action `n` finds descriptor `fd` open. */
static int open_before(const posix_spawn_file_actions_t *actions, unsigned n, uint32_t fd)
{
    int open = wasibox_is_open((int)fd) && !wasibox_is_preopened((int)fd);
    for (unsigned i = 0; i < n; i++)
        if (actions->list[i].op.fd == fd)
            open = actions->list[i].op.command != WASIX_CLOSE;
    return open;
}

/* Where the child has descriptor `fd`: number 3 is its root directory. */
static uint32_t place(uint32_t fd)
{
    return wasibox_is_preopened((int)fd) ? fd + WASIBOX_SHIFT : fd;
}

static int apply(struct wasibox_start *start, const posix_spawn_file_actions_t *actions)
{
    int *open, error = 0;
    size_t count = wasibox_open_fds(&open);
    unsigned used = actions == NULL ? 0 : actions->used;
    for (unsigned i = 0; error == 0 && i < used; i++) {
        struct wasix_fd_op op = actions->list[i].op;
        int open = open_before(actions, i, op.fd);
        op.fd = place(op.fd);
        if (op.command == WASIX_DUP2)
            op.from = place(op.from);
        /* The kernel refuses to close what is not open, POSIX's call does not mind. */
        if (op.command != WASIX_CLOSE || open)
            error = wasibox_op(start, op);
    }
    for (unsigned i = 0; error == 0 && i < used; i++) {
        const struct wasix_fd_op *op = &actions->list[i].op;
        if (op->command != WASIX_CLOSE && open_before(actions, used, op->fd))
            error = wasibox_keep(start, (int)op->fd);
    }
    for (size_t i = 0; error == 0 && i < count; i++)
        if (wasibox_is_kept(open[i]) && (used == 0 || open_before(actions, used, (uint32_t)open[i])))
            error = wasibox_keep(start, open[i]);
    free(open);
    return error;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    struct wasibox_start start;
    int error = wasibox_start_begin(&start);
    if (error == 0)
        error = apply(&start, actions);
    if (attributes != NULL && attributes->flags & POSIX_SPAWN_SETSIGDEF)
        start.defaults = attributes->defaults;
    if (error == 0)
        error = wasibox_start(pid, path, &start, argv, envp);
    wasibox_start_end(&start);
    return error;
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    const char *path = getenv("PATH");
    int error = ENOENT;
    if (strchr(file, '/') != NULL)
        return posix_spawn(pid, file, actions, attributes, argv, envp);
    for (path = path == NULL ? "/usr/local/bin:/usr/bin:/bin" : path;; path++) {
        size_t size = strcspn(path, ":");
        char *name = malloc(size + strlen(file) + 3);
        if (name == NULL)
            return ENOMEM;
        memcpy(name, path, size);
        strcpy(name + size, size == 0 ? "./" : "/");
        strcat(name, file);
        int now = posix_spawn(pid, name, actions, attributes, argv, envp);
        free(name);
        if (now == 0 || (now != ENOENT && now != ENOTDIR && now != EACCES))
            return now;
        if (now == EACCES)
            error = now;
        path += size;
        if (*path == '\0')
            return error;
    }
}

intptr_t _spawnve(int mode, const char *path, char *const argv[], char *const envp[])
{
    pid_t pid;
    int status;
    if (mode == _P_OVERLAY)
        return execve(path, argv, envp);
    errno = posix_spawn(&pid, path, NULL, NULL, argv, envp);
    if (errno != 0)
        return -1;
    if (mode != _P_WAIT)
        return pid;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

intptr_t _spawnv(int mode, const char *path, char *const argv[])
{
    return _spawnve(mode, path, argv, environ);
}
