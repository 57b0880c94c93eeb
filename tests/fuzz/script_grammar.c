/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_grammar.c - nested templates. In one
 *
 *   $n $s $p $t $f  is a number, text, pattern, table, function
 *   $e              any of them
 *   $k              a key            $c  the words of a command
 *   $v              a variable       $b  statements
 *
 * The first of each list is used when bytes or depth run out: it contains no
 * template. A forgotten case is one line.
 */
#include "script_grammar.h"

#include <string.h>

#define DEPTH_MAX 7u

/* Each ends with NULL. */
/* clang-format off */
static const char *const numbers[] = {
    "1", "0", "-1", "2", "7", "0.5", "-0.5", "255", "7999", "8000", "65535",
    "1e5", "1e6", "1e7", "1e9", "2^31", "2^31-1", "-2^31", "-2147483648",
    "2147483647", "-2147483647", "2^32", "2^53", "2^63", "-2^63", "1e308",
    "1e-320", "1/0", "-1/0", "0/0", "-0", "#a", "$n+$n", "$n-$n", "$n*$n",
    "$n/$n", "$n%$n", "$n^$n", "-($n)", "#$s", "#$t", "tonumber($s)",
    "tonumber($s,$n)", "string.len($s)", "string.byte($s,$n)",
    "(string.find($s,$p,$n))", "select('#',$e,$e)", "table.maxn($t)",
    "table.getn($t)", "math.floor($n)", "math.random($n)", "math.fmod($n,$n)",
    "math.ldexp($n,$n)", "(math.frexp($n))", "bit.band($n,$n)",
    "bit.lshift($n,$n)", "bit.rol($n,$n)", "bit.bswap($n)", "bit.tobit($n)",
    "redis.call('strlen',$k)", "redis.call('bitcount',$k,$n,$n)",
    "redis.call('lpush',$k,unpack($t))", "redis.call('zadd',$k,$n,$s)",
    "collectgarbage('count')", NULL
};

static const char *const texts[] = {
    "'a'", "''", "'\\0'", "'hello world'", "'12'", "'0x1F'", "'1e400'",
    "'%s%d%q%5.3f%c'", "'%99.99f'", "'%1000000d'", "'[[[[[[[['",
    "'{\"a\":[1,2,{\"b\":null}]}'", "'\"\\\\ud800\\\\u0000\"'", "'[1e999,-0]'",
    "'[1 2]'", "_VERSION", "k", "string.rep($s,$n)", "($s..$s)", "($s..$n)",
    "string.format($s,$e,$e)", "string.sub($s,$n,$n)", "string.char($n,$n)",
    "string.upper($s)", "string.reverse($s)", "string.gsub($s,$p,$e)",
    "string.gsub($s,$p,$e,$n)", "string.match($s,$p,$n)", "string.dump($f)",
    "table.concat($t,$s)", "table.concat($t,$s,$n,$n)", "tostring($e)",
    "cjson.encode($e)", "cjson.encode($t)", "bit.tohex($n,$n)",
    "redis.sha1hex($s)", "redis.call('get',$k)",
    "redis.call('getrange',$k,$n,$n)", "type($e)", "$s:rep($n)",
    "string.format('%'..$n..'s',$s)", NULL
};

static const char *const patterns[] = {
    "'.'", "'.-b'", "'.-.-.-.-.-.-b$'", "'(a*)*b'", "'a?a?a?a?aaaa'", "'%b()'",
    "'%f[%w]%w+'", "'^(.-)%s*$'", "'[^%z]'", "'(()()())'", "'%1'", "'(.)%1'",
    "'['", "'%'", "'[%'", "'[a-'", "('x?'):rep($n)", "('('):rep($n)",
    "('%b'):rep($n)", "'.*'..$s", "$s", "('.-'):rep($n)..'b'", NULL
};

static const char *const tables[] = {
    "{1,2,3}", "{}", "a", "KEYS", "ARGV", "_G", "string", "redis", "cjson",
    "{n=1e9}", "{[1e9]=1}", "{[2^53]=1,[0]=2,[-1]=3}", "{nil,nil,3}",
    "{$e,$e,$e}", "{[$e]=$e}", "{unpack($t)}", "{unpack($t,$n,$n)}",
    "{pcall($f,$e)}", "{string.byte($s,$n,$n)}", "{redis.pcall($c)}",
    "(function() local x={} x[1]=x x.x=x return x end)()",
    "(function() local x={} for i=1,1e4 do x={x} end return x end)()",
    "(function() local x={} for i=1,1e5 do x[i]=$e end return x end)()",
    "setmetatable({},{__index=$f})", "setmetatable({},{__newindex=$f})",
    "setmetatable({},{__gc=$f,__mode='kv'})", "setmetatable({},{__call=$f})",
    "setmetatable({},{__lt=$f,__le=$f,__eq=$f,__concat=$f,__len=$f})",
    "setmetatable({},{__tostring=$f})", "setmetatable({},{__index=$t})",
    "getmetatable($e)", "cjson.decode($s)", "cjson.new()",
    "redis.error_reply($s)", "redis.status_reply($s)", "{err=$e}", "{ok=$e}",
    NULL
};

