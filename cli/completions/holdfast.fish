# SPDX-License-Identifier: Apache-2.0
#
# holdfast.fish - completion for fish. `holdfast complete` knows what may follow.

function __holdfast_complete
    set -l typed (commandline -ct)
    set -l words (commandline -opc)
    for line in ($words[1] complete -- $words[2..] "$typed" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$typed"
            case :folders
                __fish_complete_directories "$typed"
            case ':command *'
                set -l index (string replace ':command ' '' -- $line)
                __fish_complete_subcommand --fcs-skip=(math $index + 1)
            case '*'
                echo $line
        end
    end
end

complete -c holdfast -f -a '(__holdfast_complete)'
