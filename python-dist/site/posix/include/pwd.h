/* POSIX <pwd.h>. */
#ifndef WASIBOX_PWD_H
#define WASIBOX_PWD_H

#include "wasibox_posix.h"

struct passwd {
    char *pw_name, *pw_passwd;
    uid_t pw_uid;
    gid_t pw_gid;
    char *pw_gecos, *pw_dir, *pw_shell;
};

struct passwd *getpwuid(uid_t uid);
struct passwd *getpwnam(const char *name);
struct passwd *getpwent(void);
void setpwent(void);
void endpwent(void);

#endif
