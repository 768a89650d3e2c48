#!/usr/bin/env bash
# What starmax play promises: the same games whatever the threads, runs that go on after any end, transcripts that cannot be tampered with.
# Usage: play.sh <starmax>
set -u
starmax=$1
# shellcheck source-path=SCRIPTDIR source=expect.sh
source "$(dirname "$0")/expect.sh" "$1" starmax
unset STARMAX_ISA OMP_PLACES OMP_PROC_BIND OMP_WAIT_POLICY
export STARMAX_THREADS=1
unset_times='s/"time_ms":[0-9.e+-]+//g; s/"turns_per_second":[0-9.e+-]+//g' # what differs from run to run

silent() { [[ ! -s $err ]] || fail "$what: stderr is not empty"; }
games_of() { sed -E "$unset_times; s/\"chance_nodes\":[0-9]+//g" "$out"; } # ... and from one number of threads to another
first_number() { grep -oE "\"$1\":-?[0-9.]+" "$out" | tail -n 1 | grep -oE -- '-?[0-9.]+$'; } # the summary's, which comes last
lines() { [[ -e $1 ]] && wc -l <"$1" || echo 0; }
until_it_has() { # <file> <lines>: wait for what a process in the background writes
	for ((i = 0; i < 6000 && $(lines "$1") < $2; i++)); do
		sleep 0.01
	done
}

# The same games, whatever the threads, what they share, and how much is pruned.
threads=("--threads 2 --share games" "--threads 3 --share games" "--serial --share turns")
shared="--serial" # of one game
if "$starmax" analyze --depth 1 --threads 2 "8/8/8/8/8/4k3/8/4K2R w - - 0 1 RRR" >/dev/null 2>&1; then
	shared="--threads 2 --bind none" # where OpenMP is built in
	threads+=("$shared --share turns")
fi
same_games() { # <arguments...>
	expect 0 play --json "$@"; silent
	games_of >"$directory/games"
	local options
	for options in "${threads[@]}" "--hash 64K --star etc" "--star star1"; do
		# shellcheck disable=SC2086
		expect 0 play --json "$@" $options; silent
		games_of | cmp -s - "$directory/games" || fail "$what: other games"
	done
}
same_games dicechess --games 3 --depth 1 --against "--depth 2 --width 8"
same_games 2048 --games 3 --depth 2 --turns-max 150
same_games 2048 --games 1 --seed 7 --depth 3 --turns-max 60
# With a limit of nodes they follow from it as long as each search has one thread.
nodes=(play dicechess --games 2 --nodes 60 --width 20 --json)
expect 0 "${nodes[@]}" --share turns; games_of >"$directory/games"
for options in "--threads 2" "--threads 3 --share games"; do
	# shellcheck disable=SC2086
	expect 0 "${nodes[@]}" $options; games_of | cmp -s - "$directory/games" || fail "$what: other games"
done
# A game is that of its seed, whichever is the first.
expect 0 play 2048 --depth 1 --games 3 --seed 5 --json; sed -n 3p "$out" | sed -E "$unset_times" >"$directory/third"
expect 0 play 2048 --depth 1 --games 1 --seed 7 --json; sed -n 1p "$out" | sed -E "$unset_times" | cmp -s - "$directory/third" ||
	fail "$what: another game than the third from seed 5 on"
expect 0 play 2048 --depth 1 --games 30 --json
[[ $(grep -oE '"points":[0-9]+' "$out" | sort -u | wc -l) -gt 25 ]] || fail "$what: the seeds have the same luck"

