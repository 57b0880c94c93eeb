/* SPDX-License-Identifier: Apache-2.0 */
/* log_lines.c - see log_lines.h. */
#include "support/log_lines.h"

#include <stdio.h>
#include <string.h>

log_lines *log_lines_new(void)
{
    static log_lines lines = {.mutex = PTHREAD_MUTEX_INITIALIZER};

    pthread_mutex_lock(&lines.mutex);
    lines.count = 0;
    pthread_mutex_unlock(&lines.mutex);
    return &lines;
}

void log_lines_take(void *user, hf_log_level level, const char *message)
{
    log_lines *lines = user;
    size_t at;

    pthread_mutex_lock(&lines->mutex);
    at = lines->count < LOG_LINES_MAX ? lines->count : LOG_LINES_MAX - 1;
    lines->levels[at] = level;
    (void)snprintf(lines->texts[at], LOG_LINE_SIZE, "%s", message);
    lines->count++;
    pthread_mutex_unlock(&lines->mutex);
}

size_t log_lines_count(log_lines *lines)
{
    size_t count;

    pthread_mutex_lock(&lines->mutex);
    count = lines->count;
    pthread_mutex_unlock(&lines->mutex);
    return count;
}

bool log_lines_has(log_lines *lines, int level, const char *part)
{
    bool has = false;

    pthread_mutex_lock(&lines->mutex);
    for (size_t i = 0; i < lines->count && i < LOG_LINES_MAX; i++)
        has = has || ((level == 0 || (int)lines->levels[i] == level) &&
                      strstr(lines->texts[i], part) != NULL);
    pthread_mutex_unlock(&lines->mutex);
    return has;
}

hf_client_options log_lines_options(log_lines *lines)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;

    options.on_log = log_lines_take;
    options.log_user = lines;
    options.log_level = HF_LOG_DEBUG;
    return options;
}
