#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# selftest.sh - does each check catch what it is for? A small tree passes every
# check; then one thing at a time is made wrong in a copy, and the check must
# fail and name it.
#
# shellcheck disable=SC2016 # "$" is sed's last line here
set -eu
cd "$(dirname "$0")/../.."
export PYTHONDONTWRITEBYTECODE=1
checks=$PWD/tools/lint
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
trap 'exit 1' HUP INT TERM
good=$top/good bad=$top/bad
failures=0

make_good()
{
    mkdir -p "$good"/include "$good"/scripts/use "$good"/src/core "$good"/cli \
        "$good"/src/util "$good"/src/serve "$good"/src/store/redis \
        "$good"/tests/conformance "$good"/tests/support \
        "$good"/tools/lint
    cp .clang-format REUSE.toml CHANGELOG.md "$good"
    cp -r LICENSES debian packaging "$good"
    cp -r include/. "$good"/include
    for file in python/pyproject.toml rust/holdfast/Cargo.toml \
        rust/holdfast-sys/Cargo.toml; do
        mkdir -p "$good/bindings/${file%/*}"
        cp "bindings/$file" "$good/bindings/$file"
    done
    cp src/holdfast.map "$good"/src
    cp src/serve/serve.map "$good"/src/serve
    cp tests/support/every_rows.h "$good"/tests/support
    cp scripts/lock_renew.lua scripts/key_write.lua scripts/lock_undo.lua \
        "$good"/scripts
    cp scripts/value_delete_if.lua "$good"/scripts
    cp scripts/use/wake.lua scripts/use/once.lua scripts/use/record.lua \
        scripts/use/put_timed.lua scripts/use/clock.lua \
        "$good"/scripts/use
    cp src/util/heap.h src/util/heap.c src/util/mem.h src/util/mem.c \
        "$good"/src/util
    c_file core/x.c '#include "util/heap.h"' 'int hf__x;' \
        >"$good"/src/core/x.c
    c_file z.c '#include "holdfast/lock.h"' 'int z;' >"$good"/cli/z.c
}

# A C file with its opening, and the given lines.
c_file()
{
    printf '/* %s: Apache-2.0 */\n' SPDX-License-Identifier
    printf '/* %s - an example. */\n' "$(basename "$1")"
    shift
    printf '%s\n' "$@"
}

complain()
{
    echo "tools/lint/selftest.sh:1: $1"
    failures=$((failures + 1))
}

# The check must fail on the tree $bad, in a line that matches.
expect()
{
    if output=$("$checks/$1" "$bad" 2>&1); then
        complain "$1 did not catch: $2"
    elif ! echo "$output" | grep -Eq -- "^[^ :]+:[0-9]+: .*($2)"; then
        complain "$1 caught something else than: $2"
        echo "$output"
    fi
}

renew()
{
    rm -rf "$bad"
    cp -r "$good" "$bad"
}

# bad_c CHECK PATTERN PATH LINE...: a new C file with these lines.
bad_c()
{
    check=$1 pattern=$2 path=$3
    shift 3
    renew
    mkdir -p "$bad/$(dirname "$path")"
    c_file "$path" "$@" >"$bad/$path"
    expect "$check" "$pattern"
}

# bad_edit CHECK PATTERN PATH SED: an edit of a good file, which must have an
# effect.
bad_edit()
{
    renew
    sed -i -E "$4" "$bad/$3"
    if cmp -s "$good/$3" "$bad/$3"; then
        complain "the edit '$4' changes nothing in $3"
    fi
    expect "$1" "$2"
}

lines()
{
    yes "$2" | head -n "$1"
}

make_good
for check in format.sh limits.py layers.py calls.py header.py scripts.py \
    text.py names.py map.py tested.py version.py reuse.sh; do
    if ! output=$("$checks/$check" "$good" 2>&1); then
        complain "$check finds fault with the good tree"
        echo "$output"
    fi
done

