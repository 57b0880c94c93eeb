/* SPDX-License-Identifier: Apache-2.0 */
/*
 * geohash.h - places on the earth as scores of a sorted set, as Redis has them:
 * the world is halved 26 times in both directions, and the bits that say in
 * which half a place is are interleaved, that of the longitude first.
 */
#ifndef HF__ENGINE_GEOHASH_H
#define HF__ENGINE_GEOHASH_H

#include "holdfast/base.h"

#define HF__GEO_LONGITUDE_MAX 180.0
/* Of the Mercator projection. */
#define HF__GEO_LATITUDE_MAX 85.05112878

/* In degrees. */
typedef struct hf__geo {
    double longitude, latitude;
} hf__geo;

/* The score of a place within the limits above; its bits are those of a geohash
 * whose latitudes end at `latitude_max`. */
uint64_t hf__geo_score(hf__geo place, double latitude_max);
/* The middle of what has this score. */
hf__geo hf__geo_place(double score);
/* In metres. */
double hf__geo_distance(hf__geo a, hf__geo b);

/* A circle, or a box whose edges are parallels and meridians; in metres. */
typedef struct hf__geo_area {
    bool box;
    hf__geo center;
    double radius;                  /* of a box: from its centre to a corner */
    double half_width, half_height; /* of a circle: the radius */
} hf__geo_area;

bool hf__geo_is_in(const hf__geo_area *area, hf__geo place, double *distance);

/* From `min` up to, without, `max`. */
typedef struct hf__geo_scores {
    double min, max;
} hf__geo_scores;

#define HF__GEO_CELLS 9
/* The scores of all places in the area, and of more, in the order in which
 * Redis looks at them; returns how many ranges. */
size_t hf__geo_cover(const hf__geo_area *area,
                     hf__geo_scores cells[HF__GEO_CELLS]);

#endif
