/// `latchkey completions SHELL`.
enum CompletionsCommand {
    static let command = Command(
        "completions", topic: .program, summary: "write a shell's completions of commands, options and names",
        operands: [.choice("SHELL", ["bash", "zsh", "fish"], help: "bash, zsh or fish")],
        details: """
              bash  put `source <(latchkey completions bash)` into ~/.bashrc
              zsh   write the output to a file _latchkey in a directory of fpath
              fish  write the output to ~/.config/fish/completions/latchkey.fish

            The shell then completes commands, options, and the names of providers, services and accounts, as far as the store opens
            without a question. It never shows a secret.
            """,
        examples: [
            "source <(latchkey completions bash)", "latchkey completions zsh > ~/.zfunc/_latchkey",
            "latchkey completions fish > ~/.config/fish/completions/latchkey.fish",
        ]
    ) { arguments, context in
        switch arguments.operand("SHELL") {
        case "bash": try context.output.write("# Completions of latchkey for bash.\n\(unquoting)\n\(bash)")
        case "zsh": try context.output.write("#compdef latchkey\n# For zsh.\n\(unquoting)\n\(zsh)")
        default: try context.output.write("\(fish)")
        }
        return .success
    }

    /// For bash and zsh, which pass the words to functions verbatim. `escapes` contains the characters before which a
    /// backslash in double quotes isn't part of the text.
    private static let unquoting: StaticString = #"""
        # Sets REPLY to the text of a quoted word, quote to the quote that is open at its end, and before to the text
        # before that quote. It expands nothing.
        _latchkey_unquote() {
            local rest=$1 char
            REPLY='' quote='' before=''
            while [[ -n $rest ]]; do
                char=${rest:0:1} rest=${rest:1}
                if [[ $quote == \' ]]; then
                    if [[ $char == \' ]]; then quote=''; else REPLY+=$char; fi
                elif [[ $char == \\ ]]; then
                    [[ -z $quote || $escapes == *"${rest:0:1}"* ]] || REPLY+=$char
                    REPLY+=${rest:0:1} rest=${rest:1}
                elif [[ -n $quote && $char == "$quote" ]]; then
                    quote=''
                elif [[ -z $quote && $char == [\'\"] ]]; then
                    quote=$char before=$REPLY
                else
                    REPLY+=$char
                fi
            done
        }
        """#

    /// bash also splits words at `:`, `=` and `@`, and replaces only the last piece, or the text after an open quote. The
    /// function joins the pieces by looking at the line, and removes the text before the replaced part from each candidate.
    /// bash inserts a candidate verbatim, so the function quotes each candidate for its place.
    private static let bash: StaticString = #"""
        # Sets REPLY to a text as it has to be written after the open quote, or after none.
        _latchkey_quote() {
            local rest=$1 char
            REPLY=$rest
            [[ $rest == *[^[:alnum:]_./:=@%+,-]* ]] || return
            REPLY=''
            while [[ -n $rest ]]; do
                char=${rest:0:1} rest=${rest:1}
                case $quote$char in
                    "''") char="'\\''" ;;
                    \"[\$\`\"\\]) char=\\$char ;;
                    # A backslash before it would stay.
                    \"!) char='"\!"' ;;
                    *) [[ -n $quote || $char == [[:alnum:]_./:=@%+,-] ]] || char=\\$char ;;
                esac
                REPLY+=$char
            done
            # Where a quote is at the beginning or the end, readline takes it for the one that it would add there.
            [[ -z $quote || $REPLY != "$quote"* ]] || REPLY=$quote$REPLY
            [[ -z $quote || $REPLY != *"$quote" ]] || REPLY+=$quote
        }

        _latchkey() {
            local escapes='$`"\' rest=$COMP_LINE piece index start='' mode='' word quote before REPLY
            local -a words=() found=()
            for ((index = 0; index <= COMP_CWORD; index++)); do
                piece=${COMP_WORDS[index]}
                if ((index > 0)) && [[ $rest != [[:space:]]* && -n $rest ]]; then
                    start=${words[-1]}
                    words[-1]+=$piece
                else
                    start=''
                    words+=("$piece")
                fi
                rest=${rest#"${rest%%[![:space:]]*}"}
                rest=${rest#"$piece"}
            done
            [[ $piece == [:=@] ]] && start=${words[-1]}
            _latchkey_unquote "$start"
            start=$REPLY
            for index in "${!words[@]}"; do
                _latchkey_unquote "${words[index]}"
                words[index]=$REPLY
            done
            [[ -n $quote ]] && start=$before
            while IFS= read -r word; do
                case $word in
                    :files | :programs) mode=$word ;;
                    *) found+=("${word%%$'\t'*}") ;;
                esac
            done < <(command latchkey __complete "${words[@]:1}" 2> /dev/null)
            COMPREPLY=()
            case $mode in
                :files) compopt -o default ;;
                :programs) mapfile -t found < <(compgen -c -- "${words[-1]}") ;;
            esac
            for word in "${found[@]}"; do
                _latchkey_quote "${word#"$start"}"
                COMPREPLY+=("$REPLY")
            done
        }
        complete -F _latchkey latchkey
        """#

    private static let zsh: StaticString = #"""
        _latchkey() {
            # zsh removes a backslash before an exclamation mark, too.
            local escapes='$`"\!' line mode word quote before REPLY
            local -a texts found shown
            for word in "${(@)words[2,CURRENT-1]}" "$QIPREFIX$PREFIX"; do
                _latchkey_unquote "$word"
                texts+=("$REPLY")
            done
            for line in "${(@f)$(command latchkey __complete "${(@)texts}" 2> /dev/null)}"; do
                case $line in
                    :files | :programs) mode=$line ;;
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
            set -l token (commandline -ct)
            # Its quote may be open.
            set -l word (string unescape -- $token; or string unescape -- $token'"'; or string unescape -- $token"'")
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
