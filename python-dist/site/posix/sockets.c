/* Sockets: POSIX's calls over WASIX's. The kernel's side is runner/sandbox/src/kernel/call_sock.rs.
 *
 * Under plain preview 1 there are none: socket() and socketpair() fail with ENOSYS.
 */
#include "wasix_calls.h"
#include "wasibox_posix.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

enum { FAMILY_V4 = 1, FAMILY_V6 = 2, FAMILY_UNIX = 3 };
enum { RECEIVE_PEEK = 1, RECEIVE_WAIT_ALL = 2, RECEIVE_TRUNCATED = 4, RECEIVE_DONT_WAIT = 8 };
enum { SEND_DONT_WAIT = 1 };
enum { CLOEXEC = 1, NONBLOCK = 4, MILLIARD = 1000000000 };

static int result(int32_t error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

static int family_of(int family)
{
    switch (family) {
    case AF_INET:
        return FAMILY_V4;
    case AF_INET6:
        return FAMILY_V6;
    case AF_UNIX:
        return FAMILY_UNIX;
    default:
        return 0;
    }
}

/* WASIX's address of a socket; 0, or an error number. */
static int32_t to_wasix(const struct sockaddr *from, socklen_t length, struct wasix_address *to)
{
    memset(to, 0, sizeof *to);
    if (length < sizeof(sa_family_t))
        return EINVAL;
    to->family = (uint8_t)family_of(from->sa_family);
    if (from->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)from;
        to->port = ntohs(in->sin_port);
        memcpy(to->bytes, &in->sin_addr, 4);
    } else if (from->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
        const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)from;
        to->port = ntohs(in->sin6_port);
        memcpy(to->bytes, &in->sin6_addr, 16);
    } else if (from->sa_family == AF_UNIX) {
        /* A name begins where the others have their port. */
        size_t n = length - offsetof(struct sockaddr_un, sun_path);
        if (n > sizeof(((struct sockaddr_un *)0)->sun_path))
            return EINVAL;
        memcpy(&to->port, ((const struct sockaddr_un *)from)->sun_path, n);
    } else {
        return family_of(from->sa_family) ? EINVAL : EAFNOSUPPORT;
    }
    return 0;
}

static void from_wasix(const struct wasix_address *from, struct sockaddr *to, socklen_t *length)
{
    union {
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    } address;
    socklen_t size = sizeof(sa_family_t);
    if (to == NULL || length == NULL)
        return;
    memset(&address, 0, sizeof address);
    switch (from->family) {
    case FAMILY_V4:
        address.in.sin_family = AF_INET;
        address.in.sin_port = htons(from->port);
        memcpy(&address.in.sin_addr, from->bytes, 4);
        size = sizeof address.in;
        break;
    case FAMILY_V6:
        address.in6.sin6_family = AF_INET6;
        address.in6.sin6_port = htons(from->port);
        memcpy(&address.in6.sin6_addr, from->bytes, 16);
        size = sizeof address.in6;
        break;
    case FAMILY_UNIX: {
        const char *name = (const char *)&from->port;
        size_t n = sizeof address.un.sun_path;
        while (n > 0 && name[n - 1] == '\0')
            n--;
        address.un.sun_family = AF_UNIX;
        memcpy(address.un.sun_path, name, n);
        size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
        break;
    }
    }
    memcpy(to, &address, *length < size ? *length : size);
    *length = size;
}

/* The flags that socket(), accept4() and socketpair() may set. */
static void set_flags(uint32_t fd, int type)
{
    if (type & SOCK_CLOEXEC)
        (void)wasix_fd_fdflags_set(fd, CLOEXEC);
    if (type & SOCK_NONBLOCK)
        (void)fcntl((int)fd, F_SETFL, O_NONBLOCK);
}

