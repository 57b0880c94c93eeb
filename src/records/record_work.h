/* SPDX-License-Identifier: Apache-2.0 */
/* record_work.h - one request on a store of records. Loop thread only. */
#ifndef HF__RECORDS_RECORD_WORK_H
#define HF__RECORDS_RECORD_WORK_H

#include "records/record_store.h"

/* Waiters that were found to be gone while a request ran. */
#define HF__WORK_ABSENT_MAX 128u
/* Keys that a script makes up: it is run again with each of them. */
#define HF__WORK_DERIVED_MAX 16u

/* Of a record, in one try. */
typedef struct hf__change {
    size_t given_at;        /* index in `given`, and 1; 0: it is not there */
    int64_t guarded_end_ms; /* it is a lease that looks over, and not until then
                               for this process; 0: it is not */
    bool made;              /* it was changed */
    hf_bytes payload;       /* size 0: there is none any more */
    int64_t expire_ms;      /* as the backend has it */
    bool again;             /* a lease, whose end was to stay */
    size_t check_at;        /* index in `checks` */
} hf__change;

typedef struct hf__work hf__work;

/* A key of a work, among those of all that are under way. */
struct hf__work_key {
    hf__work *work;
    hf_bytes key;
    uint64_t hash;
    hf__work_key *same;        /* the next one in its bucket */
    hf__work_key **same_place; /* of the pointer to it */
    hf__work_key *next;        /* of the work */
};

struct hf__work {
    hf__task task; /* first */
    hf__work *next;
    hf__work **place; /* of the pointer to it */
    hf__record_store *store;
    hf__request *request; /* NULL: it has completed */
    hf__request own;      /* instead of one that was cancelled */
    /* Called once it has, on the loop thread, with no other access after it. */
    void (*done)(hf__work *work, hf__request *request);
    void *user;

    hf__work *line_next;   /* in the line for a call, or in a group ... */
    hf__work **line_place; /* ... NULL: it is not there */
    bool waits;            /* for another request on one of its keys */
    hf__work *leader; /* whose commit, which is under way, is also its; NULL:
                         none */
    hf__work *group; /* those of its own commit, in the order in which they ran;
                        they wait */
    bool alone;      /* its commit is to have no others, nor theirs it */
    bool wrote;      /* it changed something, or has sent a message */
    bool calling;    /* `call` is under way */
    hf__heap_node timer;
    int64_t pause_until_ms; /* 0: it does not pause */
    unsigned tries;         /* that met a conflict, or had a wrong TIME */
    unsigned breaks;        /* calls that failed as the store was away ... */
    hf_error broken;        /* ... the last of them */

    size_t key_count;
    bool too_many;        /* keys */
    size_t derived_count; /* of them, made up by the script */
    uint64_t mask;        /* a bit for each key: whether others can overlap */
    hf__work_key *keys;
    uint64_t arrival;            /* number of the work; 0: it has not begun */
    hf__backend_record *records; /* of its keys, as the last try used them */
    bool *mine;  /* of its own request; the others are those of its group */
    size_t room; /* for keys */
    hf__scratch_record *given; /* to those that run */
    size_t given_count;
    bool reads;        /* nothing of a lease is decided */
    bool fresh;        /* they are of one read, made for this try */
    bool rereads;      /* what is kept is not to be believed */
    int64_t bound_us;  /* of the store's clock, at this try */
    size_t guarded_at; /* its first lease that looks over, and is not for this
                          process; key_count: none */
    bool marked;       /* behind its records, that of the mark is known ... */
    size_t marked_at;  /* ... on this one ... */
    bool marks;        /* ... and is written ... */
    int64_t mark_until_ms; /* ... for so long */
    char mark[HF__GUARD_MARK_SIZE];

    hf__backend_call call;
    int64_t call_began_us;
    hf__backend_record *checks;
    hf__backend_write *writes;
    hf__change *changes; /* by key, and the mark: what this try has made of
                            it */
    int64_t began_ms;    /* of its requests */
    hf_bytes *required;  /* of this try */
    size_t required_count;
    hf_bytes absent[HF__WORK_ABSENT_MAX];
    size_t absent_count;
    hf__arena try_arena;  /* of this try */
    hf__arena work_arena; /* of `absent` */

    uint64_t doubt; /* version of the last commit, whose outcome is unknown and
                       whose reply the request has; 0: none */
    bool doubtful;  /* some commit may have been done */
};

/* NULL: no memory. */
hf__work *hf__work_new(hf__record_store *store, hf__request *request);
void hf__work_free(hf__work *work);

/* None of its keys is used by another. */
void hf__work_begin(hf__work *work);
/* Its timer has rung. */
void hf__work_tick(hf__work *work);
/* Complete it with this, or HF_INDETERMINATE if it may have been done. It is
 * freed later. */
void hf__work_fail(hf__work *work, hf_status status, const char *why);
/* ... as if its deadline had come. */
void hf__work_expire(hf__work *work);
/* The same, but what gives back a lease or a place is still done: true. */
bool hf__work_cancel(hf__work *work);
/* One key more, unless it has it. A copy: a call may outlive the request.
 * false: no memory, or too many. */
bool hf__work_add_key(hf__work *work, hf_bytes key, bool mine);
bool hf__work_owns(const hf__work *work, hf_bytes key);
/* Of its record; key_count: it has no such key. */
size_t hf__work_index(const hf__work *work, hf_bytes key);
/* Those of `other`, which is to be in its group. false: some are missing. No
 * call of it is under way. */
bool hf__work_add_keys(hf__work *work, const hf__work *other);
/* Is what the request has changed a lease? By its script. */
bool hf__work_writes_lease(const hf__request *request,
                           const hf__scratch_record *changed);
/* Are all keys of `other` its own as well? */
bool hf__work_has_keys(const hf__work *work, const hf__work *other);
bool hf__work_overlaps(const hf__work *work, const hf__work *other);
/* Put its keys among those of all, or take them out. */
void hf__work_link_keys(hf__work *work);
void hf__work_unlink_keys(hf__work *work);
/* Does one that arrived earlier have one of its keys? */
bool hf__work_has_earlier(const hf__work *work);

#endif
