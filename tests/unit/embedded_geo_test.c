/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_geo_test.c - commands on places: replies and error texts as recorded
 * from redis-server 7.0.15, in this order.
 */
#include "embedded_store.h"

static const struct {
    const char *line;
    const char *want;
} rows[] = {
    /* clang-format off */
    {"geoadd sicily 13.361389 38.115556 Palermo 15.087269 37.502669 Catania", "i:2"},
    {"geoadd sicily nx 0 0 Palermo", "i:0"},
    {"geoadd sicily xx ch 13.583333 37.316667 Palermo", "i:1"},
    {"geoadd sicily ch 13.361389 38.115556 Palermo 13.583333 37.316667 Agrigento", "i:2"},
    {"zrange sicily 0 -1 withscores", "[s:Agrigento, s:3479030013248308, s:Palermo, s:3479099956230698, s:Catania, s:3479447370796909]"},
    {"geopos sicily Palermo none Catania", "[[s:13.36138933897018433, s:38.11555639549629859], nil, [s:15.08726745843887329, s:37.50266842333162032]]"},
    {"geohash sicily Palermo Catania none", "[s:sqc8b49rny0, s:sqdtr74hyu0, nil]"},
    {"geodist sicily Palermo Catania", "s:166274.1516"},
    {"geodist sicily Palermo Catania km", "s:166.2742"},
    {"geodist sicily Palermo Catania MI", "s:103.3182"},
    {"geodist sicily Palermo Catania ft", "s:545518.8700"},
    {"geodist sicily Palermo none", "nil"},
    {"geodist none a b", "nil"},
    {"geodist sicily Palermo Catania x", "unsupported unit provided. please use M, KM, FT, MI"},
    {"geodist sicily Palermo Catania km x", "syntax error"},
    {"geodist sicily Palermo Palermo", "s:0.0000"},
    {"geopos sicily", "[]"},
    {"geopos none a", "[nil]"},
    {"geohash none a", "[nil]"},
    {"georadius sicily 15 37 200 km", "[s:Agrigento, s:Palermo, s:Catania]"},
    {"georadius sicily 15 37 200 km withdist withcoord withhash", "[[s:Agrigento, s:130.4235, i:3479030013248308, [s:13.5833314061164856, s:37.31666804993816555]], [s:Palermo, s:190.4424, i:3479099956230698, [s:13.36138933897018433, s:38.11555639549629859]], [s:Catania, s:56.4413, i:3479447370796909, [s:15.08726745843887329, s:37.50266842333162032]]]"},
    {"georadius sicily 15 37 200 km asc", "[s:Catania, s:Agrigento, s:Palermo]"},
    {"georadius sicily 15 37 200 km desc count 2", "[s:Palermo, s:Agrigento]"},
    {"georadius sicily 15 37 200 km count 1 any withdist", "[[s:Agrigento, s:130.4235]]"},
    {"georadius sicily 15 37 200 km any", "the ANY argument requires COUNT argument"},
    {"georadius sicily 15 37 200 km count 0", "COUNT must be > 0"},
    {"georadius sicily 15 37 200 km count x", "value is not an integer or out of range"},
    {"georadius sicily 15 37 -1 km", "radius cannot be negative"},
    {"georadius sicily 15 37 x km", "need numeric radius"},
    {"georadius sicily 15 37 1 yd", "unsupported unit provided. please use M, KM, FT, MI"},
    {"georadius sicily 15 37 1 km foo", "syntax error"},
    {"georadius sicily 15 37 1 km count", "syntax error"},
    {"georadius sicily 181 37 1 km", "invalid longitude,latitude pair 181.000000,37.000000"},
    {"georadius none 15 37 1 km", "[]"},
    {"georadius none 15 37 1 km store to", "i:0"},
    {"georadius sicily 15 37 200 km store to", "i:3"},
    {"zrange to 0 -1 withscores", "[s:Agrigento, s:3479030013248308, s:Palermo, s:3479099956230698, s:Catania, s:3479447370796909]"},
    {"georadius sicily 15 37 200 km storedist to count 2", "i:2"},
    {"zrange to 0 -1 withscores", "[s:Catania, s:56.441257870158204, s:Agrigento, s:130.42348706714702]"},
    {"georadius sicily 15 37 1 m store to", "i:0"},
    {"exists to", "i:0"},
    {"georadius sicily 15 37 200 km store to withdist", "STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options"},
    {"georadius_ro sicily 15 37 200 km store to", "syntax error"},
    {"georadius_ro sicily 15 37 200 km desc", "[s:Palermo, s:Agrigento, s:Catania]"},
    {"georadiusbymember sicily Agrigento 100 km", "[s:Agrigento, s:Palermo]"},
    {"georadiusbymember sicily none 100 km", "could not decode requested zset member"},
    {"georadiusbymember none none x x", "[]"},
    {"georadiusbymember_ro sicily Agrigento 100 km withdist", "[[s:Agrigento, s:0.0000], [s:Palermo, s:90.9778]]"},
    {"geosearch sicily fromlonlat 15 37 byradius 200 km asc", "[s:Catania, s:Agrigento, s:Palermo]"},
    {"geosearch sicily fromlonlat 15 37 bybox 400 400 km asc withdist", "[[s:Catania, s:56.4413], [s:Agrigento, s:130.4235], [s:Palermo, s:190.4424]]"},
    {"geosearch sicily frommember Palermo bybox 400 50 km desc count 2", "[s:Palermo]"},
    {"geosearch sicily frommember Palermo fromlonlat 15 37 bybox 400 50 km", "syntax error"},
    {"geosearch sicily bybox 400 50 km withdist asc desc", "exactly one of FROMMEMBER or FROMLONLAT can be specified for geosearch"},
    {"geosearch sicily fromlonlat 15 37 asc withdist withcoord", "exactly one of BYRADIUS and BYBOX can be specified for geosearch"},
    {"geosearch sicily fromlonlat 15 37 bybox 1 1 km byradius 1 km", "syntax error"},
    {"geosearch sicily fromlonlat 15 37 bybox -1 1 km", "height or width cannot be negative"},
    {"geosearch sicily fromlonlat 15 37 bybox x 1 km", "need numeric width"},
    {"geosearch sicily fromlonlat 15 37 bybox 1 x km", "need numeric height"},
    {"geosearch sicily fromlonlat 15 37 byradius 1 km storedist", "syntax error"},
    {"geosearch sicily frommember none byradius 1 km", "could not decode requested zset member"},
    {"geosearch none frommember none byradius 1 km", "[]"},
    {"geosearchstore to sicily fromlonlat 15 37 byradius 200 km", "i:3"},
    {"zrange to 0 -1 withscores", "[s:Agrigento, s:3479030013248308, s:Palermo, s:3479099956230698, s:Catania, s:3479447370796909]"},
    {"geosearchstore to sicily fromlonlat 15 37 byradius 200 km storedist asc count 2", "i:2"},
    {"zrange to 0 -1 withscores", "[s:Catania, s:56.441257870158204, s:Agrigento, s:130.42348706714702]"},
    {"geosearchstore to sicily fromlonlat 15 37 byradius 200 km withdist", "GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options"},
    {"geosearchstore to none fromlonlat 15 37 byradius 200 km", "i:0"},
    {"exists to", "i:0"},
    /* the edges of the world */
    {"geoadd edge 180 85.05112878 ne -180 -85.05112878 sw 180 0 e -180 0 w 0 0 middle", "i:5"},
    {"zrange edge 0 -1 withscores", "[s:sw, s:0, s:w, s:1125899906842624, s:middle, s:3377699720527872, s:e, s:10133099161583616, s:ne, s:13510798882111488]"},
    {"geopos edge ne sw e w middle", "[[s:180, s:85.0511287799999991], [s:-179.99999731779098511, s:-85.05112751263942528], [s:180, s:0.00000126736058093], [s:-179.99999731779098511, s:0.00000126736058093], [s:0.00000268220901489, s:0.00000126736058093]]"},
    {"geohash edge ne sw e w middle", "[s:bp05b5048p0, s:00bh0hbj200, s:80000000000, s:80000000000, s:s0000000000]"},
    {"geodist edge e w", "s:0.2983"},
    {"georadius edge 179.9 0 100 km withdist", "[[s:w, s:11.1229]]"},
    {"georadius edge 0 0 30000 km", "[s:middle, s:w, s:sw]"},
    {"geosearch edge fromlonlat 0 0 bybox 40000 40000 km", "[s:middle, s:sw]"},
    {"geoadd edge 180.1 0 x", "invalid longitude,latitude pair 180.100000,0.000000"},
    {"geoadd edge 0 85.06 x", "invalid longitude,latitude pair 0.000000,85.060000"},
    {"geoadd edge x 0 x", "value is not a valid float"},
    {"geoadd edge nx xx 0 0 x", "syntax error"},
    {"geoadd edge 0 0 x y", "syntax error"},
    {"geoadd edge ch 0 0", "syntax error"},
    /* any score is a place */
    {"zadd odd -1 a inf b -inf c 1e19 d 9007199254740993 e", "i:5"},
    {"geopos odd a b c d e", "[[s:180, s:85.0511287799999991], [s:-179.99999731779098511, s:-85.05112751263942528], [s:180, s:-85.05112751263942528], [s:180, s:85.0511287799999991], [s:180, s:-85.05112751263942528]]"},
    {"set s x", "+:OK"},
    {"geoadd s 0 0 a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"geopos s a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"geodist s a b", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"geohash s a", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"georadius s 0 0 1 x", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"geosearch s frommember a byradius 1 m", "WRONGTYPE Operation against a key holding the wrong kind of value"},
    {"geosearchstore s edge fromlonlat 0 0 byradius 1 m", "i:1"},
    {"type s", "+:zset"},
    {"geoadd", "wrong number of arguments for 'geoadd' command"},
    {"geosearch s", "wrong number of arguments for 'geosearch' command"},
    /* clang-format on */
};

EACH_TEST_WITH(open_volatile_place, remove_state_place);

TEST(geo_commands_answer_as_redis_does)
{
    place *at = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(at->store, rows[i].line, rows[i].want);
}
