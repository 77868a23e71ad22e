/* POSIX <spawn.h>. */
#ifndef WASIBOX_SPAWN_H
#define WASIBOX_SPAWN_H

#include "wasibox_posix.h"

enum {
    POSIX_SPAWN_RESETIDS = 1,
    POSIX_SPAWN_SETPGROUP = 2,
    POSIX_SPAWN_SETSIGDEF = 4,
    POSIX_SPAWN_SETSIGMASK = 8,
    POSIX_SPAWN_SETSID = 128,
};
#define POSIX_SPAWN_SETSID POSIX_SPAWN_SETSID

typedef struct {
    short flags;
    pid_t group;
    sigset_t defaults, mask;
} posix_spawnattr_t;

typedef struct {
    unsigned used, room;
    struct wasibox_action *list;
} posix_spawn_file_actions_t;

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);
int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions);
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions, int fd,
                                     const char *path, int flags, mode_t mode);
int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *actions, int fd);
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int fd, int to);
int posix_spawnattr_init(posix_spawnattr_t *attributes);
int posix_spawnattr_destroy(posix_spawnattr_t *attributes);
int posix_spawnattr_setflags(posix_spawnattr_t *attributes, short flags);
int posix_spawnattr_setpgroup(posix_spawnattr_t *attributes, pid_t group);
int posix_spawnattr_setsigdefault(posix_spawnattr_t *attributes, const sigset_t *set);
int posix_spawnattr_setsigmask(posix_spawnattr_t *attributes, const sigset_t *set);

#endif
