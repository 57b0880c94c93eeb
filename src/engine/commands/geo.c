/* SPDX-License-Identifier: Apache-2.0 */
/*
 * geo.c - commands on places: a sorted set whose scores are geohashes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "engine/commands/command_row.h"
#include "engine/commands/zadd.h"
#include "engine/keys/geohash.h"
#include "engine/keys/long_float.h"
#include "engine/keys/number_text.h"
#include "engine/keys/packed.h"
#include "engine/keys/range.h"

/* Variants. */
#define AROUND_MEMBER HF__VARIANT(1)     /* GEORADIUSBYMEMBER */
#define MAY_STORE HF__VARIANT(1 << 1)    /* GEORADIUS... but ..._RO */
#define ANY_AREA HF__VARIANT(1 << 2)     /* GEOSEARCH, GEOSEARCHSTORE */
#define SEARCH_STORE HF__VARIANT(1 << 3) /* GEOSEARCHSTORE */
#define AS_GEOHASH HF__VARIANT(1 << 4)

/* false: replied with an error. */
static bool read_place(hf__tx *tx, const hf_bytes *args, hf__geo *place)
{
    if (!hf__arg_double(tx, args[0], HF__ERROR_FLOAT, &place->longitude) ||
        !hf__arg_double(tx, args[1], HF__ERROR_FLOAT, &place->latitude))
        return false;
    if (fabs(place->longitude) > HF__GEO_LONGITUDE_MAX ||
        fabs(place->latitude) > HF__GEO_LATITUDE_MAX)
        hf__reply_error(tx, "ERR invalid longitude,latitude pair %f,%f",
                        place->longitude, place->latitude);
    return !tx->out->failed;
}

/* In metres. false: replied with an error. */
static bool read_unit(hf__tx *tx, hf_bytes arg, double *unit)
{
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1}, {"km", 1000}, {"ft", 0.3048}, {"mi", 1609.34}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        *unit = units[i].metres;
        if (hf__arg_is(arg, units[i].name))
            return true;
    }
    return hf__reply_error(
        tx, "ERR unsupported unit provided. please use M, KM, FT, "
            "MI");
}

static void reply_distance(hf__tx *tx, double distance)
{
    int64_t parts = llrint(distance * 10000);
    char text[HF__NUMBER_TEXT_SIZE];

    hf__reply_bytes(tx, text,
                    (size_t)snprintf(text, sizeof(text),
                                     "%" PRId64 ".%04" PRId64, parts / 10000,
                                     parts % 10000));
}

static void reply_degrees(hf__tx *tx, double degrees)
{
    char text[HF__LONG_FLOAT_SIZE];

    if (tx->out->resp3)
        hf__reply_double(tx, degrees);
    else
        hf__reply_bytes(tx, text, hf__long_float_put(text, degrees));
}

static void reply_place(hf__tx *tx, hf__geo place)
{
    hf__reply_array(tx, 2);
    reply_degrees(tx, place.longitude);
    reply_degrees(tx, place.latitude);
}

/* ------------------------------------------------------------------ members */

/* As ZADD with scores in place of coordinates. */
static void add_places(hf__tx *tx, const hf_bytes *args, size_t count,
                       size_t first)
{
    size_t number = (count - first) / 3;
    size_t size = first + 2 * number;
    hf_bytes *words = hf__tx_alloc(tx, size * sizeof(*words));
    char *text = hf__tx_alloc(tx, number * HF__NUMBER_TEXT_SIZE);
    hf__geo place;

    if (words == NULL || text == NULL)
        return;
    memcpy(words, args, first * sizeof(*words));
    for (size_t i = 0; i < number; i++, text += HF__NUMBER_TEXT_SIZE) {
        if (!read_place(tx, args + first + 3 * i, &place))
            return;
        words[first + 2 * i] = hf_view(
            text,
            hf__number_put_integer(
                text, (int64_t)hf__geo_score(place, HF__GEO_LATITUDE_MAX)));
        words[first + 2 * i + 1] = args[first + 3 * i + 2];
    }
    hf__zadd_run(tx, words, size);
}

static void run_geoadd(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool nx = false;
    bool xx = false;
    size_t i;

    for (i = 2; i < count; i++) {
        if (hf__arg_is(args[i], "nx"))
            nx = true;
        else if (hf__arg_is(args[i], "xx"))
            xx = true;
        else if (!hf__arg_is(args[i], "ch"))
            break;
    }
    if ((count - i) % 3 != 0 || (nx && xx))
        hf__reply_error(tx, HF__ERROR_SYNTAX);
    else
        add_places(tx, args, count, i);
}

