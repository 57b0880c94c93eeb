/* SPDX-License-Identifier: Apache-2.0 */
/* redis_errors_test.c - every row of the table of error replies. */
#include <string.h>

#include "store/redis/wire/errors.h"
#include "support/test.h"

#define TAIL                                                                   \
    " script: e0e1f9fabfc9d4800c877a703b823ac0578ff8db, on @user_script:12."

typedef struct error_case {
    const char *line;
    bool is_script;
    hf__verdict verdict;
    hf_status status;
    const char *message; /* NULL: the line itself */
} error_case;

static const error_case cases[] = {
    {"NOSCRIPT No matching script. Please use EVAL.", true, HF__VERDICT_LOAD,
     HF_UNAVAILABLE, NULL},
    {"WRONGTYPE Operation against a key holding the wrong kind of value", false,
     HF__VERDICT_ANSWER, HF_WRONG_TYPE, NULL},
    {"WRONGTYPE Operation against a key holding the wrong kind of value" TAIL,
     true, HF__VERDICT_ANSWER, HF_WRONG_TYPE,
     "WRONGTYPE Operation against a key holding the wrong kind of value "
     "(line 12)"},

    {"HFTOKEN the last token is not a number", true, HF__VERDICT_ANSWER,
     HF_CORRUPT, NULL},
    {"HFINVALID the score would be infinite", true, HF__VERDICT_ANSWER,
     HF_INVALID, "the score would be infinite"},
    {"HFHELD the key is a lock that is held", true, HF__VERDICT_ANSWER, HF_HELD,
     "the key is a lock that is held"},
    {"HFLATE too many members have expired: call hf_rank_trim()", true,
     HF__VERDICT_ANSWER, HF_UNAVAILABLE,
     "too many members have expired: call hf_rank_trim()"},
    {"HFLATE of a user's script", true, HF__VERDICT_ANSWER, HF_SCRIPT,
     "of a user's script"},

    {"LOADING Redis is loading the dataset in memory", false,
     HF__VERDICT_BACK_OFF, HF_UNAVAILABLE, NULL},
    {"BUSY Redis is busy running a script.", true, HF__VERDICT_BACK_OFF,
     HF_UNAVAILABLE, NULL},
    {"BUSYKEY Target key name already exists.", false, HF__VERDICT_ANSWER,
     HF_INVALID, NULL},
    {"TRYAGAIN Multiple keys request during rehashing of slot", false,
     HF__VERDICT_BACK_OFF, HF_UNAVAILABLE, NULL},
    {"MASTERDOWN Link with MASTER is down", false, HF__VERDICT_BACK_OFF,
     HF_UNAVAILABLE, NULL},
    {"CLUSTERDOWN The cluster is down", false, HF__VERDICT_BACK_OFF,
     HF_UNAVAILABLE, NULL},

    {"READONLY You can't write against a read only replica.", false,
     HF__VERDICT_DROP, HF_UNAVAILABLE,
     "READONLY You can't write against a read only replica.; the server is a "
     "replica"},
    {"READONLY You can't write against a read only replica." TAIL, true,
     HF__VERDICT_DROP, HF_UNAVAILABLE,
     "READONLY You can't write against a read only replica.; the server is a "
     "replica"},
    {"UNBLOCKED force unblock from blocking operation", false, HF__VERDICT_DROP,
     HF_UNAVAILABLE, NULL},
    {"NOREPLICAS Not enough good replicas to write.", false,
     HF__VERDICT_BACK_OFF, HF_UNAVAILABLE, NULL},
    {"ERR max number of clients reached", false, HF__VERDICT_DROP,
     HF_UNAVAILABLE, "max number of clients reached"},

    {"OOM command not allowed when used memory > 'maxmemory'.", false,
     HF__VERDICT_ANSWER, HF_FULL, NULL},
    {"OOM command not allowed when used memory > 'maxmemory'." TAIL, true,
     HF__VERDICT_ANSWER, HF_FULL,
     "OOM command not allowed when used memory > 'maxmemory'. (line 12)"},
    {"MISCONF Redis is configured to save RDB snapshots", false,
     HF__VERDICT_ANSWER, HF_FULL, NULL},

    {"NOAUTH Authentication required.", false, HF__VERDICT_DROP, HF_DENIED,
     NULL},
    {"WRONGPASS invalid username-password pair or user is disabled.", false,
     HF__VERDICT_DROP, HF_DENIED, NULL},
    {"NOPERM this user has no permissions to run the 'get' command", false,
     HF__VERDICT_ANSWER, HF_DENIED, NULL},
    {"DENIED Redis is running in protected mode", false, HF__VERDICT_DROP,
     HF_DENIED, NULL},
    {"ERR The user executing the script can't run this command or "
     "subcommand" TAIL,
     true, HF__VERDICT_ANSWER, HF_DENIED,
     "The user executing the script can't run this command or subcommand "
     "(line 12)"},
    {"ERR ACL failure in script: No permissions to access a key" TAIL, true,
     HF__VERDICT_ANSWER, HF_DENIED,
     "ACL failure in script: No permissions to access a key (line 12)"},

    {"MOVED 3999 127.0.0.1:6381", false, HF__VERDICT_ANSWER, HF_UNSUPPORTED,
     "MOVED 3999 127.0.0.1:6381; the server is one node of a cluster"},
    {"ASK 3999 127.0.0.1:6381", false, HF__VERDICT_ANSWER, HF_UNSUPPORTED,
     "ASK 3999 127.0.0.1:6381; the server is one node of a cluster"},
    {"CROSSSLOT Keys in request don't hash to the same slot", false,
     HF__VERDICT_ANSWER, HF_INVALID, NULL},
    {"ERR Script attempted to access a non local key in a cluster node" TAIL,
     true, HF__VERDICT_ANSWER, HF_INDETERMINATE,
     "Script attempted to access a non local key in a cluster node; the script "
     "may have run in part"},
    {"ERR Script attempted to access keys that do not hash to the same slot",
     true, HF__VERDICT_ANSWER, HF_INDETERMINATE,
     "Script attempted to access keys that do not hash to the same slot; the "
     "script may have run in part"},
    {"ERR undeclared keys", true, HF__VERDICT_ANSWER, HF_INDETERMINATE,
     "undeclared keys; the script may have run in part"},

    {"NOPROTO unsupported protocol version", false, HF__VERDICT_ANSWER,
     HF_UNSUPPORTED, NULL},
    {"ERR unknown command 'FOO', with args beginning with: ", false,
     HF__VERDICT_ANSWER, HF_UNSUPPORTED,
     "unknown command 'FOO', with args beginning with: "},
    {"ERR unknown subcommand 'FOO'. Try CONFIG HELP.", false,
     HF__VERDICT_ANSWER, HF_UNSUPPORTED,
     "unknown subcommand 'FOO'. Try CONFIG HELP."},
    {"ERR Protocol error: invalid bulk length", false, HF__VERDICT_DROP,
     HF_INVALID, "Protocol error: invalid bulk length"},
    {"EXECABORT Transaction discarded because of previous errors.", false,
     HF__VERDICT_ANSWER, HF_INVALID, NULL},

    /* Errors without a row. */
    {"ERR value is not an integer or out of range", false, HF__VERDICT_ANSWER,
     HF_INVALID, "value is not an integer or out of range"},
    {"ERR value is not an integer or out of range" TAIL, true,
     HF__VERDICT_ANSWER, HF_SCRIPT,
     "value is not an integer or out of range (line 12)"},
    {"ERR Error compiling script (new function): user_script:1: '=' expected "
     "near 'x'",
     true, HF__VERDICT_ANSWER, HF_SCRIPT,
     "Error compiling script (new function): user_script:1: '=' expected near "
     "'x'"},
    {"ERR Error compiling script (new function): user_script:1: no", false,
     HF__VERDICT_ANSWER, HF_SCRIPT,
     "Error compiling script (new function): user_script:1: no"},
    {"ERR user_script:3: boom" TAIL, true, HF__VERDICT_ANSWER, HF_SCRIPT,
     "boom (line 3)"},
    {"ERR Unknown Redis command called from script" TAIL, true,
     HF__VERDICT_ANSWER, HF_SCRIPT,
     "Unknown Redis command called from script (line 12)"},
    {"MYERR of my own", true, HF__VERDICT_ANSWER, HF_SCRIPT, NULL},
    {"MYERR of my own", false, HF__VERDICT_ANSWER, HF_INVALID, NULL},
    {"", true, HF__VERDICT_ANSWER, HF_SCRIPT, "an error without a text"},
    {"ERR", false, HF__VERDICT_ANSWER, HF_INVALID, NULL},
    {"OOMPH", false, HF__VERDICT_ANSWER, HF_INVALID, NULL},
    {"ERR user_script:3: boom script: on @user_script:2.", true,
     HF__VERDICT_ANSWER, HF_SCRIPT, "boom (line 3)"},
    {"WRONGTYPE x script: on @user_script:12.", true, HF__VERDICT_ANSWER,
     HF_WRONG_TYPE, "WRONGTYPE x (line 12)"},
    {"ERR user_function:3: boom script: f_1, on @user_function:2.", true,
     HF__VERDICT_ANSWER, HF_SCRIPT, "boom (line 3)"},
    {"WRONGTYPE x script: f, on @user_function:12.", true, HF__VERDICT_ANSWER,
     HF_WRONG_TYPE, "WRONGTYPE x (line 12)"},
    {"x script: f-1, on @user_function:1.", true, HF__VERDICT_ANSWER, HF_SCRIPT,
     NULL},
    {"x script: short, on @user_script:1.", true, HF__VERDICT_ANSWER, HF_SCRIPT,
     NULL},
};

