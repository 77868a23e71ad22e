/* The functions of <string.h> that look for bytes, sixteen at a time.
 *
 * The compiler wheel's libc takes the length of the whole rest of a string before it looks for a
 * character (strchr, strcspn, strstr): a tokenizer that asks for the end of each line is quadratic
 * then. Loads are aligned, so none crosses the end of the memory; bytes before the beginning are
 * masked. `suites/strings.c` compares all of them with the plain definitions, on the machine that
 * builds, for which NAME gives them other names.
 */
#include <stddef.h>
#include <stdint.h>

#ifndef NAME
#define NAME(function) function
#endif

/* The definitions of C++'s builtins must not become calls of themselves: -fno-builtin. */
typedef uint8_t block __attribute__((vector_size(16), may_alias));
typedef uint8_t any_block __attribute__((vector_size(16), aligned(1), may_alias));

enum { SIZE = sizeof(block), FULL = 0xffff };

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
static inline unsigned bits(block equal) { return wasm_i8x16_bitmask((v128_t)equal); }
#elif defined(__SSE2__)
#include <emmintrin.h>
static inline unsigned bits(block equal) { return (unsigned)_mm_movemask_epi8((__m128i)equal); }
#else
static inline unsigned bits(block equal)
{
    unsigned mask = 0;
    for (int i = 0; i < SIZE; i++)
        mask |= (unsigned)(equal[i] >> 7) << i;
    return mask;
}
#endif

static inline block splat(int c)
{
    return (block){0} + (uint8_t)c;
}

static inline unsigned equal(const uint8_t *at, block wanted)
{
    return bits((block)(*(const block *)at == wanted));
}

static inline const uint8_t *floor_of(const void *p)
{
    return (const uint8_t *)((uintptr_t)p & ~(uintptr_t)(SIZE - 1));
}

/* The bits of a first block that are not before its beginning. */
static inline unsigned from(const void *p)
{
    return FULL << ((uintptr_t)p & (SIZE - 1));
}

size_t NAME(strlen)(const char *s)
{
    const uint8_t *at = floor_of(s);
    unsigned found = equal(at, splat(0)) & from(s);
    while (!found)
        found = equal(at += SIZE, splat(0));
    return (size_t)(at + __builtin_ctz(found) - (const uint8_t *)s);
}

char *NAME(strchrnul)(const char *s, int c)
{
    const block wanted = splat(c), end = splat(0);
    const uint8_t *at = floor_of(s);
    unsigned found = (equal(at, wanted) | equal(at, end)) & from(s);
    while (!found) {
        at += SIZE;
        found = equal(at, wanted) | equal(at, end);
    }
    return (char *)at + __builtin_ctz(found);
}

char *NAME(strchr)(const char *s, int c)
{
    char *found = NAME(strchrnul)(s, c);
    return *(uint8_t *)found == (uint8_t)c ? found : NULL;
}

char *NAME(strrchr)(const char *s, int c)
{
    const block wanted = splat(c), end = splat(0);
    const uint8_t *at = floor_of(s), *last = NULL;
    unsigned mask = from(s);
    for (;; at += SIZE, mask = FULL) {
        unsigned ends = equal(at, end) & mask;
        /* The end itself is among what can be found. */
        unsigned found = equal(at, wanted) & mask & (ends ? ends ^ (ends - 1) : FULL);
        if (found)
            last = at + (31 - __builtin_clz(found));
        if (ends)
            return (char *)last;
    }
}

void *NAME(memchr)(const void *s, int c, size_t n)
{
    if (n == 0)
        return NULL;
    const block wanted = splat(c);
    const uint8_t *at = floor_of(s), *begin = s;
    unsigned found = equal(at, wanted) & from(s);
    /* How many bytes lie from `at` on; n may be SIZE_MAX. */
    size_t left = n + (size_t)(begin - at);
    if (left < n)
        left = SIZE_MAX;
    while (!found) {
        if (left <= SIZE)
            return NULL;
        left -= SIZE;
        found = equal(at += SIZE, wanted);
    }
    size_t place = (size_t)__builtin_ctz(found);
    return place < left ? (void *)(at + place) : NULL;
}

void *NAME(memrchr)(const void *s, int c, size_t n)
{
    if (n == 0)
        return NULL;
    const block wanted = splat(c);
    const uint8_t *begin = s, *last = begin + n - 1, *at = floor_of(last);
    unsigned found = equal(at, wanted) & (FULL >> (SIZE - 1 - (last - at)));
    while (!found) {
        if (at <= begin)
            return NULL;
        found = equal(at -= SIZE, wanted);
    }
    const uint8_t *place = at + (31 - __builtin_clz(found));
    return place >= begin ? (void *)place : NULL;
}

/* The length of the beginning whose bytes are in the set, or are not. */
static size_t span(const char *s, const char *set, int is_in)
{
    uint32_t members[8] = {0};
    for (; *set; set++)
        members[(uint8_t)*set >> 5] |= 1u << (*set & 31);
    const uint8_t *at = (const uint8_t *)s;
    while (*at && (int)(members[*at >> 5] >> (*at & 31) & 1) == is_in)
        at++;
    return (size_t)(at - (const uint8_t *)s);
}

size_t NAME(strcspn)(const char *s, const char *set)
{
    if (set[0] == 0 || set[1] == 0)
        return (size_t)(NAME(strchrnul)(s, set[0]) - s);
    if (set[2] != 0 && set[3] != 0)
        return span(s, set, 0);
    /* Two bytes or three, such as the ends of a line. */
    const block first = splat(set[0]), second = splat(set[1]), third = splat(set[2]);
    const block end = splat(0);
    const uint8_t *at = floor_of(s);
    unsigned mask = from(s), found;
    for (;; at += SIZE, mask = FULL) {
        found = (equal(at, first) | equal(at, second) | equal(at, third) | equal(at, end)) & mask;
        if (found)
            return (size_t)(at + __builtin_ctz(found) - (const uint8_t *)s);
    }
}

size_t NAME(strspn)(const char *s, const char *set)
{
    return span(s, set, 1);
}

int NAME(memcmp)(const void *a, const void *b, size_t n)
{
    const uint8_t *left = a, *right = b;
    for (; n >= SIZE; n -= SIZE, left += SIZE, right += SIZE) {
        block one = (block) * (const any_block *)left, other = (block) * (const any_block *)right;
        unsigned differ = ~bits((block)(one == other)) & FULL;
        if (differ) {
            int place = __builtin_ctz(differ);
            return left[place] - right[place];
        }
    }
    for (; n > 0; n--, left++, right++)
        if (*left != *right)
            return *left - *right;
    return 0;
}

char *NAME(strstr)(const char *s, const char *wanted)
{
    if (wanted[0] == 0)
        return (char *)s;
    for (;; s++) {
        s = NAME(strchr)(s, wanted[0]);
        if (s == NULL)
            return NULL;
        size_t i = 1;
        while (wanted[i] != 0 && s[i] == wanted[i])
            i++;
        if (wanted[i] == 0)
            return (char *)s;
    }
}

/* musl's own names of two of them. */
#if defined(__wasm__)
char *__strchrnul(const char *s, int c) __attribute__((alias("strchrnul")));
void *__memrchr(const void *s, int c, size_t n) __attribute__((alias("memrchr")));
#endif