# format
bad_c format.sh 'clang-format' src/core/y.c 'int  y;'
bad_edit format.sh 'clang-format' src/util/heap.c 's/^    return/  return/'

# limits
bad_c limits.py 'y.. has 71 lines' src/core/y.c 'int y(void)' '{' \
    "$(lines 68 '    ;')" '}'
bad_c limits.py 'y.. has 71 lines' src/core/y.c 'struct {int a;} a = {1};' \
    '__attribute__((format(printf, 1, 2))) static struct s y(int (*f)(void))' \
    '{' "$(lines 68 '    if (1) { char c = 0x7d + "}"[0]; }')" '}'
bad_c limits.py 'y.. has 71 lines' tests/conformance/y.c 'TEST(y)' '{' \
    "$(lines 68 '    ;')" '}'
bad_c limits.py 'file has 801 lines' src/core/y.c "$(lines 799 'int y;')"
bad_c limits.py 'file has 1501 lines' src/core/y.h "$(lines 1499 'int y;')"
bad_c limits.py 'file has 801 lines' include/holdfast/y.h \
    "$(lines 799 'int y;')"
allow() # PATTERN ENTRY
{
    renew
    echo "$2" >"$bad/tools/lint/limits.allow"
    c_file y.c 'int y(void)' '{' "$(lines 68 '    ;')" '}' \
        >"$bad/src/core/y.c"
    expect limits.py "$1"
}
allow 'lower its 80' 'src/core/y.c:y 80'
allow 'needs no exception' 'src/util/heap.c:sift_node 80'
allow 'does not exist' 'src/core/y.c:z 80'

# layers
bad_c layers.py 'may not include .core/' src/util/y.c '#include "core/x.h"'
bad_c layers.py 'may not include .store/' src/util/y.c '#include "store/s.h"'
bad_c layers.py 'may not include .store/redis/' src/core/y.c \
    '#include "store/redis/conn.h"'
bad_c layers.py 'may not include .holdfast' src/util/y.c \
    '#include "holdfast/lock.h"'
bad_c layers.py 'may not include .holdfast/serve' src/core/y.c \
    '#include "holdfast/serve.h"'
bad_c layers.py 'has every noun' cli/y.c '#include "holdfast.h"'
bad_c layers.py 'has every noun' tests/fault/y.c '#include "holdfast.h"'
bad_c layers.py 'may not include .holdfast/lock' src/store/redis/y.c \
    '#include "holdfast/lock.h"'
bad_c layers.py 'may not include .lease/' src/store/redis/y.c \
    '# include "lease/lock.h"'
bad_c layers.py 'may not include .engine/' src/store/redis/y.c \
    '#include "engine/commit/env.h"'
bad_c layers.py 'is in a later room' src/engine/keys/y.c \
    '#include "engine/lua/machine.h"'
bad_c layers.py 'is in a later room' src/engine/keys/y.c \
    '#include "engine/engine.h"'
bad_c layers.py 'may not include .engine/keys' src/serve/y.c \
    '#include "engine/keys/number_text.h"'
bad_c layers.py 'may not include .store/redis/' src/store/y.c \
    '#include "store/redis/conn.h"'
bad_c layers.py 'may not include .util/' include/holdfast/y.h \
    '#include "util/mem.h"'
bad_c layers.py 'may not include .store/redis/' src/store/quorum/y.c \
    '#include "store/redis/conn.h"'
bad_c layers.py 'later room' src/store/redis/server/y.c \
    '#include "store/redis/events/channels.h"'
