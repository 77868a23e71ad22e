/* Makes one program of git and of two that git's Makefile builds separately: the helper for HTTP,
 * and the one that git's shell scripts use. The code that they share is then in the image only
 * once. The command's name decides which one runs, as it does among git's own commands.
 *
 * The program is linked with --wrap=cmd_main, so git's start-up code calls this function.
 * config.mak renames the functions of the other two.
 */
#include <string.h>

int __real_cmd_main(int argc, const char **argv);
int remote_http_main(int argc, const char **argv);
int envsubst_main(int argc, const char **argv);

int __wrap_cmd_main(int argc, const char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *name = slash != NULL ? slash + 1 : argv[0];
    if (strncmp(name, "git-remote-http", 15) == 0)
        return remote_http_main(argc, argv);
    if (strcmp(name, "git-sh-i18n--envsubst") == 0)
        return envsubst_main(argc, argv);
    return __real_cmd_main(argc, argv);
}