static int kind_of(int type)
{
    return type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int socket(int family, int type, int protocol)
{
    uint32_t fd;
    if (!family_of(family))
        return result(EAFNOSUPPORT);
    if (kind_of(type) != SOCK_STREAM && kind_of(type) != SOCK_DGRAM)
        return result(EPROTONOSUPPORT);
    if (result(wasix_sock_open((uint32_t)family_of(family), (uint32_t)kind_of(type),
                               (uint32_t)protocol, &fd))
        < 0)
        return -1;
    set_flags(fd, type);
    return (int)fd;
}

int socketpair(int family, int type, int protocol, int pair[2])
{
    uint32_t fd[2];
    if (family != AF_UNIX)
        return result(family_of(family) ? EOPNOTSUPP : EAFNOSUPPORT);
    if (result(wasix_sock_pair(FAMILY_UNIX, (uint32_t)kind_of(type), (uint32_t)protocol, &fd[0],
                               &fd[1]))
        < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        set_flags(fd[i], type);
        pair[i] = (int)fd[i];
    }
    return 0;
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    struct wasix_address to;
    int32_t error = to_wasix(address, length, &to);
    return result(error ? error : wasix_sock_bind((uint32_t)fd, &to));
}

int listen(int fd, int backlog)
{
    return result(wasix_sock_listen((uint32_t)fd, (uint32_t)backlog));
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    struct wasix_address from;
    uint32_t new;
    if (result(wasix_sock_accept_v2((uint32_t)fd, 0, &new, &from)) < 0)
        return -1;
    set_flags(new, flags);
    from_wasix(&from, address, length);
    return (int)new;
}

int accept(int fd, struct sockaddr *address, socklen_t *length)
{
    return accept4(fd, address, length, 0);
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    struct wasix_address to;
    int32_t error = to_wasix(address, length, &to);
    return result(error ? error : wasix_sock_connect((uint32_t)fd, &to));
}

int getsockname(int fd, struct sockaddr *address, socklen_t *length)
{
    struct wasix_address own;
    if (result(wasix_sock_addr_local((uint32_t)fd, &own)) < 0)
        return -1;
    from_wasix(&own, address, length);
    return 0;
}

int getpeername(int fd, struct sockaddr *address, socklen_t *length)
{
    struct wasix_address peer;
    if (result(wasix_sock_addr_peer((uint32_t)fd, &peer)) < 0)
        return -1;
    from_wasix(&peer, address, length);
    return 0;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct wasix_address to;
    uint32_t sent, how = flags & MSG_DONTWAIT ? SEND_DONT_WAIT : 0;
    int32_t error;
    if (message->msg_controllen > 0 || flags & MSG_OOB)
        return result(EOPNOTSUPP);
    const struct iovec *list = message->msg_iov;
    uint32_t n = (uint32_t)message->msg_iovlen;
    if (message->msg_name == NULL || message->msg_namelen == 0) {
        error = wasix_sock_send((uint32_t)fd, list, n, how, &sent);
    } else {
        error = to_wasix(message->msg_name, message->msg_namelen, &to);
        if (error == 0)
            error = wasix_sock_send_to((uint32_t)fd, list, n, how, &to, &sent);
    }
    return result(error) < 0 ? -1 : (ssize_t)sent;
}

ssize_t sendto(int fd, const void *data, size_t length, int flags, const struct sockaddr *to,
               socklen_t to_length)
{
    struct iovec one = {.iov_base = (void *)data, .iov_len = length};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1, .msg_name = (void *)to,
                             .msg_namelen = to_length};
    return sendmsg(fd, &message, flags);
}

ssize_t send(int fd, const void *data, size_t length, int flags)
{
    return sendto(fd, data, length, flags, NULL, 0);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    struct wasix_address from;
    uint32_t got;
    uint16_t about;
    uint32_t how = (flags & MSG_PEEK ? RECEIVE_PEEK : 0)
        | (flags & MSG_WAITALL ? RECEIVE_WAIT_ALL : 0)
        | (flags & MSG_TRUNC ? RECEIVE_TRUNCATED : 0)
        | (flags & MSG_DONTWAIT ? RECEIVE_DONT_WAIT : 0);
    if (flags & MSG_OOB)
        return result(EINVAL);
    if (result(wasix_sock_recv_from((uint32_t)fd, message->msg_iov, (uint32_t)message->msg_iovlen,
                                    how, &got, &about, &from))
        < 0)
        return -1;
    from_wasix(&from, message->msg_name, &message->msg_namelen);
    message->msg_controllen = 0;
    message->msg_flags = 0;
    return (ssize_t)got;
}

ssize_t recvfrom(int fd, void *data, size_t length, int flags, struct sockaddr *from,
                 socklen_t *from_length)
{
    struct iovec one = {.iov_base = data, .iov_len = length};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1, .msg_name = from,
                             .msg_namelen = from_length ? *from_length : 0};
    ssize_t got = recvmsg(fd, &message, flags);
    if (got >= 0 && from_length != NULL)
        *from_length = message.msg_namelen;
    return got;
}

ssize_t recv(int fd, void *data, size_t length, int flags)
{
    return recvfrom(fd, data, length, flags, NULL, NULL);
}

int shutdown(int fd, int how)
{
    if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
        return result(EINVAL);
    return result(wasix_sock_shutdown((uint32_t)fd, (uint32_t)how + 1));
}

enum shape { NOTHING, FLAG, SIZE, TIME, LINGER, FAMILY };