bad_c layers.py 'climbs' src/core/y.c '#include "../util/heap.h"'
bad_c layers.py 'lmdb.h> belongs' src/core/y.c '#include <lmdb.h>'
bad_c layers.py 'lua.h> belongs' src/store/redis/y.c '#include <lua.h>'
bad_c layers.py 'openssl/ssl.h> belongs' src/util/y.c '#include <openssl/ssl.h>'
bad_c layers.py 'sys/epoll.h> belongs' src/core/y.c '#include <sys/epoll.h>'
bad_c layers.py 'sys/socket.h> belongs' src/core/y.c '#include <sys/socket.h>'
bad_c layers.py 'may not include .util/' cli/y.c '#include "util/heap.h"'
bad_c layers.py 'may not include .cmd/' cli/run/y.c '#include "cmd/lock.h"'
bad_c layers.py 'may not include .http/' cli/cmd/y.c '#include "http/http.h"'
bad_c layers.py 'microhttpd.h> belongs' cli/serve/y.c '#include <microhttpd.h>'
bad_c layers.py 'ncurses.h> belongs' cli/cmd/y.c '#include <ncurses.h>'
bad_c layers.py 'only public headers' tests/conformance/y.c '#include "util/buf.h"'

# calls
for call in malloc free strdup clock_gettime usleep getrandom printf fprintf \
    exit sprintf strcpy strcat strncpy strtok atoi atol gets alloca rand srand
do
    bad_c calls.py "$call\(\)" src/core/y.c "int y = $call (0);"
done
for call in sprintf strcpy strtok atoi rand; do
    bad_c calls.py "$call\(\)" cli/y.c "int y = $call(0);"
done
bad_c calls.py 'malloc\(\)' src/util/mem2.c 'void *y = malloc(1);'
renew
c_file y.c '/* malloc(1) */' 'char *y = "malloc(1)";' 'int z = a.free(b);' \
    'int v = a->free(b);' 'int w = my_malloc(1);' >"$bad/src/core/y.c"
"$checks/calls.py" "$bad" || complain "calls.py finds what is no call"

# header
base=include/holdfast/base.h key=include/holdfast/key.h
lock=include/holdfast/lock.h uv=include/holdfast/loop/uv.h
bad_edit header.py 'hf_version.*no /\*\* comment' $base \
    's|^HF_API const char \*hf_version|int unrelated;\n&|'
bad_edit header.py 'no summary' $base 's/^ \* Version of the running .*/ */'
bad_edit header.py '@param keys, ttl_ms; its' $key \
    '/^ \* Get the remaining/,/^HF_API/s/@param key /@param keys /'
bad_edit header.py '@param key; its' $key '/@param ttl_ms  \[out/d'
bad_edit header.py '@param key is not explained' $key \
    's/@param key     the key$/@param key/'
bad_edit header.py 'HF_NOPE is not in HF_STATUS_MAP' $lock \
    's/@retval HF_HELD  /@retval HF_NOPE  /'
bad_edit header.py 'hf_key_ttl.*no @retval HF_OK' $key \
    '/^ \* Get the remaining/,/^HF_API/{/@retval HF_OK /d}'
bad_edit header.py 'HF_OK stands twice' $key \
    '/^ \* Get the remaining/,/^HF_API/s/HF_NOT_FOUND  /HF_OK  /'
bad_edit header.py 'hf_lock_token.*no @return' $lock \
    's/@return the token, below/the token, below/'
bad_edit header.py 'hf_key_ttl.*no HF_MUST_USE' $key \
    's/HF_MUST_USE (hf_status hf_key_ttl)/\1/'
bad_edit header.py "no 'Contents:'" $key 's/Contents:/Within:/'
bad_edit header.py 'hf_key_ttl.. is not in the contents' $key \
    's/Contents: hf_key_ttl../Contents:/'
bad_edit header.py 'hf_uv_attach.. is not in the contents' $uv \
    's/^ \* - hf_uv_attach\(\), / * - /'
bad_edit header.py 'hf_uv_attach.*no HF_MUST_USE' $uv \
    's/inline HF_MUST_USE/inline/'
bad_edit header.py 'hf_uv_detach.*no /\*\* comment' $uv \
    's|^static inline void hf_uv_detach|int unrelated;\n&|'