static bool find_place(hf__tx *tx, hf__record *record, hf_bytes member,
                       hf__geo *place)
{
    double score;

    if (record == NULL || !hf__zset_score(tx, record, member, &score))
        return false;
    *place = hf__geo_place(score);
    return true;
}

/* The usual geohash, whose latitudes end at the poles: 52 bits as 11 digits, of
 * which the last would need bits that there are not. */
static void reply_geohash(hf__tx *tx, hf__geo place)
{
    uint64_t bits = hf__geo_score(place, 90);
    char text[11];

    for (int i = 0; i < 11; i++)
        text[i] =
            "0123456789bcdefghjkmnpqrstuvwxyz"[i < 10
                                                   ? bits >> (47 - 5 * i) & 31
                                                   : 0];
    hf__reply_bytes(tx, text, sizeof(text));
}

/* GEOPOS and GEOHASH. */
static void run_places(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool hashes = (tx->command->flags & AS_GEOHASH) != 0;
    hf__record *record;
    hf__geo place;

    if (!hf__zset_open(tx, args[1], &record))
        return;
    hf__reply_array(tx, count - 2);
    for (size_t i = 2; i < count; i++) {
        bool found = find_place(tx, record, args[i], &place);

        if (found && hashes)
            reply_geohash(tx, place);
        else if (found)
            reply_place(tx, place);
        else if (hashes)
            hf__reply_nil(tx);
        else
            hf__reply_nil_array(tx);
    }
}

static void run_geodist(hf__tx *tx, const hf_bytes *args, size_t count)
{
    double unit = 1;
    hf__record *record;
    hf__geo from, to;

    if (count > 5)
        hf__reply_error(tx, HF__ERROR_SYNTAX);
    if (count > 5 || (count == 5 && !read_unit(tx, args[4], &unit)) ||
        !hf__zset_open(tx, args[1], &record))
        return;
    if (find_place(tx, record, args[2], &from) &&
        find_place(tx, record, args[3], &to))
        reply_distance(tx, hf__geo_distance(from, to) / unit);
    else
        hf__reply_nil(tx);
}

/* ------------------------------------------------------------------- search */

typedef struct point {
    hf_bytes name;
    double score;
    hf__geo place;
    double distance;
} point;

typedef struct geo_search {
    hf__tx *tx;
    unsigned flags; /* the variants */
    hf__record *record;
    hf__geo_area area;
    double unit;
    bool from_member, from_place;
    bool by_radius, by_box;
    bool with_distance, with_hash, with_place;
    bool any;
    bool stores, stores_distance;
    int order; /* 1: the nearest first, -1: the farthest; 0: as found */
    int64_t limit;
    hf_bytes target;
    point *points;
    size_t count, capacity;
} geo_search;

/* The sides of a box, or a radius, and their unit. */
static bool read_shape(geo_search *what, const hf_bytes *args, bool box)
{
    hf__geo_area *area = &what->area;
    hf__tx *tx = what->tx;
    double width, height;

    if (!hf__arg_double(tx, args[0],
                        box ? "ERR need numeric width"
                            : "ERR need numeric radius",
                        &width) ||
        !hf__arg_double(tx, args[box ? 1 : 0], "ERR need numeric height",
                        &height))
        return false;
    if (width < 0 || height < 0)
        return hf__reply_error(tx, "ERR %s cannot be negative",
                               box ? "height or width" : "radius");
    if (!read_unit(tx, args[box ? 2 : 1], &what->unit))
        return false;
    area->half_width = width / 2 * what->unit;
    area->half_height = height / 2 * what->unit;
    area->radius =
        what->unit * sqrt(width / 2 * (width / 2) + height / 2 * (height / 2));
    if (!box)
        area->radius = area->half_width = area->half_height =
            width * what->unit;
    area->box = what->by_box = box;
    what->by_radius = !box;
    return true;
}

/* Without the key any member will do. */
static bool read_member(geo_search *what, hf_bytes member)
{
    what->from_member = true;
    if (what->record == NULL ||
        find_place(what->tx, what->record, member, &what->area.center))
        return true;
    return hf__reply_error(what->tx,
                           "ERR could not decode requested zset member");
}

static bool read_word(geo_search *what, hf_bytes arg)
{
    if (hf__arg_is(arg, "withdist"))
        what->with_distance = true;
    else if (hf__arg_is(arg, "withhash"))
        what->with_hash = true;
    else if (hf__arg_is(arg, "withcoord"))
        what->with_place = true;
    else if (hf__arg_is(arg, "any"))
        what->any = true;
    else if (hf__arg_is(arg, "asc"))
        what->order = 1;
    else if (hf__arg_is(arg, "desc"))
        what->order = -1;
    else if ((what->flags & SEARCH_STORE) && hf__arg_is(arg, "storedist"))
        what->stores_distance = true;
    else
        return false;
    return true;
}

