/* setlocale() that knows which locales there are, put in at the link (--wrap).
 *
 * libc takes every name for a locale that is like C.UTF-8. A program that asks for de_DE and gets C's
 * decimal point prints wrong numbers without a word; now it gets an error, as where the locale is not
 * installed. The environment's names are believed: with those that are not there it is C.UTF-8.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *__real_setlocale(int category, const char *name);

static int is_known(const char *name, size_t length)
{
    static const char *const known[] = {"", "C", "POSIX", "C.UTF-8", "C.utf8"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == length && strncasecmp(known[i], name, length) == 0)
            return 1;
    return 0;
}

/* Lists with semicolons are what libc itself answers. */
static int all_are_known(const char *names)
{
    for (;;) {
        size_t length = strcspn(names, ";");
        if (!is_known(names, length))
            return 0;
        if (names[length] == 0)
            return 1;
        names += length + 1;
    }
}

static int environment_is_known(void)
{
    static const char *const variables[] = {
        "LC_ALL", "LC_CTYPE", "LC_NUMERIC", "LC_TIME", "LC_COLLATE", "LC_MONETARY", "LC_MESSAGES",
        "LANG",
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *name = getenv(variables[i]);
        if (name != NULL && !is_known(name, strlen(name)))
            return 0;
    }
    return 1;
}

char *__wrap_setlocale(int category, const char *name)
{
    if (name != NULL && !all_are_known(name))
        return NULL;
    if (name != NULL && *name == 0 && !environment_is_known())
        name = "C.UTF-8";
    return __real_setlocale(category, name);
}
