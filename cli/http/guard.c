/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - see guard.h. */
#include "http/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "complain.h"
#include "exit.h"

#define WHAT "serve --http-token-file"
#define BEARER "Bearer "

/* As tokens are sent (RFC 6750). */
static const char token_characters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=";

static int check_token(const char *path, const char *token)
{
    size_t size = strlen(token);

    if (size < HTTP_TOKEN_MIN || size > HTTP_TOKEN_MAX) {
        complain(WHAT, "%s: the first line must have %d to %d characters", path,
                 HTTP_TOKEN_MIN, HTTP_TOKEN_MAX);
        return EXIT_USAGE;
    }
    if (token[strspn(token, token_characters)] != '\0') {
        complain(WHAT, "%s: only letters, digits and -._~+/= can be in a token",
                 path);
        return EXIT_USAGE;
    }
    return EXIT_YES;
}

int http_token_read(const char *path, char token[HTTP_TOKEN_MAX + 1])
{
    char line[HTTP_TOKEN_MAX + 2] = "";
    FILE *file = fopen(path, "re");
    int code;

    if (file == NULL ||
        (fgets(line, sizeof(line), file) == NULL && ferror(file) != 0)) {
        complain(WHAT, "%s: %s", path, strerror(errno));
        if (file != NULL)
            fclose(file);
        return EXIT_NO_INPUT;
    }
    fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    code = check_token(path, line);
    if (code == EXIT_YES)
        memcpy(token, line, strlen(line) + 1);
    explicit_bzero(line, sizeof(line));
    return code;
}

bool http_token_given(const char *authorization, const char *token)
{
    size_t size = strlen(token);
    volatile unsigned char differs = 0; /* no early end of the loop */
    const char *given;

    if (authorization == NULL ||
        strncasecmp(authorization, BEARER, strlen(BEARER)) != 0)
        return false;
    given = authorization + strlen(BEARER);
    if (strlen(given) != size)
        return false;
    for (size_t i = 0; i < size; i++)
        differs |= (unsigned char)(given[i] ^ token[i]);
    return differs == 0;
}

/* "name:80" without the port into `name`; false: it is too long. */
static bool drop_port(const char *host, char *name, size_t size)
{
    const char *bracket = strchr(host, ']');
    const char *colon = strrchr(bracket == NULL ? host : bracket, ':');
    size_t length = colon == NULL ? strlen(host) : (size_t)(colon - host);

    if (length >= size)
        return false;
    memcpy(name, host, length);
    name[length] = '\0';
    return true;
}

bool http_host_is_local(const char *host)
{
    char name[sizeof("[0000:0000:0000:0000:0000:0000:0000:0001]")];
    struct in_addr address;

    if (host == NULL || !drop_port(host, name, sizeof(name)))
        return false;
    if (strcasecmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0)
        return true;
    return inet_pton(AF_INET, name, &address) == 1 &&
           ntohl(address.s_addr) >> 24 == 127;
}

bool http_site_is_other(const char *site)
{
    return site != NULL && strcmp(site, "same-origin") != 0 &&
           strcmp(site, "none") != 0;
}