bad_edit header.py 'no @code' $key 's/@code/@example/'
bad_edit header.py 'example has more than' $key \
    "s|^ \\* @endcode|$(lines 12 ' * x;' | tr '\n' '~' | sed 's/~/\\n/g')&|"
bad_edit header.py 'hf_key_ttls_start.*starts no function' $key \
    's/(HF_START.hf_key_ttl)_/\1s_/'
bad_edit header.py 'hf_key_rename_start.*parameters are not those' $key \
    '/^HF_START.hf_key_rename/s/, uint32_t flags//'
bad_edit header.py 'hf_key_ttl_start.*not in the one block' $key \
    '/The `_start` forms/d'
bad_edit header.py 'hf_key_expire_start.*not in the one block' $key \
    's/^HF_START.hf_key_expire/\n&/'
bad_edit header.py 'hf_key_ttl_start is exported but not' $key \
    '/^HF_START.hf_key_ttl/d'
bad_edit header.py 'hf_key_ttl_start is declared but not' \
    src/holdfast.map '/hf_key_ttl_start/d'
bad_edit header.py 'hf_version is declared but not exported' \
    src/holdfast.map '/hf_version/d'
bad_edit header.py 'hf_\* is exported' src/holdfast.map \
    's/^( *)hf_version;/&\n\1hf_*;/'
bad_edit header.py 'hf_key_ttl\(\) has no row' tests/support/every_rows.h \
    '/^EVERY.key_ttl,/d'

# scripts
renew_lua=scripts/lock_renew.lua write=scripts/key_write.lua
release=scripts/lock_undo.lua
bad_edit scripts.py 'ARGV\[1\] is documented but not used' $release \
    's/~= ARGV\[1\]/~= 1/'
bad_edit scripts.py 'ARGV\[6\] is not documented' $release \
    's/~= ARGV\[1\]/~= ARGV[1] .. ARGV[6]/'
bad_edit scripts.py 'KEYS\[2\] is not documented' $release '/^KEYS\[2\]/d'
bad_edit scripts.py 'KEYS\[i\] is documented but not used' $renew_lua \
    's/ipairs\(KEYS\)/ipairs({})/'
bad_edit scripts.py 'ARGV\[n.i\] is not documented' $renew_lua '/^ARGV.n\+i/d'
bad_edit scripts.py 'ARGV\[i\] is documented but not used' $renew_lua \
    's/ARGV\[i\] then/1 then/'
bad_edit scripts.py 'ARGV\[5\.\.\.\] is not documented' $write \
    's/unpack\(ARGV, 4\)/unpack(ARGV, 5)/'
bad_edit scripts.py 'not numbered' $write 's/^ARGV\[1\]/ARGV[7]/'
bad_edit scripts.py 'in a form that no header' $release \
    's/~= ARGV\[1\]/~= select(1, ARGV)/'
bad_edit scripts.py 'has no name or no expl' $release 's/^(ARGV.1.).*/\1/'
bad_edit scripts.py 'has no name or no expl' $release 's/^(ARGV.1.  ).*:/\1/'
bad_edit scripts.py 'name lock is taken' $release 's/^(ARGV.1.  )owner/\1lock/'
bad_edit scripts.py '57 lines of body' $release '$s/$/'"$(
    lines 40 '\n--' | tr -d '\n')"'/'
bad_edit scripts.py "no 'Returns'" $release '/^Returns/d'
bad_edit scripts.py "no 'Repeat'" $release '/^Repeat/d'
bad_edit scripts.py "no 'Writes'" $release '/^Writes/d'
bad_edit scripts.py "neither with 'safe' nor" $release 's/^(Repeat +)safe/\1yes/'
bad_edit scripts.py "'Writes nothing'" $release \
    's/^(Writes +).*/\1nothing. Cost O(1)./'
