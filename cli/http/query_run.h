/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_run.h - the queries of the files query_*.c, for the table in query.c.
 *
 * Each puts members into the open object of its call. On an error its caller
 * drops what it has put there.
 */
#ifndef HOLDFAST_CLI_HTTP_QUERY_RUN_H
#define HOLDFAST_CLI_HTTP_QUERY_RUN_H

#include "http/query.h"

/* cursor, match */
hf_status query_keys(struct http_call *call);

/* name, at */
hf_status query_value(struct http_call *call);

/*
 * Changes. HF_CONFLICT: the key is a lease that is held or may be one, parties
 * wait at it, its name is one of Holdfast's own, or it is not what was shown.
 */

/* What a change returned. If it is not known whether it was made, that is
 * reported, and the client closed, so that it is not made later. */
hf_status end_change(struct http_call *call, hf_status status);

/* name, type */
hf_status query_delete(struct http_call *call);

/* name, type, and either ttl_ms, or forever, "1": the key does not expire any
 * more */
hf_status query_expire(struct http_call *call);

/* name, value, old; field, of a hash */
hf_status query_set(struct http_call *call);

#endif
