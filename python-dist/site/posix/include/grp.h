/* POSIX <grp.h>. */
#ifndef WASIBOX_GRP_H
#define WASIBOX_GRP_H

#include "wasibox_posix.h"

struct group {
    char *gr_name, *gr_passwd;
    gid_t gr_gid;
    char **gr_mem;
};

struct group *getgrgid(gid_t gid);
struct group *getgrnam(const char *name);
struct group *getgrent(void);
void setgrent(void);
void endgrent(void);

#endif
