# SPDX-License-Identifier: Apache-2.0
#
# completion_test.sh - Tab in bash, zsh and fish, each on a terminal (tmux) with
# the installed form of its completion; a shell that is not there is left out.

command -v tmux >/dev/null || exit 77

completions=$here/../../cli/completions

# A terminal that runs a shell, with holdfast in its path. shell COMMAND...
shell() {
    export TMUX_TMPDIR=$PWD
    mkdir bin
    ln -s "$HOLDFAST" bin/holdfast
    tmux -f /dev/null new-session -d -x 160 -y 50 \
        "env PATH=$PWD/bin:$PATH HOLDFAST_STORE=$HOLDFAST_STORE TERM=screen \
HISTFILE= $*; echo ended; sleep 60"
    trap 'tmux kill-server 2>/dev/null' EXIT
    eventually 20 shows '>>'
}

shows() {
    tmux capture-pane -p | grep -qF -- "$1"
}

# tab TYPED SHOWN: type, press Tab, and the line is this.
tab() {
    tmux send-keys C-u
    tmux send-keys -l -- "$1"
    tmux send-keys Tab
    eventually 20 shows ">>$2" ||
        fail "no '$2': $(tmux capture-pane -p)"
}

fill() {
    expect 0 value set user:7 Alice
    expect 0 value set user:7:name Alice
    expect 0 value set 'odd one' 1
    start run back:up -- sh -c 'until [ -e go ]; do sleep 0.1; done'
    holder=$pid
    eventually 10 sh -c '"$HOLDFAST" lock list | grep -q back:up'
    : >script.lua
}

# What all shells do.
common() {
    tab 'holdfast lock insp' 'holdfast lock inspect'
    tab 'holdfast lock inspect ba' 'holdfast lock inspect back:up'
    tab 'holdfast value get user:7:' 'holdfast value get user:7:name'
    tab 'holdfast run --on-lost ki' 'holdfast run --on-lost kill'
    tab 'holdfast run --min' 'holdfast run --min-hold'
    tab 'holdfast script run scr' 'holdfast script run script.lua'
    tab 'holdfast help exit' 'holdfast help exit-codes'
    : >go
    ends 0 $holder
}

test_bash() {
    fill
    cat >rc <<EOF
PS1='>>'
bind 'set enable-bracketed-paste off'
. $completions/holdfast.bash
EOF
    shell bash --rcfile rc -i
    common
    tab 'holdfast value get od' 'holdfast value get odd\ one'
    tab 'holdfast --store fil' 'holdfast --store file:'
    tab 'holdfast run job -- printen' 'holdfast run job -- printenv'
    tab 'holdfast run --on-lost=ki' 'holdfast run --on-lost=kill'
}

test_zsh() {
    command -v zsh >/dev/null || return 0
    fill
    mkdir dot
    cat >dot/.zshrc <<EOF
PS1='>>'
fpath=($completions \$fpath)
autoload -Uz compinit && compinit -u -d $PWD/dump
EOF
    shell env ZDOTDIR="$PWD/dot" zsh -i
    common
}

test_fish() {
    command -v fish >/dev/null || return 0
    fill
    mkdir -p fish/fish
    cat >fish/fish/config.fish <<EOF
function fish_prompt; echo -n '>>'; end
function fish_greeting; end
set -g fish_autosuggestion_enabled 0
source $completions/holdfast.fish
EOF
    shell env XDG_CONFIG_HOME="$PWD/fish" XDG_DATA_HOME="$PWD/fish" fish -i
    common
}

# Without a terminal: what is said to the shells.
test_a_store_that_does_not_exist_is_not_created() {
    expect 0 complete -- --store "file:$PWD/none" value get ''
    same stdout '' "$out"
    [ ! -e none ] || fail 'the store was created'
    expect 0 complete -- --store redis+unix:///nowhere/socket lock inspect ''
    same stdout '' "$out"
    same stderr '' "$err"
}

test_names_of_stores_are_completed() {
    mkdir -p holdfast
    echo 'backup = file:x' >holdfast/config
    XDG_CONFIG_HOME=$PWD expect 0 complete -- --store b
    same stdout $'backup\tstore of the configuration' "$out"
}

test_a_word_too_many_completes_nothing() {
    expect 0 complete -- help run more ''
    same stdout '' "$out"
    expect 0 complete -- lock list one -
    expect 0 complete -- -
}
