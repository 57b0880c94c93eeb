/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url.c - store URLs in the shape of RFC 3986:
 *
 *     scheme:[//[username[:password]@]host[:port]]path[?name=value[&...]]
 *
 * Parts are cut out of the text as slices and decoded into one storage. A
 * fragment is refused, and so is a raw '@' after the authority: it is nearly
 * always a password with a '/' or '?' in it, which would be taken for a path
 * and might be shown. For the same reason no message repeats a part of the
 * authority.
 */
#include "util/url.h"

#include <assert.h>
#include <string.h>

#include "util/digits.h"
#include "util/error.h"
#include "util/mem.h"

/* A path of PATH_MAX bytes, each percent-coded, and room for the rest. */
#define TEXT_MAX 16384
/* Strings of one URL: five parts and both sides of each parameter. */
#define STRING_COUNT_MAX (5 + 2 * HF__URL_PARAM_MAX)

/* Ahead of the strings, so that hf__url_done() knows what to wipe. */
typedef struct storage_head {
    size_t size;
} storage_head;

typedef struct slice {
    const char *data;
    size_t size;
} slice;

typedef struct url_parser {
    hf__url *url;
    hf_error *err;
    char *next; /* free room in the storage */
} url_parser;

static hf_status refuse_url(url_parser *parser, const char *why)
{
    return hf__fail(parser->err, HF_INVALID, "the URL has %s", why);
}

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Cut off and return the text before the first `stop` (or all); `rest` keeps
 * the text after it. `found`: whether there was one. */
static slice cut_slice(slice *rest, char stop, bool *found)
{
    slice head = *rest;
    const char *at = memchr(rest->data, stop, rest->size);

    *found = at != NULL;
    if (at == NULL) {
        rest->data += rest->size;
        rest->size = 0;
        return head;
    }
    head.size = (size_t)(at - rest->data);
    rest->data = at + 1;
    rest->size -= head.size + 1;
    return head;
}

/* Decode a slice into the storage. */
static hf_status decode_slice(url_parser *parser, slice from, const char *what,
                              const char **string)
{
    char *to = parser->next;

    for (size_t i = 0; i < from.size; i++) {
        char c = from.data[i];

        if (c == '%') {
            int high = i + 1 < from.size ? hf__hex_value(from.data[i + 1]) : -1;
            int low = i + 2 < from.size ? hf__hex_value(from.data[i + 2]) : -1;

            if (high < 0 || low < 0)
                return hf__fail(parser->err, HF_INVALID,
                                "the URL has a bad percent code in its %s",
                                what);
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (c == '\0')
            return hf__fail(parser->err, HF_INVALID,
                            "the URL has a NUL in its %s", what);
        *to++ = c;
    }
    *to++ = '\0';
    *string = parser->next;
    parser->next = to;
    return HF_OK;
}

/* No more than that: what is printed must have no password. */
static bool is_path(slice text)
{
    return text.size > 0 && (text.data[0] == '/' || text.data[0] == '.') &&
           memchr(text.data, '@', text.size) == NULL &&
           memchr(text.data, '?', text.size) == NULL;
}

static hf_status refuse_path(url_parser *parser, slice path)
{
    return hf__fail(parser->err, HF_INVALID,
                    "the URL has no scheme; a store on disk is file:%.*s",
                    path.size < 150 ? (int)path.size : 150, path.data);
}

static hf_status parse_scheme(url_parser *parser, slice *rest)
{
    bool found;
    slice whole = *rest;
    slice scheme = cut_slice(rest, ':', &found);
    hf_status status;

    if (is_path(whole))
        return refuse_path(parser, whole);
    if (!found || scheme.size == 0 || !is_alpha(scheme.data[0]))
        return refuse_url(parser, "no scheme (such as \"redis:\")");
    for (size_t i = 0; i < scheme.size; i++) {
        char c = scheme.data[i];

        if (!is_alpha(c) && !hf__is_digit(c) && strchr("+-.", c) == NULL)
            return refuse_url(parser, "no scheme (such as \"redis:\")");
    }
    status = decode_slice(parser, scheme, "scheme", &parser->url->scheme);
    if (status != HF_OK)
        return status;
    for (char *c = (char *)parser->url->scheme; *c != '\0'; c++) {
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    }
    return HF_OK;
}

static hf_status parse_user(url_parser *parser, slice user)
{
    bool has_password;
    slice name = cut_slice(&user, ':', &has_password);
    hf_status status =
        decode_slice(parser, name, "user name", &parser->url->username);

    if (status == HF_OK && has_password)
        status = decode_slice(parser, user, "password", &parser->url->password);
    return status;
}

static hf_status parse_port(url_parser *parser, slice text)
{
    int port = 0;

    for (size_t i = 0; i < text.size && port <= 65535; i++) {
        if (!hf__is_digit(text.data[i]))
            return refuse_url(parser, "a bad port: not a number");
        port = port * 10 + (text.data[i] - '0');
    }
    if (port < 1 || port > 65535)
        return refuse_url(parser, "a bad port: not in 1 to 65535");
    parser->url->port = port;
    return HF_OK;
}

/* Names and IPv4 addresses. */
static bool is_host(const char *host)
{
    for (; *host != '\0'; host++) {
        if (!is_alpha(*host) && !hf__is_digit(*host) &&
            strchr("-._~", *host) == NULL)
            return false;
    }
    return true;
}

/* The text in the brackets of an IPv6 literal, perhaps with a zone. */
static bool is_ipv6(const char *host)
{
    size_t size = strspn(host, "0123456789abcdefABCDEF:.");

    if (memchr(host, ':', size) == NULL)
        return false;
    if (host[size] == '%' && host[size + 1] != '\0')
        return is_host(host + size + 1);
    return host[size] == '\0';
}

static hf_status parse_ipv6(url_parser *parser, slice rest)
{
    bool closed;
    slice host;
    hf_status status;

    rest.data++;
    rest.size--;
    host = cut_slice(&rest, ']', &closed);
    if (!closed)
        return refuse_url(parser, "a bad host: a \"[\" without \"]\"");
    status = decode_slice(parser, host, "host", &parser->url->host);
    if (status != HF_OK)
        return status;
    if (!is_ipv6(parser->url->host))
        return refuse_url(parser, "a bad host: not an IPv6 address in \"[]\"");
    if (rest.size == 0)
        return HF_OK;
    if (rest.data[0] != ':')
        return refuse_url(parser, "a bad host: text after its \"]\"");
    rest.data++;
    rest.size--;
    return parse_port(parser, rest);
}

static hf_status parse_host(url_parser *parser, slice rest)
{
    bool has_port;
    slice host;
    hf_status status;

    if (rest.size > 0 && rest.data[0] == '[')
        return parse_ipv6(parser, rest);
    host = cut_slice(&rest, ':', &has_port);
    status = decode_slice(parser, host, "host", &parser->url->host);
    if (status != HF_OK)
        return status;
    if (!is_host(parser->url->host))
        return refuse_url(parser, "a bad host: an invalid character");
    return has_port ? parse_port(parser, rest) : HF_OK;
}

/* "h1:26379,h2,[::1]:7": each must be a host; the list is kept as a whole. */
static hf_status parse_hosts(url_parser *parser, slice list)
{
    char *next = parser->next;
    bool more = true;
    slice rest = list;
    slice one;
    hf_status status;

    if (memchr(list.data, ',', list.size) == NULL)
        return parse_host(parser, list);
    while (more) {
        one = cut_slice(&rest, ',', &more);
        if (one.size == 0)
            return refuse_url(parser, "an empty host in its list");
        status = parse_host(parser, one);
        if (status != HF_OK)
            return status;
        parser->next = next;
    }
    parser->url->port = 0;
    return decode_slice(parser, list, "host", &parser->url->host);
}

static hf_status parse_authority(url_parser *parser, slice authority)
{
    /* The last '@': the others belong to the password. */
    const char *at = memrchr(authority.data, '@', authority.size);
    slice user = authority;
    hf_status status = HF_OK;

    if (at == NULL)
        return parse_hosts(parser, authority);
    user.size = (size_t)(at - authority.data);
    authority.data = at + 1;
    authority.size -= user.size + 1;
    status = parse_user(parser, user);
    return status != HF_OK ? status : parse_hosts(parser, authority);
}

static hf_status parse_param(url_parser *parser, slice text)
{
    hf__url *url = parser->url;
    hf__url_param *param = &url->params[url->param_count];
    char quoted[HF__QUOTED_SIZE];
    bool has_value;
    slice name = cut_slice(&text, '=', &has_value);
    hf_status status;

    if (url->param_count == HF__URL_PARAM_MAX)
        return refuse_url(parser, "too many parameters");
    if (!has_value || name.size == 0)
        return refuse_url(parser, "a parameter that is not name=value");
    status = decode_slice(parser, name, "parameter", &param->name);
    if (status == HF_OK)
        status = decode_slice(parser, text, "parameter", &param->value);
    if (status != HF_OK)
        return status;
    if (hf__url_param_get(url, param->name) != NULL)
        return hf__fail(parser->err, HF_INVALID,
                        "the URL has the parameter %s twice",
                        hf__quoted(quoted, hf_str(param->name)));
    url->param_count++;
    return HF_OK;
}

static hf_status parse_params(url_parser *parser, slice rest)
{
    bool more = true;
    hf_status status = HF_OK;

    while (more && status == HF_OK)
        status = parse_param(parser, cut_slice(&rest, '&', &more));
    return status;
}

/* Cut the authority off; what is left begins with the path. */
static hf_status parse_hier_part(url_parser *parser, slice *rest)
{
    slice authority;

    if (rest->size < 2 || memcmp(rest->data, "//", 2) != 0)
        return HF_OK;
    authority.data = rest->data + 2;
    authority.size = strcspn(authority.data, "/?");
    rest->data = authority.data + authority.size;
    rest->size -= 2 + authority.size;
    if (memchr(rest->data, '@', rest->size) != NULL)
        return refuse_url(
            parser, "an \"@\" after its host: write \"/\" and \"?\" in a "
                    "password as %2F and %3F, and any other \"@\" as %40");
    return parse_authority(parser, authority);
}

/* A list of URLs stays encoded: each is parsed by itself. */
static hf_status take_list(url_parser *parser, slice list)
{
    memcpy(parser->next, list.data, list.size);
    parser->next[list.size] = '\0';
    parser->url->path = parser->next;
    parser->next += list.size + 1;
    return HF_OK;
}

static hf_status parse_url(url_parser *parser, slice rest)
{
    bool has_params;
    slice path;
    hf_status status;

    if (memchr(rest.data, '#', rest.size) != NULL)
        return refuse_url(parser, "a \"#\": write it as %23");
    for (size_t i = 0; i < rest.size; i++) {
        if ((unsigned char)rest.data[i] < 0x20 || rest.data[i] == 0x7f)
            return refuse_url(parser, "a control character");
    }
    status = parse_scheme(parser, &rest);
    if (status == HF_OK && strcmp(parser->url->scheme, "redlock") == 0)
        return take_list(parser, rest);
    if (status == HF_OK)
        status = parse_hier_part(parser, &rest);
    if (status != HF_OK)
        return status;
    path = cut_slice(&rest, '?', &has_params);
    status = decode_slice(parser, path, "path", &parser->url->path);
    if (status == HF_OK && has_params)
        status = parse_params(parser, rest);
    return status;
}

hf_status hf__url_parse(const char *text, hf__url *url, hf_error *err)
{
    url_parser parser = {.url = url, .err = err};
    storage_head head;
    hf_status status;
    slice all = {text, strnlen(text, TEXT_MAX + 1)};

    memset(url, 0, sizeof(*url));
    if (all.size > TEXT_MAX)
        return refuse_url(&parser, "more than 16384 bytes");
    /* Decoding never lengthens; each string adds its NUL. */
    head.size = sizeof(head) + all.size + STRING_COUNT_MAX;
    url->storage = hf__calloc(1, head.size);
    if (url->storage == NULL)
        return hf__fail(err, HF_NO_MEMORY, "no memory for the URL");
    memcpy(url->storage, &head, sizeof(head));
    parser.next = url->storage + sizeof(head);
    status = parse_url(&parser, all);
    if (status != HF_OK)
        hf__url_done(url);
    return status;
}

void hf__url_done(hf__url *url)
{
    storage_head head;

    if (url->storage != NULL) {
        memcpy(&head, url->storage, sizeof(head));
        explicit_bzero(url->storage, head.size);
        hf__free(url->storage);
    }
    memset(url, 0, sizeof(*url));
}

const char *hf__url_param_get(const hf__url *url, const char *name)
{
    for (size_t i = 0; i < url->param_count; i++) {
        if (strcmp(url->params[i].name, name) == 0)
            return url->params[i].value;
    }
    return NULL;
}

const char *hf__url_param_take(hf__url *url, const char *name)
{
    for (size_t at = 0; at < url->param_count; at++) {
        hf__url_param *param = &url->params[at];
        const char *value = param->value;

        if (strcmp(param->name, name) != 0)
            continue;
        url->param_count--;
        memmove(param, param + 1, (url->param_count - at) * sizeof(*param));
        return value;
    }
    return NULL;
}

/* Split "host:port" or "[host]:port", checked with the URL. */
static slice split_port(slice one, int *port)
{
    bool bracketed = one.data[0] == '[';
    bool found;
    slice host;

    if (bracketed) {
        one.data++;
        one.size--;
    }
    host = cut_slice(&one, bracketed ? ']' : ':', &found);
    if (bracketed)
        (void)cut_slice(&one, ':', &found);
    *port = 0;
    for (size_t i = 0; i < one.size; i++)
        *port = *port * 10 + (one.data[i] - '0');
    return host;
}

bool hf__url_host(const hf__url *url, size_t at, char host[HF__URL_HOST_SIZE],
                  int *port)
{
    const char *hosts = url->host != NULL ? url->host : "";
    slice one = {hosts, strlen(hosts)};
    slice rest = one;
    bool more = true;
    int its_port = url->port;

    for (size_t i = 0; i <= at; i++) {
        if (!more)
            return false;
        one = cut_slice(&rest, ',', &more);
    }
    if (one.size == 0)
        return false;
    if (strchr(hosts, ',') != NULL)
        one = split_port(one, &its_port);
    if (one.size >= HF__URL_HOST_SIZE)
        return false;
    memcpy(host, one.data, one.size);
    host[one.size] = '\0';
    *port = its_port;
    return true;
}

hf_status hf__url_check_params(const hf__url *url, const char *const *known,
                               hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    for (size_t i = 0; i < url->param_count; i++) {
        size_t k = 0;

        while (known[k] != NULL && strcmp(known[k], url->params[i].name) != 0)
            k++;
        if (known[k] == NULL)
            return hf__fail(err, HF_INVALID, "%s: URLs have no parameter %s",
                            url->scheme,
                            hf__quoted(quoted, hf_str(url->params[i].name)));
    }
    return HF_OK;
}

hf_status hf__parse_int(const char *text, int64_t low, int64_t high,
                        const char *what, int64_t *value, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];
    const char *rest;
    int64_t number;

    if (!hf__decimal_read(text, &number, &rest) || *rest != '\0' ||
        number < low || number > high)
        return hf__fail(err, HF_INVALID,
                        "%s: %s is not a whole number in %lld to %lld", what,
                        hf__quoted(quoted, hf_str(text)), (long long)low,
                        (long long)high);
    *value = number;
    return HF_OK;
}

hf_status hf__parse_size(const char *text, int64_t low, int64_t high,
                         const char *what, int64_t *size, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];
    int64_t number;

    if (!hf__decimal_size(text, &number) || number < low || number > high)
        return hf__fail(err, HF_INVALID,
                        "%s: %s is not a size in %lld to %lld bytes "
                        "(suffixes K, M, G)",
                        what, hf__quoted(quoted, hf_str(text)), (long long)low,
                        (long long)high);
    *size = number;
    return HF_OK;
}
