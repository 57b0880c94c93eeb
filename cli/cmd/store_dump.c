/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_dump.c - holdfast store dump and load.
 *
 * INT, TERM and HUP end a dump or a load cleanly: an unfinished file is
 * removed, and so is an unfinished key in the store.
 */
#include "cmd/store_verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/out_file.h"
#include "cmd/progress.h"
#include "complain.h"
#include "exit.h"
#include "holdfast/store.h"
#include "json_line.h"

/* Keys left out or refused that are named; others are only counted. */
#define NAMED_MAX 10

/* The signal that ended us; 0: none. */
static volatile sig_atomic_t stop_signal;

struct transfer {
    struct call *call;
    const char *name; /* of the file, for messages */
    int fd;
    uint64_t size;  /* load: of the file; 0: not known */
    uint64_t base;  /* load: bytes read before, by the check */
    uint64_t named; /* keys that were left out or refused */
    struct progress progress;
};

static const char *what_of(const struct transfer *transfer)
{
    return transfer->call->command->grammar.name;
}

/* ---------------------------------------------------------------- signals */

static void on_signal(int number)
{
    stop_signal = number;
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;
    size_t i;

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (sigaction(numbers[i], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &action, NULL);
    }
}

/* ------------------------------------------------------------------ bytes */

static int put_bytes(void *user, const void *data, size_t size)
{
    const struct transfer *transfer = user;
    const char *at = data;

    while (size > 0) {
        ssize_t put;

        if (stop_signal != 0)
            return ECANCELED;
        put = write(transfer->fd, at, size);
        if (put < 0 && errno != EINTR)
            return errno;
        at += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    return stop_signal != 0 ? ECANCELED : 0;
}

static int get_bytes(void *user, void *data, size_t size, size_t *got)
{
    const struct transfer *transfer = user;
    ssize_t count = -1;

    do {
        if (stop_signal != 0)
            return ECANCELED;
        count = read(transfer->fd, data, size);
    } while (count < 0 && errno == EINTR);
    if (count < 0)
        return errno;
    *got = (size_t)count;
    return 0;
}

/* -------------------------------------------------------------- reporting */

static void on_dump_progress(void *user, const hf_store_transfer *so_far)
{
    struct transfer *transfer = user;
    uint64_t total = so_far->keys_total;

    /* How many keys match a pattern is not known. */
    if (transfer->call->options->given[OPT_MATCH])
        total = 0;
    progress_draw(&transfer->progress, so_far->keys, total, so_far->keys,
                  so_far->bytes);
}

static void on_load_progress(void *user, const hf_store_transfer *so_far)
{
    struct transfer *transfer = user;

    progress_draw(&transfer->progress, so_far->bytes, transfer->size,
                  so_far->keys, so_far->bytes);
}

static void name_key(struct transfer *transfer, const char *fate, hf_bytes key,
                     const char *type)
{
    size_t shown = key.size < 200 ? key.size : 200;

    if (transfer->named++ >= NAMED_MAX)
        return;
    progress_clear(&transfer->progress);
    complain(what_of(transfer), "%s: %.*s%s (%s)", fate, (int)shown,
             (const char *)key.data, shown < key.size ? "..." : "", type);
}

static void on_left_out(void *user, hf_bytes key, const char *type)
{
    name_key(user, "left out", key, type);
}

static void on_refused(void *user, hf_bytes key, const char *type)
{
    name_key(user, "refused", key, type);
}

/* The counts of what was done: JSON on stdout, or a line on stderr. */
static void print_counts_json(const hf_store_transfer *result, bool dump,
                              FILE *file)
{
    struct json json;

    json_begin(&json, file);
    json_integer(&json, "keys", (int64_t)result->keys);
    json_integer(&json, "bytes", (int64_t)result->bytes);
    if (!dump) {
        json_integer(&json, "existing", (int64_t)result->existing);
        json_integer(&json, "expired", (int64_t)result->expired);
        json_integer(&json, "refused", (int64_t)result->refused);
    }
    json_integer(&json, "left_out", (int64_t)result->left_out);
    json_integer(&json, "changed", (int64_t)result->changed);
    json_bool(&json, "complete",
              result->complete && result->left_out == 0 &&
                  result->refused == 0);
    json_end(&json);
}

static void print_count(uint64_t count, const char *what)
{
    if (count > 0)
        fprintf(stderr, ", %llu %s", (unsigned long long)count, what);
}

/* By whatever name: the report must not get into the dump. */
static bool is_stdout(int fd)
{
    struct stat one, other;

    return fd == STDOUT_FILENO ||
           (fstat(fd, &one) == 0 && fstat(STDOUT_FILENO, &other) == 0 &&
            !S_ISCHR(one.st_mode) && one.st_ino == other.st_ino &&
            one.st_dev == other.st_dev);
}

static const char *fate_of_existing(const struct options *options)
{
    if (options->given[OPT_SKIP])
        return "skipped, as they exist already";
    return options->given[OPT_REPLACE] ? "replaced" : "exist already";
}

static void report_result(const struct transfer *transfer,
                          const hf_store_transfer *result, bool dump)
{
    if (transfer->call->json) {
        print_counts_json(result, dump,
                          dump && is_stdout(transfer->fd) ? stderr : stdout);
        return;
    }
    fprintf(stderr, "holdfast: %s: %s%llu keys, %llu bytes", what_of(transfer),
            transfer->call->options->given[OPT_DRY_RUN] ? "would load " : "",
            (unsigned long long)result->keys,
            (unsigned long long)result->bytes);
    print_count(result->existing, fate_of_existing(transfer->call->options));
    print_count(result->expired, "expired");
    print_count(result->refused, "refused");
    print_count(result->left_out, "left out");
    print_count(result->changed, "changed while being read");
    fputc('\n', stderr);
}

/* Report the outcome; the exit code. */
static int report_transfer(struct transfer *transfer, hf_status status,
                           const hf_error *err, const hf_store_transfer *result,
                           bool dump)
{
    progress_clear(&transfer->progress);
    if (stop_signal != 0 && status != HF_OK) {
        complain(what_of(transfer), "stopped by signal %d", (int)stop_signal);
        return EXIT_SIGNAL + (int)stop_signal;
    }
    if (status == HF_OK || result->complete)
        report_result(transfer, result, dump);
    if (status == HF_OK)
        return EXIT_YES;
    if (status == HF_SYSTEM && err->sys_errno != 0) {
        complain(what_of(transfer), "%s: %s", transfer->name,
                 strerror(err->sys_errno));
        return EXIT_SYSTEM;
    }
    return call_failed(transfer->call, status, err);
}

/* ------------------------------------------------------------------- dump */

static int run_dump(struct transfer *transfer, bool *complete)
{
    const struct options *options = transfer->call->options;
    hf_store_dump_options opts = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    opts.pattern = hf_str(options->text[OPT_MATCH]);
    opts.progress = on_dump_progress;
    opts.left_out = on_left_out;
    catch_signals();
    progress_begin(&transfer->progress, "dump");
    status = hf_store_dump(transfer->call->client, &opts, put_bytes, transfer,
                           &result, &err);
    *complete = result.complete;
    return report_transfer(transfer, status, &err, &result, true);
}

static int dump_to_stdout(struct transfer *transfer)
{
    bool complete;

    transfer->name = "standard output";
    transfer->fd = STDOUT_FILENO;
    if (isatty(STDOUT_FILENO) == 1)
        return call_usage(transfer->call,
                          "a dump is binary and not written to a terminal; use "
                          "-o FILE, or redirect standard output");
    return run_dump(transfer, &complete);
}

static int file_failed(const struct transfer *transfer, int failed)
{
    complain(what_of(transfer), "%s: %s", transfer->name, strerror(failed));
    return EXIT_SYSTEM;
}

static int dump_to_file(struct transfer *transfer)
{
    struct out_file file;
    bool complete = false;
    int failed = out_file_open(&file, transfer->name);
    int code;

    if (failed != 0)
        return file_failed(transfer, failed);
    transfer->fd = file.fd;
    if (isatty(file.fd) == 1) {
        out_file_close(&file);
        return call_usage(transfer->call,
                          "a dump is binary and not written to a terminal");
    }
    code = run_dump(transfer, &complete);
    if (complete && stop_signal == 0) {
        failed = out_file_keep(&file);
        if (failed != 0)
            code = file_failed(transfer, failed);
    }
    out_file_close(&file);
    return code;
}

int store_dump(struct call *call)
{
    struct transfer transfer = {.call = call};
    const char *path = call->options->text[OPT_OUTPUT];

    if (path == NULL || strcmp(path, "-") == 0)
        return dump_to_stdout(&transfer);
    transfer.name = path;
    return dump_to_file(&transfer);
}

/* ------------------------------------------------------------------- load */

static int run_load(struct transfer *transfer, uint32_t flags)
{
    hf_store_load_options opts = HF_STORE_LOAD_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    opts.flags = flags;
    opts.progress = on_load_progress;
    if ((flags & HF_LOAD_CHECK) == 0 || (flags & HF_LOAD_CONTINUE) == 0)
        opts.refused = on_refused;
    progress_begin(&transfer->progress,
                   (flags & HF_LOAD_CHECK) != 0 ? "check" : "load");
    status = hf_store_load(transfer->call->client, &opts, get_bytes, transfer,
                           &result, &err);
    /* What was left out is reported by the load itself, and so is what was
     * refused if it continues. */
    if ((flags & HF_LOAD_CHECK) != 0 && result.complete &&
        (result.refused == 0 || (flags & HF_LOAD_CONTINUE) != 0)) {
        progress_clear(&transfer->progress);
        return EXIT_YES;
    }
    return report_transfer(transfer, status, &err, &result, false);
}

/* A file is read twice, so that one that is damaged, or that the store cannot
 * hold, changes nothing. */
static int check_file(struct transfer *transfer, uint32_t flags)
{
    struct stat info;
    int code;

    if (fstat(transfer->fd, &info) < 0 || !S_ISREG(info.st_mode) ||
        lseek(transfer->fd, 0, SEEK_CUR) != 0)
        return EXIT_YES;
    transfer->size = (uint64_t)info.st_size;
    code = run_load(transfer, flags | HF_LOAD_CHECK);
    if (code == EXIT_YES && lseek(transfer->fd, 0, SEEK_SET) < 0) {
        complain(what_of(transfer), "%s: %s", transfer->name, strerror(errno));
        code = EXIT_SYSTEM;
    }
    return code;
}

/* --dry-run: what a load would do. */
static int load_dry(struct transfer *transfer, uint32_t flags)
{
    hf_store_load_options opts = HF_STORE_LOAD_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    hf_error err = HF_ERROR_INIT;
    bool keeps = (flags & (HF_LOAD_REPLACE | HF_LOAD_SKIP)) == 0;
    hf_status status;
    int code;

    opts.flags = flags | HF_LOAD_CHECK | HF_LOAD_LOOK_UP;
    opts.progress = on_load_progress;
    opts.refused = on_refused;
    progress_begin(&transfer->progress, "check");
    status = hf_store_load(transfer->call->client, &opts, get_bytes, transfer,
                           &result, &err);
    result.keys -= result.expired + result.refused;
    if ((flags & HF_LOAD_REPLACE) == 0)
        result.keys -= result.existing;
    code = report_transfer(transfer, status, &err, &result, false);
    return code == EXIT_YES && keeps && result.existing > 0 ? EXIT_NO : code;
}

int store_load(struct call *call)
{
    const struct options *options = call->options;
    struct transfer transfer = {.call = call, .name = "standard input"};
    uint32_t flags = 0;
    int code;

    transfer.fd = STDIN_FILENO;
    if (options->given[OPT_REPLACE])
        flags = HF_LOAD_REPLACE;
    if (options->given[OPT_SKIP])
        flags |= HF_LOAD_SKIP;
    if (options->given[OPT_DROP_FIELD_TTL])
        flags |= HF_LOAD_DROP_FIELD_TTL;
    if (options->given[OPT_CONTINUE])
        flags |= HF_LOAD_CONTINUE;
    if (options->operand_count > 0 && strcmp(options->operands[0], "-") != 0) {
        transfer.name = options->operands[0];
        transfer.fd = open(transfer.name, O_RDONLY | O_CLOEXEC);
    }
    if (transfer.fd < 0) {
        complain(what_of(&transfer), "%s: %s", transfer.name, strerror(errno));
        return EXIT_NO_INPUT;
    }
    if (isatty(transfer.fd) == 1)
        return call_usage(call, "a dump is not read from a terminal; name a "
                                "file, or redirect standard input");
    catch_signals();
    if (options->given[OPT_DRY_RUN]) {
        code = load_dry(&transfer, flags);
    } else {
        code = check_file(&transfer, flags);
        if (code == EXIT_YES)
            code = run_load(&transfer, flags);
    }
    if (transfer.fd != STDIN_FILENO)
        close(transfer.fd);
    return code;
}
