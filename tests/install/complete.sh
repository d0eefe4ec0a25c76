#!/bin/bash
# complete.sh PREFIX WORD...: what bash makes of the last word, with the completion that is installed below PREFIX.
PATH=$1/bin:$PATH
source "$1/share/bash-completion/completions/winnow-runtime"
COMP_WORDS=("${@:2}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_winnow
echo "${COMPREPLY[*]}"
