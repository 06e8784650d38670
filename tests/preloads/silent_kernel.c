/* A kernel that does not show some of its files, or answers no questions about sockets.
 *
 * PLIMSOLL_TEST_MISSING names parts of paths, divided by colons; `sock_diag` stands for questions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { SOCK_DIAG = 4 };

static int is_missing(const char *path) {
    const char *names = getenv("PLIMSOLL_TEST_MISSING");
    if (!names || strncmp(path, "/proc/", 6) != 0) return 0;
    while (*names) {
        char name[64] = {0};
        size_t length = strcspn(names, ":");
        if (length == 0 || length >= sizeof name) abort();
        memcpy(name, names, length);
        if (strstr(path, name)) return 1;
        names += length + (names[length] == ':');
    }
    return 0;
}

#define OPENS(name)                                                              \
    int name(const char *path, int flags, ...) {                                 \
        va_list rest;                                                            \
        va_start(rest, flags);                                                   \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;  \
        va_end(rest);                                                            \
        if (is_missing(path)) {                                                  \
            errno = ENOENT;                                                      \
            return -1;                                                           \
        }                                                                        \
        int (*real)(const char *, int, ...) =                                    \
            (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);            \
        return real(path, flags, mode);                                          \
    }

OPENS(open)
OPENS(open64)

int socket(int domain, int type, int protocol) {
    if (domain == AF_NETLINK && protocol == SOCK_DIAG && is_missing("/proc/sock_diag")) {
        errno = EPROTONOSUPPORT;
        return -1;
    }
    int (*real)(int, int, int) = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
    return real(domain, type, protocol);
}
