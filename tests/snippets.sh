#!/usr/bin/env bash
# Every piece of C on a page of the documentation is, as it stands, in one of the sources.
# usage: snippets.sh PAGE SOURCE...
set -euo pipefail

page=$1
shift
sources=$(cat "$@")
count=0 bad=0 block=''
while IFS= read -r line; do
	case $line in
	'```c') block=$'\n' ;;
	'```')
		if [[ -n $block ]]; then
			count=$((count + 1))
			[[ $'\n'$sources$'\n' == *"$block"* ]] || { echo "$page: not in the sources:$block" >&2; bad=1; }
		fi
		block=''
		;;
	*) [[ -z $block ]] || block+=$line$'\n' ;;
	esac
done <"$page"
((count > 0)) || { echo "$page: no C" >&2; bad=1; }
((bad == 0)) && echo "$count pieces"
