/* Names of hosts, services and protocols, as far as a machine without a network knows them:
 * `localhost` and what ends so (RFC 6761, 6.3), /etc/hosts, /etc/hostname, and numbers. For all other
 * names the error says that there is no network.
 */
#include "wasibox_posix.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#undef inet_pton
#undef inet_ntop
#include <errno.h>

enum { LIBC_INET = 1, LIBC_INET6 = 2 }; /* wasi-libc's AF_INET, AF_INET6 */
enum { MOST_ADDRESSES = 8, LINE = 512 };

/* What cannot be looked up, for gai_strerror(): its callers have the number only. */
static char unknown_text[320];

struct address {
    int family;
    unsigned char bytes[16];
};

/* Services that programs ask for by name (IANA's registry). */
static const struct {
    const char *name;
    int port;
} services[] = {
    {"echo", 7},      {"ftp", 21},    {"ssh", 22},    {"telnet", 23}, {"smtp", 25},
    {"domain", 53},   {"http", 80},   {"pop3", 110},  {"ntp", 123},   {"imap", 143},
    {"snmp", 161},    {"ldap", 389},  {"https", 443}, {"imaps", 993}, {"pop3s", 995},
    {"mysql", 3306},  {"postgresql", 5432},           {"http-alt", 8080},
};
enum { SERVICES = sizeof services / sizeof *services };

static const struct {
    const char *name;
    int number;
} protocols[] = {{"ip", IPPROTO_IP}, {"icmp", IPPROTO_ICMP}, {"tcp", IPPROTO_TCP},
                 {"udp", IPPROTO_UDP}, {"ipv6", IPPROTO_IPV6}};
enum { PROTOCOLS = sizeof protocols / sizeof *protocols };

static int libc_family(int family)
{
    return family == AF_INET ? LIBC_INET : family == AF_INET6 ? LIBC_INET6 : -1;
}

int wasibox_inet_pton(int family, const char *text, void *address)
{
    return inet_pton(libc_family(family), text, address);
}

const char *wasibox_inet_ntop(int family, const void *address, char *text, socklen_t room)
{
    return inet_ntop(libc_family(family), address, text, room);
}

char *inet_ntoa(struct in_addr address)
{
    static char text[INET_ADDRSTRLEN];
    return (char *)inet_ntop(LIBC_INET, &address, text, sizeof text);
}

int *wasibox_h_errno(void)
{
    static int error;
    return &error;
}

static void chomp(char *line)
{
    line[strcspn(line, "\r\n#")] = '\0';
}

int gethostname(char *name, size_t room)
{
    char line[256] = "";
    FILE *file = fopen("/etc/hostname", "re");
    if (file != NULL) {
        if (fgets(line, sizeof line, file) == NULL)
            line[0] = '\0';
        fclose(file);
        chomp(line);
    }
    if (line[0] == '\0')
        strcpy(line, "localhost");
    if (strlen(line) >= room) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(name, line);
    return 0;
}

static int is_localhost(const char *name)
{
    static const char local[] = "localhost";
    size_t n = strlen(name), most = sizeof local - 1;
    if (n > 0 && name[n - 1] == '.')
        n--;
    return n >= most && strncasecmp(name + n - most, local, most) == 0
        && (n == most || name[n - most - 1] == '.');
}

static int numeric(const char *text, struct address *out)
{
    struct in_addr in;
    char bare[INET6_ADDRSTRLEN];
    if (wasibox_inet_pton(AF_INET, text, out->bytes) == 1) {
        out->family = AF_INET;
        return 1;
    }
    /* `127.1` and the like; a name that begins with a digit is none of them. */
    if (strspn(text, "0123456789abcdefxABCDEFX.") == strlen(text) && inet_aton(text, &in)) {
        out->family = AF_INET;
        memcpy(out->bytes, &in, sizeof in);
        return 1;
    }
    /* Without a scope: there is one interface only. */
    size_t n = strcspn(text, "%");
    if (n >= sizeof bare)
        return 0;
    memcpy(bare, text, n);
    bare[n] = '\0';
    out->family = AF_INET6;
    return wasibox_inet_pton(AF_INET6, bare, out->bytes) == 1;
}

