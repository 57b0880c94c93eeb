/* SPDX-License-Identifier: Apache-2.0 */
/*
 * geohash.c - see geohash.h. Every digit of a reply depends on the order of
 * these floating-point operations, which is Redis's.
 */
#include "engine/keys/geohash.h"

#include <math.h>

#include "engine/keys/number_text.h"

#define STEPS 26
#define EARTH_RADIUS 6372797.560856    /* m */
#define HALF_CIRCUMFERENCE 20037726.37 /* m, at the equator */
#define DEGREE (M_PI / 180.0)

/* A part of the world, after so many halvings in both directions. */
typedef struct cell {
    uint32_t x, y; /* from the south-west */
    int steps;     /* 0: none */
} cell;

typedef struct edges {
    double west, south, east, north;
} edges;

static const uint64_t masks[] = {
    UINT64_C(0x5555555555555555), UINT64_C(0x3333333333333333),
    UINT64_C(0x0f0f0f0f0f0f0f0f), UINT64_C(0x00ff00ff00ff00ff),
    UINT64_C(0x0000ffff0000ffff), UINT64_C(0x00000000ffffffff)};

/* A blank before each bit of 32. */
static uint64_t spread_bits(uint64_t bits)
{
    for (int i = 4; i >= 0; i--)
        bits = (bits | bits << (1 << i)) & masks[i];
    return bits;
}

static uint32_t gather_bits(uint64_t bits)
{
    bits &= masks[0];
    for (int i = 0; i < 5; i++)
        bits = (bits | bits >> (1 << i)) & masks[i + 1];
    return (uint32_t)bits;
}

static uint64_t cell_bits(cell at)
{
    return spread_bits(at.y) | spread_bits(at.x) << 1;
}

static cell find_cell(hf__geo place, double latitude_max, int steps)
{
    double count = (double)(UINT64_C(1) << steps);
    double x =
        (place.longitude + HF__GEO_LONGITUDE_MAX) / (2 * HF__GEO_LONGITUDE_MAX);
    double y = (place.latitude + latitude_max) / (2 * latitude_max);

    return (cell){(uint32_t)(x * count), (uint32_t)(y * count), steps};
}

static double place_edge(uint32_t number, int steps, double max)
{
    return -max +
           (double)number / (double)(UINT64_C(1) << steps) * (max - -max);
}

static edges edges_of(cell at)
{
    return (edges){place_edge(at.x, at.steps, HF__GEO_LONGITUDE_MAX),
                   place_edge(at.y, at.steps, HF__GEO_LATITUDE_MAX),
                   place_edge(at.x + 1, at.steps, HF__GEO_LONGITUDE_MAX),
                   place_edge(at.y + 1, at.steps, HF__GEO_LATITUDE_MAX)};
}

uint64_t hf__geo_score(hf__geo place, double latitude_max)
{
    return cell_bits(find_cell(place, latitude_max, STEPS));
}

static double clamp_degrees(double value, double max)
{
    return value > max ? max : value < -max ? -max : value;
}

/* Any number may be a score. */
hf__geo hf__geo_place(double score)
{
    const double half = 0x1p63;
    uint64_t bits =
        score >= half
            ? (uint64_t)hf__number_truncated(score - half) ^ UINT64_C(1) << 63
            : (uint64_t)hf__number_truncated(score);
    edges around =
        edges_of((cell){gather_bits(bits >> 1), gather_bits(bits), STEPS});

    return (hf__geo){
        clamp_degrees((around.west + around.east) / 2, HF__GEO_LONGITUDE_MAX),
        clamp_degrees((around.south + around.north) / 2, HF__GEO_LATITUDE_MAX)};
}

/* --------------------------------------------------------------- distances */

static double distance_north(double a, double b)
{
    return EARTH_RADIUS * fabs(b * DEGREE - a * DEGREE);
}

double hf__geo_distance(hf__geo a, hf__geo b)
{
    double south = a.latitude * DEGREE;
    double north = b.latitude * DEGREE;
    double v = sin((b.longitude * DEGREE - a.longitude * DEGREE) / 2);
    double u = sin((north - south) / 2);

    if (fpclassify(v) == FP_ZERO)
        return distance_north(a.latitude, b.latitude);
    return 2.0 * EARTH_RADIUS *
           asin(sqrt(u * u + cos(south) * cos(north) * v * v));
}