static const char *const functions[] = {
    "f", "pcall", "error", "tostring", "redis.call", "string.rep", "next",
    "coroutine.yield", "collectgarbage", "function() end",
    "function(...) return ... end", "function(x,y) return x<y end",
    "function(x) return $e end", "function(x,y) $b return $e end",
    "function() while true do end end", "function() return f() end",
    "function() error($e) end", "function(...) return f($e,...) end",
    "coroutine.wrap(function(...) $b coroutine.yield($e) end)",
    "string.gmatch($s,$p)", "loadstring($s)", "load($f)",
    "function() return redis.pcall($c) end", NULL
};

static const char *const commands[] = {
    "'ping'", "'set',$k,$s", "'append',$k,$s", "'setrange',$k,$n,$s",
    "'setbit',$k,$n,$n", "'bitop','not',$k,$k", "'bitpos',$k,$n,$n,$n",
    "'bitfield',$k,'set','u63',$n,$n,'overflow','fail','incrby','i5',$n,$n",
    "'incrby',$k,$n", "'incrbyfloat',$k,$n", "'mset',$k,$s,$k,$s",
    "'lcs',$k,$k,'idx'", "'rpush',$k,unpack($t)", "'lrange',$k,$n,$n",
    "'linsert',$k,'before',$s,$s", "'ltrim',$k,$n,$n", "'lset',$k,$n,$s",
    "'lpos',$k,$s,'rank',$n,'count',$n", "'hset',$k,$s,$e",
    "'hincrbyfloat',$k,$s,$n", "'hgetall',$k",
    "'hrandfield',$k,$n,'withvalues'", "'sadd',$k,unpack($t)", "'spop',$k,$n",
    "'srandmember',$k,$n", "'sinterstore',$k,$k,$k",
    "'zadd',$k,'gt','incr',$n,$s", "'zrangebyscore',$k,$n,$n,'limit',$n,$n",
    "'zrange',$k,$s,$s,'bylex'", "'zrangestore',$k,$k,$n,$n",
    "'zunionstore',$k,2,$k,$k,'weights',$n,$n", "'zrandmember',$k,$n",
    "'zpopmin',$k,$n", "'sort',$k,'by',$s,'get',$s",
    "'sort',$k,'limit',$n,$n,'alpha','store',$k", "'keys',$s",
    "'scan',$n,'match',$s,'count',$n", "'expire',$k,$n", "'pexpireat',$k,$n",
    "'set',$k,$s,'px',$n,'get'", "'rename',$k,$k", "'copy',$k,$k,'replace'",
    "'object','encoding',$k", "'eval',$s,0", "'flushall'", "'publish',$s,$s",
    "$e,$e,$e", "unpack($t)", NULL
};

static const char *const any[] = {
    "nil", "true", "false", "a", "x", "$n", "$s", "$t", "$f", "$n", "$s", "$t",
    "($e or $e)", "($e==$e)", "($e<$e)", "($n<$n)", "not $e", "($e)($e)",
    "$t[$e]", "a[$e]", "select($n,$e,$e)", "unpack($t,$n,$n)", "rawget($t,$e)",
    "rawequal($e,$e)", "pcall($f,$e,$e)", "xpcall($f,$f)", "next($t,$e)",
    "string.find($s,$p,$n,$e)", "table.remove($t,$n)", "table.sort($t,$f)",
    "table.sort($t)", "table.foreach($t,$f)",
    "coroutine.resume(coroutine.create($f),$e)", "coroutine.running()",
    "redis.pcall($c)", "redis.call($c)", "cjson.decode($s)",
    "cjson.encode_sparse_array($e,$n,$n)", "cjson.encode_max_depth($n)",
    "cjson.decode_max_depth($n)", "cjson.encode_number_precision($n)",
    "cjson.encode_invalid_numbers($e)", "cjson.encode_keep_buffer($e)",
    "cjson.null", "getmetatable('')", "setmetatable($t,$t)", "rawset($t,$e,$e)",
    "collectgarbage($s,$n)", "loadstring($s)", "math.randomseed($n)",
    "redis.setresp($n)", "redis.set_repl($n)", "redis.log($n,$s)",
    "redis.acl_check_cmd($c)", "cmsgpack.pack($e)", "struct.pack($s,$n)",
    "getfenv($e)", "setfenv($f,$t)", NULL
};

