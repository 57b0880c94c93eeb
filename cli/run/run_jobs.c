/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_jobs.c - holdfast queue work: a command for each job of a queue.
 *
 * The command has the payload as its standard input, a file in memory, so that
 * no one has to write to a pipe while the lease is watched. What the end says:
 *
 *   0                          done, also if the lease has ended and no one
 *                              else has been given the job
 *   65                         a dead letter
 *   75                         deferred: tried again, without counting this
 *   126, 127                   it was not run: the job goes back, and we end
 *   any other, or a signal     tried again, up to the limit of attempts
 *
 * If a signal asked us to end, and the command has not ended with 0, that was
 * not its failure: the job goes back. A command that was asked to end because
 * the lease had, as by --max-hold, has not finished, whatever it exits with:
 * the job is tried again. All of this is sent after a loss too; the store
 * refuses it if the job has moved on.
 *
 * The end is sent with the take of the next job, in one request. So it is said
 * first, and whether it was stored is known when that take has ended.
 */
#include "run/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "json_line.h"
#include "lease_clock.h"
#include "read_number.h"

/* Exit codes of a job's command, by sysexits.h: EX_DATAERR, EX_TEMPFAIL. */
#define CODE_DEAD 65
#define CODE_DEFERRED 75

/* Of none. */
#define NOT_RUN (-1)

#define BACKOFF_DEFAULT_MS INT64_C(1000)
#define BACKOFF_MAX_DEFAULT_MS INT64_C(3600000)

/* Between two requests for the end of the last job. */
#define AGAIN_MS 200

/* How a job ends; unknown: that could not be stored, as far as we know. */
enum end {
    END_DONE,
    END_AGAIN,
    END_DEFERRED,
    END_DEAD,
    END_BACK,
    END_LOST,
    END_UNKNOWN
};
#define ENDS 7

static const char *const end_names[ENDS] = {"done", "again", "deferred", "dead",
                                            "back", "lost",  "unknown"};

struct jobs {
    struct run *run;
    hf_job job; /* the current one, or the last, without its bytes */
    char id[HF_QUEUE_ID_MAX + 1]; /* of it, as text */
    enum end end;                 /* of it */
    int code;                     /* of its command; NOT_RUN */
    bool sent;                    /* its end, with the take of the next */
    bool loss_said;               /* that it was lost */
    int64_t counts[ENDS];         /* of jobs */
    int64_t jobs;                 /* their sum */
    bool ends;                    /* no further job is taken */
    bool failed;                  /* as an end is unknown */
    bool cancelled;               /* a signal has ended the wait for one */
};

/* -------------------------------------------------------------------- plan */

int jobs_plan(struct run_plan *plan, const struct options *options)
{
    const bool *given = options->given;
    const int64_t *number = options->number;

    plan->what = "a job of queue";
    plan->takes_jobs = true;
    plan->slots = given[OPT_SLOTS] ? number[OPT_SLOTS] : 1;
    plan->jobs_max = number[OPT_JOBS];
    plan->attempts = number[OPT_ATTEMPTS];
    plan->backoff_ms =
        given[OPT_BACKOFF] ? number[OPT_BACKOFF] : BACKOFF_DEFAULT_MS;
    plan->backoff_max_ms = BACKOFF_MAX_DEFAULT_MS;
    if (given[OPT_BACKOFF_MAX])
        plan->backoff_max_ms = number[OPT_BACKOFF_MAX];
    return EXIT_YES;
}

/* ---------------------------------------------------------------- payload */

/* A file in memory that has the bytes and is at its begin; -1: an error was
 * printed. */