# Names and columns.
expect 0 play dicechess --games 2 --depth 1 --json; silent
names "config seed first winner points goal cut turns players player searched depths chance_nodes time_ms summary game start version turns_max games missing mean low high goals score pairs begun wins draws losses not_begun search depth width evaluator prerank nodes movetime_ms rescore selective turns_per_second mean_depth"
[[ $(lines "$out") -eq 5 ]] || fail "$what: not 4 games and a summary"
expect 0 play 2048 --games 2 --depth 1 --json; silent
says '"median":'; says '"least":'; says '"most":'; says '"goals":[{"goal":'; says '"rate":1.0,"low":'
[[ $(lines "$out") -eq 3 ]] || fail "$what: not 2 games and a summary"
expect 0 play 2048 --games 3 --depth 1 --seed 12; silent
says "search     depth 1, width all, evaluator heuristic"; says "threads    1 game at a time, 1 thread each"; says "reached    the highest tile"
grep -qE '^seed +points +the highest tile +turns +turns/s$' "$out" || fail "$what: no head"
[[ $(grep -cE '^  1[234] +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+$' "$out") -eq 3 ]] || fail "$what: not 3 games"
expect 0 --game 2048 play --games 1 --depth 1; says "game       2048, from "
expect 0 play --games 1 --depth 1; says "game       dicechess, from "
expect 0 play 2048 --games 2 --threads 2 --depth 1; says "threads    2 games at a time, 1 thread each"

# Equals mirror each other: of each pair both games are the same, and each player wins one.
expect 0 play --games 6 --depth 1 --json
says '"score":{"mean":0.5,"low":0.5,"high":0.5,"pairs":6,'
for ((pair = 1; pair <= 6; pair++)); do
	mirrored=$(sed -n "$((2 * pair - 1)),$((2 * pair))p" "$out" | grep -oE '"seed":[0-9]+|"winner":"[AB]"|,"turns":[0-9]+,"players"' | sort -u | wc -l)
	[[ $mirrored -eq 4 ]] || fail "$what: pair $pair: not one seed, two winners and one length"
done
# Who looks farther wins, on both sides.
expect 0 play --games 8 --depth 2 --width 30 --against "--depth 1"
[[ $(grep -oE '^score +[0-9]+' "$out" | grep -oE '[0-9]+$') -ge 75 ]] || fail "$what: depth 2 does not beat depth 1"
says "for A, 95% interval "; says "over 8 pairs of games"
score=$(grep '^score' "$out")
expect 0 play --games 8 --depth 1 --against "--depth 2 --width 30"
[[ $(grep -oE '^score +[0-9]+' "$out" | grep -oE '[0-9]+$') -le 25 ]] || fail "$what: not $score the other way round"

# A pair has the same dice, turn by turn, whoever plays and whatever is played.
expect 0 play --games 2 --seed 3 --depth 1 --against "--depth 1 --evaluator standard" --transcript "$directory/pair"
for seed in 3 4; do
	for first in A B; do
		grep -v '^#' "$directory/pair$seed-$first.txt" | cut -f 1 | sed 's/.* //' | tr a-z A-Z >"$directory/dice$first"
	done
	shorter=$(cat "$directory/diceA" "$directory/diceB" | wc -l)
	[[ $(lines "$directory/diceA") -lt $((shorter / 2)) ]] && shorter=$(lines "$directory/diceA") || shorter=$(lines "$directory/diceB")
	[[ $shorter -gt 4 ]] || fail "seed $seed: only $shorter turns"
	cmp -s <(head -n "$shorter" "$directory/diceA") <(head -n "$shorter" "$directory/diceB") || fail "seed $seed: not the same dice"
done

# A game may be cut.
expect 0 play --games 2 --depth 1 --turns-max 3; says "games      4, 4 cut after 3 turns"; says "result     A wins 0, loses 0, draws 4"; says "score      50.0% for A"
expect 0 play 2048 --games 2 --depth 1 --turns-max 10 --json; says '"cut":true,"turns":10,'; says '"games":2,"missing":0,"cut":2,'
# It may begin anywhere, also with its first outcome known.
expect 0 play --games 1 --depth 1 --start "k7/8/8/8/8/8/8/R3K3 w - - 0 1 PPR" --json
[[ $(grep -cE '"first":"(A|B)","winner":"\1".*"turns":1,"players"' "$out") -eq 2 ]] || fail "$what: the first does not win at once"
expect 0 play 2048 --games 1 --depth 1 --start "2,4,2,4/4,2,4,2/2,4,2,4/4,2,4,2"; says "game       2048, from 2,4,2,4/4,2,4,2/2,4,2,4/4,2,4,2"
grep -qE '^ +1 +0 +4 +0 +0$' "$out" || fail "$what: an ended game goes on"

