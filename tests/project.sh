#!/usr/bin/env bash
# What starmax-project promises: exit statuses, messages, JSON names, plots. Usage: project.sh <starmax-project>
set -u
project=$1
# shellcheck source-path=SCRIPTDIR source=expect.sh
source "$(dirname "$0")/expect.sh" "$1" starmax-project

silent() { ! grep -qv "ASan doesn't fully support makecontext" "$err" || fail "$what: stderr is not empty"; }

expect 0 --help; says "Usage: starmax-project"; silent
for option in $(grep -oE '\{"[a-z]+", (no|required)_argument' "$(dirname "$0")/../perf/project.c" | grep -oE '[a-z]+"' | tr -d '"'); do
	says "--$option "
done
expect 2 --hlep; complains "--help lists the options"
expect 2 extra; complains "there is no such argument: extra"
expect 2 --set w9; complains "--set takes w8, full or endings, not: w9"
for value in 0 x 1025 2x -1; do
	expect 2 --threads "$value"; complains "--threads takes numbers from 1 to 1024, not: $value"
done
expect 2 --compare --json; complains "--compare prints a table"
expect 2 --compare --plot x; complains "--compare prints a table"
for value in $'a\nb' "" -x; do
	expect 2 --plot "$value"; complains "--plot takes the beginning of file names"
done
expect 2 --plot "$directory/missing/plot"; complains "--plot: cannot write: $directory/missing/plot.gp"

small=(--set w8 --rounds 1 --least 0)
expect 0 "${small[@]}" --threads 4,1 --json # in ascending order all the same
[[ $(grep -c '"serial_ms"' "$out") -eq 20 && $(grep -cE '"threads": [14]' "$out") -eq 44 ]] || fail "$what: not 10 positions twice"
[[ $(grep -oE '"threads": [0-9]+' "$out" | head -n 2 | grep -oE '[0-9]+' | tr '\n' ' ') == "1 4 " ]] || fail "$what: not 1, 4"

# Without gnuplot its script is there all the same; with it so are the plots.
mkdir "$directory/bin"
what="starmax-project --plot without gnuplot"
PATH=$directory/bin "$project" "${small[@]}" --threads 1 --plot "$directory/it's" >"$out" 2>"$err"
[[ $? -eq 1 ]] || fail "$what: not 1"
complains "gnuplot did not draw it; the script is $directory/it's.gp"
grep -qF "it''s'" "$directory/it's.gp" || fail "$what: the prefix is not quoted"
[[ $(grep -cE '^1 1 1 1 0 0 0$' "$directory/it's.gp") -eq 2 ]] || fail "$what: not two sets of data" # one thread is the serial search
expect 1 --set w8 --rounds 1 --least 1000000 --threads 1 --plot "$directory/none"; complains "nothing to draw"
if command -v gnuplot >/dev/null; then
	expect 0 "${small[@]}" --threads 1,2 --plot "$directory/it's"; silent
	for kind in speedup efficiency overhead; do
		grep -q '<svg' "$directory/it's-$kind.svg" || fail "$what: no $kind.svg"
		[[ $(head -c 4 "$directory/it's-$kind.png" | tail -c 3) == PNG ]] || fail "$what: no $kind.png"
	done
fi

finish
