/* The layer's functions for programs in C, included before everything else.
 *
 * POSIX.1-2017, System Interfaces, describes each function under its name. Deviations are described
 * at its definition.
 */
#ifndef GUEST_POSIX_H
#define GUEST_POSIX_H

#include "wasibox_posix.h"
#include <stddef.h>
#include <stdio.h>

/* wasibox_posix.h renames by macros, which would also rename members of structures. */
#undef access
#undef chmod
#undef clock_nanosleep
#undef close
#undef fchmod
#undef fcntl
#undef fstat
#undef fstatat
#undef ioctl
#undef lstat
#undef mkdir
#undef open
#undef select
#undef stat
#undef fstatvfs
#undef statvfs
#undef sysconf
int access(const char *path, int mode) __asm__("wasibox_access");
int chmod(const char *path, mode_t mode) __asm__("wasibox_chmod");
int close(int fd) __asm__("wasibox_close");
int fchmod(int fd, mode_t mode) __asm__("wasibox_fchmod");
int fcntl(int fd, int command, ...) __asm__("wasibox_fcntl");
int fstat(int fd, struct stat *out) __asm__("guest_fstat");
int fstatat(int dir, const char *__restrict path, struct stat *__restrict out, int flags)
    __asm__("guest_fstatat");
int ioctl(int fd, int request, ...) __asm__("wasibox_ioctl");
int lstat(const char *__restrict path, struct stat *__restrict out) __asm__("guest_lstat");
int mkdir(const char *path, mode_t mode) __asm__("wasibox_mkdir");
int open(const char *path, int flags, ...) __asm__("wasibox_open");
int select(int count, fd_set *__restrict reads, fd_set *__restrict writes,
           fd_set *__restrict others, struct timeval *__restrict time) __asm__("wasibox_select");
int stat(const char *__restrict path, struct stat *__restrict out) __asm__("guest_stat");
int statvfs(const char *__restrict path, struct statvfs *__restrict out) __asm__("wasibox_statvfs");
int fstatvfs(int fd, struct statvfs *out) __asm__("wasibox_fstatvfs");
long sysconf(int name) __asm__("wasibox_sysconf");

#include "wasibox_action.h"

/* start.c */
/* Starts the program `path` with these arguments and this environment, in the directory `dir` (NULL
 * means the caller's). The descriptors become its streams; it has no others. Returns its process
 * ID, or -1 and sets errno. */
pid_t spawn_with_streams(const char *path, char *const argv[], char *const envp[], const char *dir,
                         int in, int out, int err);
FILE *popen(const char *command, const char *mode);
int pclose(FILE *stream);
int execvp(const char *file, char *const argv[]);
int execlp(const char *file, const char *arg, ...);
int execl(const char *path, const char *arg, ...);

/* temporary.c */
FILE *tmpfile(void);
char *mktemp(char *pattern);
int mkstemp(char *pattern);
char *mkdtemp(char *pattern);

/* system.c */
int getloadavg(double averages[], int count);
char *getpass(const char *prompt);

_Noreturn void pthread_exit(void *result);
/* Only one thread of a process runs at a time, and threads change only in system calls. */
#define flockfile(stream) ((void)(stream))
#define funlockfile(stream) ((void)(stream))

#endif