# A run that is killed goes on where it was: the same games in the end, none played twice.
output=$directory/output
run=(play 2048 --games 40 --depth 2 --turns-max 400 --json)
expect 0 "${run[@]}"; games_of >"$directory/games"
expect 0 "${run[@]}" --output "$output"; games_of | cmp -s - "$directory/games" || fail "$what: other games"
[[ $(lines "$output") -eq 40 ]] || fail "$what: not 40 lines"
head -n 40 "$out" | cmp -s - "$output" || fail "$what: not the games that were shown"
cp "$output" "$directory/whole"
expect 0 "${run[@]}" --output "$output" --threads 2; cmp -s "$output" "$directory/whole" || fail "$what: the file is not what it was"
head -n 40 "$out" | cmp -s - "$output" || fail "$what: games were played again"
for bytes in 0 1 300 2000 5001; do # a line is torn anywhere
	head -c $bytes "$directory/whole" >"$output"
	kept=$(lines "$output")
	expect 0 "${run[@]}" --output "$output"; silent
	games_of | cmp -s - "$directory/games" || fail "$what: other games after $bytes bytes"
	head -n "$kept" "$directory/whole" | cmp -s - <(head -n "$kept" "$output") || fail "$what: the first $kept games were played again"
	[[ $(lines "$output") -eq 40 ]] || fail "$what: $(lines "$output") lines"
done
for kill in 1 2 3; do # anywhere: how far it has come depends on the machine
	what="starmax ${run[*]} and SIGKILL, $kill"
	rm -f "$output"
	"$starmax" "${run[@]}" --output "$output" --depth 3 --threads 2 >"$out" 2>"$err" &
	pid=$!
	until_it_has "$output" $((4 * kill))
	kill -KILL $pid
	wait $pid 2>/dev/null
	[[ $(lines "$output") -gt 0 ]] || fail "$what: no game was done"
	cp "$output" "$directory/killed"
	kept=$(lines "$output")
	expect 0 "${run[@]}" --depth 3 --output "$output"; silent
	head -n "$kept" "$directory/killed" | cmp -s - <(head -n "$kept" "$output") || fail "$what: the first $kept games were played again"
	[[ $(lines "$output") -eq 40 ]] || fail "$what: $(lines "$output") lines"
	games_of >"$directory/resumed"
	[[ $kill -eq 1 ]] && cp "$directory/resumed" "$directory/undisturbed"
	cmp -s "$directory/resumed" "$directory/undisturbed" || fail "$what: other games"
done
# More seeds add to a file; those that are not asked for stay.
expect 0 play 2048 --games 42 --depth 2 --turns-max 400 --output "$directory/whole" --json; [[ $(lines "$directory/whole") -eq 42 ]] || fail "$what: not 42 lines"
expect 0 play 2048 --games 2 --seed 41 --depth 2 --turns-max 400 --output "$directory/whole" --json
[[ $(lines "$directory/whole") -eq 42 && $(lines "$out") -eq 3 ]] || fail "$what: played again"