static int open_input(hf_bytes payload)
{
    int fd = memfd_create("holdfast-job", MFD_CLOEXEC);
    ssize_t wrote = 0;

    for (size_t at = 0; fd >= 0 && wrote >= 0 && at < payload.size;
         at += (size_t)wrote)
        wrote = write(fd, (const char *)payload.data + at, payload.size - at);
    if (fd >= 0 && wrote >= 0 && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    complain(run_verb, "a file in memory: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* --------------------------------------------------------------------- end */

static enum end end_of(const struct jobs *work, int code)
{
    const struct run *run = work->run;
    int64_t most = run->plan.attempts;
    enum end failed =
        most > 0 && work->job.attempt >= most ? END_DEAD : END_AGAIN;

    if (!run->command_began)
        return END_LOST;
    if (run->child.pid <= 0)
        return END_BACK;
    if (run->loss_told)
        return failed;
    if (code == EXIT_YES)
        return END_DONE;
    if (run->told_to_end != 0 ||
        (run->end_signal == 0 &&
         (code == EXIT_NOT_FOUND || code == EXIT_NOT_EXECUTABLE)))
        return END_BACK;
    if (code == CODE_DEAD)
        return END_DEAD;
    if (code == CODE_DEFERRED)
        return END_DEFERRED;
    return failed;
}

static int64_t delay_of(const struct jobs *work)
{
    const struct run_plan *plan = &work->run->plan;

    return hf_queue_backoff(&work->job, plan->backoff_ms, plan->backoff_max_ms);
}

/* Of the last job: no other is taken. END_UNKNOWN is no end to send. */
static hf_status send_end(const struct jobs *work, hf_error *err)
{
    hf_lock *lock = work->run->lease.locks[0];

    switch (work->end) {
    case END_DONE:
        return hf_queue_done(lock, err);
    case END_AGAIN:
        return hf_queue_again(lock, delay_of(work), err);
    case END_DEFERRED:
        return hf_queue_defer(lock, delay_of(work), err);
    case END_DEAD:
        return hf_queue_fail(lock, err);
    case END_BACK: /* a release could not be sent again */
    case END_LOST: /* before the command began: that does not count */
        return hf_queue_defer(lock, 0, err);
    case END_UNKNOWN:
        break;
    }
    return HF_OK;
}

/* The same until it is known how it went, as an end with a take is. */
static hf_status insist_on_end(struct jobs *work, hf_error *err)
{
    struct run *run = work->run;
    int64_t wait_ms = run->plan.wait_ms;
    int64_t until_ms = wait_ms == HF_FOREVER ? INT64_MAX : now_ms() + wait_ms;
    hf_status status = send_end(work, err), again = status;

    while ((again == HF_UNAVAILABLE || again == HF_INDETERMINATE) &&
           run->told_to_end == 0 && now_ms() < until_ms) {
        hf_error last = HF_ERROR_INIT;

        run->told_to_end = run_pause(run, AGAIN_MS);
        if (run->told_to_end != 0)
            break;
        again = send_end(work, &last);
        if (again == HF_INVALID) /* it was answered, and remains unknown */
            break;
        status = again;
        *err = last;
    }
    return status;
}

/* Was it the last attempt that the queue allows? */
static bool was_last(const hf_job *job)
{
    return job->attempts > 0 && job->attempt >= job->attempts;
}

static void say_end(const struct jobs *work, enum end end)
{
    static const char *const what[ENDS] = {[END_DONE] = "done",
                                           [END_AGAIN] = "tried again",
                                           [END_DEFERRED] = "deferred",
                                           [END_DEAD] = "a dead letter now",
                                           [END_BACK] = "back in the queue",
                                           [END_LOST] = "lost",
                                           [END_UNKNOWN] = "outcome unknown"};
    const struct run_plan *plan = &work->run->plan;
    char seconds[NUMBER_SECONDS_SIZE] = "0";
    bool waits =
        (end == END_AGAIN && !was_last(&work->job)) || end == END_DEFERRED;

    if (work->code == NOT_RUN || (end == END_DONE && !plan->verbose))
        return;
    if (end == END_AGAIN && was_last(&work->job))
        end = END_DEAD;
    if (waits)
        number_print_seconds(delay_of(work), seconds, sizeof(seconds));
    notice(run_verb,
           "job \"%s\" of \"%s\", attempt %lld: exit code %d, %s%s%s%s",
           work->id, plan->name, (long long)work->job.attempt, work->code,
           what[end], waits ? " in " : "", waits ? seconds : "",
           waits ? " s" : "");
}

/* After an end that is unknown because the store was away for longer than the
 * lease: it has answered since. */
static bool continues_after(const struct jobs *work, hf_status status)
{
    const struct run *run = work->run;

    return work->sent && status == HF_INDETERMINATE && run->told_to_end == 0 &&
           run->plan.wait_ms == HF_FOREVER;
}

/* The end of the job was sent, with this status. The exit code of the worker,
 * if it ends. */
static int note_end(struct jobs *work, hf_status status, const hf_error *err)
{
    const struct run_plan *plan = &work->run->plan;
    int own_code = work->end == END_BACK ? work->code : EXIT_YES;
    enum end end = work->end;

    if (status == HF_LOST || status == HF_EXPIRED) {
        if (!work->loss_said)
            complain(run_verb,
                     "job \"%s\" of \"%s\" was lost while its command ran",
                     work->id, plan->name);
        end = END_LOST;
    } else if (status != HF_OK) {
        own_code = call_failed(plan->call, status, err);
        end = END_UNKNOWN;
        if (continues_after(work, status))
            own_code = EXIT_YES;
        else
            work->failed = true;
    }
    if (!work->sent || end != work->end)
        say_end(work, end);
    work->counts[end]++;
    work->jobs++;
    work->ends = work->ends || work->failed;
    return own_code;
}

/* The take of the next one has ended, or was cancelled. */
static int note_sent_end(struct jobs *work)
{
    const struct lease *lease = &work->run->lease;
    bool answered = lease_is_done(lease);
    hf_status status = HF_INDETERMINATE;
    hf_error err = HF_ERROR_INIT;
    int code;

    if (answered)
        status = hf_queue_ended(lease->locks[0], &err);
    if (answered && status == HF_INDETERMINATE && lease->status != HF_OK) {
        status = lease->status; /* says why */
        err = lease->err;
    }
    code = note_end(work, status, &err);
    work->sent = false;
    return code;
}

/* Take the next job, and end the one that there is. */
static int begin_next(struct jobs *work)
{
    static const hf_queue_outcome outcomes[ENDS] = {
        [END_DONE] = HF_QUEUE_DONE,      [END_AGAIN] = HF_QUEUE_AGAIN,
        [END_DEFERRED] = HF_QUEUE_DEFER, [END_DEAD] = HF_QUEUE_FAIL,
        [END_LOST] = HF_QUEUE_DEFER, /* before the command began */
    };
    struct lease *lease = &work->run->lease;

    lease->outcome = outcomes[work->end];
    lease->delay_ms = work->end == END_LOST ? 0 : delay_of(work);
    lease->ends_job = work->sent;
    return run_begin_again(work->run);
}

/* The command has ended with `code`, or was not started. The exit code of the
 * worker, if it ends. */
static int end_job(struct jobs *work, enum end end, int code)
{
    struct run *run = work->run;
    hf_error err = HF_ERROR_INIT;

    work->end = end;
    work->code = code;
    work->loss_said = run->lost != HF_OK;
    work->ends = run->told_to_end != 0 || end == END_BACK ||
                 work->jobs + 1 == run->plan.jobs_max;
    if (work->ends)
        return note_end(work, insist_on_end(work, &err), &err);
    say_end(work, end);
    work->sent = true;
    return begin_next(work);
}

/* The workers that had the job did not end its last attempt: perhaps it is what
 * kills them. */
static int refuse_job(struct jobs *work)
{
    guard_end(&work->run->guard);
    notice(run_verb,
           "job \"%s\" of \"%s\", attempt %lld: more than --attempts; not run, "
           "a dead letter now",
           work->id, work->run->plan.name, (long long)work->job.attempt);
    return end_job(work, END_DEAD, NOT_RUN);
}

/* -------------------------------------------------------------------- loop */

static int run_job(struct jobs *work)
{
    struct run *run = work->run;
    int code = EXIT_SYSTEM;

    run->child.pid = 0;
    run->command_began = true;
    if (run->plan.verbose)
        notice(run_verb, "job \"%s\" of \"%s\", attempt %lld: taken", work->id,
               run->plan.name, (long long)work->job.attempt);
    run->input_fd = open_input(work->job.payload);
    if (run->input_fd >= 0) {
        code = run_command(run);
        close(run->input_fd);
    }
    return end_job(work, end_of(work, code), code);
}

/* No job has come. It is an answer only if there was none at all. */
static int report_none(const struct jobs *work)
{
    complain_of(HF_TIMEOUT);
    if (work->jobs > 0)
        return EXIT_YES;
    complain(run_verb, "no job of queue \"%s\" is ready", work->run->plan.name);
    return EXIT_NO;
}

/* A job was taken. */
static int do_job(struct jobs *work)
{
    const struct run_plan *plan = &work->run->plan;
    size_t id_size;

    (void)!hf_queue_job(work->run->lease.locks[0], &work->job, NULL);
    id_size = work->job.id.size;
    if (id_size >= sizeof(work->id))
        id_size = sizeof(work->id) - 1;
    memcpy(work->id, work->job.id.data, id_size);
    work->id[id_size] = '\0';
    if (plan->attempts > 0 && work->job.attempt > plan->attempts)
        return refuse_job(work);
    return run_job(work);
}

/* The exit code. */
static int work_on(struct jobs *work)
{
    const struct lease *lease = &work->run->lease;
    int code = EXIT_YES;
    bool was_sent;

    while (code == EXIT_YES && !work->ends) {
        work->run->told_to_end = run_wait(work->run);
        work->cancelled = work->run->told_to_end != 0;
        was_sent = work->sent;
        if (was_sent)
            code = note_sent_end(work);
        if (work->cancelled || work->ends)
            return code;
        if (lease->status == HF_OK)
            code = do_job(work);
        else if (lease->status == HF_TIMEOUT)
            return report_none(work);
        else if (was_sent) /* too late, and it took none */
            code = begin_next(work);
        else
            return run_refused(work->run);
    }
    return code;
}

static void put_counts(const struct jobs *work, int code, FILE *file)
{
    struct json json;

    json_begin(&json, file);
    json_text(&json, "name", work->run->plan.name);
    json_open(&json, "jobs", '{');
    for (int i = 0; i < ENDS; i++)
        json_integer(&json, end_names[i], work->counts[i]);
    json_close(&json, '}');
    json_integer(&json, "exit", code);
    if (code != EXIT_YES && code < EXIT_SIGNAL && complained())
        complain_json(&json, code);
    json_end(&json);
}

/* In one write, so that the lines of several slots do not mix. */
static void print_counts(const struct jobs *work, int code)
{
    size_t size = 0;
    char *line = NULL;
    FILE *file = open_memstream(&line, &size);

    if (file != NULL) {
        put_counts(work, code, file);
        if (fclose(file) == 0)
            (void)fwrite(line, 1, size, stderr);
    }
    free(line);
}

int jobs_run(struct run *run)
{
    struct jobs work = {.run = run, .job = HF_JOB_INIT};
    int code = work_on(&work);
    bool by_signal = run->told_to_end != 0 && !work.failed;

    if (by_signal)
        code = EXIT_SIGNAL + run->told_to_end;
    if (run->plan.call->json)
        print_counts(&work, code);
    if (!work.cancelled)
        lease_close(&run->lease);
    guard_end(&run->guard);
    run->end_signal = 0; /* the command's, not ours */
    if (by_signal)
        signals_die(run->told_to_end);
    return code;
}
