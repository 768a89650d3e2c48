#!/usr/bin/env bash
# The man page has every subcommand and every option that help has, and is well-formed as far as the tools at hand can tell.
# usage: manpage.sh COMMAND PAGE
set -euo pipefail

command=$1 page=$2
text=$(sed 's/\\-/-/g' "$page")
bad=0 count=0

complain() {
	echo "$*" >&2
	bad=1
}

section() {
	sed -n "/^\.SH $1\$/,/^\.SH/p" <<<"$text"
}

subcommands=$("$command" help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
common=$(section 'COMMON OPTIONS')
for subcommand in $subcommands; do
	found=$(section "STARMAX ${subcommand^^}")
	[[ -n $found ]] || complain "no section about $subcommand"
	for option in $("$command" help "$subcommand" | sed -n 's/^  \(--[a-z-]*\) .*/\1/p'); do
		grep -qE "^\.B $option( |\$)" <<<"$found$common" || complain "$subcommand: no $option"
		count=$((count + 1))
	done
done
((count > 50)) || complain "help names only $count options"

# A build has no date.
if command -v mandoc >/dev/null; then
	findings=$(mandoc -Tlint -Wwarning "$page" | grep -v 'missing date' || true)
	[[ -z $findings ]] || complain "$findings"
fi
if command -v groff >/dev/null; then
	findings=$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)
	[[ -z $findings ]] || complain "$findings"
fi
((bad == 0)) && echo "$count options"
