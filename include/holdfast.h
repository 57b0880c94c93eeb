/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast.h - all of Holdfast.
 *
 * | header            | holds                                                |
 * |-------------------|------------------------------------------------------|
 * | holdfast/base.h   | the rules that hold for every call; statuses, bytes  |
 * | holdfast/client.h | opening and closing a store: URLs and options        |
 * | holdfast/key.h    | the expiry of a key of any type                      |
 * | holdfast/value.h  | values: set, get, compare-and-set, many at once      |
 * | holdfast/hash.h   | hashes: put, get, compare-and-set of a field         |
 * | holdfast/lock.h   | locks                                                |
 * | holdfast/script.h | Lua scripts and their replies                        |
 * | holdfast/async.h  | asynchronous calls and the event loop                |
 * | holdfast/store.h  | facts, health, check, compaction, dump and load      |
 */
#ifndef HOLDFAST_H
#define HOLDFAST_H

#include "holdfast/async.h"
#include "holdfast/base.h"
#include "holdfast/client.h"
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "holdfast/value.h"

#endif /* HOLDFAST_H */
