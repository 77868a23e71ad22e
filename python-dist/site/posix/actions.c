/* Signal actions, over the layer's signal().
 *
 * Deviations: the mask and the flags of an action are returned by the next call but have no effect,
 * except that SA_RESTART has one for wasibox_restarting_read().
 * A handler with SA_SIGINFO gets a null pointer in place of the information.
 */
#include "wasibox_action.h"
#include "wasibox_posix.h"

#include <errno.h>

enum { SIGNALS = 64 };

static struct sigaction actions[SIGNALS];

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    if (number <= 0 || number >= SIGNALS) {
        errno = EINVAL;
        return -1;
    }
    void (*before)(int) = action != NULL ? signal(number, action->sa_handler)
                                         : wasibox_handler_of(number);
    if (before == SIG_ERR)
        return -1;
    if (action != NULL && action->sa_flags & SA_RESTART)
        wasibox_set_restarting(number);
    struct sigaction last = actions[number];
    last.sa_handler = before;
    if (action != NULL)
        actions[number] = *action;
    if (old != NULL)
        *old = last;
    return 0;
}

int sigsuspend(const sigset_t *mask)
{
    sigset_t before;
    if (sigprocmask(SIG_SETMASK, mask, &before) < 0)
        return -1;
    (void)pause();
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = EINTR;
    return -1;
}
