internal import LatchkeyLog
internal import LatchkeyTerminal

/// `latchkey completions SHELL`.
enum CompletionsCommand {
    static let command = Command(
        CommandDefinition(
            "completions", topic: .program, summary: "write a shell's completions of commands, options and names",
            operands: [.choice("SHELL", ["bash", "zsh", "fish"], help: "bash, zsh or fish")],
            details: """
                Put source <(latchkey completions bash) into ~/.bashrc, what zsh gets into a file _latchkey in a folder of its
                fpath, and what fish gets into ~/.config/fish/completions/latchkey.fish. What a shell offers comes from
                latchkey itself: names of providers, services and accounts as far as the store can be read without
                a prompt or a passphrase, and never a secret.
                """)
    ) { arguments, context in
        switch arguments.operand("SHELL") {
        case "bash": try context.output.write("\(bash)")
        case "zsh": try context.output.write("\(zsh)")
        default: try context.output.write("\(fish)")
        }
        return .success
    }

    /// bash splits words at `:` and `=` too, and replaces only the last piece: what it split is joined by looking at the
    /// line, and the pieces before the last one are taken off each candidate.
    private static let bash: StaticString = #"""
        # Completions of latchkey for bash.
        _latchkey() {
            local rest=$COMP_LINE piece index before='' mode='' word
            local -a words=()
            for ((index = 0; index <= COMP_CWORD; index++)); do
                piece=${COMP_WORDS[index]}
                if ((index > 0)) && [[ $rest != [[:space:]]* && -n $rest ]]; then
                    before=${words[-1]}
                    words[-1]+=$piece
                else
                    before=''
                    words+=("$piece")
                fi
                rest=${rest#"${rest%%[![:space:]]*}"}
                rest=${rest#"$piece"}
            done
            [[ $piece == [:=] ]] && before=${words[-1]}
            before=${before//[\'\"\\]/}
            words=("${words[@]//[\'\"\\]/}")
            COMPREPLY=()
            while IFS= read -r word; do
                case $word in
                    :files | :programs) mode=$word ;;
                    *)
                        word=${word%%$'\t'*}
                        word=${word#"$before"}
                        [[ $piece == [\'\"]* ]] || printf -v word %q "$word"
                        COMPREPLY+=("$word")
                        ;;
                esac
            done < <(command latchkey __complete "${words[@]:1}" 2> /dev/null)
            case $mode in
                :files) compopt -o default ;;
                :programs) mapfile -t COMPREPLY < <(compgen -c -- "${words[-1]}") ;;
            esac
        }
        complete -F _latchkey latchkey
        """#

    private static let zsh: StaticString = #"""
        #compdef latchkey
        # Completions of latchkey for zsh.
        _latchkey() {
            local line mode
            local -a found shown
            for line in "${(@f)$(command latchkey __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)}"; do
                case $line in
                    :*) mode=$line ;;
                    ?*)
                        found+=("${line%%$'\t'*}")
                        shown+=("${line/$'\t'/  }")
                        ;;
                esac
            done
            case $mode in
                :files) _files ;;
                :programs) _command_names -e ;;
                *) compadd -l -d shown -a -- found ;;
            esac
        }
        if [ "$funcstack[1]" = _latchkey ]; then
            _latchkey
        else
            compdef _latchkey latchkey
        fi
        """#

    private static let fish: StaticString = #"""
        # Completions of latchkey for fish.
        function __latchkey_complete
            set -l words (commandline -opc)
            set -l word (commandline -ct)
            for line in (command latchkey __complete $words[2..-1] "$word" 2> /dev/null)
                switch $line
                    case :files
                        __fish_complete_path "$word"
                    case :programs
                        complete -C "$word"
                    case '*'
                        echo $line
                end
            end
        end
        complete -c latchkey -f -a '(__latchkey_complete)'
        """#
}