/* Read a centre or a shape of GEOSEARCH; returns the number of arguments read,
 * 0: none, or replied with an error. */
static size_t read_area(geo_search *what, const hf_bytes *args, size_t left)
{
    if (left > 1 && !what->from_place && hf__arg_is(args[0], "frommember"))
        return read_member(what, args[1]) ? 2 : 0;
    if (left > 2 && !what->from_member && hf__arg_is(args[0], "fromlonlat")) {
        what->from_place = true;
        return read_place(what->tx, args + 1, &what->area.center) ? 3 : 0;
    }
    if (left > 2 && !what->by_box && hf__arg_is(args[0], "byradius"))
        return read_shape(what, args + 1, false) ? 3 : 0;
    if (left > 3 && !what->by_radius && hf__arg_is(args[0], "bybox"))
        return read_shape(what, args + 1, true) ? 4 : 0;
    return 0;
}

static size_t read_option(geo_search *what, const hf_bytes *args, size_t left)
{
    bool distance = hf__arg_is(args[0], "storedist");
    size_t taken = 0;

    if (read_word(what, args[0]))
        return 1;
    if (left > 1 && hf__arg_is(args[0], "count"))
        return hf__arg_from(what->tx, args[1], 1, "ERR COUNT must be > 0",
                            &what->limit)
                   ? 2
                   : 0;
    if (left > 1 && (what->flags & MAY_STORE) &&
        (distance || hf__arg_is(args[0], "store"))) {
        what->stores = true;
        what->stores_distance = distance;
        what->target = args[1];
        return 2;
    }
    if (what->flags & ANY_AREA)
        taken = read_area(what, args, left);
    if (taken == 0)
        hf__reply_error(what->tx, HF__ERROR_SYNTAX);
    return taken;
}

/* false: replied with an error. */
static bool check_options(const geo_search *what, hf_bytes name)
{
    const char *lacking = NULL;
    hf__tx *tx = what->tx;

    if (!what->from_member && !what->from_place)
        lacking = "FROMMEMBER or FROMLONLAT";
    else if (!what->by_radius && !what->by_box)
        lacking = "BYRADIUS and BYBOX";
    if (what->stores &&
        (what->with_distance || what->with_hash || what->with_place))
        hf__reply_error(tx,
                        "ERR %s is not compatible with WITHDIST, WITHHASH and "
                        "WITHCOORD options",
                        what->flags & SEARCH_STORE
                            ? "GEOSEARCHSTORE"
                            : "STORE option in GEORADIUS");
    else if ((what->flags & ANY_AREA) && lacking != NULL)
        hf__reply_error(tx, "ERR exactly one of %s can be specified for %.*s",
                        lacking, (int)name.size, (const char *)name.data);
    else if (what->any && what->limit == 0)
        hf__reply_error(tx, "ERR the ANY argument requires COUNT argument");
    return !tx->out->failed;
}

static bool read_options(geo_search *what, const hf_bytes *args, size_t count)
{
    size_t taken, i;

    if (what->flags & SEARCH_STORE) {
        what->stores = true;
        what->target = args[1];
        i = 3;
    } else if (what->flags & ANY_AREA) {
        i = 2;
    } else if (what->flags & AROUND_MEMBER) {
        i = 5;
        if (!read_member(what, args[2]) ||
            (what->record != NULL && !read_shape(what, args + 3, false)))
            return false;
    } else {
        i = 6;
        if (!read_place(what->tx, args + 2, &what->area.center) ||
            !read_shape(what, args + 4, false))
            return false;
    }
    for (; i < count; i += taken) {
        taken = read_option(what, args + i, count - i);
        if (taken == 0)
            return false;
    }
    if (what->limit > 0 && what->order == 0 && !what->any)
        what->order = 1;
    return check_options(what, args[0]);
}

/* ------------------------------------------------------------------- result */

static bool is_enough(const geo_search *what)
{
    return what->any && what->count >= (uint64_t)what->limit;
}

/* false: fatal. */
static bool add_point(geo_search *what, hf_bytes name, double score)
{
    size_t capacity = what->capacity == 0 ? 16 : 2 * what->capacity;
    point found = {.name = name, .score = score, .place = hf__geo_place(score)};
    point *larger;

    if (!hf__tx_spend(what->tx, 200))
        return false;
    if (!hf__geo_is_in(&what->area, found.place, &found.distance))
        return true;
    if (what->count == what->capacity) {
        larger = hf__tx_alloc(what->tx, capacity * sizeof(*larger));
        if (larger == NULL)
            return false;
        if (what->count > 0)
            memcpy(larger, what->points, what->count * sizeof(*larger));
        what->points = larger;
        what->capacity = capacity;
    }
    what->points[what->count++] = found;
    return true;
}