bad_edit scripts.py "neither --#record nor '--#use" $release 's/--#use/--#put/'
bad_edit scripts.py 'no piece use/wait.lua' $release 's/--#use wake/--#use wait/'
bad_edit scripts.py 'has no parameter subject' $release 's/topic=/subject=/'
bad_edit scripts.py 'wake.lua needs topic' $release 's/topic=KEYS.1. //'
bad_edit scripts.py 'does not begin with a header' scripts/use/wake.lua 's/^wake -/awake -/'
bad_edit scripts.py 'no script uses it' $release '/--#use/d'
once=scripts/value_delete_if.lua
bad_edit scripts.py 'no script uses it' $once '/^--#record/d'
bad_edit scripts.py 'more than one --#record' $once 's/^--#record/&\n&/'
bad_edit scripts.py 'a script with a twin may use only' $once 's/\[1\]/[i]/'
bad_edit scripts.py 'ARGV\[3\] is documented but not used' \
    scripts/use/record.lua 's/, ttl/, 1000/'
bad_edit scripts.py "uses 'call' without" $release '/^local call/d'
bad_edit scripts.py 'comment in \[\[' $release 's/= ARGV.1. then/= [=[x]=] then/'
bad_edit scripts.py 'writes KEYS\[3\]' $release 's/^Writes +KEYS\[1\]/&, KEYS[3]/'
bad_edit scripts.py "'os.' is not allowed" $release 's/^return 1/return os.time()/'
# A piece is one line, so what is behind it keeps its number.
case $output in
$release:$(($(wc -l <$release))):*) ;;
*) complain "scripts.py gives another line than the last: $output" ;;
esac
bad_edit scripts.py 'must be a lower-case string' $release "s/'del'/'DEL'/"
bad_edit scripts.py 'must be a lower-case string' $release "s/'del'/ARGV[1]/"
bad_edit scripts.py 'may only be called, or aliased' $release \
    's/^local call = redis/local say = redis/'
bad_edit scripts.py 'does not begin with its lic' $release 1d
bad_edit scripts.py 'does not begin with its lic' $release 2d
bad_edit scripts.py 'does not begin with .lock_undo - ' $release \
    's/^lock_undo -/lock_free -/'

for name in 'HF__SCRIPT_LOCK_UNDO' 'HF__LOCK_UNDO_OWNER' lock_undo \
    hf__shape_lock_undo '"lock_undo"' '"script/script_words.h"'; do
    bad_c scripts.py 'names a script' src/store/redis/wire/y.c "int y = $name;"
    bad_c scripts.py 'names a script' src/engine/lua/y.c "int y = $name;"
done
renew
c_file y.c 'int y = HF__SCRIPT_USER;' 'int z = HF__SCRIPT_COUNT;' \
    'int lock_undos;' >"$bad/src/store/redis/y.c"
"$checks/scripts.py" "$bad" || complain "scripts.py finds what is no script"
bad_edit scripts.py "'Lane' begins" $release 's/^(Lane +)lease/\1leases/'
bad_edit scripts.py "'Quorum' is no rule" $release 's/^(Quorum +)count/\1counts/'
acquire='acquire: confirmed by lock_renew, undone by lock_undo'
bad_edit scripts.py 'an acquire needs an argument ttl' $release \
    "s/^(Quorum +)count/\1$acquire/"
bad_edit scripts.py 'there is no script lock_free' $release \
    "s/^(Quorum +)count/\1${acquire%lock_undo}lock_free/"
bad_edit scripts.py 'lock_renew has no argument entry' $release \
    "s/^(Quorum +)count/\1${acquire%lock_undo}lock_renew/"
bad_edit scripts.py 'value_delete_if has a word expected that the acquire lacks' \
    $release "s/^(Quorum +)count/\1${acquire%lock_undo}value_delete_if/"
# The translation to C takes a table with keys only if it is an error or a status.
renew
sed '$s/.*/return {1, ok = KEYS[1]}/' "$release" >"$bad/$release"
output=$(tools/embed_native.py "$top/native" "$bad/$release" 2>&1) &&
    complain "embed_native.py translates a table of which it loses a part"
