/* Signal actions, as POSIX.1-2017 has them in <signal.h>: actions.c. For programs in C and for
 * ncurses; CPython itself uses signal(). */
#ifndef WASIBOX_ACTION_H
#define WASIBOX_ACTION_H

#include <signal.h>

struct sigaction {
    union {
        void (*sa_handler)(int);
        void (*sa_sigaction)(int, siginfo_t *, void *);
    } guest_handler;
    sigset_t sa_mask;
    int sa_flags;
};
#define sa_handler guest_handler.sa_handler
#define sa_sigaction guest_handler.sa_sigaction
#define SA_NOCLDSTOP 1
#define SA_NOCLDWAIT 2
#define SA_SIGINFO 4
#define SA_RESTART 0x10000000
#define SA_NODEFER 0x40000000
#define SA_RESETHAND (-0x7fffffff - 1)
int sigaction(int number, const struct sigaction *action, struct sigaction *old);
int sigsuspend(const sigset_t *mask);

#endif
