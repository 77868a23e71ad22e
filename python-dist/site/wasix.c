/* The only file of python.wasm that names `wasix_32v1`.
 *
 * WASI preview 1 knows no current directory: libc keeps one of its own, which
 * starts as "/" in every process. Under WASIX the parent's directory is
 * inherited and can be asked for, so it is asked for once, before main.
 */
#include "wasix.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* errno_t getcwd(path: *mut u8, path_len: *mut u32); the length goes in as the
 * room there is and comes out as the bytes the path has. 0 is success; NOSYS
 * (52) is what a runtime without WASIX says, through the dist stubs. */
__attribute__((import_module("wasix_32v1"), import_name("getcwd")))
extern int32_t wasix_getcwd(char *path, uint32_t *path_len);

enum { FIRST_ROOM = 1024, MOST_ROOM = 64 * 1024 };

/* The runtime's answer as an allocated string, NULL when it has none. */
static char *runtime_cwd(void)
{
    for (uint32_t room = FIRST_ROOM; room <= MOST_ROOM; room *= 4) {
        char *path = malloc(room + 1);
        if (path == NULL)
            return NULL;
        uint32_t len = room;
        int32_t err = wasix_getcwd(path, &len);
        if (err == 0 && len <= room) {
            path[len] = '\0';
            return path;
        }
        free(path);
        /* Too small a buffer is told in two ways by two runtimes (RANGE,
         * OVERFLOW), and always by a length beyond the room. */
        if (err == 0 || len <= room)
            return NULL;
    }
    return NULL;
}

static int enter(const char *path)
{
    struct stat st;
    return path != NULL && path[0] == '/' && stat(path, &st) == 0
        && S_ISDIR(st.st_mode) && chdir(path) == 0;
}

void wasibox_enter_cwd(void)
{
    char *path = runtime_cwd();
    if (!enter(path))
        (void)enter(getenv("PWD"));
    free(path);
}

void wasibox_enter_new_cwd(void)
{
    static char *last;
    char *path = runtime_cwd();
    if (path != NULL && last != NULL && strcmp(path, last) == 0) {
        free(path);
        return;
    }
    (void)enter(path);
    free(last);
    last = path;
}
