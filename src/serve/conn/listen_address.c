/* SPDX-License-Identifier: Apache-2.0 */
/* listen_address.c - see listen_address.h. */
#include "serve/conn/listen_address.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/engine.h"
#include "serve/state.h"
#include "util/error.h"
#include "util/sha1.h"

#define BACKLOG 511

/* A default name that is longer is shortened to a digest of so many letters. */
#define NAME_SIZE_MAX 64
#define DIGEST_SIZE 16

static hf_status fail_address(hf_error *err, int fd, const char *what,
                              const char *address)
{
    int number = errno;

    if (fd >= 0)
        close(fd);
    return hf__fail_errno(err, HF_SYSTEM, number, "%s %s", what, address);
}

/* ------------------------------------------------------------- unix sockets */

/* Does a process listen there? */
static bool is_served(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool served = fd >= 0 && (connect(fd, (const struct sockaddr *)address,
                                      sizeof(*address)) == 0 ||
                              errno == EAGAIN); /* its backlog is full */

    if (fd >= 0)
        close(fd);
    return served;
}

static hf_status remove_old(const struct sockaddr_un *address, hf_error *err)
{
    const char *path = address->sun_path;
    struct stat info;

    if (lstat(path, &info) != 0)
        return HF_OK;
    if (!S_ISSOCK(info.st_mode))
        return hf__fail(err, HF_SYSTEM, "unix:%s exists and is no socket",
                        path);
    if (is_served(address))
        return hf__fail_errno(err, HF_SYSTEM, EADDRINUSE,
                              "unix:%s: another process listens there", path);
    (void)unlink(path);
    return HF_OK;
}

/* No other user can connect before the mode is set: bind() takes the socket's.
 */
static hf_status bind_unix(const hf__unix_address *to,
                           const struct sockaddr_un *address, int *fd,
                           ino_t *number, hf_error *err)
{
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct stat info;

    if (made < 0 || fchmod(made, 0600) != 0 ||
        bind(made, (const struct sockaddr *)address, sizeof(*address)) != 0 ||
        listen(made, BACKLOG) != 0 || lstat(to->path, &info) != 0)
        return fail_address(err, made, "cannot listen on unix socket",
                            to->path);
    if ((to->group != (gid_t)-1 &&
         lchown(to->path, (uid_t)-1, to->group) != 0) ||
        (to->mode != 0600 && chmod(to->path, to->mode) != 0)) {
        (void)unlink(to->path);
        return fail_address(err, made, "cannot set the group and mode of",
                            to->path);
    }
    *number = info.st_ino;
    *fd = made;
    return HF_OK;
}

/* Two servers that start together must not remove each other's socket. */
static int lock_folder(const char *path)
{
    char copy[PATH_MAX];
    int fd;

    (void)snprintf(copy, sizeof(copy), "%s", path);
    fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        (void)flock(fd, LOCK_EX);
    return fd;
}

hf_status hf__address_listen_unix(const hf__unix_address *to, int *fd,
                                  ino_t *number, hf_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t size = strlen(to->path);
    hf_status status;
    int folder;

    if (size == 0 || size >= sizeof(address.sun_path))
        return hf__fail(err, HF_INVALID,
                        "unix:%s: the path must have 1 to %zu bytes", to->path,
                        sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, to->path, size);
    folder = lock_folder(to->path);
    status = remove_old(&address, err);
    if (status == HF_OK)
        status = bind_unix(to, &address, fd, number, err);
    if (folder >= 0)
        close(folder);
    return status;
}

void hf__address_remove(const char *path, ino_t number)
{
    struct stat info;

    if (lstat(path, &info) == 0 && info.st_ino == number)
        (void)unlink(path);
}

/* ------------------------------------------------------------------ default */

/* The first of a list of folders, which systemd separates by colons. */
static bool first_folder(const char *list, char *folder, size_t size)
{
    size_t length = list != NULL ? strcspn(list, ":") : 0;

    if (length == 0 || list[0] != '/' || length >= size)
        return false;
    memcpy(folder, list, length);
    folder[length] = '\0';
    return true;
}