case $output in
*"$release:$(wc -l <$release): a key in a table"*) ;;
*) complain "embed_native.py says something else: $output" ;;
esac

# text
bad_edit text.py 'a tab' $release 's/^    return/\treturn/'
bad_edit text.py 'blanks at the end' $release 's/^end$/end /'
bad_edit text.py 'carriage return' $release 's/^end$/end\r/'
bad_edit text.py 'a path of one machine' $release "s|'del'|'/wor""k/x'|"
bad_edit text.py 'a path of one machine' $release "s|'del'|'/tm""p/x'|"
bad_edit text.py 'empty lines at the end' $release '$s/$/\n/'
bad_edit text.py 'does not open with SPDX' src/util/heap.c 1d
bad_edit text.py 'its title' src/util/heap.c 's/heap.c - //'
bad_edit text.py 'a // comment' src/util/heap.c 's|^}$|} // end|'
bad_edit text.py 'ends in _t' src/util/heap.h 's/^\} hf__heap;/} hf__heap_t;/'
words()
{
    bad_c text.py "$1" examples/y.c "/* $2 */"
}
words "'is told': write" 'It is told so.'
words "'is told': write" "It is
 * told so."
words "'is told': write" 'It "is "
        "told" so.'
words "'Nobody': write" 'Nobody asks.'
words "'goes on': write" 'It goes on with the next one.'
words "'stands before': write" 'One that stands before us.'
words "'by and by': write" 'Removed by and by.'
words "'be told': write" 'void loss_may_be_told_once(void)'
words 'the name hf__lock_asking_x:' 'hf__lock_asking_x()'
words 'the name HF__GATE_LISTS:' 'HF__GATE_LISTS'
renew
c_file y.c '/* Besides, it goes on the wire; told apart; no hf__search. */' \
    >"$bad/cli/y.c"
"$checks/text.py" "$bad" || complain "text.py refuses words that are in use"

# names: src/new is a folder whose names are all checked.
bad_c names.py 'the type hf__heap is also in src/util/heap.h:' src/new/y.c \
    'struct hf__heap {' '    int a;' '};'
bad_c names.py 'the type y is also in src/new/y.c:6' src/new/y.c \
    'typedef int y;' '/* struct y {} */' 'typedef struct z z;' \
    'struct y {' '    int a;' '};'
bad_c names.py 'the type y is also in' src/new/y.c 'enum y { A };' \
    'typedef struct x {' '    int a;' '} y[1];'
bad_c names.py 'the type y is also in' src/new/y.c 'typedef int (*y)(void);' \
    'union y {' '    int a;' '};'
bad_c names.py 'the stem heap is also in src/util/heap.c:1' src/new/heap.c
bad_c names.py 'finish..: the name of a static' src/new/y.c \
    'static inline int finish(int a)' '{' '    return a;' '}'
for word in settled buries poke Hurry abandoning forgot handle_shake sighting \
    errands stands_in 'stood in'; do
    bad_c names.py "write " src/new/y.c "/* It $word. */"
done
renew
mkdir -p "$bad/src/new"
c_file y.c 'typedef struct y y;' 'typedef struct y {' '    int a;' '} y;' \
    'struct z {' '    struct y y;' '};' '/* A handshake, unforgettable. */' \
    'static int finish_y(void)' '{' '    return *"forget" + finish(1);' '}' \
    'int finish(void)' '{' '    hf_near_forget(0);' '}' >"$bad/src/new/y.c"
"$checks/names.py" "$bad" || complain "names.py refuses names that are in use"