/* An option of POSIX's is one of WASIX's, and a value of some shape. */
static enum shape option_of(int level, int option, uint32_t *number)
{
    static const struct {
        int level, option;
        enum shape shape;
        uint32_t number;
    } all[] = {
        {SOL_SOCKET, SO_REUSEPORT, FLAG, 1},  {SOL_SOCKET, SO_REUSEADDR, FLAG, 2},
        {SOL_SOCKET, SO_DONTROUTE, FLAG, 4},  {SOL_SOCKET, SO_BROADCAST, FLAG, 6},
        {SOL_SOCKET, SO_ACCEPTCONN, FLAG, 10}, {SOL_SOCKET, SO_ERROR, SIZE, 11},
        {SOL_SOCKET, SO_KEEPALIVE, FLAG, 12}, {SOL_SOCKET, SO_LINGER, LINGER, 13},
        {SOL_SOCKET, SO_OOBINLINE, FLAG, 14}, {SOL_SOCKET, SO_RCVBUF, SIZE, 15},
        {SOL_SOCKET, SO_SNDBUF, SIZE, 16},    {SOL_SOCKET, SO_RCVLOWAT, SIZE, 17},
        {SOL_SOCKET, SO_SNDLOWAT, SIZE, 18},  {SOL_SOCKET, SO_RCVTIMEO, TIME, 19},
        {SOL_SOCKET, SO_SNDTIMEO, TIME, 20},  {SOL_SOCKET, SO_TYPE, SIZE, 25},
        {SOL_SOCKET, SO_PROTOCOL, SIZE, 26},  {SOL_SOCKET, SO_DOMAIN, FAMILY, 0},
        {IPPROTO_TCP, TCP_NODELAY, FLAG, 3},  {IPPROTO_IPV6, IPV6_V6ONLY, FLAG, 5},
        {IPPROTO_IP, IP_TTL, SIZE, 23},       {IPPROTO_IP, IP_MULTICAST_TTL, SIZE, 24},
        {IPPROTO_IP, IP_MULTICAST_LOOP, FLAG, 7},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].level == level && all[i].option == option) {
            *number = all[i].number;
            return all[i].shape;
        }
    return NOTHING;
}

/* What there is nothing to set about on a loopback: the intervals of keep-alive and the like. */
static int is_moot(int level, int option)
{
    return level == IPPROTO_TCP
        && (option == TCP_KEEPIDLE || option == TCP_KEEPINTVL || option == TCP_KEEPCNT
            || option == TCP_USER_TIMEOUT);
}

static int give(const void *value, socklen_t size, void *to, socklen_t *length)
{
    memcpy(to, value, *length < size ? *length : size);
    *length = *length < size ? *length : size;
    return 0;
}

static int domain_of(int fd)
{
    struct wasix_address own;
    static const int families[] = {AF_UNSPEC, AF_INET, AF_INET6, AF_UNIX};
    if (result(wasix_sock_addr_local((uint32_t)fd, &own)) < 0)
        return -1;
    return families[own.family & 3];
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
    uint32_t number;
    uint8_t on;
    uint64_t size;
    struct wasix_option_time time;
    int n;
    switch (option_of(level, option, &number)) {
    case FLAG:
        if (result(wasix_sock_get_opt_flag((uint32_t)fd, number, &on)) < 0)
            return -1;
        n = on;
        return give(&n, sizeof n, value, length);
    case SIZE:
        if (result(wasix_sock_get_opt_size((uint32_t)fd, number, &size)) < 0)
            return -1;
        n = size > INT_MAX ? INT_MAX : (int)size;
        return give(&n, sizeof n, value, length);
    case FAMILY:
        n = domain_of(fd);
        return n < 0 ? -1 : give(&n, sizeof n, value, length);
    case TIME: {
        if (result(wasix_sock_get_opt_time((uint32_t)fd, number, &time)) < 0)
            return -1;
        struct timeval t = {0};
        if (time.given) {
            t.tv_sec = (time_t)(time.ns / MILLIARD);
            t.tv_usec = (suseconds_t)(time.ns % MILLIARD / 1000);
        }
        return give(&t, sizeof t, value, length);
    }
    case LINGER: {
        if (result(wasix_sock_get_opt_time((uint32_t)fd, number, &time)) < 0)
            return -1;
        struct linger l = {time.given, time.given ? (int)(time.ns / MILLIARD) : 0};
        return give(&l, sizeof l, value, length);
    }
    default:
        return result(ENOPROTOOPT);
    }
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    uint32_t number;
    int n = 0;
    if (is_moot(level, option))
        return domain_of(fd) < 0 ? -1 : 0;
    enum shape shape = option_of(level, option, &number);
    if (shape == FLAG || shape == SIZE) {
        if (length < sizeof n)
            return result(EINVAL);
        memcpy(&n, value, sizeof n);
        return result(shape == FLAG
                          ? wasix_sock_set_opt_flag((uint32_t)fd, number, n != 0)
                          : wasix_sock_set_opt_size((uint32_t)fd, number, n < 0 ? 0 : (uint64_t)n));
    }
    struct wasix_option_time time = {0};
    if (shape == TIME) {
        struct timeval t;
        if (length < sizeof t)
            return result(EINVAL);
        memcpy(&t, value, sizeof t);
        if (t.tv_sec < 0 || t.tv_usec < 0 || t.tv_usec >= 1000000)
            return result(EDOM);
        time.ns = (uint64_t)t.tv_sec * MILLIARD + (uint64_t)t.tv_usec * 1000;
        time.given = time.ns != 0;
    } else if (shape == LINGER) {
        struct linger l;
        if (length < sizeof l)
            return result(EINVAL);
        memcpy(&l, value, sizeof l);
        time.given = l.l_onoff != 0;
        time.ns = l.l_linger < 0 ? 0 : (uint64_t)l.l_linger * MILLIARD;
    } else {
        return result(ENOPROTOOPT);
    }
    return result(wasix_sock_set_opt_time((uint32_t)fd, number, &time));
}
