/* Creates temporary files and folders with unused names. */
#include "wasibox_posix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RANDOM = 6, TRIES = 100 };

static int create_file(const char *name)
{
    return open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
}

static int create_directory(const char *name)
{
    return mkdir(name, 0700);
}

static int check_absent(const char *name)
{
    struct stat state;
    if (lstat(name, &state) < 0)
        return 0;
    errno = EEXIST;
    return -1;
}

/* Replaces the Xs at the end of `pattern` until `create` succeeds, and returns its result. */
static int create_with_random_name(char *pattern, int (*create)(const char *))
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t size = strlen(pattern);
    if (size < RANDOM || strcmp(pattern + size - RANDOM, "XXXXXX") != 0) {
        errno = EINVAL;
        return -1;
    }
    for (int i = 0; i < TRIES; i++) {
        unsigned char random[RANDOM];
        if (getentropy(random, sizeof random) < 0)
            return -1;
        for (int at = 0; at < RANDOM; at++)
            pattern[size - RANDOM + at] = letters[random[at] % (sizeof letters - 1)];
        int result = create(pattern);
        if (result >= 0 || errno != EEXIST)
            return result;
    }
    return -1;
}

int mkstemp(char *pattern)
{
    return create_with_random_name(pattern, create_file);
}

char *mkdtemp(char *pattern)
{
    return create_with_random_name(pattern, create_directory) < 0 ? NULL : pattern;
}

char *mktemp(char *pattern)
{
    if (create_with_random_name(pattern, check_absent) < 0)
        *pattern = '\0';
    return pattern;
}

FILE *tmpfile(void)
{
    char name[] = "/tmp/tmpf-XXXXXX";
    int fd = mkstemp(name);
    if (fd < 0)
        return NULL;
    (void)unlink(name);
    FILE *stream = fdopen(fd, "w+");
    if (stream == NULL)
        (void)close(fd);
    return stream;
}
