/* Functions that ripgrep's crates need beyond Rust's library (0001 to 0003 call them), and the steps
 * of that library before main() on Unix.
 */
#include "guest_posix.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

/* A closed pipe is an error, after which ripgrep ends quietly; it is no signal. */
__attribute__((constructor)) static void ignore_broken_pipes(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
}

/* Returns whether standard input may have text to search: neither a terminal nor /dev/null. */
int ripgrep_input_is_readable(void)
{
    struct stat state;
    return fstat(STDIN_FILENO, &state) == 0
        && (S_ISREG(state.st_mode) || S_ISFIFO(state.st_mode) || S_ISSOCK(state.st_mode));
}

/* Writes the file's device and number; returns 0, or -1 with errno. */
int ripgrep_file_identity(int fd, uint64_t identity[2])
{
    struct stat state;
    if (fstat(fd, &state) < 0)
        return -1;
    identity[0] = state.st_dev;
    identity[1] = state.st_ino;
    return 0;
}

/* Opens a file without a name. */
static int open_nameless_file(void)
{
    char name[] = "/tmp/rg-XXXXXX";
    int fd = mkstemp(name);
    if (fd >= 0)
        (void)unlink(name);
    return fd;
}

static int spawn(pid_t *pid, char *const argv[], int input, int output, int errors)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
    int error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    if (error == 0)
        error = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Starts a command with `input` (-1: nothing) as its standard input. `output` becomes the end of a
 * pipe with its output, `errors` a file with its messages; the caller closes both. Returns the
 * process ID, or -1 with errno. */
int ripgrep_start(char *const argv[], int input, int *output, int *errors)
{
    int nothing = input < 0 ? open("/dev/null", O_RDONLY) : -1, ends[2];
    int messages = open_nameless_file();
    pid_t pid = -1;
    if ((input < 0 && nothing < 0) || messages < 0 || pipe2(ends, O_CLOEXEC) < 0) {
        if (nothing >= 0)
            (void)close(nothing);
        if (messages >= 0)
            (void)close(messages);
        return -1;
    }
    int error = spawn(&pid, argv, input < 0 ? nothing : input, ends[1], messages);
    (void)close(ends[1]);
    if (nothing >= 0)
        (void)close(nothing);
    if (error != 0) {
        (void)close(ends[0]);
        (void)close(messages);
        errno = error;
        return -1;
    }
    *output = ends[0];
    *errors = messages;
    return pid;
}

/* Waits for a command; returns 0 if it succeeded, another number if not, -1 with errno. */
int ripgrep_wait(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}
