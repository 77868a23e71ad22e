/* Compares the functions of site/strings.c with their plain definitions: all lengths up to 70, all
 * alignments, and strings that end where the readable memory does. Prints how many comparisons were
 * made. A test of xtask compiles and runs it on the machine that builds. */
#define _GNU_SOURCE
#define NAME(function) fast_##function
#include "../site/strings.c"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static long compared;

#define SAME(what, got, expected) \
    do { \
        compared++; \
        if ((got) != (expected)) { \
            fprintf(stderr, "%s differs: length %d, seed %u\n", what, length, seed); \
            exit(1); \
        } \
    } while (0)

static size_t plain_strlen(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

static const char *plain_chr(const char *s, char c, size_t n)
{
    for (; n > 0; n--, s++)
        if (*s == c)
            return s;
    return NULL;
}

static const char *plain_rchr(const char *s, char c, size_t n)
{
    while (n-- > 0)
        if (s[n] == c)
            return s + n;
    return NULL;
}

static size_t plain_span(const char *s, const char *set, int is_in)
{
    size_t n = 0;
    while (s[n] && (plain_chr(set, s[n], plain_strlen(set)) != NULL) == is_in)
        n++;
    return n;
}

static int sign(int n)
{
    return (n > 0) - (n < 0);
}

static int plain_cmp(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
    return 0;
}

static const char *plain_str(const char *s, const char *wanted)
{
    size_t n = plain_strlen(wanted);
    for (;; s++) {
        if (plain_strlen(s) >= n && plain_cmp(s, wanted, n) == 0)
            return s;
        if (*s == 0)
            return NULL;
    }
}

/* Everything about one string of `length` bytes and a zero. */
static void check(char *s, const char *other, int length, unsigned seed)
{
    static const char *const sets[] = {"", "a", "ab", "abc", "abcd", "\xff\x80q", "dcbaz"};
    static const char *const words[] = {"", "a", "ab", "aba", "\xff", "abcabc", "aaaaaaaaaaaaaaaaab"};
    static const char bytes[] = {0, 'a', 'b', 'z', '\x80', '\xff', 1};
    size_t n = (size_t)length;
    SAME("strlen", fast_strlen(s), plain_strlen(s));
    for (size_t i = 0; i < sizeof bytes; i++) {
        const char *first = plain_chr(s, bytes[i], n + 1);
        SAME("strchr", fast_strchr(s, bytes[i]), first);
        SAME("strchrnul", fast_strchrnul(s, bytes[i]), first ? first : s + n);
        SAME("strrchr", fast_strrchr(s, bytes[i]), plain_rchr(s, bytes[i], n + 1));
        if (first)
            SAME("memchr of all", fast_memchr(s, bytes[i], SIZE_MAX), first);
        for (size_t most = 0; most <= n + 1; most++) {
            SAME("memchr", fast_memchr(s, bytes[i], most), plain_chr(s, bytes[i], most));
            SAME("memrchr", fast_memrchr(s, bytes[i], most), plain_rchr(s, bytes[i], most));
        }
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        SAME("strspn", fast_strspn(s, sets[i]), plain_span(s, sets[i], 1));
        SAME("strcspn", fast_strcspn(s, sets[i]), plain_span(s, sets[i], 0));
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        SAME("strstr", fast_strstr(s, words[i]), plain_str(s, words[i]));
    for (size_t most = 0; most <= n; most++)
        SAME("memcmp", sign(fast_memcmp(s, other, most)), plain_cmp(s, other, most));
}

int main(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    /* Twice three pages, of which the middle one can be read. */
    char *room = mmap(NULL, 6 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return 2;
    char *text = room + page, *second = room + 4 * page;
    if (mprotect(text, page, PROT_READ | PROT_WRITE) || mprotect(second, page, PROT_READ | PROT_WRITE))
        return 2;
    static const char kinds[] = "abcz\x80\xff\x01";
    for (unsigned seed = 0; seed < 12; seed++) {
        srand(seed);
        for (int length = 0; length <= 70; length++) {
            /* Seeds of zero to three make strings of few different bytes. */
            int most = seed < 4 ? (int)seed + 1 : 7;
            for (int place = 0; place <= 17; place++) {
                /* 0 to 15 are the alignments at the beginning, 16 and 17 the end of the page. */
                char *s = place < 16 ? text + place : text + page - length - 1;
                char *other = place < 16 ? second + (place * 7 & 15) : second + page - length - 1;
                for (size_t i = 0; i < page; i++)
                    text[i] = second[i] = kinds[rand() % 7];
                for (int i = 0; i < length; i++)
                    s[i] = other[i] = kinds[rand() % most];
                s[length] = other[length] = 0;
                if (length > 0 && place & 1)
                    other[rand() % length] = kinds[rand() % 7];
                check(s, other, length, seed);
            }
        }
    }
    printf("%ld\n", compared);
    return 0;
}