static void find_points(geo_search *what)
{
    hf__geo_scores cells[HF__GEO_CELLS];
    size_t count = hf__geo_cover(&what->area, cells);
    hf__range_walk walk;
    hf_bytes member;
    double score;

    for (size_t i = 0; i < count && !is_enough(what); i++) {
        hf__range range = hf__range_init(HF__RANGE_SCORE, false);

        range.min = cells[i].min;
        range.max = cells[i].max;
        range.max_open = true;
        hf__range_begin(&walk, what->tx, what->record, &range);
        while (!is_enough(what) && hf__range_next(&walk, &member, &score) &&
               add_point(what, member, score))
            continue;
        hf__range_end(&walk);
    }
}

/* What is equally far stays as it was found. */
static int by_distance(const void *context, size_t a, size_t b)
{
    const geo_search *what = context;
    double left = what->points[a].distance;
    double right = what->points[b].distance;

    if (left < right || left > right)
        return left < right ? -what->order : what->order;
    return a < b ? -1 : a > b;
}

/* The points to give, as indexes in their order. NULL: fatal. */
static size_t *arrange_points(geo_search *what)
{
    size_t *order = hf__tx_alloc(what->tx, 2 * what->count * sizeof(*order));

    for (size_t i = 0; order != NULL && i < what->count; i++)
        order[i] = i;
    if (order != NULL && what->order != 0 && what->count > 1)
        hf__merge_sort(what->tx, order, order + what->count, what->count,
                       by_distance, what);
    if (what->limit > 0 && what->count > (uint64_t)what->limit)
        what->count = (size_t)what->limit;
    return what->tx->fatal == HF_OK ? order : NULL;
}

static void reply_point(const geo_search *what, const point *at)
{
    hf__tx *tx = what->tx;
    size_t more =
        (size_t)what->with_distance + what->with_hash + what->with_place;

    if (more > 0)
        hf__reply_array(tx, more + 1);
    hf__reply_bytes(tx, at->name.data, at->name.size);
    if (what->with_distance)
        reply_distance(tx, at->distance / what->unit);
    if (what->with_hash)
        hf__reply_integer(tx, hf__number_truncated(at->score));
    if (what->with_place)
        reply_place(tx, at->place);
}

static void store_points(const geo_search *what, const size_t *order)
{
    hf__tx *tx = what->tx;
    hf__members list;

    hf__members_init(&list, tx);
    for (size_t i = 0; i < what->count; i++) {
        const point *at = &what->points[order[i]];
        double distance = at->distance / what->unit;

        if (!hf__members_add(&list, at->name,
                             what->stores_distance ? distance : at->score))
            return;
    }
    hf__members_sort(&list);
    if (tx->fatal == HF_OK)
        hf__members_store(&list, what->target);
    if (list.count > 0)
        hf__key_event(tx, HF__EVENT_ZSET,
                      what->flags & ANY_AREA ? "geosearchstore"
                                             : "georadiusstore",
                      what->target);
}

static void run_search(hf__tx *tx, const hf_bytes *args, size_t count)
{
    geo_search what = {.tx = tx, .flags = tx->command->flags, .unit = 1};
    hf_bytes source = args[what.flags & SEARCH_STORE ? 2 : 1];
    size_t *order;

    if (!hf__zset_open(tx, source, &what.record) ||
        !read_options(&what, args, count))
        return;
    if (what.record != NULL)
        find_points(&what);
    order = arrange_points(&what);
    if (order == NULL)
        return;
    if (what.stores) {
        store_points(&what, order);
        return;
    }
    hf__reply_array(tx, what.count);
    for (size_t i = 0; i < what.count; i++)
        reply_point(&what, &what.points[order[i]]);
}

#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_geo[] = {
    {"geoadd", GROWS, run_geoadd},
    {"geodist", 0, run_geodist},
    {"geohash", AS_GEOHASH, run_places},
    {"geopos", 0, run_places},
    {"georadius", GROWS | MAY_STORE, run_search},
    {"georadius_ro", 0, run_search},
    {"georadiusbymember", GROWS | AROUND_MEMBER | MAY_STORE, run_search},
    {"georadiusbymember_ro", AROUND_MEMBER, run_search},
    {"geosearch", ANY_AREA, run_search},
    {"geosearchstore", GROWS | ANY_AREA | SEARCH_STORE, run_search},
    {NULL, 0, NULL}};