/* Calls `each` with the address and the names of every line of /etc/hosts, until it says so. */
static void hosts(int (*each)(const struct address *, char *names, void *with), void *with)
{
    char line[LINE];
    FILE *file = fopen("/etc/hosts", "re");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        struct address address;
        chomp(line);
        char *rest, *first = strtok_r(line, " \t", &rest);
        if (first != NULL && numeric(first, &address) && each(&address, rest, with))
            break;
    }
    fclose(file);
}

struct search {
    const char *name;
    struct address *found;
    int count;
};

static int matches(const struct address *address, char *names, void *with)
{
    struct search *search = with;
    char *rest;
    for (char *name = strtok_r(names, " \t", &rest); name != NULL;
         name = strtok_r(NULL, " \t", &rest))
        if (strcasecmp(name, search->name) == 0 && search->count < MOST_ADDRESSES) {
            search->found[search->count++] = *address;
            break;
        }
    return 0;
}

static const struct address loopbacks[] = {
    {AF_INET, {127, 0, 0, 1}},
    {AF_INET6, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
};

/* The addresses of a host; how many. */
static int look_up(const char *name, struct address *found)
{
    struct search search = {name, found, 0};
    char own[256];
    if (numeric(name, found))
        return 1;
    if (!is_localhost(name)) {
        hosts(matches, &search);
        if (search.count > 0 || gethostname(own, sizeof own) < 0 || strcasecmp(own, name) != 0)
            return search.count;
    }
    memcpy(found, loopbacks, sizeof loopbacks);
    return 2;
}

struct naming {
    struct address address;
    char *name;
    size_t room;
    int found;
};

static int is_named(const struct address *address, char *names, void *with)
{
    struct naming *naming = with;
    char *rest, *first;
    size_t length = address->family == AF_INET ? 4 : 16;
    if (address->family != naming->address.family
        || memcmp(address->bytes, naming->address.bytes, length) != 0
        || (first = strtok_r(names, " \t", &rest)) == NULL)
        return 0;
    naming->found = snprintf(naming->name, naming->room, "%s", first) < (int)naming->room;
    return naming->found;
}

/* The name of an address, if it has one. */
static int name_of(const struct address *address, char *name, size_t room)
{
    struct naming naming = {*address, name, room, 0};
    hosts(is_named, &naming);
    if (naming.found)
        return 1;
    for (int i = 0; i < 2; i++)
        if (address->family == loopbacks[i].family
            && memcmp(address->bytes, loopbacks[i].bytes, i == 0 ? 4 : 16) == 0)
            return snprintf(name, room, "localhost") < (int)room;
    return 0;
}

static int service_of(const char *name)
{
    for (int i = 0; i < SERVICES; i++)
        if (strcmp(services[i].name, name) == 0)
            return services[i].port;
    return -1;
}

static int port_of(const char *service, int flags, int *port)
{
    char *end;
    *port = 0;
    if (service == NULL || service[0] == '\0')
        return 0;
    long n = strtol(service, &end, 10);
    if (*end == '\0' && isdigit((unsigned char)service[0])) {
        *port = (int)(n & 0xffff);
        return 0;
    }
    if (flags & AI_NUMERICSERV)
        return EAI_NONAME;
    *port = service_of(service);
    return *port < 0 ? EAI_SERVICE : 0;
}

struct answer {
    struct addrinfo info;
    struct sockaddr_storage address;
    char name[];
};

static struct addrinfo *make(const struct address *from, int port, int type, int protocol,
                             const char *name)
{
    struct answer *one = calloc(1, sizeof *one + (name ? strlen(name) + 1 : 0));
    if (one == NULL)
        return NULL;
    one->info = (struct addrinfo){.ai_family = from->family, .ai_socktype = type,
                                  .ai_protocol = protocol,
                                  .ai_addr = (struct sockaddr *)&one->address};
    if (name != NULL)
        one->info.ai_canonname = strcpy(one->name, name);
    if (from->family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *)&one->address;
        in->sin_family = AF_INET;
        in->sin_port = htons((uint16_t)port);
        memcpy(&in->sin_addr, from->bytes, 4);
        one->info.ai_addrlen = sizeof *in;
    } else {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&one->address;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t)port);
        memcpy(&in6->sin6_addr, from->bytes, 16);
        one->info.ai_addrlen = sizeof *in6;
    }
    return &one->info;
}

