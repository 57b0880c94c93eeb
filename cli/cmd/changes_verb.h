/* SPDX-License-Identifier: Apache-2.0 */
/* changes_verb.h - holdfast value changes. */
#ifndef CHANGES_VERB_H
#define CHANGES_VERB_H

#include "cmd.h"

int value_changes(struct call *call);

#endif
