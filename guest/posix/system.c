/* Files, load and terminals: functions that CPython's layer does not have, and the steps before
 * main().
 */
#include "guest_posix.h"
#include "wasix_calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The size in bytes of a file system's block, and of the blocks that st_blocks counts. */
enum { FILE_BLOCK = 4096, STAT_BLOCK = 512 };

/* The request to the kernel that a write to a pipe without readers raises SIGPIPE (PIPE of
 * box_abi::control). */
enum { RAISE_SIGPIPE = 0x800 };

/* Variables of CPython to which threads.c refers. */
void *_Py_tss_tstate;
const char *pkgcontext;
int wasibox_float_flags;

extern void wasibox_adopt(void);
extern void wasibox_enter_cwd(void);

/* Takes over the descriptors and the directory that the parent has passed on; asks for SIGPIPE. */
__attribute__((constructor)) static void enter_process(void)
{
    wasibox_adopt();
    wasibox_enter_cwd();
    (void)wasix_proc_signal(0, RAISE_SIGPIPE);
}

/* ---- files ---- */

/* Sets the number of blocks from the size, because preview 1 does not report it. */
static int add_blocks(int result, struct stat *out)
{
    if (result == 0 && out->st_blocks == 0)
        out->st_blocks = (out->st_size + FILE_BLOCK - 1) / FILE_BLOCK * (FILE_BLOCK / STAT_BLOCK);
    return result;
}

int guest_stat(const char *path, struct stat *out)
{
    return add_blocks(wasibox_stat(path, out), out);
}

int guest_lstat(const char *path, struct stat *out)
{
    return add_blocks(wasibox_lstat(path, out), out);
}

int guest_fstat(int fd, struct stat *out)
{
    return add_blocks(wasibox_fstat(fd, out), out);
}

int guest_fstatat(int dir, const char *path, struct stat *out, int flags)
{
    return add_blocks(wasibox_fstatat(dir, path, out, flags), out);
}

/* ---- load ---- */

/* Returns the number of averages that are stored, or -1 if the system has none. */
int getloadavg(double averages[], int count)
{
    FILE *file = fopen("/proc/loadavg", "r");
    int stored = 0;
    if (file == NULL)
        return -1;
    while (stored < count && stored < 3 && fscanf(file, "%lf", &averages[stored]) == 1)
        stored++;
    (void)fclose(file);
    return stored > 0 ? stored : -1;
}

/* ---- terminals ---- */

/* Returns NULL if there is no terminal. On a terminal the input is echoed, unlike elsewhere. */
char *getpass(const char *prompt)
{
    static char line[256];
    if (!isatty(STDIN_FILENO)) {
        errno = ENXIO;
        return NULL;
    }
    (void)fputs(prompt, stderr);
    if (fgets(line, sizeof line, stdin) == NULL)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return line;
}
