/* Local time: TZ, time zone files (RFC 8536) and POSIX TZ strings.
 *
 * wasi-libc leaves musl's code out and takes every zone for UTC. The compiler's wheel has that
 * code, so it is compiled here as it is, with the few of libc's private names that it uses
 * (the headers beside this file), and takes the place of libc's object of the same functions.
 *
 * Changed are: a zone's name in `struct tm` is believed (`%Z` of a time that Python made
 * itself), as wasi-libc and glibc do, and what was read is forgotten where a process goes on
 * from a prepared one.
 */
#define __tm_to_tzname musl_tm_to_tzname
#include "__tz.c"
#undef __tm_to_tzname

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_FILE = 1 << 20 };

/* A file's content, instead of a map of it; NULL if there is none. */
const unsigned char *__map_file(const char *name, size_t *size)
{
    struct stat st;
    int fd = open(name, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    unsigned char *data = NULL;
    size_t got = 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= LARGEST_FILE)
        data = malloc(st.st_size);
    while (data != NULL && got < (size_t)st.st_size) {
        ssize_t n = read(fd, data + got, st.st_size - got);
        if (n <= 0) {
            free(data);
            data = NULL;
        } else {
            got += n;
        }
    }
    close(fd);
    *size = got;
    return data;
}

int __munmap(void *data, size_t size)
{
    (void)size;
    free(data);
    return 0;
}

const char *__tm_to_tzname(const struct tm *tm)
{
    if (tm->__tm_zone != NULL)
        return tm->__tm_zone;
    __tzset();
    return __tzname[tm->tm_isdst > 0];
}

void wasibox_zone_anew(void)
{
    if (old_tz != NULL)
        old_tz[0] = '\0';
}