static const char *const statements[] = {
    "x=1", "local $v=$e", "$v=$e", "a[$e]=$e", "f=$f", "$e", "local _=$e",
    "a[#a+1]=$e", "table.insert(a,$n,$e)", "table.insert(a,$e)",
    "for i=$n,$n,$n do $b end", "for i=1,$n do $b end", "for i=1,100 do $b end",
    "for k,v in pairs($t) do $b end", "for k,v in ipairs($t) do $b end",
    "for w in $f do $b end", "while $e do $b end", "repeat $b until $e",
    "if $e then $b else $b end", "do $b end", "pcall(function() $b end)",
    "xpcall(function() $b end,$f)",
    "local function g(...) $b return g(...) end",
    "f=function(...) $b return $e end", "redis.call($c)", "redis.pcall($c)",
    "redis.call('set',k,string.rep('x',$n))", "error($e)", "return $e",
    "$t.x=$e", "_G.x=$e", "string.x=$e", "rawset(_G,$s,$e)",
    "setmetatable(_G,$t)", "setmetatable(a,{__index=$f,__newindex=$f})",
    "local c=coroutine.wrap($f) for i=1,$n do c($e) end", NULL
};

static const char *const keys[] = {
    "'k'", "k", "KEYS[1]", "'l'", "'z'", "$s", NULL
};

static const char *const variables[] = {
    "x", "a", "f", "k", "y", NULL
};
/* clang-format on */

static const struct {
    char letter;
    const char *const *items;
} kinds[] = {{'n', numbers}, {'s', texts},     {'p', patterns},
             {'t', tables},  {'f', functions}, {'e', any},
             {'k', keys},    {'c', commands},  {'v', variables}};

typedef struct writer {
    const uint8_t *data;
    size_t left;
    char *text;
    size_t size;
} writer;

static void put(writer *to, const char *text, size_t size)
{
    if (size > SCRIPT_TEXT_MAX - to->size)
        size = SCRIPT_TEXT_MAX - to->size;
    memcpy(to->text + to->size, text, size);
    to->size += size;
}

static size_t next(writer *to)
{
    if (to->left == 0)
        return 0;
    to->left--;
    return *to->data++;
}

static const char *pick(writer *to, const char *const *items, unsigned depth)
{
    size_t count = 0;

    while (items[count] != NULL)
        count++;
    return items[depth == 0 ? 0 : next(to) % count];
}

static void expand(writer *to, const char *template, unsigned depth);

/* Two bytes do not suffice for a statement. */
static void put_body(writer *to, unsigned depth)
{
    size_t count = depth == 0 || to->left < 2 ? 0 : next(to) % 4;

    for (; count > 0 && to->size < SCRIPT_TEXT_MAX; count--) {
        expand(to, pick(to, statements, depth), depth - 1);
        put(to, "\n", 1);
    }
}

static void put_kind(writer *to, char letter, unsigned depth)
{
    if (letter == 'b') {
        put_body(to, depth);
        return;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].letter == letter)
            expand(to, pick(to, kinds[i].items, depth),
                   depth == 0 ? 0 : depth - 1);
    }
}

static void expand(writer *to, const char *template, unsigned depth)
{
    const char *mark;

    while ((mark = strchr(template, '$')) != NULL && mark[1] >= 'a' &&
           mark[1] <= 'z') {
        put(to, template, (size_t)(mark - template));
        put_kind(to, mark[1], depth);
        template = mark + 2;
    }
    put(to, template, strlen(template));
}

size_t script_from_bytes(const uint8_t *data, size_t size,
                         char text[SCRIPT_TEXT_MAX])
{
    static const char first[] = "local a,x,y,k={1,2,3},1,'y',KEYS[1]\n"
                                "local f=function(...) return ... end\n";
    writer to = {data, size, text, 0};

    put(&to, first, sizeof(first) - 1);
    while (to.left > 0 && to.size < SCRIPT_TEXT_MAX) {
        expand(&to, pick(&to, statements, DEPTH_MAX), DEPTH_MAX);
        put(&to, "\n", 1);
    }
    return to.size;
}
