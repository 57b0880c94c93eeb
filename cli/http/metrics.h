/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - figures in the text format of OpenMetrics 1.0. */
#ifndef HOLDFAST_CLI_HTTP_METRICS_H
#define HOLDFAST_CLI_HTTP_METRICS_H

#include "http/view.h"

/* Those of a view into `*text`, to be freed by free().
 * false: out of memory. */
bool http_metrics(const struct http_view *view, char **text, size_t *size);

#endif
