/* epoll(7) over poll(2), for Python's `select.epoll`.
 *
 * An instance is a socket without an address, which only gives it a number, and a list of what is
 * watched, in the order in which it was added. A wait polls all of the list.
 *
 * Deviations: EPOLLET is level-triggered, because the kernel tells what is ready and not what has
 * changed: an event may be reported again, and none is lost. A descriptor is watched, not its open
 * file description: what is watched ends with the descriptor although a duplicate is open. Another
 * thread's epoll_ctl() does not change a wait that has begun. An instance is not ready for poll().
 */
#include "wasix_calls.h"
#include "wasibox_posix.h"

#undef close
#undef clock_nanosleep
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <wasi/api.h>

enum { READS = EPOLLIN | EPOLLRDNORM, WRITES = EPOLLOUT | EPOLLWRNORM, MILLION = 1000000 };

struct watched {
    int fd;
    uint32_t events;
    epoll_data_t data;
    /* After an event of EPOLLONESHOT, until EPOLL_CTL_MOD. */
    int is_off;
};

struct instance {
    int fd;
    size_t count, room;
    struct watched *list;
    struct instance *next;
};

static struct instance *instances;

static int refuse(int error)
{
    errno = error;
    return -1;
}

static struct instance *find(int fd)
{
    struct instance *one = instances;
    while (one != NULL && one->fd != fd)
        one = one->next;
    return one;
}

static struct watched *find_watched(const struct instance *instance, int fd)
{
    for (size_t i = 0; i < instance->count; i++)
        if (instance->list[i].fd == fd)
            return &instance->list[i];
    return NULL;
}

static void remove_watched(struct instance *instance, struct watched *one)
{
    size_t after = (size_t)(instance->list + --instance->count - one);
    memmove(one, one + 1, after * sizeof *one);
}

/* A descriptor is closed, or becomes another file. */
static void forget(int fd)
{
    for (struct instance **at = &instances; *at != NULL;) {
        struct instance *one = *at;
        struct watched *watched = find_watched(one, fd);
        if (watched != NULL)
            remove_watched(one, watched);
        if (one->fd == fd) {
            *at = one->next;
            free(one->list);
            free(one);
        } else {
            at = &one->next;
        }
    }
}

int epoll_create1(int flags)
{
    if (flags & ~EPOLL_CLOEXEC)
        return refuse(EINVAL);
    struct instance *one = calloc(1, sizeof *one);
    if (one == NULL)
        return refuse(ENOMEM);
    one->fd = socket(AF_INET, SOCK_DGRAM | (flags & EPOLL_CLOEXEC ? SOCK_CLOEXEC : 0), 0);
    if (one->fd < 0) {
        free(one);
        return -1;
    }
    one->next = instances;
    instances = one;
    wasibox_on_close = forget;
    return one->fd;
}

int epoll_create(int size)
{
    return size <= 0 ? refuse(EINVAL) : epoll_create1(0);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    __wasi_fdstat_t state;
    if (epoll < 0 || fd < 0 || wasibox_is_preopened(fd)
        || __wasi_fd_fdstat_get((__wasi_fd_t)epoll, &state) != 0
        || __wasi_fd_fdstat_get((__wasi_fd_t)fd, &state) != 0)
        return refuse(EBADF);
    if (state.fs_filetype == __WASI_FILETYPE_REGULAR_FILE
        || state.fs_filetype == __WASI_FILETYPE_DIRECTORY)
        return refuse(EPERM);
    struct instance *instance = find(epoll);
    if (instance == NULL || epoll == fd)
        return refuse(EINVAL);
    struct watched *one = find_watched(instance, fd);
    switch (operation) {
    case EPOLL_CTL_ADD:
        if (one != NULL)
            return refuse(EEXIST);
        if (instance->count == instance->room) {
            size_t room = instance->room * 2 + 8;
            struct watched *list = realloc(instance->list, room * sizeof *list);
            if (list == NULL)
                return refuse(ENOMEM);
            instance->list = list;
            instance->room = room;
        }
        one = &instance->list[instance->count++];
        break;
    case EPOLL_CTL_MOD:
        if (one == NULL)
            return refuse(ENOENT);
        break;
    case EPOLL_CTL_DEL:
        if (one == NULL)
            return refuse(ENOENT);
        remove_watched(instance, one);
        return 0;
    default:
        return refuse(EINVAL);
    }
    *one = (struct watched){.fd = fd, .events = event->events, .data = event->data};
    return 0;
}

/* Waits for time alone; poll() needs a descriptor. */
static int sleep_for(int time)
{
    struct timespec rest = {.tv_sec = time < 0 ? 1 << 30 : time / 1000,
                            .tv_nsec = time < 0 ? 0 : (long)(time % 1000) * MILLION};
    int error = wasibox_clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
    return error == 0 ? 0 : refuse(error);
}

static uint32_t events_of(const struct pollfd *polled, uint32_t wanted)
{
    uint32_t events = 0;
    if (polled->revents & POLLIN)
        events |= wanted & READS;
    if (polled->revents & POLLOUT)
        events |= wanted & WRITES;
    if (polled->revents & POLLERR)
        events |= EPOLLERR;
    if (polled->revents & POLLHUP)
        events |= EPOLLHUP | (wanted & EPOLLRDHUP);
    return events;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int time)
{
    __wasi_fdstat_t state;
    struct instance *instance = find(epoll);
    if (instance == NULL)
        return refuse(epoll < 0 || __wasi_fd_fdstat_get((__wasi_fd_t)epoll, &state) != 0 ? EBADF
                                                                                         : EINVAL);
    if (most <= 0)
        return refuse(EINVAL);
    struct pollfd *list = calloc(instance->count + 1, sizeof *list);
    if (list == NULL)
        return refuse(ENOMEM);
    nfds_t used = 0;
    for (size_t i = 0; i < instance->count; i++) {
        const struct watched *one = &instance->list[i];
        short wanted = (one->events & READS ? POLLIN : 0)
            | (one->events & WRITES ? POLLOUT : 0);
        if (!one->is_off && wanted != 0)
            list[used++] = (struct pollfd){.fd = one->fd, .events = wanted};
    }
    int ready = used > 0 ? poll(list, used, time) : sleep_for(time), count = 0;
    /* Another thread may have changed or closed all of it during the wait. */
    instance = find(epoll);
    for (nfds_t i = 0; ready > 0 && i < used && count < most && instance != NULL; i++) {
        struct watched *one = find_watched(instance, list[i].fd);
        if (one == NULL || one->is_off)
            continue;
        if (list[i].revents & POLLNVAL) {
            remove_watched(instance, one);
            continue;
        }
        uint32_t found = events_of(&list[i], one->events);
        if (found == 0)
            continue;
        events[count++] = (struct epoll_event){.events = found, .data = one->data};
        one->is_off = (one->events & EPOLLONESHOT) != 0;
    }
    /* The next wait begins with others if there was no room for all. */
    if (count == most && instance != NULL && instance->count > 1) {
        struct watched first = instance->list[0];
        remove_watched(instance, &instance->list[0]);
        instance->list[instance->count++] = first;
    }
    free(list);
    return ready < 0 ? -1 : count;
}
