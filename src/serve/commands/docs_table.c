/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs_table.c - what COMMAND DOCS says: see command_docs.h. The rows of a
 * group follow its name; those of its subcommands, a command's.
 */
#include "serve/commands/command_docs.h"

#include <stddef.h>

/* clang-format off */
const char *const hf__docs_table[] = {
    "@string",
    "append 2.0.0 key value: Append to a string.",
    "decr 1.0.0 key: Subtract one from a number.",
    "decrby 1.0.0 key decrement: Subtract from a number.",
    "get 1.0.0 key: Return a string.",
    "getdel 6.2.0 key: Return a string and delete its key.",
    "getex 6.2.0 key [EX seconds|PX milliseconds|EXAT unix-time|PXAT "
    "unix-time-ms|PERSIST]: Return a string and change when it expires.",
    "getrange 2.4.0 key start end: Return a part of a string.",
    "getset 1.0.0 key value: Replace a string and return the old one.",
    "incr 1.0.0 key: Add one to a number.",
    "incrby 1.0.0 key increment: Add to a number.",
    "incrbyfloat 2.6.0 key increment: Add to a number with a fraction.",
    "lcs 7.0.0 key1 key2 [LEN] [IDX] [MINMATCHLEN length] [WITHMATCHLEN]: "
    "Return the longest common subsequence of two strings.",
    "mget 1.0.0 key...: Return several strings.",
    "mset 1.0.1 (key value)...: Set several strings.",
    "msetnx 1.0.1 (key value)...: "
    "Set several strings if none of the keys exists.",
    "psetex 2.6.0 key milliseconds value: Set a string that expires.",
    "set 1.0.0 key value [NX|XX] [GET] [EX seconds|PX milliseconds|EXAT "
    "unix-time|PXAT unix-time-ms|KEEPTTL]: Set a string.",
    "setex 2.0.0 key seconds value: Set a string that expires.",
    "setnx 1.0.0 key value: Set a string if the key does not exist.",
    "setrange 2.2.0 key offset value: Overwrite a part of a string.",
    "strlen 2.2.0 key: Return the length of a string.",
    "substr 1.0.0 key start end: Return a part of a string.",
    "@hash",
    "hdel 2.0.0 key field...: Delete fields.",
    "hexists 2.0.0 key field: Tell whether a field exists.",
    "hexpire 7.4.0 key seconds [NX|XX|GT|LT] FIELDS numfields field...: "
    "Let fields expire after a time.",
    "hexpireat 7.4.0 key unix-time [NX|XX|GT|LT] FIELDS numfields field...: "
    "Let fields expire at an instant.",
    "hexpiretime 7.4.0 key FIELDS numfields field...: "
    "Return when fields expire, in seconds.",
    "hget 2.0.0 key field: Return the value of a field.",
    "hgetall 2.0.0 key: Return all fields and values.",
    "hincrby 2.0.0 key field increment: Add to the number in a field.",
    "hincrbyfloat 2.6.0 key field increment: "
    "Add to the number with a fraction in a field.",
    "hkeys 2.0.0 key: Return all fields.",
    "hlen 2.0.0 key: Return the number of fields.",
    "hmget 2.0.0 key field...: Return the values of several fields.",
    "hmset 2.0.0 key (field value)...: Set several fields.",
    "hpersist 7.4.0 key FIELDS numfields field...: Keep fields from expiring.",
    "hpexpire 7.4.0 key milliseconds [NX|XX|GT|LT] FIELDS numfields field...: "
    "Let fields expire after a time.",
    "hpexpireat 7.4.0 key unix-time-ms [NX|XX|GT|LT] FIELDS numfields "
    "field...: Let fields expire at an instant.",
    "hpexpiretime 7.4.0 key FIELDS numfields field...: "
    "Return when fields expire, in milliseconds.",
    "hpttl 7.4.0 key FIELDS numfields field...: "
    "Return the time to live of fields, in milliseconds.",
    "hrandfield 6.2.0 key [count [WITHVALUES]]: "
    "Return fields chosen at random.",
    "hscan 2.8.0 key cursor [MATCH pattern] [COUNT count]: "
    "Return some of the fields and values, and a cursor.",
    "hset 2.0.0 key (field value)...: Set fields.",
    "hsetnx 2.0.0 key field value: Set a field if it does not exist.",
    "hstrlen 3.2.0 key field: Return the length of a field's value.",
    "httl 7.4.0 key FIELDS numfields field...: "
    "Return the time to live of fields, in seconds.",
    "hvals 2.0.0 key: Return all values.",
    "@list",
    "blmove 6.2.0 source destination (LEFT|RIGHT) (LEFT|RIGHT) timeout: "
    "Move an element to another list; wait for one.",
    "blmpop 7.0.0 timeout numkeys key... (LEFT|RIGHT) [COUNT count]: "
    "Remove elements of the first list that has any; wait for one.",
    "blpop 2.0.0 key... timeout: "
    "Remove the first element of a list; wait for one.",
    "brpop 2.0.0 key... timeout: "
    "Remove the last element of a list; wait for one.",
    "brpoplpush 2.2.0 source destination timeout: "
    "Move the last element to the front of another list; wait for one.",
    "lindex 1.0.0 key index: Return an element.",
    "linsert 2.2.0 key (BEFORE|AFTER) pivot element: "
    "Insert an element next to another.",
    "llen 1.0.0 key: Return the number of elements.",
    "lmove 6.2.0 source destination (LEFT|RIGHT) (LEFT|RIGHT): "
    "Move an element to another list.",
    "lmpop 7.0.0 numkeys key... (LEFT|RIGHT) [COUNT count]: "
    "Remove elements of the first list that has any.",
    "lpop 1.0.0 key [count]: Remove the first elements.",
    "lpos 6.0.6 key element [RANK rank] [COUNT num-matches] [MAXLEN len]: "
    "Return the index of equal elements.",
    "lpush 1.0.0 key element...: Add elements to the front.",
    "lpushx 2.2.0 key element...: "
    "Add elements to the front if the list exists.",
    "lrange 1.0.0 key start stop: Return a range of elements.",
    "lrem 1.0.0 key count element: Remove equal elements.",
    "lset 1.0.0 key index element: Replace an element.",
    "ltrim 1.0.0 key start stop: Remove all elements but a range.",
    "rpop 1.0.0 key [count]: Remove the last elements.",
    "rpoplpush 1.2.0 source destination: "
    "Move the last element to the front of another list.",
    "rpush 1.0.0 key element...: Add elements to the end.",
    "rpushx 2.2.0 key element...: Add elements to the end if the list exists.",
    "@set",
    "sadd 1.0.0 key member...: Add members.",
    "scard 1.0.0 key: Return the number of members.",
    "sdiff 1.0.0 key...: "
    "Return the members of the first set that no other has.",
    "sdiffstore 1.0.0 destination key...: "
    "Store the members of the first set that no other has.",
    "sinter 1.0.0 key...: Return the members that all sets have.",
    "sintercard 7.0.0 numkeys key... [LIMIT limit]: "
    "Return how many members all sets have.",
    "sinterstore 1.0.0 destination key...: "
    "Store the members that all sets have.",
    "sismember 1.0.0 key member: Tell whether a member exists.",
    "smembers 1.0.0 key: Return all members.",
    "smismember 6.2.0 key member...: Tell which of several members exist.",
    "smove 1.0.0 source destination member: Move a member to another set.",
    "spop 1.0.0 key [count]: Remove members chosen at random.",
    "srandmember 1.0.0 key [count]: Return members chosen at random.",
    "srem 1.0.0 key member...: Remove members.",
    "sscan 2.8.0 key cursor [MATCH pattern] [COUNT count]: "
    "Return some of the members, and a cursor.",
    "sunion 1.0.0 key...: Return the members that any set has.",
    "sunionstore 1.0.0 destination key...: Store the members that any set has.",
    "@sorted-set",
    "bzmpop 7.0.0 timeout numkeys key... (MIN|MAX) [COUNT count]: "
    "Remove members of the first sorted set that has any; wait for one.",
    "bzpopmax 5.0.0 key... timeout: "
    "Remove the member with the highest score; wait for one.",
    "bzpopmin 5.0.0 key... timeout: "
    "Remove the member with the lowest score; wait for one.",
    "zadd 1.2.0 key [NX|XX] [GT|LT] [CH] [INCR] (score member)...: "
    "Add members, or change their scores.",
    "zcard 1.2.0 key: Return the number of members.",
    "zcount 2.0.0 key min max: Count the members with scores in a range.",
    "zdiff 6.2.0 numkeys key... [WITHSCORES]: "
    "Return the members of the first sorted set that no other has.",
    "zdiffstore 6.2.0 destination numkeys key...: "
    "Store the members of the first sorted set that no other has.",
    "zincrby 1.2.0 key increment member: Add to the score of a member.",
    "zinter 6.2.0 numkeys key... [WEIGHTS weight...] [AGGREGATE (SUM|MIN|MAX)] "
    "[WITHSCORES]: Return the members that all sorted sets have.",
    "zintercard 7.0.0 numkeys key... [LIMIT limit]: "
    "Return how many members all sorted sets have.",
    "zinterstore 2.0.0 destination numkeys key... [WEIGHTS weight...] "
    "[AGGREGATE (SUM|MIN|MAX)]: Store the members that all sorted sets have.",
    "zlexcount 2.8.9 key min max: Count the members in a range of names.",
    "zmpop 7.0.0 numkeys key... (MIN|MAX) [COUNT count]: "
    "Remove members of the first sorted set that has any.",
    "zmscore 6.2.0 key member...: Return the scores of several members.",
    "zpopmax 5.0.0 key [count]: Remove the members with the highest scores.",
    "zpopmin 5.0.0 key [count]: Remove the members with the lowest scores.",
    "zrandmember 6.2.0 key [count [WITHSCORES]]: "
    "Return members chosen at random.",
    "zrange 1.2.0 key start stop [BYSCORE|BYLEX] [REV] [LIMIT offset count] "
    "[WITHSCORES]: Return members by rank, score or name.",
    "zrangebylex 2.8.9 key min max [LIMIT offset count]: "
    "Return members by name.",
    "zrangebyscore 1.0.5 key min max [WITHSCORES] [LIMIT offset count]: "
    "Return members by score.",
    "zrangestore 6.2.0 destination source min max [BYSCORE|BYLEX] [REV] [LIMIT "
    "offset count]: Store members by rank, score or name.",
    "zrank 2.0.0 key member: "
    "Return the rank of a member, from the lowest score.",
    "zrem 1.2.0 key member...: Remove members.",
    "zremrangebylex 2.8.9 key min max: Remove members by name.",
    "zremrangebyrank 2.0.0 key start stop: Remove members by rank.",
    "zremrangebyscore 1.2.0 key min max: Remove members by score.",
    "zrevrange 1.2.0 key start stop [WITHSCORES]: "
    "Return members by rank, from the highest score.",
    "zrevrangebylex 2.8.9 key max min [LIMIT offset count]: "
    "Return members by name, the last one first.",
    "zrevrangebyscore 2.2.0 key max min [WITHSCORES] [LIMIT offset count]: "
    "Return members by score, the highest first.",
    "zrevrank 2.0.0 key member: "
    "Return the rank of a member, from the highest score.",
    "zscan 2.8.0 key cursor [MATCH pattern] [COUNT count]: "
    "Return some of the members and scores, and a cursor.",
    "zscore 1.2.0 key member: Return the score of a member.",
    "zunion 6.2.0 numkeys key... [WEIGHTS weight...] [AGGREGATE (SUM|MIN|MAX)] "
    "[WITHSCORES]: Return the members that any sorted set has.",
    "zunionstore 2.0.0 destination numkeys key... [WEIGHTS weight...] "
    "[AGGREGATE (SUM|MIN|MAX)]: Store the members that any sorted set has.",
    "@bitmap",
    "bitcount 2.6.0 key [start end [BYTE|BIT]]: Count the bits that are set.",
    "bitfield 3.2.0 key [GET encoding offset]... [OVERFLOW (WRAP|SAT|FAIL)] "
    "[SET encoding offset value]... [INCRBY encoding offset increment]...: "
    "Read and change integers of any width.",
    "bitfield_ro 6.0.0 key [GET encoding offset]...: "
    "Read integers of any width.",
    "bitop 2.6.0 (AND|OR|XOR|NOT) destination key...: "
    "Store what bits of several strings combine to.",
    "bitpos 2.8.7 key bit [start [end [BYTE|BIT]]]: "
    "Return where the first bit of a value is.",
    "getbit 2.2.0 key offset: Return a bit.",
    "setbit 2.2.0 key offset value: Set or clear a bit.",
    "@hyperloglog",
    "pfadd 2.8.9 key [element]...: Add elements.",
    "pfcount 2.8.9 key...: Estimate the number of different elements.",
    "pfdebug 2.8.9 subcommand key: Return how a HyperLogLog is stored.",
    "pfmerge 2.8.9 destination [source]...: Merge HyperLogLogs.",
    "@geo",
    "geoadd 3.2.0 key [NX|XX] [CH] (longitude latitude member)...: Add places.",
    "geodist 3.2.0 key member1 member2 [M|KM|FT|MI]: "
    "Return the distance between two places.",
    "geohash 3.2.0 key [member]...: Return the geohashes of places.",
    "geopos 3.2.0 key [member]...: Return the coordinates of places.",
    "georadius 3.2.0 key longitude latitude radius (M|KM|FT|MI) [WITHCOORD] "
    "[WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC|DESC] [STORE destination] "
    "[STOREDIST destination]: Return or store the places around a point.",
    "georadius_ro 3.2.10 key longitude latitude radius (M|KM|FT|MI) "
    "[WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC|DESC]: Return "
    "the places around a point.",
    "georadiusbymember 3.2.0 key member radius (M|KM|FT|MI) [WITHCOORD] "
    "[WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC|DESC] [STORE destination] "
    "[STOREDIST destination]: Return or store the places around a member.",
    "georadiusbymember_ro 3.2.10 key member radius (M|KM|FT|MI) [WITHCOORD] "
    "[WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC|DESC]: Return the places "
    "around a member.",
    "geosearch 6.2.0 key (FROMMEMBER member|FROMLONLAT longitude latitude) "
    "(BYRADIUS radius (M|KM|FT|MI)|BYBOX width height (M|KM|FT|MI)) [ASC|DESC] "
    "[COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]: Return the places "
    "in a circle or a box.",
    "geosearchstore 6.2.0 destination source (FROMMEMBER member|FROMLONLAT "
    "longitude latitude) (BYRADIUS radius (M|KM|FT|MI)|BYBOX width height "
    "(M|KM|FT|MI)) [ASC|DESC] [COUNT count [ANY]] [STOREDIST]: Store the "
    "places in a circle or a box.",
    "@stream",
    "xack 5.0.0 key group id...: Acknowledge entries of a group.",
    "xadd 5.0.0 key [NOMKSTREAM] [(MAXLEN|MINID) [=|~] threshold [LIMIT "
    "count]] (*|id) (field value)...: Append an entry.",
    "xautoclaim 6.2.0 key group consumer min-idle-time start [COUNT count] "
    "[JUSTID]: Give idle entries to another consumer.",
    "xclaim 5.0.0 key group consumer min-idle-time id... [IDLE milliseconds] "
    "[TIME unix-time-ms] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID last-id]: "
    "Give entries to another consumer.",
    "xdel 5.0.0 key id...: Delete entries.",
    "xgroup 5.0.0: Make, change and delete groups of consumers.",
    "xgroup|create 5.0.0 key group (id|$) [MKSTREAM] [ENTRIESREAD "
    "entries-read]: Make a group.",
    "xgroup|createconsumer 6.2.0 key group consumer: Make a consumer.",
    "xgroup|delconsumer 5.0.0 key group consumer: Delete a consumer.",
    "xgroup|destroy 5.0.0 key group: Delete a group.",
    "xgroup|help 5.0.0: Return help.",
    "xgroup|setid 5.0.0 key group (id|$) [ENTRIESREAD entries-read]: "
    "Set the entry after which a group reads on.",
    "xinfo 5.0.0: Describe streams.",
    "xinfo|consumers 5.0.0 key group: Describe the consumers of a group.",
    "xinfo|groups 5.0.0 key: Describe the groups of a stream.",
    "xinfo|help 5.0.0: Return help.",
    "xinfo|stream 5.0.0 key [FULL [COUNT count]]: Describe a stream.",
    "xlen 5.0.0 key: Return the number of entries.",
    "xpending 5.0.0 key group [[IDLE min-idle-time] start end count "
    "[consumer]]: Describe the entries that are not acknowledged.",
    "xrange 5.0.0 key start end [COUNT count]: Return a range of entries.",
    "xread 5.0.0 [COUNT count] [BLOCK milliseconds] STREAMS key... id...: "
    "Return the entries after an id; wait for one.",
    "xreadgroup 5.0.0 GROUP group consumer [COUNT count] [BLOCK milliseconds] "
    "[NOACK] STREAMS key... id...: Return entries for a consumer; wait for "
    "one.",
    "xrevrange 5.0.0 key end start [COUNT count]: "
    "Return a range of entries, the newest first.",
    "xsetid 5.0.0 key last-id [ENTRIESADDED entries-added] [MAXDELETEDID "
    "max-deleted-id]: Set the last id of a stream.",
    "xtrim 5.0.0 key (MAXLEN|MINID) [=|~] threshold [LIMIT count]: "
    "Delete the oldest entries.",
    "@generic",
    "copy 6.2.0 source destination [DB destination-db] [REPLACE]: "
    "Copy a value to another key.",
    "del 1.0.0 key...: Delete keys.",
    "dump 2.6.0 key: Return a value as bytes for RESTORE.",
    "exists 1.0.0 key...: Count the keys that exist.",
    "expire 1.0.0 key seconds [NX|XX|GT|LT]: Let a key expire after a time.",
    "expireat 1.2.0 key unix-time [NX|XX|GT|LT]: "
    "Let a key expire at an instant.",
    "expiretime 7.0.0 key: Return when a key expires, in seconds.",
    "keys 1.0.0 pattern: Return all keys that match a pattern.",
    "move 1.0.0 key db: Move a key into another database.",
    "object 2.2.3: Return how a value is stored.",
    "object|encoding 2.2.3 key: Return the encoding that Redis would choose.",
    "object|freq 4.0.0 key: Return how often a key is used.",
    "object|help 6.2.0: Return help.",
    "object|idletime 2.2.3 key: Return for how long a key was not used.",
    "object|refcount 2.2.3 key: Return how many references a value has.",
    "persist 2.2.0 key: Keep a key from expiring.",
    "pexpire 2.6.0 key milliseconds [NX|XX|GT|LT]: "
    "Let a key expire after a time.",
    "pexpireat 2.6.0 key unix-time-ms [NX|XX|GT|LT]: "
    "Let a key expire at an instant.",
    "pexpiretime 7.0.0 key: Return when a key expires, in milliseconds.",
    "pttl 2.6.0 key: Return the time to live of a key, in milliseconds.",
    "randomkey 1.0.0: Return a key chosen at random.",
    "rename 1.0.0 key newkey: Give a key another name.",
    "renamenx 1.0.0 key newkey: Rename a key if the new name does not exist.",
    "restore 2.6.0 key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME "
    "seconds] [FREQ frequency]: Make a key of what DUMP returned.",
    "scan 2.8.0 cursor [MATCH pattern] [COUNT count] [TYPE type]: "
    "Return some of the keys, and a cursor.",
    "sort 1.0.0 key [BY pattern] [LIMIT offset count] [GET pattern]... "
    "[ASC|DESC] [ALPHA] [STORE destination]: Return or store elements in an "
    "order.",
    "sort_ro 7.0.0 key [BY pattern] [LIMIT offset count] [GET pattern]... "
    "[ASC|DESC] [ALPHA]: Return elements in an order.",
    "touch 3.2.1 key...: Count the keys that exist.",
    "ttl 1.0.0 key: Return the time to live of a key, in seconds.",
    "type 1.0.0 key: Return the type of a value.",
    "unlink 4.0.0 key...: Delete keys.",
    "wait 3.0.0 numreplicas timeout: "
    "Wait for replicas, of which there are none.",
    "@pubsub",
    "psubscribe 2.0.0 pattern...: "
    "Receive the messages of all channels that match.",
    "publish 2.0.0 channel message: Send a message.",
    "pubsub 2.8.0: Return who has subscribed.",
    "pubsub|channels 2.8.0 [pattern]: Return the channels with subscribers.",
    "pubsub|help 6.2.0: Return help.",
    "pubsub|numpat 2.8.0: Return the number of patterns.",
    "pubsub|numsub 2.8.0 [channel]...: "
    "Return the number of subscribers of channels.",
    "pubsub|shardchannels 7.0.0 [pattern]: "
    "Return the shard channels with subscribers.",
    "pubsub|shardnumsub 7.0.0 [shardchannel]...: "
    "Return the number of subscribers of shard channels.",
    "punsubscribe 2.0.0 [pattern]...: End subscriptions to patterns.",
    "spublish 7.0.0 shardchannel message: Send a message on a shard channel.",
    "ssubscribe 7.0.0 shardchannel...: Receive the messages of shard channels.",
    "subscribe 2.0.0 channel...: Receive the messages of channels.",
    "sunsubscribe 7.0.0 [shardchannel]...: "
    "End subscriptions to shard channels.",
    "unsubscribe 2.0.0 [channel]...: End subscriptions to channels.",
    "@scripting",
    "eval 2.6.0 script numkeys [key]... [arg]...: Run a script.",
    "eval_ro 7.0.0 script numkeys [key]... [arg]...: "
    "Run a script that only reads.",
    "evalsha 2.6.0 sha1 numkeys [key]... [arg]...: Run a cached script.",
    "evalsha_ro 7.0.0 sha1 numkeys [key]... [arg]...: "
    "Run a cached script that only reads.",
    "fcall 7.0.0 function numkeys [key]... [arg]...: Call a function.",
    "fcall_ro 7.0.0 function numkeys [key]... [arg]...: "
    "Call a function that only reads.",
    "function 7.0.0: Load, list and delete libraries of functions.",
    "function|delete 7.0.0 library-name: Delete a library.",
    "function|dump 7.0.0: Return all libraries as one value.",
    "function|flush 7.0.0 [ASYNC|SYNC]: Delete all libraries.",
    "function|help 7.0.0: Return help.",
    "function|kill 7.0.0: Stop the function that runs.",
    "function|list 7.0.0 [LIBRARYNAME pattern] [WITHCODE]: "
    "Return the libraries and their functions.",
    "function|load 7.0.0 [REPLACE] function-code: Add a library.",
    "function|restore 7.0.0 serialized-value [FLUSH|APPEND|REPLACE]: "
    "Add the libraries of a dump.",
    "function|stats 7.0.0: Return which function runs.",
    "script 2.6.0: Cache and stop scripts.",
    "script|exists 2.6.0 sha1...: Tell which scripts are cached.",
    "script|flush 2.6.0 [ASYNC|SYNC]: Drop all cached scripts.",
    "script|help 5.0.0: Return help.",
    "script|kill 2.6.0: Stop the script that runs.",
    "script|load 2.6.0 script: Cache a script.",
    "@transactions",
    "discard 2.0.0: Drop the commands since MULTI.",
    "exec 1.2.0: Run the commands since MULTI, all at once.",
    "multi 1.2.0: Begin a transaction.",
    "unwatch 2.2.0: Watch no more keys.",
    "watch 2.2.0 key...: Let EXEC fail if keys change.",
    "@connection",
    "auth 1.0.0 [username] password: Log in.",
    "client 2.4.0: Control connections.",
    "client|caching 6.0.0 (YES|NO): "
    "Say whether keys of the next command are tracked.",
    "client|getname 2.6.9: Return the connection's name.",
    "client|getredir 6.0.0: "
    "Return who receives the notices about tracked keys.",
    "client|help 5.0.0: Return help.",
    "client|id 5.0.0: Return the connection's id.",
    "client|info 6.2.0: Describe this connection.",
    "client|kill 2.4.0 (ip:port|filter value...): Close connections.",
    "client|list 2.4.0 [TYPE (NORMAL|MASTER|REPLICA|PUBSUB)] [ID "
    "client-id...]: Describe all connections.",
    "client|no-evict 7.0.0 (ON|OFF): "
    "Exempt the connection from closing for want of memory.",
    "client|no-touch 7.2.0 (ON|OFF): "
    "Exempt the connection from counting the use of keys.",
    "client|pause 2.9.50 timeout [WRITE|ALL]: Hold commands back for a time.",
    "client|reply 3.2.0 (ON|OFF|SKIP): Say whether commands are replied to.",
    "client|setinfo 7.2.0 (LIB-NAME libname|LIB-VER libver): "
    "Name the client's library.",
    "client|setname 2.6.9 connection-name: Name the connection.",
    "client|tracking 6.0.0 (ON|OFF) [REDIRECT client-id] [PREFIX prefix]... "
    "[BCAST] [OPTIN] [OPTOUT] [NOLOOP]: Report changes of keys that this "
    "client has read.",
    "client|trackinginfo 6.2.0: Describe the connection's tracking.",
    "client|unblock 5.0.0 client-id [TIMEOUT|ERROR]: "
    "End the wait of a connection.",
    "client|unpause 6.2.0: End CLIENT PAUSE.",
    "echo 1.0.0 message: Return the message.",
    "hello 6.0.0 [protover [AUTH username password] [SETNAME clientname]]: "
    "Choose the protocol, log in, and describe the server.",
    "ping 1.0.0 [message]: Return PONG, or the message.",
    "quit 1.0.0: End the connection.",
    "reset 6.2.0: Return the connection to its first state.",
    "select 1.0.0 index: Choose the database.",
    "@cluster",
    "asking 3.0.0: There is no cluster.",
    "cluster 3.0.0: There is no cluster.",
    "readonly 3.0.0: There is no cluster.",
    "readwrite 3.0.0: There is no cluster.",
    "@server",
    "acl 6.0.0: List, change and check users.",
    "acl|cat 6.0.0 [category]: Return the categories, or the commands of one.",
    "acl|deluser 6.0.0 username...: Delete users.",
    "acl|dryrun 7.0.0 username command [arg]...: "
    "Tell whether a user may run a command.",
    "acl|genpass 6.0.0 [bits]: Make a password.",
    "acl|getuser 6.0.0 username: Return the rules of a user.",
    "acl|help 6.0.0: Return help.",
    "acl|list 6.0.0: Return all users as in an ACL file.",
    "acl|load 6.0.0: Read the ACL file again.",
    "acl|log 6.0.0 [count|RESET]: Return or drop what was refused.",
    "acl|save 6.0.0: Write the users into the ACL file.",
    "acl|setuser 6.0.0 username [rule]...: Make or change a user.",
    "acl|users 6.0.0: Return the names of all users.",
    "acl|whoami 6.0.0: Return the connection's user.",
    "bgsave 1.0.0 [SCHEDULE]: Return at once, as what was written is saved.",
    "command 2.8.13: Describe commands.",
    "command|count 2.8.13: Return the number of commands.",
    "command|docs 7.0.0 [command-name]...: "
    "Return what commands are for, and their arguments.",
    "command|getkeys 2.8.13 command [arg]...: Return the keys of a command.",
    "command|getkeysandflags 7.0.0 command [arg]...: "
    "Return the keys of a command and what is done to them.",
    "command|help 5.0.0: Return help.",
    "command|info 2.8.13 [command-name]...: Return the properties of commands.",
    "command|list 7.0.0 [FILTERBY (MODULE module-name|ACLCAT category|PATTERN "
    "pattern)]: Return the names of commands.",
    "config 2.0.0: Read and change parameters.",
    "config|get 2.0.0 parameter...: Return parameters.",
    "config|help 5.0.0: Return help.",
    "config|resetstat 2.0.0: Set the counters of INFO to 0.",
    "config|rewrite 2.8.0: "
    "Write the parameters into a file, which there is not.",
    "config|set 2.0.0 (parameter value)...: Change parameters.",
    "dbsize 1.0.0: Return the number of keys.",
    "debug 1.0.0 subcommand: Refused.",
    "failover 6.2.0: Refused, as there are no replicas.",
    "flushall 1.0.0 [ASYNC|SYNC]: Delete all keys of all databases.",
    "flushdb 1.0.0 [ASYNC|SYNC]: Delete all keys of the database.",
    "info 1.0.0 [section]...: Return numbers about the server.",
    "lastsave 1.0.0: Return the time of the last save.",
    "latency 2.8.13: Return how long commands take.",
    "latency|doctor 2.8.13: Return advice.",
    "latency|graph 2.8.13 event: Draw the latency of an event.",
    "latency|help 2.8.13: Return help.",
    "latency|histogram 7.0.0 [command]...: Return how long commands took.",
    "latency|history 2.8.13 event: Return the samples of an event.",
    "latency|latest 2.8.13: Return the latest sample of each event.",
    "latency|reset 2.8.13 [event]...: Drop samples.",
    "lolwut 5.0.0 [VERSION version]: Return the versions of the server.",
    "memory 4.0.0: Return what takes memory.",
    "memory|doctor 4.0.0: Return advice.",
    "memory|help 4.0.0: Return help.",
    "memory|malloc-stats 4.0.0: Return numbers of the memory allocator.",
    "memory|purge 4.0.0: Free memory that is not needed.",
    "memory|stats 4.0.0: Return what the store takes.",
    "memory|usage 4.0.0 key [SAMPLES count]: "
    "Return what a key takes, in bytes.",
    "module 4.0.0: List modules.",
    "module|list 4.0.0: Return the modules, of which there are none.",
    "monitor 1.0.0: Receive all commands that the server runs.",
    "psync 2.8.0 replicationid offset: As SYNC.",
    "replconf 3.0.0: Say what a client of SYNC can read.",
    "replicaof 5.0.0 host port: Refused, but for NO ONE.",
    "role 2.8.12: Return the part that the server has in replication.",
    "save 1.0.0: Return at once, as what was written is saved.",
    "slaveof 1.0.0 host port: Refused, but for NO ONE.",
    "shutdown 1.0.0 [NOSAVE|SAVE] [NOW] [FORCE] [ABORT]: End the server.",
    "slowlog 2.2.12: Return the slowest commands.",
    "slowlog|get 2.2.12 [count]: Return the newest slow commands.",
    "slowlog|help 6.2.0: Return help.",
    "slowlog|len 2.2.12: Return the number of slow commands.",
    "slowlog|reset 2.2.12: Drop all slow commands.",
    "swapdb 4.0.0 index1 index2: Exchange two databases.",
    "sync 1.0.0: Receive a copy of the store as an RDB file.",
    "time 2.6.0: Return the time of the server.",
    NULL};
/* clang-format on */
