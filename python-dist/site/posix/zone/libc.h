/* What musl's __tz.c uses of its libc's private headers. */
#ifndef WASIBOX_ZONE_LIBC_H
#define WASIBOX_ZONE_LIBC_H

#include <stddef.h>

#define weak_alias(old, new) \
    extern __typeof(old) new __attribute__((__weak__, __alias__(#old)))

/* Nothing here runs with another user's rights. */
static const struct { int secure; } libc;

const unsigned char *__map_file(const char *name, size_t *size);
int __munmap(void *data, size_t size);

#endif
