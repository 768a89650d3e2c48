#!/usr/bin/env bash
# An analysis that is killed, at any moment, goes on from what it had saved last: the same command gives the answer of one that nobody
# has killed, and no kill leaves a file that cannot be loaded.
# usage: resume.sh STARMAX [KILLS]  so many after a save (6), and whatever others it takes to come to these
set -u
starmax=$1
kills=${2:-6}
export STARMAX_THREADS=${STARMAX_THREADS-1} # chance nodes are counted; the answers are those of any number
[[ -x $starmax ]] || { echo "no program $starmax"; exit 1; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
table=$directory/table
search=(analyze --json "8/5pk1/4p1p1/3pP2p/3P1P1P/6P1/4RK2/r7 w - - 0 1 PRK" --depth 4 --width 8 --hash 4M)
killable=("${search[@]}" --checkpoint "$table" --resume "$table" --every 20ms)

die() {
	echo "FAIL: $*"
	exit 1
}

# The answer: how deep, whether it was stopped, and the result.
answer() { sed -E 's/.*("depth_completed":[0-9]+).*("stopped":[a-z]+,"result":\{[^}]*\}).*/\1,\2/' "$1"; }
counter() { grep -oE "\"$1\":[0-9]+" "$2" | head -n 1 | grep -oE '[0-9]+$'; } # the first is of the whole search

left_over() { find "$directory" -name 'table.*.tmp' | wc -l; }

loads() { "$starmax" analyze "8/8/8/8/8/4k3/8/4K2R w - - 0 1 RRR" --depth 1 --hash-load "$1" >/dev/null 2>&1; }

# After each kill, and at the end. What a save has left unfinished beside the table must be refused; it may also have been finished, but for its name.
check_table() {
	[[ ! -e $table ]] || loads "$table" || die "$1: the table cannot be loaded"
	local file
	while read -r file; do
		if ! loads "$file"; then
			refused=$((refused + 1))
		elif [[ $(wc -c <"$file") -eq $table_bytes ]]; then
			finished=$((finished + 1))
		else
			die "$1: a part of a table, $(wc -c <"$file") bytes, is taken for one"
		fi
	done < <(find "$directory" -name 'table.*.tmp')
}

# Start the analysis and kill it after a random part of an undisturbed one's time; false where it was over before.
start_and_kill() {
	"$starmax" "${killable[@]}" >"$directory/killed" 2>&1 &
	local pid=$!
	sleep "$(awk -v ms="$whole_ms" -v part=$RANDOM 'BEGIN { printf "%.3f", ms * part / 32768 / 1000 }')"
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	[[ $? -eq 137 ]]
}

"$starmax" "${search[@]}" --hash-save "$directory/saved" >"$directory/whole" || die "the undisturbed analysis"
whole=$(answer "$directory/whole")
whole_nodes=$(counter chance_nodes "$directory/whole")
whole_ms=$(grep -oE '"time_ms":[0-9]+' "$directory/whole" | head -n 1 | grep -oE '[0-9]+$')
[[ $whole == '"depth_completed":4,"stopped":false,"result":{"kind":"turn",'* ]] || die "the undisturbed analysis says $whole"

table_bytes=$(wc -c <"$directory/saved")

refused=0 finished=0
killed=0 killed_early=0 killed_again=0 left=0 nodes=0
for ((attempt = 1; killed < kills; attempt++)); do
	[[ $attempt -le $((20 * kills)) ]] || die "of $attempt kills only $killed were after a save"
	rm -f "$table" "$table".*.tmp
	start_and_kill || continue
	check_table "kill $attempt"
	if [[ ! -e $table ]]; then # before the first save: the next run is the first again
		killed_early=$((killed_early + 1))
	else
		killed=$((killed + 1))
	fi
	left=$((left + $(left_over)))
	if ((attempt % 2)) && start_and_kill; then
		killed_again=$((killed_again + 1))
		check_table "second kill $attempt"
	fi
	"$starmax" "${killable[@]}" >"$directory/resumed" || die "the resumed analysis"
	[[ $(answer "$directory/resumed") == "$whole" ]] || die "$(answer "$directory/resumed"), not $whole"
	[[ $(left_over) -eq 0 ]] || die "a temporary file is left"
	check_table "the end"
	nodes=$((nodes + $(counter chance_nodes "$directory/resumed")))
done
resumed=$((killed + killed_early))
echo "$resumed kills ($killed_early before the first save), $killed_again of them twice: every answer the same;" \
	"$left temporary files left and cleaned, loading them was refused $refused times, $finished times they were whole;" \
	"resumed searches opened $((100 * nodes / (resumed * whole_nodes)))% of the chance nodes of a whole one"
