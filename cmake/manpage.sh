#!/bin/sh
# The man page of the command, written from the command's own help, so that it says what the command does.
# usage: manpage.sh VERSION DESCRIPTION COMMAND...
set -eu

version=$1 description=$2
shift 2

# Help as troff. Help is a usage, paragraphs, and lists: a line such as "Options:", then lines "  NAME  TEXT". `heading` is the macro
# for the names of lists, empty to leave these out; `skip`, lines of lists to leave out.
troff() {
	awk -v heading="$1" -v skip="$2" '
		function escaped(text) {
			sub(/^ +/, "", text)
			gsub(/\\/, "\\e", text)
			gsub(/-/, "\\-", text)
			gsub(/"/, "\\(dq", text)
			return text ~ /^[.\047]/ ? "\\&" text : text
		}
		# Where the text of an item begins: an option has words of its own, any other name has none.
		function text_at(item) {
			if (match(item, options ? "  +" : " +"))
				return RSTART + RLENGTH
			if (options && substr(item, 36, 1) == " ")
				return 37
			print "manpage.sh: no space between a name and its text: " item > "/dev/stderr"
			failed = 1
			exit
		}
		BEGIN {
			count = split(skip, line, "\n")
			for (i = 1; i <= count; i++)
				skipped[line[i]] = 1
		}
		END { exit failed }
		/^Usage: / { in_usage = 1; sub(/^Usage: /, "       ") }
		in_usage && /^       / {
			print (usages++ ? ".br\n" : "") ".B " escaped($0)
			next
		}
		/^[A-Z][a-z]+:$/ {
			options = $0 == "Options:"
			in_list = 1
			if (heading)
				print heading " " toupper(substr($0, 1, length($0) - 1))
			next
		}
		/^$/ { gap = 1; in_usage = in_list = 0; next }
		in_list && /^  [^ ]/ {
			if ($0 in skipped)
				next
			item = substr($0, 3)
			at = text_at(item)
			name = substr(item, 1, at - 1)
			sub(/ +$/, "", name)
			print ".TP\n.B " escaped(name) "\n" escaped(substr(item, at))
			next
		}
		{
			if (gap)
				print ".PP"
			gap = 0
			print escaped($0)
		}'
}

overview=$("$@" help)
# The options that every subcommand takes: help has none of its own.
common=$("$@" help help | grep '^  --')
names=$(printf '%s\n' "$overview" | awk '/:$/ { listed = $0 == "Subcommands:" } listed && /^  / { print $1 }')

cat <<EOT
.TH STARMAX 1 "" "starmax $version" "User Commands"
.SH NAME
starmax \\- $description
.SH SYNOPSIS
EOT
printf '%s\n' "$overview" | sed '/^$/,$d' | troff '' ''
echo .SH DESCRIPTION
printf '%s\n' "$overview" | sed '1,/^$/d' | troff .SH ''
echo .SH COMMON OPTIONS
printf 'Options:\n%s\n' "$common" | troff '' ''
for name in $names; do
	echo ".SH STARMAX $(echo "$name" | tr '[:lower:]' '[:upper:]')"
	"$@" help "$name" | troff '' "$common"
done
