/* Sockets (POSIX.1-2017, <sys/socket.h>) with the numbers of Linux, which Python programs show and
 * compare; libc's header has others, and half of the functions. sockets.c and names.c are behind them. */
#ifndef _SYS_SOCKET_H
#define _SYS_SOCKET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <__typedef_sa_family_t.h>
#include <__typedef_socklen_t.h>
#include <__struct_msghdr.h>
#include <__struct_sockaddr.h>
#define __wasilibc___struct_sockaddr_storage_h
struct sockaddr_storage {
    __attribute__((aligned(__BIGGEST_ALIGNMENT__))) sa_family_t ss_family;
    char __ss_data[126];
};
struct linger {
    int l_onoff;
    int l_linger;
};
/* No control messages are ever sent or received. */
struct cmsghdr {
    socklen_t cmsg_len;
    int cmsg_level;
    int cmsg_type;
};
#define CMSG_ALIGN(n) (((n) + sizeof(size_t) - 1) & ~(sizeof(size_t) - 1))
#define CMSG_SPACE(n) (CMSG_ALIGN(n) + CMSG_ALIGN(sizeof(struct cmsghdr)))
#define CMSG_LEN(n) (CMSG_ALIGN(sizeof(struct cmsghdr)) + (n))
#define CMSG_DATA(c) ((unsigned char *)((struct cmsghdr *)(c) + 1))
#define CMSG_FIRSTHDR(m) \
    ((size_t)(m)->msg_controllen >= sizeof(struct cmsghdr) ? (struct cmsghdr *)(m)->msg_control \
                                                           : (struct cmsghdr *)0)
#define CMSG_NXTHDR(m, c) ((struct cmsghdr *)0)

#define AF_UNSPEC 0
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define AF_LOCAL AF_UNIX
#define PF_UNSPEC AF_UNSPEC
#define PF_UNIX AF_UNIX
#define PF_INET AF_INET
#define PF_INET6 AF_INET6
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOCK_RAW 3
#define SOCK_RDM 4
#define SOCK_SEQPACKET 5
#define SOCK_NONBLOCK 04000
#define SOCK_CLOEXEC 02000000
#define SHUT_RD 0
#define SHUT_WR 1
#define SHUT_RDWR 2
#define SOMAXCONN 4096
#define SOL_SOCKET 1
#define SOL_IP 0
#define SOL_TCP 6
#define SOL_UDP 17
#define SO_DEBUG 1
#define SO_REUSEADDR 2
#define SO_TYPE 3
#define SO_ERROR 4
#define SO_DONTROUTE 5
#define SO_BROADCAST 6
#define SO_SNDBUF 7
#define SO_RCVBUF 8
#define SO_KEEPALIVE 9
#define SO_OOBINLINE 10
#define SO_LINGER 13
#define SO_REUSEPORT 15
#define SO_RCVLOWAT 18
#define SO_SNDLOWAT 19
#define SO_RCVTIMEO 20
#define SO_SNDTIMEO 21
#define SO_ACCEPTCONN 30
#define SO_PROTOCOL 38
#define SO_DOMAIN 39
#define MSG_OOB 0x0001
#define MSG_PEEK 0x0002
#define MSG_CTRUNC 0x0008
#define MSG_TRUNC 0x0020
#define MSG_DONTWAIT 0x0040
#define MSG_WAITALL 0x0100
#define MSG_NOSIGNAL 0x4000

int socket(int family, int type, int protocol);
int socketpair(int family, int type, int protocol, int pair[2]);
int bind(int fd, const struct sockaddr *address, socklen_t length);
int listen(int fd, int backlog);
int accept(int fd, struct sockaddr *address, socklen_t *length);
int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int connect(int fd, const struct sockaddr *address, socklen_t length);
int getsockname(int fd, struct sockaddr *address, socklen_t *length);
int getpeername(int fd, struct sockaddr *address, socklen_t *length);
ssize_t send(int fd, const void *data, size_t length, int flags);
ssize_t sendto(int fd, const void *data, size_t length, int flags, const struct sockaddr *to,
               socklen_t to_length);
ssize_t sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t recv(int fd, void *data, size_t length, int flags);
ssize_t recvfrom(int fd, void *data, size_t length, int flags, struct sockaddr *from,
                 socklen_t *from_length);
ssize_t recvmsg(int fd, struct msghdr *message, int flags);
int shutdown(int fd, int how);
int getsockopt(int fd, int level, int option, void *value, socklen_t *length);
int setsockopt(int fd, int level, int option, const void *value, socklen_t length);

#endif