/* Which addresses are meant: of the wildcard, of the own machine, or of a name. */
static int addresses_of(const char *host, int family, int flags, struct address *found)
{
    if (host == NULL) {
        memcpy(found, loopbacks, sizeof loopbacks);
        if (flags & AI_PASSIVE)
            for (int i = 0; i < 2; i++)
                memset(found[i].bytes, 0, sizeof found[i].bytes);
        return 2;
    }
    if (flags & AI_NUMERICHOST) {
        if (!numeric(host, found))
            return EAI_NONAME;
        return found->family == family || family == AF_UNSPEC ? 1 : EAI_ADDRFAMILY;
    }
    int count = look_up(host, found);
    if (count == 0) {
        snprintf(unknown_text, sizeof unknown_text, "no network inside the sandbox: %.255s", host);
        return EAI_NONAME;
    }
    return count;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *wanted,
                struct addrinfo **found)
{
    static const struct {
        int type, protocol;
    } kinds[] = {{SOCK_STREAM, IPPROTO_TCP}, {SOCK_DGRAM, IPPROTO_UDP}};
    struct addrinfo any = {0};
    struct address addresses[MOST_ADDRESSES];
    struct addrinfo *first = NULL, **last = &first;
    int port;
    const struct addrinfo *hints = wanted ? wanted : &any;
    int family = hints->ai_family;
    unknown_text[0] = '\0';
    if (host == NULL && service == NULL)
        return EAI_NONAME;
    if (family != AF_UNSPEC && family != AF_INET && family != AF_INET6)
        return EAI_FAMILY;
    if (hints->ai_flags & AI_CANONNAME && host == NULL)
        return EAI_BADFLAGS;
    if (hints->ai_socktype != 0 && hints->ai_socktype != SOCK_STREAM
        && hints->ai_socktype != SOCK_DGRAM)
        return EAI_SOCKTYPE;
    int error = port_of(service, hints->ai_flags, &port);
    if (error)
        return error;
    int count = addresses_of(host, family, hints->ai_flags, addresses);
    if (count < 0)
        return count;
    const char *name = hints->ai_flags & AI_CANONNAME ? host : NULL;
    for (int i = 0; i < count; i++) {
        if (family != AF_UNSPEC && addresses[i].family != family)
            continue;
        for (int k = 0; k < 2; k++) {
            if ((hints->ai_socktype != 0 && hints->ai_socktype != kinds[k].type)
                || (hints->ai_protocol != 0 && hints->ai_protocol != kinds[k].protocol))
                continue;
            *last = make(&addresses[i], port, kinds[k].type, kinds[k].protocol, name);
            name = NULL;
            if (*last == NULL) {
                freeaddrinfo(first);
                return EAI_MEMORY;
            }
            last = &(*last)->ai_next;
        }
    }
    *found = first;
    return first != NULL ? 0 : EAI_ADDRFAMILY;
}

void freeaddrinfo(struct addrinfo *list)
{
    while (list != NULL) {
        struct addrinfo *next = list->ai_next;
        free(list);
        list = next;
    }
}

/* glibc's words. */
const char *gai_strerror(int error)
{
    switch (error) {
    case EAI_BADFLAGS:
        return "Bad value for ai_flags";
    case EAI_NONAME:
        return unknown_text[0] != '\0' ? unknown_text : "Name or service not known";
    case EAI_AGAIN:
        return "Temporary failure in name resolution";
    case EAI_FAIL:
        return "Non-recoverable failure in name resolution";
    case EAI_FAMILY:
        return "ai_family not supported";
    case EAI_SOCKTYPE:
        return "ai_socktype not supported";
    case EAI_SERVICE:
        return "Servname not supported for ai_socktype";
    case EAI_ADDRFAMILY:
        return "Address family for hostname not supported";
    case EAI_MEMORY:
        return "Memory allocation failure";
    case EAI_SYSTEM:
        return "System error";
    case EAI_OVERFLOW:
        return "Result too large for supplied buffer";
    default:
        return "Unknown error";
    }
}

static int address_of(const struct sockaddr *from, socklen_t length, struct address *to, int *port)
{
    to->family = from->sa_family;
    if (from->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)from;
        memcpy(to->bytes, &in->sin_addr, 4);
        *port = ntohs(in->sin_port);
        return 1;
    }
    if (from->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;
        memcpy(to->bytes, &in6->sin6_addr, 16);
        *port = ntohs(in6->sin6_port);
        return 1;
    }
    return 0;
}

