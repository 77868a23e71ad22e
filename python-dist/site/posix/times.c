/* Processor time, and texts of times.
 *
 * wasi-libc answers questions about processor time with the time that has passed, sleep included;
 * the kernel has clocks for it (tools/abi). Its strftime lacks what glibc has besides POSIX:
 * %k, %l, %P, and the flags ^ and #.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <wasi/api.h>
#include <wchar.h>

/* As wasi-libc has it privately. */
struct __clockid {
    __wasi_clockid_t id;
};

extern const struct __clockid wasibox_process_clock, wasibox_thread_clock;
const struct __clockid wasibox_process_clock = {2};
const struct __clockid wasibox_thread_clock = {3};

enum { USER = 0x100, SYSTEM = 0x101, CHILDREN_USER = 0x102, CHILDREN_SYSTEM = 0x103 };

/* Nanoseconds of one of the kernel's clocks; 0 where there is none, under plain preview 1. */
static uint64_t spent(unsigned id)
{
    __wasi_timestamp_t time = 0;
    return __wasi_clock_time_get((__wasi_clockid_t)id, 1, &time) == 0 ? time : 0;
}

static struct timeval timeval_of(uint64_t nanoseconds)
{
    return (struct timeval){
        .tv_sec = (time_t)(nanoseconds / 1000000000),
        .tv_usec = (suseconds_t)(nanoseconds % 1000000000 / 1000),
    };
}

int wasibox_getrusage(int who, struct rusage *usage)
{
    if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN) {
        errno = EINVAL;
        return -1;
    }
    memset(usage, 0, sizeof *usage);
    int is_self = who == RUSAGE_SELF;
    usage->ru_utime = timeval_of(spent(is_self ? USER : CHILDREN_USER));
    usage->ru_stime = timeval_of(spent(is_self ? SYSTEM : CHILDREN_SYSTEM));
    return 0;
}

static clock_t ticks(uint64_t nanoseconds)
{
    return (clock_t)(nanoseconds / (1000000000 / (uint64_t)wasibox_sysconf(_SC_CLK_TCK)));
}

clock_t wasibox_times(struct tms *out)
{
    *out = (struct tms){
        .tms_utime = ticks(spent(USER)),
        .tms_stime = ticks(spent(SYSTEM)),
        .tms_cutime = ticks(spent(CHILDREN_USER)),
        .tms_cstime = ticks(spent(CHILDREN_SYSTEM)),
    };
    return ticks(spent(1));
}

/* Writes one conversion that libc lacks: its flags, its width or -1, and its letter. */
static size_t extended(char *out, size_t most, const char *flags, int width, char letter,
                       const struct tm *tm)
{
    char text[256];
    size_t length;
    int is_number = letter == 'k' || letter == 'l';
    if (is_number) {
        int hour = letter == 'k' ? tm->tm_hour : (tm->tm_hour + 11) % 12 + 1;
        length = (size_t)snprintf(text, sizeof text, "%d", hour);
        if (width < 0)
            width = 2;
    } else {
        char plain[] = {'%', letter == 'P' ? 'p' : letter, 0};
        length = strftime(text, sizeof text, plain, tm);
    }
    int is_swapped = strchr(flags, '#') != NULL;
    int to_lower = letter == 'P' || (is_swapped && (letter == 'p' || letter == 'Z'));
    int to_upper = !to_lower && (is_swapped || strchr(flags, '^') != NULL);
    for (size_t i = 0; i < length; i++) {
        if (to_lower)
            text[i] = (char)tolower((unsigned char)text[i]);
        else if (to_upper)
            text[i] = (char)toupper((unsigned char)text[i]);
    }
    /* The last flag that speaks of padding decides. */
    char pad = ' ';
    for (const char *flag = flags; *flag; flag++)
        if (*flag == '0' || *flag == '_' || *flag == '-')
            pad = *flag == '_' ? ' ' : *flag;
    size_t wanted = pad == '-' || width < 0 ? 0 : (size_t)width;
    size_t padding = wanted > length ? wanted - length : 0;
    if (padding + length > most)
        return 0;
    memset(out, pad, padding);
    memcpy(out + padding, text, length);
    return padding + length;
}

/* strftime() with glibc's additions; 0 if the text does not fit. */
size_t wasibox_strftime(char *out, size_t most, const char *format, const struct tm *tm)
{
    size_t length = 0;
    while (*format) {
        char plain[64], flags[8] = "";
        const char *begin = format;
        size_t size = 0, flag_count = 0;
        int width = -1;
        if (*format == '%') {
            format++;
            while (*format && strchr("_-0^#+", *format)) {
                if (flag_count < sizeof flags - 1)
                    flags[flag_count++] = *format;
                format++;
            }
            if (isdigit((unsigned char)*format))
                for (width = 0; isdigit((unsigned char)*format); format++)
                    width = width > 1000 ? width : width * 10 + *format - '0';
        }
        int is_extended = begin != format && *format &&
            (strchr("klP", *format) || (isalpha((unsigned char)*format) && strpbrk(flags, "^#")));
        if (is_extended) {
            size = extended(out + length, most - length, flags, width, *format++, tm);
            if (size == 0)
                return 0;
            length += size;
            continue;
        }
        /* Everything up to the next conversion is libc's. */
        if (begin != format && (*format == 'E' || *format == 'O'))
            format++;
        if (*format)
            format++;
        while (*format && *format != '%' && (size_t)(format - begin) < sizeof plain - 2)
            format++;
        size = (size_t)(format - begin);
        if (size > sizeof plain - 2) {
            size = sizeof plain - 2;
            format = begin + size;
        }
        memcpy(plain, begin, size);
        plain[size] = ' ';
        plain[size + 1] = 0;
        /* The space tells an empty text from one that does not fit. */
        size_t written = strftime(out + length, most - length, plain, tm);
        if (written == 0)
            return 0;
        length += written - 1;
    }
    if (length >= most)
        return 0;
    out[length] = 0;
    return length;
}

/* The same of wide characters, which CPython calls with formats of ASCII. */
size_t wasibox_wcsftime(wchar_t *out, size_t most, const wchar_t *format, const struct tm *tm)
{
    size_t size = wcslen(format);
    char *narrow = malloc(size + 1), *text = malloc(most);
    size_t length = 0;
    int is_ascii = narrow != NULL && text != NULL;
    for (size_t i = 0; is_ascii && i <= size; i++) {
        is_ascii = format[i] >= 0 && format[i] < 128;
        narrow[i] = (char)format[i];
    }
    if (is_ascii) {
        length = wasibox_strftime(text, most, narrow, tm);
        /* The names of days and months are C's, and those of zones are ASCII (POSIX, XBD 8.3). */
        for (size_t i = 0; length > 0 && i <= length; i++)
            out[i] = (unsigned char)text[i];
    } else {
        length = wcsftime(out, most, format, tm);
    }
    free(narrow);
    free(text);
    return length;
}
