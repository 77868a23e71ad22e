/* The commands of ncurses as one program. Which one runs depends on the name by which it is
 * started. */
#include <string.h>

int clear_main(int argc, char *argv[]);
int infocmp_main(int argc, char *argv[]);
int tabs_main(int argc, char *argv[]);
int tput_main(int argc, char *argv[]);
int tset_main(int argc, char *argv[]);

static const struct {
    const char *name;
    int (*run)(int argc, char *argv[]);
} commands[] = {
    {"clear", clear_main}, {"infocmp", infocmp_main}, {"reset", tset_main},
    {"tabs", tabs_main},   {"tset", tset_main},
};

/* The name for error messages. */
const char *_nc_progname = "tput";

int main(int argc, char *argv[])
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : argc > 0 ? argv[0] : "";
    _nc_progname = name;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc, argv);
    return tput_main(argc, argv);
}
