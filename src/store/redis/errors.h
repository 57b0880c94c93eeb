/* SPDX-License-Identifier: Apache-2.0 */
/* errors.h - what an error reply of a server means. */
#ifndef HF__STORE_REDIS_ERRORS_H
#define HF__STORE_REDIS_ERRORS_H

#include "holdfast.h"

/* What to do about a reply. For the others than ANSWER, the request was not
 * executed. */
typedef enum hf__verdict {
    HF__VERDICT_ANSWER,   /* it is the answer: complete with the status */
    HF__VERDICT_LOAD,     /* the script is not known: send it whole */
    HF__VERDICT_BACK_OFF, /* try again a little later on this connection */
    HF__VERDICT_DROP      /* complete, and do not use this connection again */
} hf__verdict;

/*
 * Judge an error line (without '-' and CRLF). `is_script`: it answers EVAL or
 * EVALSHA. `err` gets the status and message that a caller should see, should
 * it come to that.
 */
hf__verdict hf__redis_error(hf_bytes line, bool is_script, hf_error *err);

#endif