bool hf__geo_is_in(const hf__geo_area *area, hf__geo place, double *distance)
{
    hf__geo level = {area->center.longitude, place.latitude};

    if (area->box && (distance_north(place.latitude, area->center.latitude) >
                          area->half_height ||
                      hf__geo_distance(place, level) > area->half_width))
        return false;
    *distance = hf__geo_distance(area->center, place);
    return area->box || !(*distance > area->radius);
}

/* ------------------------------------------------------------------- cover */

/* How often to halve the world, so that a cell and its neighbours are mostly
 * enough. Towards the poles cells are narrower. */
static int choose_steps(double radius, double latitude)
{
    int steps = -1;

    if (fpclassify(radius) == FP_ZERO)
        return STEPS;
    for (; radius < HALF_CIRCUMFERENCE; radius *= 2)
        steps++;
    steps -= (fabs(latitude) > 66) + (fabs(latitude) > 80);
    return steps < 1 ? 1 : steps > STEPS ? STEPS : steps;
}

static edges bound_area(const hf__geo_area *area)
{
    double latitude = area->center.latitude;
    double longitude = area->center.longitude;
    double high = area->half_height / EARTH_RADIUS / DEGREE;
    double edge = latitude < 0 ? latitude - high : latitude + high;
    double wide = area->half_width / EARTH_RADIUS / cos(edge * DEGREE) / DEGREE;

    return (edges){longitude - wide, latitude - high, longitude + wide,
                   latitude + high};
}

/* The number of a neighbour; the last one is followed by the first. */
static uint32_t move_number(uint32_t number, int by, int steps)
{
    return by == 0 ? number
                   : (number + (uint32_t)by) & ((UINT32_C(1) << steps) - 1);
}

static cell find_neighbour(cell at, int east, int north)
{
    return (cell){move_number(at.x, east, at.steps),
                  move_number(at.y, north, at.steps), at.steps};
}

static const struct {
    int east, north;
} order[HF__GEO_CELLS] = {{0, 0}, {0, 1},  {0, -1}, {1, 0},  {-1, 0},
                          {1, 1}, {-1, 1}, {1, -1}, {-1, -1}};

/* Do the neighbours reach as far as the area? */
static bool reaches_edges(cell center, const edges *bounds)
{
    return !(edges_of(find_neighbour(center, 0, 1)).north < bounds->north) &&
           !(edges_of(find_neighbour(center, 0, -1)).south > bounds->south) &&
           !(edges_of(find_neighbour(center, 1, 0)).east < bounds->east) &&
           !(edges_of(find_neighbour(center, -1, 0)).west > bounds->west);
}

/* Is the area known not to be on this side of the centre's cell? */
static bool is_needless(const edges *center, const edges *bounds, size_t at)
{
    return (order[at].north < 0 && center->south < bounds->south) ||
           (order[at].north > 0 && center->north > bounds->north) ||
           (order[at].east < 0 && center->west < bounds->west) ||
           (order[at].east > 0 && center->east > bounds->east);
}

size_t hf__geo_cover(const hf__geo_area *area,
                     hf__geo_scores cells[HF__GEO_CELLS])
{
    edges bounds = bound_area(area);
    int steps = choose_steps(area->radius, area->center.latitude);
    cell center = find_cell(area->center, HF__GEO_LATITUDE_MAX, steps);
    cell last = {0};
    size_t count = 0;
    edges around;

    if (steps > 1 && !reaches_edges(center, &bounds))
        center = find_cell(area->center, HF__GEO_LATITUDE_MAX, --steps);
    around = edges_of(center);
    for (size_t i = 0; i < HF__GEO_CELLS; i++) {
        cell at = find_neighbour(center, order[i].east, order[i].north);
        int unused = 2 * (STEPS - steps);
        uint64_t bits = cell_bits(at);

        /* In a large area opposite neighbours may be the same cell. */
        if ((steps >= 2 && is_needless(&around, &bounds, i)) ||
            (last.steps > 0 && at.x == last.x && at.y == last.y))
            continue;
        if (i > 0)
            last = at;
        cells[count++] = (hf__geo_scores){(double)(bits << unused),
                                          (double)((bits + 1) << unused)};
    }
    return count;
}