TEST(error_line_has_its_status_and_message)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const error_case *one = &cases[i];
        hf_error err = HF_ERROR_INIT;
        hf__verdict verdict =
            hf__redis_error(hf_str(one->line), one->is_script, &err);

        if (verdict != one->verdict || err.status != one->status)
            fail_msg("%s: verdict %d, status %d", one->line, (int)verdict,
                     (int)err.status);
        assert_string_equal(err.message,
                            one->message != NULL ? one->message : one->line);
    }
}

TEST(error_line_is_cut_and_cleaned)
{
    static char line[5000];
    hf_error err = HF_ERROR_INIT;

    memset(line, 'x', sizeof(line));
    memcpy(line, "ERR \t\x01", 6);
    assert_int_equal(hf__redis_error(hf_view(line, sizeof(line)), true, &err),
                     HF__VERDICT_ANSWER);
    assert_int_equal(strlen(err.message), HF_ERROR_MESSAGE_SIZE - 1);
    assert_memory_equal(err.message, "  xxx", 5);
}

/* Whatever the line's end, nothing past it is read: ASan detects it. */
TEST(error_line_may_end_anywhere)
{
    static const char whole[] = "ERR user_script:3: boom" TAIL;
    char copy[sizeof(whole)];
    hf_error err = HF_ERROR_INIT;

    for (size_t size = 0; size < sizeof(whole); size++) {
        memcpy(copy + sizeof(copy) - size, whole, size);
        hf__redis_error(hf_view(copy + sizeof(copy) - size, size), true, &err);
        assert_int_equal(err.status, HF_SCRIPT);
    }
}