# Of other games, or of none, a file is refused and left alone.
refused() { # <reason> <arguments...>
	local reason=$1
	shift
	cp "$output" "$directory/before"
	expect 1 play "$@" --output "$output"; complains "$reason"
	[[ ! -s $out ]] || fail "$what: played all the same"
	cmp -s "$output" "$directory/before" || fail "$what: the file was changed"
}
expect 0 play --games 1 --depth 1 --output "$directory/chess"
cp "$directory/chess" "$output"
refused "output:1: this is a game of another configuration" 2048 --games 1 --depth 1
refused "another configuration" --games 1 --depth 2
refused "another configuration" --games 1 --depth 1 --evaluator winprob
refused "another configuration" --games 1 --depth 1 --against "--width 3"
refused "another configuration" --games 1 --depth 1 --turns-max 50
refused "another configuration" --games 1 --depth 1 --start "k7/8/8/8/8/8/8/R3K3 w - - 0 1"
refused "another configuration" --games 1 --depth 1 --movetime 1h
expect 0 play --games 1 --depth 1 --threads 2 --star none --hash 64K --output "$output" # all of which changes no game
printf 'my diary' >"$output"; refused "output:1: this is no game" --games 1 --depth 1
printf '{"config":"0' >"$output"; refused "output:1: this is no game" --games 1 --depth 1
{ cat "$directory/chess"; echo '{"config":'; } >"$output"; refused "output:3: this is no game" --games 1 --depth 1
sed 's/"cut":false,//' "$directory/chess" >"$output"; refused "output:1: this is a game that lacks something" --games 1 --depth 1
expect 1 play --games 1 --depth 1 --output "$directory/missing/x"; complains "cannot open"
expect 1 play --games 1 --depth 1 --output "$directory"; complains "cannot open"
what="two processes and one file"
"$starmax" play --depth 8 --games 1 --output "$directory/shared" >"$directory/other" 2>&1 &
pid=$!
until_it_has "$directory/other" 5
expect 1 play --depth 8 --games 1 --output "$directory/shared"; complains "another process adds to"
kill -TERM $pid
wait $pid
[[ $? -eq 130 ]] || fail "$what: the first was not interrupted"

# A signal ends the games that are being played; those that are complete count.
for signal in INT TERM; do
	what="starmax play and SIG$signal"
	env --default-signal=INT "$starmax" play 2048 --games 1000000 --depth 2 --threads 2 --json --output "$directory/$signal" >"$out" 2>"$err" &
	pid=$!
	until_it_has "$directory/$signal" 3
	kill -s $signal $pid
	wait $pid
	[[ $? -eq 130 ]] || fail "$what: not 130"
	silent
	played=$(($(lines "$out") - 1))
	[[ $played -gt 2 && $(lines "$directory/$signal") -eq $played ]] || fail "$what: $played games"
	says "\"games\":$played,\"missing\":$((1000000 - played)),"
done
what="starmax play and SIGINT in a search"
: >"$out" # what the last command wrote would pass for this one's
env --default-signal=INT "$starmax" play --games 1 --depth 8 --share turns >"$out" 2>"$err" &
pid=$!
until_it_has "$out" 5
kill -s INT $pid
wait $pid
[[ $? -eq 130 ]] || fail "$what: not 130"
says "games      0 of 2"; lacks "mean"

# What is said of games, of such whose numbers are known: 1000, 2000, 3000, 6000 points; goals 256, 512, 512, 2048.
expect 0 play 2048 --games 4 --depth 1 --output "$output.points"
points=(1000 2000 3000 6000) goals=(256 512 512 2048)
for ((i = 0; i < 4; i++)); do
	sed -n $((i + 1))p "$output.points" | sed -E "s/\"points\":[0-9]+,\"goal\":[0-9]+/\"points\":${points[i]},\"goal\":${goals[i]}/"
done >"$output"
expect 0 play 2048 --games 4 --depth 1 --output "$output"
says "points     mean 3,000.0, 95% interval -437.4 to 6,437.4; median 2,500.0, from 1,000.0 to 6,000.0" # 3000 +- 3.182446 * 2160.247 / 2 = 3437.43
says "       256  100.0%  (51.0% to 100.0%)"; says "       512   75.0%  (30.1% to 95.4%)"; says "      1024   25.0%  (4.6% to 69.9%)"; says "      2048   25.0%"
lacks "      4096"; lacks "       128  "
# ... of pairs of which A wins 2, 1.5, 1, 1 and 0.5 games: 60% on average.
expect 0 play --games 5 --depth 1 --turns-max 4 --output "$output.pairs"
winners=('"A"' '"A"' '"A"' null '"A"' '"B"' '"B"' '"A"' null '"B"')
for ((i = 0; i < 10; i++)); do
	sed -n $((i + 1))p "$output.pairs" | sed -E "s/\"winner\":[^,]*/\"winner\":${winners[i]}/"
