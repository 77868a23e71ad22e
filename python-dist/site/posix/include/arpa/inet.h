/* libc's functions know families by libc's numbers. */
#ifndef WASIBOX_ARPA_INET_H
#define WASIBOX_ARPA_INET_H

#include_next <arpa/inet.h>

char *inet_ntoa(struct in_addr address);
int wasibox_inet_pton(int family, const char *text, void *address);
const char *wasibox_inet_ntop(int family, const void *address, char *text, socklen_t room);
#define inet_pton(family, text, address) wasibox_inet_pton(family, text, address)
#define inet_ntop(family, address, text, room) wasibox_inet_ntop(family, address, text, room)

#endif