# map
renew
printf '# A\n\n`src/` `core/` `x`\n' >"$bad/ARCHITECTURE.md"
expect map.py 'src/util/ is not on the map'
expect map.py 'src/util/heap.h is not on the map'
printf '# A\n\n`*`\n' >"$bad/ARCHITECTURE.md"
printf '# U\n\n`heap`\n' >"$bad/src/util/README.md"
expect map.py 'src/util/mem.h is not on the map'
printf '# U\n\n`heap` `mem`\n' >"$bad/src/util/README.md"
printf '# S\n\n`*.map` `core/` `x`\n' >"$bad/src/README.md"
expect map.py 'src/util/ is not on the map'
printf '# S\n\n`*`\n\n| folder | files |\n|---|---|\n| `%s/` | %s |\n' \
    util '`core/x`, `a b`, `a()`, as `src/util/mem.c` (`b`)' \
    >"$bad/src/README.md"
"$checks/map.py" "$bad" || complain "map.py finds fault with a complete map"
sed -i 's|util/`|util2/`|' "$bad/src/README.md"
expect map.py 'there is no util2/'
sed -i 's|util2/`|util/`|; s|core/x|core/y|' "$bad/src/README.md"
expect map.py 'there is no core/y'
# A pattern is the name of at least one.
sed -i 's|core/y|core/y*|' "$bad/src/README.md"
expect map.py 'there is no core/y\*'
# Pages for users are no maps.
renew
mkdir -p "$bad/docs"
printf '# A\n\n`*`\n' >"$bad/ARCHITECTURE.md"
printf '# P\n\n| program |\n|---|\n| `vi` |\n' >"$bad/docs/README.md"
"$checks/map.py" "$bad" || complain "map.py takes a page for a map"
renew
mkdir -p "$bad/docs/adr"
printf '# A\n\n`*`\n' >"$bad/ARCHITECTURE.md"
printf '# 0001: a\n' >"$bad/docs/adr/0001-a.md"
printf '# 0003: c\n' >"$bad/docs/adr/0003-c.md"
printf '# D\n| [0001](0001-a.md) | a |\n' >"$bad/docs/adr/README.md"
expect map.py '0003 follows 0001'
rm "$bad/docs/adr/0003-c.md"
"$checks/map.py" "$bad" || complain "map.py finds fault with a complete index"
echo '| [0002](0002-b.md) | b |' >>"$bad/docs/adr/README.md"
expect map.py 'its rows are not 1'
printf '# 0001: b\n' >"$bad/docs/adr/0001-a.md"
expect map.py 'no row .*0001-a.md. . b'

# version
bad_edit version.py 'is not 7\.' include/holdfast/base.h \
    's/(_MAJOR) 0/\1 7/'
bad_edit version.py 'is not 7\.' src/holdfast.map 's/^HOLDFAST_0/HOLDFAST_7/'
bad_edit version.py 'no line has the version' CHANGELOG.md '/^## /d'

# reuse
bad_edit reuse.sh 'no license identifier' src/util/heap.c 1d
bad_edit reuse.sh 'no copyright' REUSE.toml '/FileCopyrightText/d'
renew
rm -r "$bad/LICENSES"
expect reuse.sh 'license'

# tested
renew
mkdir -p "$bad/docs/internals"
c_file y_test.c 'TEST(lock_is_fair)' '{' '}' \
    >"$bad/tests/conformance/y_test.c"
row()
{
    printf '| a | b | here |\n|---|---|---|\n| 1 | unfair | %s |\n' "$1" \
        >"$table"
}
for table in "$bad"/docs/internals/peer-bugs.md \
    "$bad"/docs/internals/peer-tests.md; do
    row '`lock_is_fair`, `tests/conformance/y_test`'
    "$checks/tested.py" "$bad" || complain "tested.py finds no test that exists"
    row 'cannot: there is one lock'
    "$checks/tested.py" "$bad" || complain "tested.py accepts no reason"
    row '`lock_is_fast`'
    expect tested.py 'there is no test lock_is_fast'
    row 'differs: ours is fair'
    "$checks/tested.py" "$bad" || complain "tested.py accepts no difference"
    row 'it is fair'
    expect tested.py 'neither a test nor a reason'
    rm "$table"
done

[ $failures = 0 ]