static bool make_folder(char *folder, size_t size, const char *parent)
{
    struct stat info;
    int rc;

    if (parent == NULL || parent[0] != '/' ||
        (size_t)snprintf(folder, size, "%s/holdfast", parent) >= size)
        return false;
    rc = hf__files_make_directory(folder);
    return (rc == 0 || rc == EEXIST) && lstat(folder, &info) == 0 &&
           S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
           (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* No other user may write to it. */
static hf_status find_folder(char *folder, size_t size, hf_error *err)
{
    if (first_folder(getenv("RUNTIME_DIRECTORY"), folder, size) ||
        make_folder(folder, size, geteuid() == 0 ? "/run" : NULL) ||
        make_folder(folder, size, getenv("XDG_RUNTIME_DIR")))
        return HF_OK;
    return hf__volatile_dir_of_user(folder, size, err);
}

/* The store's path with dashes; a volatile store's name. */
static void make_name(const char *path, char name[NAME_SIZE_MAX + 1])
{
    char digest[HF__SHA1_HEX_SIZE];
    char folder[PATH_MAX];
    size_t size;

    if (hf__volatile_dir_of_user(folder, sizeof(folder), NULL) == HF_OK &&
        strncmp(path, folder, strlen(folder)) == 0 &&
        path[strlen(folder)] == '/')
        path += strlen(folder);
    path += strspn(path, "/");
    size = strlen(path);
    if (size > NAME_SIZE_MAX) {
        hf__sha1_hex(path, size, digest);
        path = digest;
        size = DIGEST_SIZE;
    }
    memcpy(name, path, size);
    name[size] = '\0';
    for (size_t i = 0; i < size; i++) {
        if (name[i] == '/')
            name[i] = '-';
    }
}

hf_status hf__address_default(const hf_server *server, char *path, size_t size,
                              hf_error *err)
{
    char folder[PATH_MAX];
    char name[NAME_SIZE_MAX + 1];
    hf_status status = find_folder(folder, sizeof(folder), err);

    if (status != HF_OK)
        return status;
    make_name(hf__embedded_path(server->store), name);
    if ((size_t)snprintf(path, size, "%s/%s.sock", folder, name) >= size)
        return hf__fail(err, HF_SYSTEM, "\"%s\" is too long", folder);
    return HF_OK;
}

/* ---------------------------------------------------------------------- TCP */

hf_status hf__address_listen_tcp(const struct sockaddr *address, socklen_t size,
                                 int *fd, hf_error *err)
{
    char text[128];
    int on = 1;
    int made = socket(address->sa_family,
                      SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    hf__address_text(address, size, text, sizeof(text));
    if (made >= 0 && address->sa_family == AF_INET6)
        (void)setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (made < 0 ||
        setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(made, address, size) != 0 || listen(made, BACKLOG) != 0)
        return fail_address(err, made, "cannot listen on", text);
    *fd = made;
    return HF_OK;
}

bool hf__address_is_exposed(const struct sockaddr *address)
{
    const struct sockaddr_in *v4 = (const void *)address;
    const struct sockaddr_in6 *v6 = (const void *)address;

    if (address->sa_family == AF_UNIX)
        return false;
    if (address->sa_family == AF_INET)
        return ntohl(v4->sin_addr.s_addr) >> 24 != 127;
    if (address->sa_family != AF_INET6)
        return true;
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
        return v6->sin6_addr.s6_addr[12] != 127;
    return !IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

void hf__address_text(const struct sockaddr *address, socklen_t size,
                      char *text, size_t text_size)
{
    char host[NI_MAXHOST], port[NI_MAXSERV];

    if (getnameinfo(address, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        (void)snprintf(text, text_size, "a socket");
    else
        (void)snprintf(text, text_size,
                       address->sa_family == AF_INET6 ? "[%.60s]:%.10s"
                                                      : "%.60s:%.10s",
                       host, port);
}
