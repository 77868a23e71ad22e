/* Copies of strings, and arrays, in memory of malloc().
 *
 * The functions of libc's own allocator come from one object, in which these call an allocator of
 * their own instead: its memory damages the heap when it is given to free() or realloc().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

char *strndup(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

wchar_t *wcsdup(const wchar_t *text)
{
    size_t count = wcslen(text) + 1;
    wchar_t *copy = malloc(count * sizeof *copy);
    return copy != NULL ? wmemcpy(copy, text, count) : NULL;
}

void *reallocarray(void *array, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(array, total);
}
