/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h - a line about a store: keys, memory, and what its server does. */
#ifndef HOLDFAST_CLI_TOP_FIGURES_H
#define HOLDFAST_CLI_TOP_FIGURES_H

#include "holdfast/client.h"

#define TOP_FIGURES_SIZE 256

/* Read them, the first ones of what is known; empty if nothing is. One request
 * to a server. */
void top_figures_read(hf_client *client, char text[TOP_FIGURES_SIZE]);

#endif
