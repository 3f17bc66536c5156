/* Writes down where a program connects and sends, in whatever language, and lets it go nowhere but to this machine.
   See tests.faults.recorder. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void note(const char *line) {
  const char *path = getenv("THRESHER_TEST_CONNECTS");
  int file = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  if (file >= 0) {
    ssize_t ignored = write(file, line, strlen(line));
    (void)ignored;
    close(file);
  }
}

/* Whether a program may go there: to this machine only, and what it asked is written down. To connect a socket for
   datagrams sends nothing: browsers do it to learn which way the kernel would take, so that is called "route". Other
   kinds of sockets than those of the internet always may. */
static int allowed(int fd, const struct sockaddr *to, const char *datagrams) {
  char host[INET6_ADDRSTRLEN] = "", line[INET6_ADDRSTRLEN + 32];
  int port, near, kind = SOCK_STREAM;
  socklen_t size = sizeof kind;
  if (to && to->sa_family == AF_INET) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)to;
    inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
    port = ntohs(four->sin_port);
    near = (ntohl(four->sin_addr.s_addr) >> 24) == 127;
  } else if (to && to->sa_family == AF_INET6) {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)to;
    inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
    port = ntohs(six->sin6_port);
    near = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
  } else {
    return 1;
  }
  getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size);
  snprintf(line, sizeof line, "%s %s %d\n", kind == SOCK_STREAM ? "connect" : datagrams, host, port);
  note(line);
  return near;
}

int connect(int fd, const struct sockaddr *to, socklen_t length) {
  int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
  if (allowed(fd, to, "route")) return real(fd, to, length);
  errno = ENETUNREACH;
  return -1;
}

ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length) {
  ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "sendto");
  if (allowed(fd, to, "send")) return real(fd, data, size, flags, to, length);
  errno = ENETUNREACH;
  return -1;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  ssize_t (*real)(int, const struct msghdr *, int) = dlsym(RTLD_NEXT, "sendmsg");
  if (allowed(fd, message->msg_name, "send")) return real(fd, message, flags);
  errno = ENETUNREACH;
  return -1;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
  int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
  struct in6_addr address;
  char line[300];
  if (!name || inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1)
    return real(name, service, hints, found);
  snprintf(line, sizeof line, "name %.255s 0\n", name);
  note(line);
  return EAI_NONAME;
}
