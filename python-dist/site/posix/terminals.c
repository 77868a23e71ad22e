/* Terminals: attributes, size, foreground group, pairs.
 *
 * The kernel answers at the node "/.box/terminal" (tools/abi/src/terminal.rs has the requests):
 * one write with an operation and the number of a descriptor or process, then one read with an
 * errno and the answer. A runtime without the node has no terminals of its own: ENOTTY.
 *
 * Structures differ: the kernel has Linux's `struct ktermios` of 36 bytes, musl's has room for
 * more characters and two speeds.
 */
#include "terminal_node.h"
#include "wasix_calls.h"
#include "wasibox_posix.h"

#undef ioctl
#undef open
#undef close
#undef isatty
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NODE "/.box/terminal"

enum { HEAD = 8, REPLY_HEAD = 4, MOST = 64, CHARACTERS = 19 };

/* The kernel's numbers: Linux's `struct ktermios`. */
struct attributes {
    uint32_t iflag, oflag, cflag, lflag;
    uint8_t line, characters[CHARACTERS];
};
_Static_assert(sizeof(struct attributes) == 36, "the kernel's layout");

static int result(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

int wasibox_node_request(enum wasibox_operation operation, int number, const void *in,
                         size_t count, void *out, size_t room)
{
    uint8_t message[HEAD + MOST] = {(uint8_t)operation};
    uint32_t target = (uint32_t)number;
    memcpy(message + 4, &target, 4);
    if (count > 0)
        memcpy(message + HEAD, in, count);
    int saved = errno, node = open(NODE, O_RDWR);
    if (node < 0)
        return result(errno == ENOENT ? ENOTTY : errno);
    ssize_t n = write(node, message, HEAD + count);
    if (n >= 0)
        n = read(node, message, sizeof message);
    int error = errno;
    (void)close(node);
    if (n < REPLY_HEAD)
        return result(n < 0 ? error : EIO);
    uint16_t answer;
    memcpy(&answer, message, 2);
    if (answer != 0)
        return result(answer);
    if ((size_t)n != REPLY_HEAD + room)
        return result(EIO);
    if (room > 0)
        memcpy(out, message + REPLY_HEAD, room);
    errno = saved;
    return 0;
}

static int ask_number(enum wasibox_operation operation, int number, uint32_t *out)
{
    return wasibox_node_request(operation, number, NULL, 0, out, sizeof *out);
}

static int give_number(enum wasibox_operation operation, int number, uint32_t value)
{
    return wasibox_node_request(operation, number, &value, sizeof value, NULL, 0);
}

/* attributes */

int tcgetattr(int fd, struct termios *out)
{
    struct attributes kernel;
    if (wasibox_node_request(GET_ATTRIBUTES, fd, NULL, 0, &kernel, sizeof kernel) < 0)
        return -1;
    memset(out, 0, sizeof *out);
    out->c_iflag = kernel.iflag;
    out->c_oflag = kernel.oflag;
    out->c_cflag = kernel.cflag;
    out->c_lflag = kernel.lflag;
    out->c_line = kernel.line;
    memcpy(out->c_cc, kernel.characters, CHARACTERS);
    out->__c_ispeed = out->__c_ospeed = kernel.cflag & CBAUD;
    return 0;
}

int tcsetattr(int fd, int when, const struct termios *attributes)
{
    if (when < TCSANOW || when > TCSAFLUSH)
        return result(EINVAL);
    struct {
        uint32_t when;
        struct attributes kernel;
    } request = {(uint32_t)when, {attributes->c_iflag, attributes->c_oflag, attributes->c_cflag,
                                  attributes->c_lflag, attributes->c_line, {0}}};
    memcpy(request.kernel.characters, attributes->c_cc, CHARACTERS);
    return wasibox_node_request(SET_ATTRIBUTES, fd, &request, sizeof request, NULL, 0);
}

/* What was written is in the terminal when the write returns. */
int tcdrain(int fd)
{
    uint32_t count;
    return ask_number(OUTPUT_COUNT, fd, &count);
}

int tcflush(int fd, int queue) { return give_number(FLUSH, fd, (uint32_t)queue); }
int tcflow(int fd, int action) { return give_number(FLOW, fd, (uint32_t)action); }

int tcsendbreak(int fd, int duration)
{
    (void)duration;
    return wasibox_node_request(SEND_BREAK, fd, NULL, 0, NULL, 0);
}

speed_t cfgetospeed(const struct termios *t) { return t->c_cflag & CBAUD; }
speed_t cfgetispeed(const struct termios *t) { return t->c_cflag & CBAUD; }

int cfsetospeed(struct termios *t, speed_t speed)
{
    if (speed & ~(speed_t)CBAUD)
        return result(EINVAL);
    t->c_cflag = (t->c_cflag & ~(tcflag_t)CBAUD) | speed;
    return 0;
}

int cfsetispeed(struct termios *t, speed_t speed)
{
    return speed != 0 ? cfsetospeed(t, speed) : 0;
}

int cfsetspeed(struct termios *t, speed_t speed) { return cfsetospeed(t, speed); }

void cfmakeraw(struct termios *t)
{
    t->c_iflag &= ~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
    t->c_oflag &= ~(tcflag_t)OPOST;
    t->c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
    t->c_cflag = (t->c_cflag & ~(tcflag_t)(CSIZE | PARENB)) | CS8;
    t->c_cc[VMIN] = 1;
    t->c_cc[VTIME] = 0;
}

/* size */

int tcgetwinsize(int fd, struct winsize *out)
{
    uint16_t size[4];
    if (wasibox_node_request(GET_SIZE, fd, NULL, 0, size, sizeof size) == 0) {
        *out = (struct winsize){size[0], size[1], size[2], size[3]};
        return 0;
    }
    /* A stream of the host may be a terminal, of which only the size is known. */
    struct wasix_tty tty;
    if (errno != ENOTTY || !isatty(fd) || wasix_tty_get(&tty) != 0)
        return -1;
    *out = (struct winsize){.ws_row = (unsigned short)tty.rows, .ws_col = (unsigned short)tty.columns};
    return 0;
}

int tcsetwinsize(int fd, const struct winsize *size)
{
    const uint16_t request[4] = {size->ws_row, size->ws_col, size->ws_xpixel, size->ws_ypixel};
    return wasibox_node_request(SET_SIZE, fd, request, sizeof request, NULL, 0);
}

/* sessions and groups */

pid_t tcgetpgrp(int fd)
{
    uint32_t group;
    return ask_number(GET_FOREGROUND, fd, &group) < 0 ? -1 : (pid_t)group;
}

int tcsetpgrp(int fd, pid_t group)
{
    return group < 0 ? result(EINVAL) : give_number(SET_FOREGROUND, fd, (uint32_t)group);
}

pid_t tcgetsid(int fd)
{
    uint32_t session;
    return ask_number(GET_SESSION, fd, &session) < 0 ? -1 : (pid_t)session;
}

/* Group and session of a process, 0 being the caller. */
static int membership(pid_t pid, uint32_t out[2])
{
    return wasibox_node_request(GET_MEMBERSHIP, pid, NULL, 0, out, 2 * sizeof *out);
}

pid_t getsid(pid_t pid)
{
    uint32_t of[2];
    return membership(pid, of) < 0 ? -1 : (pid_t)of[1];
}

pid_t getpgrp(void)
{
    uint32_t of[2];
    return membership(0, of) < 0 ? getpid() : (pid_t)of[0];
}

int setpgid(pid_t pid, pid_t group)
{
    return pid < 0 || group < 0 ? result(EINVAL) : give_number(SET_GROUP, pid, (uint32_t)group);
}

pid_t setsid(void)
{
    enum { SESSION = 0x200 }; /* `control` in tools/abi */
    return result(wasix_proc_signal(0, SESSION)) < 0 ? -1 : getpid();
}

/* pairs */

int posix_openpt(int flags)
{
    return open("/dev/ptmx", O_RDWR | (flags & O_NONBLOCK));
}

static int name_of(int fd, int master, char *out, size_t room)
{
    uint32_t name[2];
    if (wasibox_node_request(GET_NAME, fd, NULL, 0, name, sizeof name) < 0)
        return errno;
    if ((int)name[1] != master)
        return ENOTTY;
    int n = snprintf(out, room, "/dev/pts/%u", (unsigned)name[0]);
    return n < 0 || (size_t)n >= room ? ERANGE : 0;
}

int ptsname_r(int fd, char *out, size_t room) { return name_of(fd, 1, out, room); }
int ttyname_r(int fd, char *out, size_t room) { return name_of(fd, 0, out, room); }

char *ptsname(int fd)
{
    static char name[32];
    return result(ptsname_r(fd, name, sizeof name)) < 0 ? NULL : name;
}

char *ttyname(int fd)
{
    static char name[32];
    return result(ttyname_r(fd, name, sizeof name)) < 0 ? NULL : name;
}

/* There is one user, and no pair is locked. */
int grantpt(int fd)
{
    char name[32];
    int error = ptsname_r(fd, name, sizeof name);
    return result(error == ENOTTY ? EINVAL : error);
}

int unlockpt(int fd) { return grantpt(fd); }

char *ctermid(char *out)
{
    static char own[] = "/dev/tty";
    return out ? strcpy(out, own) : own;
}

int openpty(int *master, int *slave, char *name, const struct termios *attributes,
            const struct winsize *size)
{
    char path[32];
    int m = posix_openpt(O_RDWR);
    if (m < 0)
        return -1;
    int error = ptsname_r(m, path, sizeof path);
    int s = error ? -1 : open(path, O_RDWR);
    if (s < 0) {
        error = error ? error : errno;
        (void)close(m);
        return result(error);
    }
    if (attributes)
        (void)tcsetattr(s, TCSANOW, attributes);
    if (size)
        (void)tcsetwinsize(s, size);
    if (name)
        strcpy(name, path);
    *master = m;
    *slave = s;
    return 0;
}

int login_tty(int fd)
{
    (void)setsid();
    if (give_number(SET_CONTROLLING, fd, 0) < 0)
        return -1;
    for (int to = 0; to < 3; to++)
        if (fd != to && dup2(fd, to) < 0)
            return -1;
    if (fd > 2)
        (void)close(fd);
    return 0;
}

/* Requests of ioctl(2) about terminals; others are libc's. */
int wasibox_ioctl(int fd, int request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    uint32_t number;
    struct attributes kernel;
    switch (request) {
    case 0x5401: /* TCGETS */
        if (wasibox_node_request(GET_ATTRIBUTES, fd, NULL, 0, &kernel, sizeof kernel) < 0)
            return -1;
        memcpy(argument, &kernel, sizeof kernel);
        return 0;
    case 0x5402: case 0x5403: case 0x5404: { /* TCSETS, TCSETSW, TCSETSF */
        uint8_t message[4 + sizeof kernel] = {(uint8_t)(request - 0x5402)};
        memcpy(message + 4, argument, sizeof kernel);
        return wasibox_node_request(SET_ATTRIBUTES, fd, message, sizeof message, NULL, 0);
    }
    case 0x5409: case 0x5425: /* TCSBRK, TCSBRKP */
        return (intptr_t)argument != 0 && request == 0x5409 ? tcdrain(fd) : tcsendbreak(fd, 0);
    case 0x540A: /* TCXONC */
        return tcflow(fd, (int)(intptr_t)argument);
    case 0x540B: /* TCFLSH */
        return tcflush(fd, (int)(intptr_t)argument);
    case 0x540E: /* TIOCSCTTY */
        return give_number(SET_CONTROLLING, fd, (uint32_t)(uintptr_t)argument);
    case 0x5422: /* TIOCNOTTY */
        return wasibox_node_request(DROP_CONTROLLING, fd, NULL, 0, NULL, 0);
    case 0x540F: case 0x5429: /* TIOCGPGRP, TIOCGSID */
    case 0x5411: case 0x80045430: /* TIOCOUTQ, TIOCGPTN */ {
        uint32_t name[2];
        if ((unsigned)request == 0x80045430U) {
            if (wasibox_node_request(GET_NAME, fd, NULL, 0, name, sizeof name) < 0)
                return -1;
            if (name[1] != 1)
                return result(ENOTTY);
            number = name[0];
        } else if (ask_number(request == 0x540F ? GET_FOREGROUND : request == 0x5429 ? GET_SESSION
                              : OUTPUT_COUNT, fd, &number) < 0)
            return -1;
        memcpy(argument, &number, sizeof number);
        return 0;
    }
    case 0x5410: /* TIOCSPGRP */
        memcpy(&number, argument, sizeof number);
        return give_number(SET_FOREGROUND, fd, number);
    case 0x40045431: /* TIOCSPTLCK */
        return grantpt(fd);
    case TIOCGWINSZ:
        return tcgetwinsize(fd, argument);
    case TIOCSWINSZ:
        return tcsetwinsize(fd, argument);
    case FIOCLEX:
        return wasibox_fcntl(fd, F_SETFD, FD_CLOEXEC);
    case FIONCLEX:
        return wasibox_fcntl(fd, F_SETFD, 0);
    case FIONREAD: case 0x541B:
        if (ask_number(INPUT_COUNT, fd, &number) == 0) {
            memcpy(argument, &number, sizeof number);
            return 0;
        }
        if (errno != ENOTTY)
            return -1;
        /* fallthrough */
    default:
        return ioctl(fd, request, argument);
    }
}
