/* SPDX-License-Identifier: Apache-2.0 */
/* name_set.c - see name_set.h. */
#include "util/name_set.h"

#include "util/digits.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/sha1.h"

#define FIRST_ROOM 1024

static hf__name_digest digest_of(hf_bytes name)
{
    char text[HF__SHA1_HEX_SIZE];
    hf__name_digest digest = {{0, 0}};

    hf__sha1_hex(name.data, name.size, text);
    for (int i = 0; i < 32; i++)
        digest.words[i / 16] =
            digest.words[i / 16] << 4 | (uint64_t)hf__hex_value(text[i]);
    return digest;
}

static bool is_empty(const hf__name_digest *place)
{
    return (place->words[0] | place->words[1]) == 0;
}

/* Where the digest is, or is to be. */
static hf__name_digest *place_of(hf__name_digest *places, size_t room,
                                 hf__name_digest digest)
{
    size_t at = digest.words[0] & (room - 1);

    /* A third of the room is always empty. */
    while (!is_empty(&places[at]) && (places[at].words[0] != digest.words[0] ||
                                      places[at].words[1] != digest.words[1]))
        at = (at + 1) & (room - 1);
    return &places[at];
}

static bool make_room(hf__name_set *set)
{
    size_t room = set->room == 0 ? FIRST_ROOM : set->room * 2;
    hf__name_digest *places;

    if (set->count < set->room / 3 * 2)
        return true;
    places = hf__calloc(room, sizeof(*places));
    if (places == NULL)
        return false;
    for (size_t i = 0; i < set->room; i++) {
        if (!is_empty(&set->places[i]))
            *place_of(places, room, set->places[i]) = set->places[i];
    }
    hf__free(set->places);
    set->places = places;
    set->room = room;
    return true;
}

hf_status hf__name_set_add(hf__name_set *set, hf_bytes name, bool *fresh,
                           hf_error *err)
{
    hf__name_digest digest = digest_of(name);
    hf__name_digest *place;

    if (!make_room(set))
        return hf__fail(err, HF_NO_MEMORY, "%zu names of keys", set->count);
    place = place_of(set->places, set->room, digest);
    *fresh = is_empty(place);
    if (*fresh) {
        *place = digest;
        set->count++;
    }
    return HF_OK;
}

bool hf__name_set_has(const hf__name_set *set, hf_bytes name)
{
    return set->room > 0 &&
           !is_empty(place_of(set->places, set->room, digest_of(name)));
}

void hf__name_set_done(hf__name_set *set)
{
    hf__free(set->places);
}
