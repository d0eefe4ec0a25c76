# Completion of winnow, winnow-import, winnow-prune, winnow-quantize, winnow-export and winnow-runtime in bash. What there is to complete
# is asked of the programs (--help), so that this file knows no option.

# Commands of a help text: the words below "Subcommands:".
_winnow_commands() {
  "$@" --help 2>/dev/null | awk '/^[A-Z].*:$/ { is_list = /^Subcommands:/; next } is_list && NF { print $1 }'
}

# Options of a help text: words of lines that begin with "-".
_winnow_options() {
  "$@" --help 2>/dev/null | awk '/^  -/ { for (i = split($1, name, ","); i > 0; --i) print name[i] }'
}

_winnow() {
  local current=${COMP_WORDS[COMP_CWORD]} command=() word candidates
  command=("${COMP_WORDS[0]}")
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in
      -* | */* | *.*) break ;;
      *) command+=("$word") ;;
    esac
  done
  if [[ $current == -* ]]; then
    candidates=$(_winnow_options "${command[@]}")
  elif [[ ${#command[@]} == 1 && ${command[0]##*/} == winnow ]]; then
    candidates=$("${command[0]}" --commands 2>/dev/null)
  else
    candidates=$(_winnow_commands "${command[@]}")
  fi
  mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$current")
  [[ ${#COMPREPLY[@]} -gt 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
}

complete -o filenames -F _winnow winnow winnow-import winnow-prune winnow-quantize winnow-export winnow-runtime
