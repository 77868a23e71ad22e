/* Starts and replaces programs, by functions that CPython's layer does not have. */
#include "guest_posix.h"
#include "process.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* The directories in which a program is searched for if PATH is not set. */
static const char DEFAULT_PATH[] = "/usr/local/bin:/usr/bin:/bin";

static int refuse(int error)
{
    errno = error;
    return -1;
}

static int add_dup(struct wasibox_start *start, int to, int from)
{
    return wasibox_op(start, (struct wasix_fd_op){
        .command = WASIX_DUP2, .fd = (uint32_t)to, .from = (uint32_t)from});
}

static int add_close(struct wasibox_start *start, int fd)
{
    return wasibox_op(start, (struct wasix_fd_op){.command = WASIX_CLOSE, .fd = (uint32_t)fd});
}

static int add_directory(struct wasibox_start *start, const char *dir)
{
    struct stat state;
    if (stat(dir, &state) < 0)
        return errno;
    if (!S_ISDIR(state.st_mode))
        return ENOTDIR;
    return wasibox_op(start, (struct wasix_fd_op){
        .command = WASIX_CHDIR, .name = dir, .name_len = strlen(dir)});
}

static int add_streams(struct wasibox_start *start, const int streams[3])
{
    int error = 0, *others = NULL;
    /* The descriptors are first moved to high numbers, because a source may have the number of
     * another stream. */
    for (int i = 0; error == 0 && i < 3; i++)
        error = add_dup(start, WASIBOX_HIGH_FD + i, streams[i]);
    for (int i = 0; error == 0 && i < 3; i++)
        error = add_dup(start, i, WASIBOX_HIGH_FD + i);
    for (int i = 0; error == 0 && i < 3; i++)
        error = add_close(start, WASIBOX_HIGH_FD + i);
    size_t count = wasibox_open_fds(&others);
    for (size_t i = 0; error == 0 && i < count; i++)
        error = add_close(start, others[i]);
    free(others);
    return error;
}

pid_t spawn_with_streams(const char *path, char *const argv[], char *const envp[], const char *dir,
                         int in, int out, int err)
{
    struct wasibox_start start;
    pid_t pid = -1;
    int error = wasibox_start_begin(&start);
    if (error == 0 && dir != NULL)
        error = add_directory(&start, dir);
    if (error == 0)
        error = add_streams(&start, (const int[]){in, out, err});
    if (error == 0)
        error = wasibox_start(&pid, path, &start, argv, envp);
    wasibox_start_end(&start);
    return error != 0 ? refuse(error) : pid;
}

/* ---- popen ---- */

/* The streams that popen() has opened, with their processes. */
static struct command {
    FILE *stream;
    pid_t pid;
    struct command *next;
} *commands;

FILE *popen(const char *command, const char *mode)
{
    int ends[2], reads = *mode == 'r';
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    if (*mode != 'r' && *mode != 'w') {
        errno = EINVAL;
        return NULL;
    }
    struct command *new = malloc(sizeof *new);
    if (new == NULL || pipe2(ends, O_CLOEXEC) < 0) {
        free(new);
        return NULL;
    }
    int own = ends[!reads], theirs = ends[reads];
    FILE *stream = fdopen(own, reads ? "r" : "w");
    pid_t pid = stream == NULL
        ? -1
        : spawn_with_streams("/bin/sh", argv, environ, NULL, reads ? 0 : theirs,
                             reads ? theirs : 1, 2);
    int error = errno;
    (void)close(theirs);
    if (pid < 0) {
        if (stream != NULL)
            (void)fclose(stream);
        else
            (void)close(own);
        free(new);
        errno = error;
        return NULL;
    }
    *new = (struct command){stream, pid, commands};
    commands = new;
    return stream;
}

int pclose(FILE *stream)
{
    struct command **at = &commands;
    while (*at != NULL && (*at)->stream != stream)
        at = &(*at)->next;
    struct command *found = *at;
    if (found == NULL)
        return refuse(ECHILD);
    *at = found->next;
    pid_t pid = found->pid;
    free(found);
    (void)fclose(stream);
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* ---- exec ---- */

int execvp(const char *file, char *const argv[])
{
    if (strchr(file, '/') != NULL)
        return execve(file, argv, environ);
    const char *path = getenv("PATH");
    int error = ENOENT;
    for (path = path != NULL ? path : DEFAULT_PATH;; path++) {
        size_t size = strcspn(path, ":");
        char *name = malloc(size + strlen(file) + 3);
        if (name == NULL)
            return refuse(ENOMEM);
        memcpy(name, path, size);
        strcpy(name + size, size > 0 ? "/" : "./");
        strcat(name, file);
        if (access(name, X_OK) == 0)
            (void)execve(name, argv, environ);
        if (errno != ENOENT && errno != ENOTDIR)
            error = errno;
        free(name);
        path += size;
        if (*path == '\0')
            return refuse(error);
    }
}

/* Returns the arguments up to the null pointer as an array, which the caller must free. Returns
 * NULL if there is not enough memory. */
static char **argument_array(const char *first, va_list rest)
{
    size_t count = 1;
    va_list again;
    va_copy(again, rest);
    while (va_arg(again, char *) != NULL)
        count++;
    va_end(again);
    char **list = malloc((count + 1) * sizeof *list);
    if (list == NULL)
        return NULL;
    list[0] = (char *)first;
    for (size_t i = 1; i <= count; i++)
        list[i] = va_arg(rest, char *);
    return list;
}

int execlp(const char *file, const char *arg, ...)
{
    va_list rest;
    va_start(rest, arg);
    char **list = argument_array(arg, rest);
    va_end(rest);
    int result = list == NULL ? refuse(ENOMEM) : execvp(file, list);
    free(list);
    return result;
}

int execl(const char *path, const char *arg, ...)
{
    va_list rest;
    va_start(rest, arg);
    char **list = argument_array(arg, rest);
    va_end(rest);
    int result = list == NULL ? refuse(ENOMEM) : execve(path, list, environ);
    free(list);
    return result;
}
