/* Names of interfaces (POSIX.1-2017, <net/if.h>): names.c. */
#ifndef WASIBOX_NET_IF_H
#define WASIBOX_NET_IF_H

#define IF_NAMESIZE 16
#define IFNAMSIZ IF_NAMESIZE

struct if_nameindex {
    unsigned if_index;
    char *if_name;
};

unsigned if_nametoindex(const char *name);
char *if_indextoname(unsigned index, char *name);
struct if_nameindex *if_nameindex(void);
void if_freenameindex(struct if_nameindex *list);

#endif
