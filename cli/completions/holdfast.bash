# SPDX-License-Identifier: Apache-2.0
#
# holdfast.bash - completion for bash. `holdfast complete` knows what may follow.

# The words before the cursor, as they are typed: bash has cut them at : and =.
# Sets `words`.
_holdfast_words() {
    local i word text=${COMP_LINE:0:COMP_POINT}

    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $i -gt 0 && $text != [[:blank:]]* ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
        text=${text#"${text%%[![:blank:]]*}"}
        text=${text#"$word"}
    done
}

# The words of a command of its own, from index $1 on.
_holdfast_command() {
    if [[ ${#words[@]} -eq $((COMP_CWORD + 1)) ]] &&
        declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif [[ $1 -eq $((${#words[@]} - 1)) ]]; then
        COMPREPLY=($(compgen -c -- "${words[-1]}"))
    else
        compopt -o filenames
        COMPREPLY=($(compgen -f -- "${words[-1]}"))
    fi
}

_holdfast() {
    local words line typed cut IFS=$'\n'

    _holdfast_words
    typed=${words[-1]}
    cut=${typed%"${typed##*[:=]}"}
    COMPREPLY=()
    while read -r line; do
        case $line in
        :files)
            compopt -o filenames
            COMPREPLY+=($(compgen -f -- "${typed#"$cut"}"))
            ;;
        :folders)
            compopt -o filenames
            COMPREPLY+=($(compgen -d -- "$typed"))
            ;;
        ":command "*)
            _holdfast_command $((${line#:command } + 1))
            ;;
        *)
            line=${line%%$'\t'*}
            [[ $line != *[:/] ]] || compopt -o nospace
            COMPREPLY+=("$(printf %q "${line#"$cut"}")")
            ;;
        esac
    done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
}

complete -F _holdfast holdfast
