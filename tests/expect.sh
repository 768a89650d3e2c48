# shellcheck shell=bash
# What the tests of a program's command line share. usage: source expect.sh PROGRAM NAME. Each `expect` runs the program; the checks behind it
# are about that run.
program=$1
program_name=$2
[[ -x $program ]] || { echo "no program $program"; exit 1; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failures=0
out=$directory/out
err=$directory/err

fail() {
	echo "FAIL: $1"
	sed 's/^/  out: /' "$out" | head -n 5 | cut -c1-300
	sed 's/^/  err: /' "$err" | head -n 5
	failures=$((failures + 1))
}

# expect <status> <arguments...>: run and compare the exit status.
expect() {
	local status=$1
	shift
	what="$program_name $*"
	timeout 300 "$program" "$@" >"$out" 2>"$err" </dev/null
	local got=$?
	[[ $got -eq $status ]] || fail "$what: exit status $got, not $status"
}

says() { grep -qF -- "$1" "$out" || fail "$what: no '$1' on stdout"; }
lacks() { ! grep -qF -- "$1" "$out" || fail "$what: '$1' on stdout"; }
complains() { grep -qF -- "$1" "$err" || fail "$what: no '$1' on stderr"; }

names() { # the distinct names of the JSON on stdout, in order of first use
	local got
	got=$(grep -oE '"[a-z0-9_]+":' "$out" | tr -d '":' | awk '!seen[$0]++' | tr '\n' ' ')
	[[ $got == "$1 " ]] || fail "$what: JSON names are $got"
}

finish() {
	if [[ $failures -ne 0 ]]; then
		echo "$failures failures"
		exit 1
	fi
	echo "all well"
}