done >"$output"
expect 0 play --games 5 --depth 1 --turns-max 4 --output "$output"
says "result     A wins 5, loses 3, draws 2"; says "A begins   A wins 3, loses 1, draws 1"; says "B begins   A wins 2, loses 2, draws 1"
says "score      60.0% for A, 95% interval 24.6% to 95.4%, over 5 pairs of games" # 2.776445 * 0.285044 / sqrt(5) = 0.353929

# A transcript is replayed to the same end; it is a file of positions.
replayed() { # <file> <game line> <result line>
	expect 0 play --replay "$1"; silent; says "game       $2"; says "result     $3"
}
expect 0 play --games 3 --depth 1 --against "--evaluator winprob" --transcript "$directory/t" --json
cp "$out" "$directory/games"
for seed in 1 2 3; do
	for first in A B; do
		row=$(grep "\"seed\":$seed,\"first\":\"$first\"" "$directory/games")
		winner=$(grep -oE '"winner":"[AB]"' <<<"$row" | grep -oE '[AB]"' | tr -d '"')
		turns=$(grep -oE ',"turns":[0-9]+,"players"' <<<"$row" | grep -oE '[0-9]+')
		replayed "$directory/t$seed-$first.txt" "dicechess, seed $seed, $first begins" "$winner wins after $turns turns"
		[[ $(grep -vc '^#' "$directory/t$seed-$first.txt") -eq $turns ]] || fail "$what: not $turns lines"
	done