int getnameinfo(const struct sockaddr *from, socklen_t length, char *host, socklen_t host_room,
                char *service, socklen_t service_room, int flags)
{
    struct address address;
    int port;
    if (!address_of(from, length, &address, &port))
        return EAI_FAMILY;
    if (host != NULL && host_room > 0
        && (flags & NI_NUMERICHOST || !name_of(&address, host, host_room))) {
        if (flags & NI_NAMEREQD)
            return EAI_NONAME;
        if (wasibox_inet_ntop(address.family, address.bytes, host, host_room) == NULL)
            return EAI_OVERFLOW;
    }
    if (service != NULL && service_room > 0) {
        struct servent *known = flags & NI_NUMERICSERV ? NULL : getservbyport(htons((uint16_t)port), NULL);
        int n = known ? snprintf(service, service_room, "%s", known->s_name)
                      : snprintf(service, service_room, "%d", port);
        if (n >= (int)service_room)
            return EAI_OVERFLOW;
    }
    return 0;
}

static struct hostent *host_of(const char *name, const struct address *list, int count, int family)
{
    static char own_name[NI_MAXHOST];
    static unsigned char bytes[MOST_ADDRESSES][16];
    static char *pointers[MOST_ADDRESSES + 1], *none[1];
    static struct hostent host;
    int n = 0;
    for (int i = 0; i < count; i++)
        if (list[i].family == family) {
            memcpy(bytes[n], list[i].bytes, sizeof bytes[n]);
            pointers[n] = (char *)bytes[n];
            n++;
        }
    pointers[n] = NULL;
    if (n == 0) {
        h_errno = HOST_NOT_FOUND;
        return NULL;
    }
    snprintf(own_name, sizeof own_name, "%s", name);
    host = (struct hostent){own_name, none, family, family == AF_INET ? 4 : 16, pointers};
    return &host;
}

struct hostent *gethostbyname(const char *name)
{
    struct address found[MOST_ADDRESSES];
    return host_of(name, found, look_up(name, found), AF_INET);
}

struct hostent *gethostbyaddr(const void *bytes, socklen_t length, int family)
{
    struct address address = {.family = family};
    char name[NI_MAXHOST];
    if ((family == AF_INET && length == 4) || (family == AF_INET6 && length == 16)) {
        memcpy(address.bytes, bytes, length);
        if (name_of(&address, name, sizeof name))
            return host_of(name, &address, 1, family);
    }
    h_errno = HOST_NOT_FOUND;
    return NULL;
}

static struct servent *service_at(int i, const char *protocol)
{
    static char *none[1];
    static struct servent service;
    if (i >= SERVICES
        || (protocol != NULL && strcmp(protocol, "tcp") != 0 && strcmp(protocol, "udp") != 0))
        return NULL;
    service = (struct servent){(char *)services[i].name, none, htons((uint16_t)services[i].port),
                               (char *)(protocol ? protocol : "tcp")};
    return &service;
}

struct servent *getservbyname(const char *name, const char *protocol)
{
    int i = 0;
    while (i < SERVICES && strcmp(services[i].name, name) != 0)
        i++;
    return service_at(i, protocol);
}

struct servent *getservbyport(int port, const char *protocol)
{
    int i = 0;
    while (i < SERVICES && services[i].port != ntohs((uint16_t)port))
        i++;
    return service_at(i, protocol);
}

struct protoent *getprotobyname(const char *name)
{
    static char *none[1];
    static struct protoent protocol;
    for (int i = 0; i < PROTOCOLS; i++)
        if (strcmp(protocols[i].name, name) == 0) {
            protocol = (struct protoent){(char *)protocols[i].name, none, protocols[i].number};
            return &protocol;
        }
    return NULL;
}

/* ---- interfaces: there is the loopback ---- */

enum { LOOPBACK = 1 };
static const char LOOPBACK_NAME[] = "lo";

unsigned if_nametoindex(const char *name)
{
    if (strcmp(name, LOOPBACK_NAME) == 0)
        return LOOPBACK;
    errno = ENODEV;
    return 0;
}

char *if_indextoname(unsigned index, char *name)
{
    if (index == LOOPBACK)
        return strcpy(name, LOOPBACK_NAME);
    errno = ENXIO;
    return NULL;
}

struct if_nameindex *if_nameindex(void)
{
    struct if_nameindex *list = calloc(2, sizeof *list);
    if (list != NULL)
        list[0] = (struct if_nameindex){LOOPBACK, (char *)LOOPBACK_NAME};
    return list;
}

void if_freenameindex(struct if_nameindex *list)
{
    free(list);
}
