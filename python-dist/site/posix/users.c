/* /etc/passwd and /etc/group. One record at a time is held, in static memory (POSIX allows it). */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 64 };

/* A file of lines of fields. */
struct table {
    const char *path;
    FILE *file;
    char line[1024];
};

static struct table users = {.path = "/etc/passwd"}, groups = {.path = "/etc/group"};

static void rewind_table(struct table *table)
{
    if (table->file != NULL)
        fclose(table->file);
    table->file = NULL;
}

/* The next line with at least `count` fields, cut into them. */
static int next(struct table *table, char *fields[], int count)
{
    if (table->file == NULL && (table->file = fopen(table->path, "r")) == NULL)
        return 0;
    while (fgets(table->line, sizeof table->line, table->file) != NULL) {
        char *rest = table->line;
        int found = 0;
        rest[strcspn(rest, "\n")] = '\0';
        while (found < count && rest != NULL)
            fields[found++] = strsep(&rest, ":");
        if (found == count)
            return 1;
    }
    return 0;
}

void setpwent(void) { rewind_table(&users); }
void endpwent(void) { rewind_table(&users); }
void setgrent(void) { rewind_table(&groups); }
void endgrent(void) { rewind_table(&groups); }

struct passwd *getpwent(void)
{
    static struct passwd found;
    char *f[7];
    if (!next(&users, f, 7))
        return NULL;
    found = (struct passwd){f[0], f[1], (uid_t)strtoul(f[2], NULL, 10),
                            (gid_t)strtoul(f[3], NULL, 10), f[4], f[5], f[6]};
    return &found;
}

struct passwd *getpwuid(uid_t uid)
{
    struct passwd *found;
    setpwent();
    while ((found = getpwent()) != NULL && found->pw_uid != uid) {
    }
    endpwent();
    return found;
}

struct passwd *getpwnam(const char *name)
{
    struct passwd *found;
    setpwent();
    while ((found = getpwent()) != NULL && strcmp(found->pw_name, name) != 0) {
    }
    endpwent();
    return found;
}

struct group *getgrent(void)
{
    static struct group found;
    static char *members[MEMBERS + 1];
    char *f[4], *rest;
    if (!next(&groups, f, 4))
        return NULL;
    int count = 0;
    for (rest = f[3]; count < MEMBERS && rest != NULL && *rest; )
        members[count++] = strsep(&rest, ",");
    members[count] = NULL;
    found = (struct group){f[0], f[1], (gid_t)strtoul(f[2], NULL, 10), members};
    return &found;
}

struct group *getgrgid(gid_t gid)
{
    struct group *found;
    setgrent();
    while ((found = getgrent()) != NULL && found->gr_gid != gid) {
    }
    endgrent();
    return found;
}

struct group *getgrnam(const char *name)
{
    struct group *found;
    setgrent();
    while ((found = getgrent()) != NULL && strcmp(found->gr_name, name) != 0) {
    }
    endgrent();
    return found;
}