done
expect 0 play 2048 --games 2 --depth 1 --transcript "$directory/s" --json; score=$(grep -oE '"points":[0-9]+,"goal":[0-9]+' "$out" | head -n 1 | tr -dc '0-9,')
turns=$(grep -oE ',"turns":[0-9]+,"players"' "$out" | head -n 1 | tr -dc '0-9')
replayed "$directory/s1.txt" "2048, seed 1" "points ${score%,*}, the highest tile ${score#*,}, after $turns turns"
[[ $(grep '^# last' "$directory/s1.txt" | tr -c '0-9\n' '\n' | sort -n | tail -n 1) -eq ${score#*,} ]] || fail "$what: the last board has another highest tile"
expect 0 play --replay "$directory/s2.txt" --json; says '{"summary":true,"game":"2048","seed":2,"first":"A","whole":true,"winner":null,"points":'; says ',"losses":null}'
expect 0 play 2048 --games 1 --depth 1 --turns-max 7 --transcript "$directory/cut"; replayed "$directory/cut1.txt" "2048, seed 1" "points "
says ", cut after 7 turns"
expect 0 play 2048 --games 1 --depth 1 --turns-max 7 --transcript "$directory/from" --start "4,2,0,0/2,0,0,0/0,0,0,0/0,0,0,2"; replayed "$directory/from1.txt" "2048, seed 1" "points "
game=$directory/t1-A.txt
count=$(grep -vc '^#' "$game")
expect 0 analyze --file "$game" --depth 1; silent; [[ $(lines "$out") -eq $count ]] || fail "$what: not $count positions"
expect 0 verify --file "$game" --depth 1 --evaluator material; silent; [[ $(grep -c '^ok' "$out") -eq $count ]] || fail "$what: not $count positions"
expect 0 --game 2048 analyze --file "$directory/cut1.txt" --depth 2; silent; [[ $(lines "$out") -eq 7 ]] || fail "$what: not 7 positions"

# What is not as it was played is found, by its line.
tampered() { # <sed script> <reason>
	sed -E "$1" "$game" >"$directory/tampered"
	cmp -s "$game" "$directory/tampered" && fail "sed $1: nothing changed"
	expect 1 play --replay "$directory/tampered"; complains "$directory/tampered"; complains "$2"
	[[ ! -s $out ]] || fail "$what: a result all the same"
}
head=$(grep -c '^# [^lr]' "$game") # lines before the first turn
tampered "$((head + 3))s/\t[^\t]*\t/\ta1a8\t/" "tampered:$((head + 3)): turn 3 is not a legal one"
tampered "$((head + 1))s/\t[^\t]*\t/\tpass\t/" "turn 1 is not a legal one"
tampered "$((head + 4))s/ [a-z]*\t/ kkk\t/" "tampered:$((head + 4)): the position of turn 4 must be "
tampered "$((head + 4))s/^./x/" "the position of turn 4 must be "
tampered "$((head + 2))d" "the position of turn 2 must be "
tampered "$((head + 2))p" "the position of turn 3 must be "
tampered "s/^# seed 1/# seed 2/" "tampered:$((head + 1)): the position of turn 1 must be "
tampered "s/^# seed 1/# seed x/" "there is no such seed"
tampered "s/^# first A/# first C/" "there is no such player"
tampered "s/^# first A/# first B/" "the result must be: "
tampered "s/^# result .*/# result B wins after 1 turns/" "the result must be: "
tampered "s/^# last .*/# last x/" "the last position must be "
tampered "$((head + count))d" "there is no turn $count, in "
tampered "s/^# turns-max .*/# turns-max 2/" "tampered:$((head + 3)): the game is over: a draw, cut after 2 turns"
tampered "$((head + 2))s/\t.*//" "tampered:$((head + 2)): there is no turn behind the position"
tampered "s/^# last .*//" "is no whole transcript: it has no line \"# last ...\""
expect 2 play 2048 --replay "$game"; complains "t1-A.txt is a game of dicechess, not of 2048"
expect 0 play dicechess --replay "$game"
sed 's/^# game .*/# game dicechss/' "$game" >"$directory/tampered"; expect 2 play --replay "$directory/tampered"; complains "did you mean dicechess?"
sed 's/^# start .*/# start x/' "$game" >"$directory/tampered"; expect 2 play --replay "$directory/tampered"; complains "bad position"
expect 1 play --replay "$directory/missing"; complains "cannot open"
expect 1 play --replay "$directory"; complains "cannot read"
expect 1 play --games 1 --depth 1 --transcript "$directory/missing/x"; complains "missing/x1-A.txt"

# Turns by the search that chose them lose nothing; by one that looks farther they do, whatever it is done with.
expect 0 play --games 1 --depth 1 --transcript "$directory/t"; count=$(grep -vc '^#' "$game")
expect 0 play --replay "$game" --analyze --depth 1; silent
says "A          mean loss 0 centipawns a turn, "; says "B          mean loss 0 centipawns a turn, "
grep -qE '^ turn +player +played +value +best +value +loss$' "$out" || fail "$what: no head"
[[ $(grep -cE '^ +[0-9]+  [AB] .* 0\.00$' "$out") -eq $count ]] || fail "$what: not $count turns that lose nothing"
lost=(play --replay "$game" --analyze --depth 2 --evaluator winprob --json)
expect 0 "${lost[@]}"; silent
names "turn player position played value raw best best_value best_raw loss loss_raw summary game seed first whole winner points goal cut turns losses search known mean_loss"
[[ $(lines "$out") -eq $((count + 1)) ]] || fail "$what: not $count turns and a summary"
[[ $(grep -c '"loss":0.0,"loss_raw":0}' "$out") -lt $count ]] || fail "$what: nothing is lost"
grep -q '"loss":-' "$out" && fail "$what: a turn is better than the best"
cp "$out" "$directory/lost"
for options in "--star none --leaves list" "--hash 64K --star etc" "$shared"; do
	# shellcheck disable=SC2086
	expect 0 "${lost[@]}" $options; cmp -s "$out" "$directory/lost" || fail "$what: another analysis"
done
while IFS=, read -r raw best loss; do
	[[ $((best - raw)) -eq $loss ]] || fail "$what: $best less $raw is not $loss"
done < <(grep -oE '"raw":[0-9]+|"best_raw":[0-9]+|"loss_raw":[0-9]+' "$directory/lost" | grep -oE '[0-9]+' | paste -d, - - -)
expect 0 play --replay "$directory/s1.txt" --analyze --depth 2 --json --evaluator score; grep -q '"loss":-' "$out" && fail "$what: a turn is better than the best"
[[ $(first_number known) -eq $turns ]] || fail "$what: not all $turns values known"
what="starmax play --analyze and SIGINT"
: >"$out"
env --default-signal=INT "$starmax" play --replay "$game" --analyze --depth 8 >"$out" 2>"$err" &
pid=$!
until_it_has "$out" 3
kill -s INT $pid
wait $pid
[[ $? -eq 130 ]] || fail "$what: not 130"
says "result     none: the analysis was ended"

# The board, turn by turn.
expect 0 play 2048 --games 1 --depth 1 --turns-max 20 --watch; silent
[[ $(grep -cE '^seed 1, turn [0-9]+: (left|right|up|down|pass), value -?[0-9.]+ points, so far [0-9]+ points$' "$out") -eq 20 ]] || fail "$what: not 20 turns"
[[ $(grep -cE '^\+-------\+' "$out") -eq 100 ]] || fail "$what: not 20 boards"
expect 0 play --replay "$game" --watch; silent
[[ $(grep -cE '^8  ' "$out") -eq $count ]] || fail "$what: not $count boards"
says "8  r n b q k b n r"; says "White to move, dice "; says "Black to move, dice "; says "seed 1, turn 1, A: "

# The bar, on a terminal.
if command -v script >/dev/null; then
	what="the bar of starmax play"
	script -qec "stty cols 100; timeout -s INT 3 '$starmax' play 2048 --games 1000000 --depth 1 --turns-max 50 >/dev/null" /dev/null >"$out" 2>"$err" </dev/null
	tr '\r' '\n' <"$out" | grep -qE '\[\.{20}\] [1-9][0-9]*/1000000 games  mean points [0-9.]+  ([0-9:]+|[0-9.]+ s) left$' || fail "$what: not as it should be"
fi

# What is wrong is said.
expect 2 play dicechss; complains "unknown game dicechss; did you mean dicechess?"
expect 2 play dicechess 2048; complains "unexpected argument 2048"
expect 2 play 2048 --game dicechess; complains "2048 and --game dicechess exclude each other"
expect 0 play 2048 --game 2048 --games 1 --depth 1
expect 2 play 2048 --against "--depth 1"; complains "--against is for games of two players"
expect 2 play --against "--dep 1"; complains "unknown option --dep; did you mean --depth?"
expect 2 play --against "--games 3"; complains "unknown option --games"
expect 2 play --against "1"; complains "--against: unexpected argument 1"
expect 2 play --against "--depth"; complains "--depth needs a value"
expect 2 play --against "--evaluator materail"; complains "did you mean material?"
expect 2 play --evaluator heuristic; complains "unknown evaluator heuristic"
expect 2 play 2048 --evaluator heuristics; complains "did you mean heuristic?"
expect 2 play --games 0; complains "--games takes a number from 1 to 10000000"
expect 2 play --seed -1; complains "--seed takes a number from 0 to"
expect 2 play --share turn; complains "did you mean turns?"
expect 2 play --watch --share games; complains "--watch and --share games exclude each other"
expect 2 play --watch --json; complains "--watch and --json exclude each other"
expect 2 play --analyze; complains "--analyze needs --replay"
expect 2 play --start x; complains "--start: bad position: "
expect 2 play --samples 3 --hash 1M; complains "--hash is not for a "
expect 2 play --rescore standard; complains "--rescore needs --rescore-weight"
for option in "games 3" "seed 3" "against x" "start x" "output x" "transcript x" "turns-max 3" "share games"; do
	# shellcheck disable=SC2086
	expect 2 play --replay "$game" --$option; complains "--replay and --${option%% [0-9x]*} exclude each other"
done
expect 0 play --games 1 --depth 1 --samples 3 --against "--samples all --width 20 --movetime 1h --nodes 1000000 --hash 64K --rescore standard --rescore-weight 1/4"
says "A          depth 1, width all, evaluator material, pre-rank material, samples 3"
says "B          depth 1, width 20 afterstates, evaluator material, pre-rank material, rescore standard 1/4, at most 1000000 nodes a turn, at most 3600000 ms a turn, star star2, table 65536 bytes, 1 thread"

finish
