#!/usr/bin/env bash
# What the starmax command promises: exit statuses, messages, JSON names, files, interrupts.
# Usage: cli.sh <starmax>
set -u
starmax=$1
# shellcheck source-path=SCRIPTDIR source=expect.sh
source "$(dirname "$0")/expect.sh" "$1" starmax
unset STARMAX_ISA OMP_PLACES OMP_PROC_BIND OMP_WAIT_POLICY
export STARMAX_THREADS=1 # counters are looked at; what is about threads says how many
start="rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
kiwipete="r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"

silent() { [[ ! -s $err ]] || fail "$what: stderr is not empty"; }

# Help and versions.
expect 0 --help; says "perft"; silent
expect 0 --version; says "starmax "; silent
expect 0 version; says "instruction set"; says "jansson"; silent
expect 0 help; says "analyze"
expect 0 help moves; says "Usage: starmax moves"
for command in analyze moves eval perft play verify bench scale topology version help; do
	expect 0 $command --help; says "Usage: starmax $command"; says "--isa NAME"; silent
done
expect 2; complains "Usage: starmax"

# Wrong names are answered with the nearest right ones.
expect 2 anallyze "$start"; complains "unknown subcommand anallyze; did you mean analyze?"
expect 2 help analize; complains "did you mean analyze?"
expect 2 analyze --witdh 3 "$start"; complains "unknown option --witdh; did you mean --width?"
expect 2 analyze --dep 3 "$start"; complains "unknown option --dep; did you mean --depth?"
expect 2 analyze --nonsense "$start"; complains "--evaluator"
expect 2 analyze -q "$start"; complains "unknown option -q"
expect 2 analyze --evaluator materail "$start"; complains "unknown evaluator materail; did you mean material?"
expect 2 analyze --prerank zzz "$start"; complains "unknown pre-ranker zzz; there is material"
for value in 0 99 10001 12x ""; do
	expect 2 analyze --evaluator "winprob:$value" "$start"; complains "evaluator winprob:$value: "; complains "from 100 to 10000"
done
expect 2 analyze --prerank winprob-standard:1 "$start"; complains "pre-ranker winprob-standard:1: "; complains "from 100 to 10000"
expect 2 verify --evaluator winprob:0 "$start"; complains "from 100 to 10000"
expect 2 analyze --evaluator material:100 "$start"; complains "unknown evaluator material:100"
expect 0 --help; says "winprob:C"
expect 2 analyze --ties frist "$start"; complains "did you mean first?"
expect 2 analyze --leaves lists "$start"; complains "did you mean list?"
expect 2 analyze --width-counts path "$start"; complains "did you mean paths?"
expect 2 --game dicechss version; complains "unknown game dicechss; did you mean dicechess?"
expect 2 --isa genric version; complains "did you mean generic?"
expect 2 version --isa ""; complains "generic"
expect 2 perft --die X "$start"; complains "unknown die X"
STARMAX_ISA=genric expect 2 version; complains "STARMAX_ISA: genric; did you mean generic?"
STARMAX_ISA=generic expect 0 version; says "instruction set  generic;"
expect 0 --isa generic version; says "instruction set  generic;"

# Wrong values and arguments.
for value in 0 65 -1 2x "" 99999999999999999999; do
	expect 2 analyze --depth "$value" "$start"; complains "--depth takes a number from 1 to 64"
done
expect 2 analyze --width 0 "$start"; complains "or all"
for value in 0 0ms 0.9ms -1 2x 2.5 .5s 5.s 1e3 "5 m" 1M "" 1000000000001 277777778h 99999999999999999999s; do
	expect 2 analyze --movetime "$value" "$start"
	complains "option --movetime takes a time from 1 to 1000000000000 ms, such as 500, 500ms, 2.5s, 1m or 1h, or none, not"
done
for value in "" + 5m+ +5 5m+1s+1s 1.5+0 5m+1.5 5x+1 1s+-1 1s-1s "1s + 1s" 1099511627777 0+1099511627776.5s 305419897h; do
	expect 2 analyze --clock "$value" "$start"
	complains "option --clock takes REMAINING[+INCREMENT], each a time from 0 to 1099511627776 ms, such as"
done
for value in 0 -1 1.5 4294967296; do
	expect 2 analyze --clock 5m --move "$value" "$start"; complains "--move takes a number from 1 to 4294967295 or auto"
done
expect 2 analyze --clock 5m --movetime 1s "$start"; complains "--clock and --movetime exclude each other"
expect 2 analyze --move 3 "$start"; complains "--move needs --clock"
expect 2 analyze --clock-policy empirical-v1 "$start"; complains "--clock-policy needs --clock"
expect 2 analyze --clock 5m --clock-policy emprical-v1 "$start"
complains "unknown clock policy emprical-v1; did you mean empirical-v1?"
expect 2 analyze --clock 5m --clock-policy zzz "$start"; complains "there is empirical-v1, legacy-linear-v1"
for value in 0 off1 1023 1.5M 64k 64MB M -1M "64 M" 70368744177665 65537G 18014398509481985K 99999999999999999999 ""; do
	expect 2 analyze --hash "$value" "$start"
	complains "option --hash takes a size from 1024 to 70368744177664 bytes, such as 1048576, 512K, 64M or 2G, or off, not"
done
expect 2 analyze --hash 1M --hash-load x "$start"; complains "--hash and --hash-load exclude each other"
expect 2 analyze --hash off --hash-load x "$start"; complains "--hash and --hash-load exclude each other"
expect 2 analyze --hash-save x "$start"; complains "--hash-save needs --hash or --hash-load"
expect 2 analyze --hash off --exact-only "$start"; complains "--exact-only needs --hash or --hash-load"
expect 2 analyze --hash off --checkpoint x "$start"; complains "--checkpoint needs --hash or --hash-load"
expect 2 analyze --hash off --resume x "$start"; complains "--resume needs --hash or --hash-load"
expect 2 analyze --every 5s "$start"; complains "--every needs --checkpoint"
expect 2 analyze --checkpoint x --every 0 "$start"; complains "option --every takes a time from 1 to 1000000000000 ms"
expect 2 analyze --resume x --hash-load x "$start"; complains "--resume and --hash-load exclude each other"
for name in checkpoint resume; do
	expect 2 analyze --$name x --file -; complains "--$name is for the search of one position, not for --file"
	expect 2 analyze --$name x --samples 3 "$start"; complains "--$name is not for a search with --inner-width or --samples"
done
expect 2 analyze --multi 0 "$start"; complains "--multi takes a number from 1 to 1000000000"
expect 2 analyze --probe 0 "$start"; complains "--probe takes a number from 1 to"
expect 2 analyze --frames yes "$start"; complains "there is on, off"
expect 2 analyze --rescore standard "$start"; complains "--rescore needs --rescore-weight"
expect 2 analyze --rescore-weight 0.5 "$start"; complains "--rescore-weight needs --rescore"
expect 2 analyze --rescore standart --rescore-weight 0.5 "$start"; complains "unknown rescorer standart; did you mean standard?"
expect 2 analyze --rescore winprob --rescore-weight 0.5 "$start"
complains "rescorer winprob counts in probability, evaluator material in centipawns"
for value in "" -1 1.001 2 0.1234 .5 0. 1/ /4 5/4 1/0 1/1001 1/-4 1//4 1/4/4 25% 1e-1 " 1/4" 1/4x 0.25x 0.5/2 99999999999999999999/1 1/18446744073709551617; do
	expect 2 analyze --rescore standard --rescore-weight "$value" "$start"; complains "option --rescore-weight takes a share from 0 to 1"
done
for value in "" 1 1.0 2 -0.1 0.9999999999999999999999 .5 0. 1e-3 0x1p-3 1/8 nan inf 0.5x; do
	expect 2 analyze --reach "$value" "$start"; complains "option --reach takes a probability from 0 to below 1"
done
expect 2 analyze --inner-width 0 "$start"; complains "--inner-width takes a number from 1 to 1000000000 or all"
expect 2 analyze --samples 0 "$start"; complains "--samples takes a number from 1 to 1000000 or all"
for options in "--inner-width 8 --hash 1M" "--inner-width 8 --hash-load x" "--samples 3 --hash-save x" "--samples 3 --exact-only"; do
	# shellcheck disable=SC2086
	expect 2 analyze $options "$start"; complains "is not for a search with --inner-width or --samples"
done
for rule in "" outcomes outcome:3 outcomes: outcomes:0 outcomes:65 8=3,2 outcomes:8=3 "outcomes:8=3," outcomes:9=3,8=2,1 "outcomes:8=3;2" tiles:3; do
	expect 2 analyze --depth-by "$rule" "$start"; complains "option --depth-by: "
done
expect 2 analyze "$start" --depth; complains "--depth needs a value"
expect 2 analyze --json=yes "$start"; complains "--json takes no value"
expect 2 analyze; complains "position is missing"
expect 2 bench extra; complains "unexpected argument extra"
expect 2 version extra; complains "unexpected argument extra"
expect 2 analyze --file - "$start"; complains "unexpected argument"
expect 2 analyze --outcomes "$start PNB"; complains "--outcomes needs"
expect 2 perft "$start PNB"; complains "outcome is not known"
expect 2 analyze "rnbqkbnr/pppppppp/8/8/9/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"; complains "bad position: "; complains "^"
expect 2 moves nonsense; complains "bad position: "
expect 2 eval "$start ppx"; complains "bad position: "
expect 2 analyze $'8/8\n\033[2J'; complains "bad position: "
grep -q $'\033' "$err" && fail "control characters reach the terminal"

# analyze: a turn, a win, a pass, a value.
expect 0 analyze "$start PNB" --top 3; silent
says "position   $start PNB"; says "depth 2, width all, evaluator material (centipawns)"; says "result     "; says "more (--top all"
says "   2  =  "; says "0.00% (0/216)"; says "chance nodes"
# shellcheck disable=SC2086 # the fields one by one
expect 0 analyze $start PNB --depth 1; says "position   $start PNB"
expect 0 analyze "k7/8/8/8/8/8/8/R3K3 w - - 0 1 PPR"; says "a1a8 wins at once"
expect 0 analyze "k7/8/8/8/8/8/8/R3K3 w - - 0 1 NNN" --depth 1; says "forced pass, value 500.00 centipawns"
expect 0 analyze "$start" --depth 1 --outcomes; says "value 3.24 centipawns before the outcome"; says "PPN        3"

expect 0 analyze --json "$start PNB" --width 4; silent
names "game position depth width evaluator unit scale prerank star depth_completed limit_reached stopped result kind turn ties value raw candidates exact king_loss_weight search_raw rescore_raw rescored counters turns candidates_completed candidates_abandoned chance_nodes frames outcomes outcomes_decided outcomes_folded outcomes_saved afterstates probes leaf_evaluations order_evaluations prerank_evaluations rescore_evaluations cutoffs_low cutoffs_high cutoffs_probe cutoffs_decided cutoffs_etc cutoffs_table settled_stage_0 settled_stage_1 settled_stage_2 settled_stage_3 table_probes table_hits table_stores table_conflicts tasks tasks_stopped bounds_from_tasks outcomes_sampled_away branches_cut memory reserved_bytes high_water_bytes chunk_requests time_ms clock table rescore selective depths completed threads bind sharing checkpoint serial"
says '"depth":2,"width":4,'; says '"stopped":false,"result":{"kind":"turn","turn":"'; says '"exact":true'
[[ $(wc -l <"$out") -eq 1 ]] || fail "$what: more than one line"
expect 0 analyze --json "k7/8/8/8/8/8/8/R3K3 w - - 0 1 PPR"; says '"kind":"win","turn":"a1a8","ties":["a1a8"]'; says '"width":null'
expect 0 analyze --json "k7/8/8/8/8/8/8/R3K3 w - - 0 1 NNN"; says '"kind":"pass","turn":"pass","ties":["pass"],"value":500.0,"raw":32768000}'
expect 0 analyze --json --depth 1 --outcomes "$start"
says '"kind":"value","turn":null,"ties":[],"value":3.2407379150390625,"raw":212385}'
says '"outcomes":[{"roll":"PPP","weight":1,"value":0.0,"raw":0,"king":null},'
expect 0 analyze --json --depth 1 --outcomes "$kiwipete"; says '"roll":"PPP","weight":1,"value":10001.0,"raw":655425536,"king":"won"'

# The options that must not change a value do not; the seed chooses among the ties.
raw() { grep -oE '"raw":-?[0-9]+' "$out" | head -n 1; }
counter() { grep -oE "\"$1\":[0-9]+" "${2:-$out}" | head -n 1 | grep -oE '[0-9]+$'; } # of the whole search: those of its depths come later
expect 0 analyze --json "$kiwipete PNQ" --width 4; folded=$(raw)
[[ $(counter outcomes_folded) -gt 0 ]] || fail "$what: nothing folded"
says '"candidates":4,'
expect 0 analyze --json "$kiwipete PNQ" --width 4 --leaves list; [[ -n $folded && $(raw) == "$folded" ]] || fail "$what: another value"
[[ $(counter outcomes_folded) -eq 0 ]] || fail "$what: folded"
expect 0 analyze --json "$kiwipete PNQ" --width 4 --isa generic; [[ $(raw) == "$folded" ]] || fail "$what: another value"
expect 0 analyze --json "$start PNB" --depth 1; says '"turns":340,"candidates":124,'
expect 0 analyze --json "$start PNB" --depth 1 --width-counts paths; says '"turns":340,"candidates":340,'
turns_seen=$(for seed in 1 2 3 4 5 6 7 8; do
	"$starmax" analyze --json "$start PNB" --depth 1 --ties random --seed $seed | grep -o '"kind":"turn","turn":"[^"]*"'
done | sort -u | wc -l)
[[ $turns_seen -gt 1 ]] || fail "--ties random always chooses the same turn"
expect 0 analyze --json "$start PNB" --depth 1 --ties first; says '"turn":"'
expect 0 analyze --json "$start PNB" --depth 1 --evaluator standard --prerank standard; says '"evaluator":"standard"'; says '"prerank":"standard"'

# Files: lines in order, bad ones reported by number and skipped.
printf '%s\n' "# comment" "$start PNB" "" "nonsense" "  $kiwipete PNQ  " "$start" >"$directory/positions"
expect 1 analyze --depth 1 --file "$directory/positions"
complains "positions:4: "
[[ $(wc -l <"$err") -eq 1 && $(wc -l <"$out") -eq 3 ]] || fail "$what: $(wc -l <"$out") results, $(wc -l <"$err") messages"
[[ $(sed -n 1p "$out") == *"$start PNB"* && $(sed -n 2p "$out") == *"$kiwipete PNQ"* && $(sed -n 3p "$out") == *'"kind":"value"'* ]] ||
	fail "$what: results out of order"
what="analyze --file -"
printf '%s\r\n%s' "$start PNB" "$start PPP" | "$starmax" analyze --depth 1 --file - >"$out" 2>"$err" || fail "$what: not 0"
[[ $(wc -l <"$out") -eq 2 ]] || fail "$what: not 2 results"
silent
printf 'x\n' | "$starmax" analyze --file - >"$out" 2>"$err"
[[ $? -eq 1 ]] || fail "$what: a bad line does not give 1"
complains "stdin:1: "
expect 1 analyze --file "$directory/none"; complains "cannot open"
expect 1 analyze --file "$directory"; complains "cannot read"
expect 1 analyze --depth 1 --outcomes --file "$directory/positions"; complains "positions:2: --outcomes needs"
if [[ -c /dev/full ]]; then
	what="a full device"
	"$starmax" moves "$start PNB" >/dev/full 2>"$err"
	[[ $? -eq 1 ]] || fail "$what: not 1"
	complains "cannot write"
fi

# Each line is written as soon as it is known.
what="analyze --file - of a slow writer"
mkfifo "$directory/in"
: >"$out" # what the last command wrote would pass for the result
"$starmax" analyze --depth 1 --file "$directory/in" >"$out" 2>"$err" &
pid=$!
exec 3<>"$directory/in" # opening it only to write would wait for a reader that may have failed
printf '%s\n' "$start PNB" >&3
for ((i = 0; i < 100; i++)); do
	[[ $(wc -l <"$out") -eq 1 ]] && break
	sleep 0.05
done
[[ $(wc -l <"$out") -eq 1 ]] || fail "$what: no result before the next line"
exec 3>&-
wait $pid || fail "$what: not 0"

# Interrupts. Depth 8 takes for ever; the time given before the signal only has to be enough to begin. A background job of a script
# ignores SIGINT, and env puts that right.
interrupt() { # <signal> <output must contain> <arguments...>
	local signal=$1 text=$2
	shift 2
	what="starmax $* and SIG$signal"
	env --default-signal=INT "$starmax" "$@" >"$out" 2>"$err" &
	local pid=$!
	sleep 0.5
	kill -s "$signal" $pid
	wait $pid
	local got=$?
	[[ $got -eq 130 ]] || fail "$what: exit status $got, not 130"
	says "$text"
	silent
}
interrupt INT "stopped    " analyze "$kiwipete PNQ" --depth 8
says "result     "
interrupt TERM '"stopped":true' analyze --json "$kiwipete PNQ" --depth 8
says '"kind":"turn","turn":"'
interrupt INT '"raw":null},"candidates":[]' analyze --json "$kiwipete" --depth 8 --outcomes
says '"outcomes":null'
printf '%s\n' "$start PNB" "$kiwipete PNQ" >"$directory/positions"
interrupt INT '"stopped":true' analyze --depth 8 --file "$directory/positions"
[[ $(wc -l <"$out") -eq 1 ]] || fail "$what: went on after the signal"
# Some candidates complete, the others are not shown. How long the first takes depends on the build and on what else the machine does.
what="starmax analyze --depth 3 --star none and SIGINT"
for seconds in 2 10 60; do
	env --default-signal=INT "$starmax" analyze --json "$kiwipete PNQ" --depth 3 --star none >"$out" 2>"$err" &
	pid=$!
	sleep $seconds
	kill -s INT $pid
	wait $pid
	[[ $? -eq 130 ]] || fail "$what: not 130"
	grep -q '"exact":true' "$out" && break
done
says '"stopped":true'; says '"value":null,"raw":null,"exact":false'; says '"exact":true'

# Limits end a search in order: exit status 0, completed work only.
expect 0 analyze --json "$kiwipete PNQ" --depth 4 --nodes 1400
says '"limit_reached":true,"stopped":true'; says '"depth_completed":2'
expect 0 analyze --json "$kiwipete PNQ" --depth 8 --movetime 300
says '"limit_reached":true,"stopped":true'
# ... as deep as they let it, unless a depth is given.
expect 0 analyze --json "$kiwipete PNQ" --nodes 1400
says '"depth":64,'; says '"depth_completed":2,"limit_reached":true,"stopped":true'
expect 0 analyze --json "$kiwipete PNQ" --movetime 0.1s; says '"depth":64,'; says '"limit_reached":true,"stopped":true'
expect 0 analyze --json "$kiwipete PNQ" --clock 1s; says '"depth":64,'; says '"limit_reached":true,"stopped":true'
expect 0 analyze "$kiwipete PNQ" --clock 0; says "search     depth up to 64, "
expect 0 analyze --json "$kiwipete PNQ" --depth 1 --movetime 1h --nodes 1000000; says '"depth":1,"width":'; says '"limit_reached":false,"stopped":false'
expect 0 analyze --json "$kiwipete PNQ" --width 4 --movetime none --nodes none; says '"depth":2,"width":'; says '"limit_reached":false'
says '"clock":null,"table":null,"rescore":null,"selective":null,"depths":[{"depth":1,"completed":true,'; says ',"checkpoint":null,"serial":null}'
expect 0 analyze --help; says "--movetime TIME|none "; says "--clock REMAINING[+INCREMENT] "; says "(default auto)"; says "500ms, 2.5s, 1m, 1h"
# The clock: every way to write a time, the move's number from the position or the option, the policies' known budgets.
expect 0 analyze "${start% 1} 12 PNB" --depth 1 --clock 1m+1s; silent
says "clock      60.0 s + 1.0 s, move 12, policy empirical-v1: target 11,610 ms, cap 12,000 ms"
expect 0 analyze "$start PNB" --depth 1 --clock 61234+250ms --clock-policy legacy-linear-v1
says "clock      61.234 s + 0.250 s, move 1, policy legacy-linear-v1: target 2,255 ms, cap 12,246 ms"
expect 0 analyze --json "$start PNB" --depth 1 --clock 60000+1000
names "game position depth width evaluator unit scale prerank star depth_completed limit_reached stopped result kind turn ties value raw candidates exact king_loss_weight search_raw rescore_raw rescored counters turns candidates_completed candidates_abandoned chance_nodes frames outcomes outcomes_decided outcomes_folded outcomes_saved afterstates probes leaf_evaluations order_evaluations prerank_evaluations rescore_evaluations cutoffs_low cutoffs_high cutoffs_probe cutoffs_decided cutoffs_etc cutoffs_table settled_stage_0 settled_stage_1 settled_stage_2 settled_stage_3 table_probes table_hits table_stores table_conflicts tasks tasks_stopped bounds_from_tasks outcomes_sampled_away branches_cut memory reserved_bytes high_water_bytes chunk_requests time_ms clock policy remaining_ms increment_ms move target_ms hard_cap_ms table rescore selective depths completed threads bind sharing checkpoint serial"
given() { # <--clock> <remaining_ms> <increment_ms>
	expect 0 analyze --json "k7/8/8/8/8/8/8/R3K3 w - - 0 7 PPR" --clock "$1"
	says "\"clock\":{\"policy\":\"empirical-v1\",\"remaining_ms\":$2,\"increment_ms\":$3,\"move\":7,\"target_ms\":"
}
given 5m 300000 0
given 2.5s+0 2500 0
given 0+1.0019s 0 1001
given 1500ms+0.05m 1500 3000
given 1099511627776+1.5h 1099511627776 5400000
given 0.1111111111112h+0.1111111111111h 400000 399999
given 00.00000000000000000000000000000000000001h+0001 0 1
expect 0 analyze --json "k7/8/8/8/8/8/8/R3K3 w - - 0 7 PPR" --clock 5m --move 4294967295; says '"move":4294967295,'
printf '%s\n' "${start% 1} 9" "${start% 1} 60" >"$directory/positions"
expect 0 analyze --depth 1 --clock 5m --file "$directory/positions"
[[ $(grep -o '"move":[0-9]*' "$out" | tr '\n' ' ') == '"move":9 "move":60 ' ]] || fail "$what: not each position's move"
budgets=0
while IFS=$'\t' read -r policy remaining increment move _ target cap _; do
	expect 0 analyze --json "$start PNB" --depth 1 --clock "$remaining+$increment" --move "$move" --clock-policy "$policy"
	says "\"clock\":{\"policy\":\"$policy\",\"remaining_ms\":$remaining,\"increment_ms\":$increment,\"move\":$move,\"target_ms\":$target,\"hard_cap_ms\":$cap}"
	budgets=$((budgets + 1))
done < <(awk '!/^#/ && $5 == "-"' "$(dirname "$0")/data/clock.tsv")
[[ $budgets -gt 0 ]] || fail "no budgets in tests/data/clock.tsv"
expect 0 analyze "$kiwipete PNQ" --width 8 --depth 3 --evaluator winprob; says "<= "
expect 0 analyze --json "$start PNB" --width 4 --evaluator winprob:400 --prerank winprob-standard:800
says '"evaluator":"winprob:400","unit":"probability","scale":40,"prerank":"winprob-standard:800"'; silent
expect 0 analyze --json "$kiwipete PNQ" --width 8 --exact all; says '"exact":true'; lacks '"exact":false'
expect 2 analyze "$kiwipete PNQ" --star star3; complains "star3"

# The best K candidates have exact values, whatever their place in the canonical order.
exact_raws() { grep -oE '"raw":-?[0-9]+,"exact":true' "$out" | grep -oE -- '-?[0-9]+' | sort -gr; }
multi=(analyze --json "8/5pk1/4p1p1/3pP2p/3P1P1P/6P1/4RK2/r7 w - - 0 1 PRK" --depth 3 --width 40)
expect 0 "${multi[@]}"; one=$(exact_raws | wc -l)
expect 0 "${multi[@]}" --exact all; exact_raws >"$directory/all"
[[ $one -lt 30 && $(wc -l <"$directory/all") -eq 40 ]] || fail "$what: $one candidates are exact unasked"
for k in 2 5 30 40 1000; do
	expect 0 "${multi[@]}" --multi $k
	[[ $(exact_raws | head -n $k) == "$(head -n $k "$directory/all")" ]] || fail "$what: not the best $k"
done

# What each depth cost: a table, and in JSON counters that add up to those of the whole search.
expect 0 analyze "$kiwipete PNQ" --width 4 --depth 3
grep -qE '^depth +time +chance nodes +leaf evaluations +cutoffs +table hits +best turn +value$' "$out" || fail "$what: no table of depths"
[[ $(grep -cE '^[123] +[0-9.]+ s ' "$out") -eq 3 ]] || fail "$what: not 3 depths"
expect 0 analyze "$kiwipete" --depth 2; grep -qE '^2 +[0-9.]+ s .* -  +-  +-[0-9.]+$' "$out" || fail "$what: the depth of a value"
expect 0 analyze "$kiwipete PNQ" --depth 4 --nodes 1400; grep -qE '^3 \(stopped\) ' "$out" || fail "$what: no stopped depth"
expect 0 analyze --json "$kiwipete PNQ" --width 4 --depth 3
for name in chance_nodes outcomes leaf_evaluations afterstates; do
	sum=$(sed 's/.*"depths"://' "$out" | grep -oE "\"$name\":[0-9]+" | awk -F: '{ sum += $2 } END { print sum }')
	[[ $sum -gt 0 && $sum -eq $(counter $name) ]] || fail "$what: the $name of the depths are $sum, not $(counter $name)"
done
[[ $(sed 's/.*"depths"://' "$out" | grep -o '"turn":"[^"]*"' | tail -n 1) == "$(grep -o '"kind":"turn","turn":"[^"]*"' "$out" | sed 's/.*,//')" ]] ||
	fail "$what: the last depth has another turn"
expect 0 analyze --json "k7/8/8/8/8/8/8/R3K3 w - - 0 1 PPR"; says '"depths":[],"threads":1,"bind":"none",'; says '"serial":null}'

# The table, frames and probes change the work and no answer.
answer() { sed -E 's/"star":"[a-z0-9]*",//; s/,"counters":.*//' "$out"; }
same() { [[ -n $answer && $(answer) == "$answer" ]] || fail "$what: another answer"; }
search=(analyze --json "$kiwipete PNQ" --width 4 --depth 3 --exact all)
expect 0 "${search[@]}"; says '"table":null,'
answer=$(answer) nodes=$(counter chance_nodes)
[[ $(counter table_probes) -eq 0 && $(counter table_stores) -eq 0 && $(counter frames) -gt 0 ]] || fail "$what: counters"
for options in "--hash 1M" "--hash 1024" "--hash 1M --star none" "--hash 1M --star star1" "--hash 1M --star etc" "--hash 1M --exact-only"; do
	# shellcheck disable=SC2086
	expect 0 "${search[@]}" $options; same
	[[ $(counter table_probes) -gt 0 && $(counter table_stores) -gt 0 ]] || fail "$what: the table is not used"
done
expect 0 "${search[@]}" --star etc; says '"star":"etc"'; same
expect 0 "${search[@]}" --frames off; same
# ... probes only where a candidate may lose
expect 0 analyze --json "$kiwipete PNQ" --width 8 --depth 3 --evaluator winprob; best=$(raw)
expect 0 analyze --json "$kiwipete PNQ" --width 8 --depth 3 --evaluator winprob --frames off; [[ $(raw) == "$best" ]] || fail "$what: another value"
probes=$(counter probes)
[[ $(counter frames) -eq 0 && $probes -gt 0 ]] || fail "$what: frames, or no probes"
expect 0 analyze --json "$kiwipete PNQ" --width 8 --depth 3 --evaluator winprob --frames off --probe 3; [[ $(raw) == "$best" ]] || fail "$what: another value"
[[ $(counter probes) -gt $probes ]] || fail "$what: $(counter probes) probes, with one $probes"
expect 0 "${search[@]}" --hash 512K; says '"table":{"size_bytes":524288,"used_permille":'
expect 0 "${search[@]}" --hash off; says '"table":null,'
expect 0 analyze "$kiwipete PNQ" --width 4 --hash 64M
grep -qE '^table      64\.0 MiB, [0-9]+\.[0-9]% used, [0-9,]+ probes, [0-9,]+ hits, [0-9,]+ stores$' "$out" || fail "$what: no table line"
if { (ulimit -v 4000000 && "$starmax" version); } >/dev/null 2>&1; then # not with a sanitizer's shadow
	what="analyze --hash 8G in 4 GB"
	(ulimit -v 4000000 && timeout 60 "$starmax" analyze "$start PNB" --hash 8G >"$out" 2>"$err")
	[[ $? -eq 1 ]] || fail "$what: not 1"
	complains "no memory for a table of 8589934592 bytes"
fi

# Saved tables: the same search gives the same file; loaded and saved again it stays what it is; it saves work.
table=$directory/table
expect 0 "${search[@]}" --hash 256K --hash-save "$table"; same; silent
expect 0 "${search[@]}" --hash 256K --hash-save "$directory/again"
cmp -s "$table" "$directory/again" || fail "$what: another file from the same search"
expect 0 analyze --file /dev/null --hash-load "$table" --hash-save "$directory/copy"; silent
cmp -s "$table" "$directory/copy" || fail "$what: not the same bytes"
expect 0 "${search[@]}" --hash-load "$table" --hash-save "$table"; same; says '"table":{"size_bytes":262144,'
[[ $(counter table_hits) -gt 0 && $(counter chance_nodes) -lt $nodes ]] || fail "$what: $(counter chance_nodes) chance nodes, without a table $nodes"
expect 0 "${search[@]}" --hash-load "$table" --exact-only --star etc; same
[[ $(counter table_hits) -gt 0 ]] || fail "$what: no hits"
# Of a search that was stopped: by a limit, by a signal.
expect 0 analyze "$kiwipete PNQ" --nodes 1400 --hash 256K --hash-save "$directory/limited"; says "stopped    "
expect 0 "${search[@]}" --hash-load "$directory/limited"; same
[[ $(counter table_hits) -gt 0 ]] || fail "$what: no hits"
interrupt INT "stopped    " analyze "$kiwipete PNQ" --depth 8 --hash 256K --hash-save "$directory/stopped"
expect 0 "${search[@]}" --hash-load "$directory/stopped"; same
# One table for all lines of a file.
printf '%s\n' "$kiwipete PNQ" "$kiwipete PNQ" >"$directory/positions"
expect 0 analyze --file "$directory/positions" --width 4 --depth 3 --exact all --hash 256K --hash-save "$directory/lines"
sed -n 1p "$out" >"$directory/first"; sed -n 2p "$out" >"$directory/second"
[[ $(counter chance_nodes "$directory/second") -lt $(counter chance_nodes "$directory/first") && $(counter table_hits "$directory/second") -gt 0 ]] ||
	fail "$what: the second line has $(counter chance_nodes "$directory/second") chance nodes"
expect 0 "${search[@]}" --hash-load "$directory/lines"; same
# What cannot be loaded or saved, and why.
refused() { # <file> <reason>
	expect 1 analyze "$start PNB" --hash-load "$1"; complains "$1: table file: "; complains "$2"
	[[ ! -s $out ]] || fail "$what: searched all the same"
}
expect 1 analyze "$start PNB" --hash-load "$table" --evaluator standard
complains 'made for "starmax '; complains 'evaluator material", not for "starmax '
expect 1 analyze "$start PNB" --hash-load "$table" --evaluator winprob; complains "$table: table file: made for"
expect 0 analyze "$start PNB" --hash 1K --hash-save "$directory/curve" --evaluator winprob:400
expect 0 analyze "$start PNB" --hash-load "$directory/curve" --evaluator winprob:400
expect 1 analyze "$start PNB" --hash-load "$directory/curve" --evaluator winprob:500; complains "made for"
cp "$table" "$directory/damaged"
printf 'DAMAGED!' | dd of="$directory/damaged" bs=1 seek=4096 conv=notrunc 2>/dev/null
refused "$directory/damaged" "damaged: wrong checksum"
for bytes in 100 192 5000; do
	head -c $bytes "$table" >"$directory/truncated"; refused "$directory/truncated" "truncated: $bytes bytes"
done
{ cat "$table"; echo; } >"$directory/longer"; refused "$directory/longer" "longer than it should be"
: >"$directory/empty"; refused "$directory/empty" "not a saved table"
refused "$directory/positions" "not a saved table"
refused "$directory/missing" "cannot open: No such file"
refused "$directory" "not a regular file"
expect 1 analyze "$start PNB" --hash 1K --hash-save "$directory/missing/table"; says "result     "
complains "$directory/missing/table: table file: cannot create a file beside it: No such file"
expect 1 analyze "$start PNB" --hash 1K --hash-save $'/missing/\033[2J'; complains '\x1b[2J'
cp "$table" "$directory/kept"
expect 2 analyze nonsense --hash 1K --hash-save "$directory/kept"
expect 1 analyze --file "$directory/missing" --hash 1K --hash-save "$directory/kept"
cmp -s "$table" "$directory/kept" || fail "$what: an empty table took a saved one's place"

# Checkpoints: saved while the search lasts and at its end, however that comes; the same command goes on.
long=(analyze --json "8/5pk1/4p1p1/3pP2p/3P1P1P/6P1/4RK2/r7 w - - 0 1 PRK" --width 8 --depth 3)
point=$directory/point
same_result() { [[ $(grep -o '"result":{[^}]*}' "$out") == "$result" ]] || fail "$what: another result"; }
expect 0 "${long[@]}" --hash off; result=$(grep -o '"result":{[^}]*}' "$out"); nodes=$(counter chance_nodes)
expect 1 "${long[@]}" --resume "$point"; complains "$point: table file: cannot open: No such file"
expect 1 "${long[@]}" --resume "$point" --checkpoint "$directory/other"; complains "cannot open"
expect 0 "${long[@]}" --checkpoint "$point" --resume "$point" --nodes $((nodes / 2)); silent
says '"limit_reached":true'; says '"table":{"size_bytes":67108864,'; says '"checkpoint":{"resumed":false,"saves":0},'
expect 0 "${long[@]}" --checkpoint "$point" --resume "$point"; silent; same_result
says '"checkpoint":{"resumed":true,"saves":0},'
[[ $(counter chance_nodes) -lt $nodes ]] || fail "$what: $(counter chance_nodes) chance nodes, in one run $nodes"
expect 0 "${long[@]}" --resume "$point"; same_result; silent # what is complete costs a node a candidate and depth
[[ $(counter chance_nodes) -eq 16 ]] || fail "$what: $(counter chance_nodes) chance nodes"
cp "$point" "$directory/before"
expect 0 "${long[@]}" --resume "$point"; cmp -s "$point" "$directory/before" || fail "$what: saved without --checkpoint"
expect 0 "${long[@]}" --width 9 --resume "$point" --hash 64M; says '"resumed":true'
expect 1 "${long[@]}" --resume "$point" --hash 1M; complains "$point: table file: a table of 64.0 MiB, not of the 1.0 MiB of --hash"
expect 1 "${long[@]}" --checkpoint "$point" --resume "$point" --evaluator winprob; complains "$point: table file: made for"
cmp -s "$point" "$directory/before" || fail "$what: overwritten"
head -c 5000 "$point" >"$directory/truncated"
expect 1 "${long[@]}" --checkpoint "$directory/truncated" --resume "$directory/truncated"; complains "truncated: 5000 bytes"
[[ $(wc -c <"$directory/truncated") -eq 5000 ]] || fail "$what: overwritten"
expect 2 analyze nonsense --checkpoint "$point"
expect 0 analyze "$kiwipete PNQ" --depth 8 --movetime 1500 --hash 64K --checkpoint "$directory/small" --every 20ms
grep -qE '^checkpoint new, [1-9][0-9]* saves during the search$' "$out" || fail "$what: not saved while it searched"
expect 1 analyze "$kiwipete PNQ" --depth 8 --movetime 1500 --hash 64K --checkpoint "$directory/missing/x" --every 20ms
says "result     "; complains "$directory/missing/x: table file: cannot create a file beside it"
[[ $(wc -l <"$err") -eq 2 ]] || fail "$what: $(wc -l <"$err") messages" # once while it searches, once at the end
interrupt INT "stopped    " analyze "$kiwipete PNQ" --depth 8 --hash 256K --checkpoint "$directory/interrupted"
expect 0 analyze --json "$kiwipete PNQ" --width 4 --depth 3 --resume "$directory/interrupted"; says '"resumed":true'
# What a killed save has left is taken away, what looks like it is not.
: >"$point.2000000000-0.tmp"; : >"$point.1-0.tmp"; : >"$point.2000000000-x.tmp"
expect 0 analyze "$start PNB" --depth 1 --checkpoint "$point" --hash 64K
[[ ! -e $point.2000000000-0.tmp && -e $point.1-0.tmp && -e $point.2000000000-x.tmp ]] || fail "$what: $(ls "$directory")"

# The live line, on a terminal.
if command -v script >/dev/null; then
	what="the live line of starmax analyze"
	script -qec "stty cols 200; '$starmax' analyze '$kiwipete PNQ' --depth 8 --movetime 4s --hash 1M" /dev/null >"$out" 2>"$err" </dev/null
	tr '\r' '\n' <"$out" >"$directory/lines"
	grep -qE 'depth [0-9]+  candidates [0-9]+/[0-9]+, [0-9]+ left  best [a-h1-8 nbrq]+ -?[0-9.]+( \(depth [0-9]+\))?  [0-9.]+ s  [0-9,]+ nodes/s  table [0-9.]+%' "$directory/lines" ||
		fail "$what: not as it should be"
fi

# Selective search says what it is, and all levels of pruning agree about it.
expect 0 analyze "$kiwipete PNQ" --width 4 --depth 3 --inner-width 8 --reach 0.001 --samples 12
says "selective  inner width 8, reach 0.001, 12 samples: not exact"; says ", selective value "
expect 0 analyze "$kiwipete PNQ" --width 4 --samples 1; says "selective  1 sample: not exact"
expect 0 analyze "$kiwipete" --depth 1 --inner-width 3; says "selective  inner width 3: not exact"; says "result     selective value "
expect 0 analyze "k7/8/8/8/8/8/8/R3K3 w - - 0 1 PPR" --samples 3; says "wins at once, value "
expect 0 analyze "$kiwipete PNQ" --width 4; lacks "selective"
selective() { # <options> <JSON> <counter that must not be 0>
	local first="" level
	for level in none star1 star2; do
		# shellcheck disable=SC2086
		expect 0 "${search[@]}" $1 --star $level; says "\"selective\":$2,"
		[[ $(counter "$3") -gt 0 && $(counter frames) -eq 0 ]] || fail "$what: counters"
		first=${first:-$(answer)}
		[[ $(answer) == "$first" ]] || fail "$what: another answer"
	done
	[[ $first != "$answer" ]] || fail "$what: the exact answer"
}
selective "--inner-width 2" '{"inner_width":2,"reach":0.0,"samples":null}' order_evaluations
selective "--reach 0.02" '{"inner_width":null,"reach":0.02,"samples":null}' branches_cut
selective "--samples 12" '{"inner_width":null,"reach":0.0,"samples":12}' outcomes_sampled_away
expect 0 "${search[@]}" --inner-width all --samples all --reach 0.0; says '"selective":null,'; same
expect 0 analyze "$kiwipete PNQ" --width 4 --samples 3 --hash off; says "selective  3 samples: not exact"

# A second opinion: the blend, to the bit; weight 0 asks nobody.
search=(analyze --json "$start PNB" --depth 2 --exact all --evaluator winprob)
expect 0 "${search[@]}"; says '"rescore":null,'; says '"rescore_raw":null,"rescored":false'; lacks '"rescored":true'
answer=$(answer)
expect 0 "${search[@]}" --rescore winprob:400 --rescore-weight 0; same
says '"rescore":{"evaluator":"winprob:400","weight":0,"total":1}'
[[ $(counter rescore_evaluations) -eq 0 ]] || fail "$what: asked all the same"
expect 0 "${search[@]}" --rescore winprob:400 --rescore-weight 0.25; quarter=$(answer)
says '"rescore":{"evaluator":"winprob:400","weight":25,"total":100}'
[[ $quarter != "$answer" && $(counter rescore_evaluations) -eq $(counter candidates) ]] || fail "$what: not rescored"
expect 0 "${search[@]}" --rescore winprob:400 --rescore-weight 1/4
[[ $(answer) == "$quarter" ]] || fail "$what: not as 0.25"
for weight in 1/4 1/1000 0.5 1; do
	expect 0 "${search[@]}" --rescore winprob:400 --rescore-weight $weight
	read -r w t < <(grep -oE '"weight":[0-9]+,"total":[0-9]+' "$out" | tail -n 1 | grep -oE '[0-9]+' | tr '\n' ' ')
	blended=0 best=0
	while IFS=, read -r value found second; do
		[[ $value -eq $((((t - w) * found + w * second) / t)) ]] || fail "$what: $value of $found and $second"
		blended=$((blended + 1))
		[[ $value -gt $best ]] && best=$value
	done < <(grep -oE '"raw":[0-9]+,"exact":true,"king_loss_weight":0,"search_raw":[0-9]+,"rescore_raw":[0-9]+,"rescored":true' "$out" |
		sed -E 's/"raw":([0-9]+).*"search_raw":([0-9]+),"rescore_raw":([0-9]+).*/\1,\2,\3/')
	[[ $blended -gt 50 && $(raw) == "\"raw\":$best" ]] || fail "$what: $blended blended, the best $best, the result $(raw)"
done
expect 0 analyze "$start PNB" --depth 3 --width 20 --evaluator winprob --rescore winprob:400 --rescore-weight 0.5 --star none; silent
says "rescore    winprob:400, weight 5/10"
grep -qE 'pre-rank +search +rescore$' "$out" || fail "$what: no columns"
result=$(grep '^result ' "$out")
expect 0 analyze "$start PNB" --depth 3 --width 20 --evaluator winprob --rescore winprob:400 --rescore-weight 0.5 --hash 1M
[[ $(grep '^result ' "$out") == "$result" ]] || fail "$what: another result"
expect 0 analyze "$start PNB"; lacks "rescore   "
expect 0 analyze "$kiwipete PNQ" --width 2 --depth 2 --rescore standard --rescore-weight 0.5
grep -qE ' +-$' "$out" || fail "$what: a candidate that loses is rescored"

# Help shows defaults that can be given.
expect 0 analyze --help; lacks 18446744073709551615; says "if they lose, first in canonical order (default none)"
says "--hash SIZE|off "; says "(default 64M from depth 4 on, else off)"; says "without --hash it has 64M"; says "--every TIME "; says "(default 60s)"; says "--star none|star1|star2|etc "; says "winprob:800"

# topology: what there is, and a line for each thread that is bound.
unset OMP_PLACES OMP_PROC_BIND OMP_NUM_THREADS OMP_THREAD_LIMIT GOMP_CPU_AFFINITY KMP_AFFINITY
number() { grep -oE "\"$1\":[0-9]+" "$out" | head -n 1 | grep -oE '[0-9]+$'; }
expect 0 topology; silent
says "NUMA nodes       "; says "cgroup quota     "
grep -qE '^threads +[0-9]+: .*[0-9] processors?( usable.*)?$' "$out" || fail "$what: no threads with a reason"
grep -qE '^binding +(compact|none: [a-z].*)$' "$out" || fail "$what: no binding"
expect 0 topology --json; silent
[[ $(wc -l <"$out") -eq 1 ]] || fail "$what: more than one line"
for name in model packages numa_nodes cores pus caches usable quota hwloc openmp_runtime openmp_date threads reason bind unbound places; do
	says "\"$name\":"
done
auto=$(number threads) usable=$(number usable) openmp=$(number openmp_date) hwloc=$(grep -c '"hwloc":"none"' "$out")
[[ $auto -ge 1 && $auto -le $usable && $usable -le $(number pus) ]] || fail "$what: $auto threads, $usable usable"
if [[ $auto -gt 1 && $hwloc -eq 0 ]]; then
	for bind in compact scatter; do
		expect 0 topology --json --bind $bind; says "\"bind\":\"$bind\",\"unbound\":null,\"places\":[{\"thread\":0,\"pu\":"
		[[ $(grep -o '"thread":' "$out" | wc -l) -eq $auto ]] || fail "$what: not $auto places"
		[[ $(grep -oE '"pu":[0-9]+' "$out" | sort -u | wc -l) -eq $auto ]] || fail "$what: a place twice"
	done
	expect 0 topology --threads 2; grep -qE '^ +1 +[0-9]+ +[0-9]+ +[0-9]+$' "$out" || fail "$what: no line of thread 1"
fi
expect 0 topology --json --bind none; says '"bind":"none","unbound":"as asked","places":[]'
expect 0 topology --threads 1; says "binding          none: one thread"; says "asked for; "
expect 0 topology --threads auto --json; [[ $(number threads) -eq $auto ]] || fail "$what: $(number threads) threads, not $auto"
expect 2 topology --threads 0; complains "--threads takes a number from 1 to 1024 or auto"
expect 2 topology --bind compat; complains "did you mean compact?"
expect 2 topology extra; complains "unexpected argument extra"
if command -v taskset >/dev/null; then
	first=$(taskset -cp $$ | grep -oE '[0-9]+' | sed -n 2p)
	what="topology on one processor"
	taskset -c "$first" "$starmax" topology --json >"$out" 2>"$err" </dev/null
	says '"usable":1,'; says '"threads":1,"reason":"1 processor usable,'
fi

# Threads: the same answer with any number of them, bound or not.
search=(analyze --json "$kiwipete PNQ" --width 4 --depth 3 --exact all)
expect 0 "${search[@]}"; says ',"threads":1,"bind":"none",'; answer=$(answer) best=$(raw)
expect 0 "${search[@]}" --serial; says ',"threads":1,"bind":"none",'; same
expect 0 "${search[@]}" --serial --threads 1 --bind scatter; says ',"threads":1,"bind":"none",'; same
expect 0 "${search[@]}" --threads auto; says ",\"threads\":$auto,\"bind\":"; same
expect 2 analyze --serial --threads 2 "$start"; complains "--serial and --threads exclude each other"
expect 2 analyze --serial --threads auto "$start"; complains "--serial and --threads exclude each other"
expect 2 analyze --threads 1025 "$start"; complains "--threads takes a number from 1 to 1024 or auto"
expect 2 analyze --bind comp "$start"; complains "did you mean compact?"
expect 0 analyze "$kiwipete PNQ" --width 4; lacks "threads    "; lacks "sharing    "
# As many as can be kept busy unless the environment or an option says how many; only the last one that counts is looked at.
expect 0 analyze --help; says "--threads N|auto "; says "(default: \$STARMAX_THREADS, else auto)"; lacks 18446744073709551615
for value in 0 -1 +2 1025 2x 1.5 "" " 2" "2 " all AUTO 99999999999999999999; do
	STARMAX_THREADS=$value expect 2 analyze "$start PNB"; complains "STARMAX_THREADS takes a number from 1 to 1024 or auto, not "
	[[ ! -s $out ]] || fail "$what: searched all the same"
done
STARMAX_THREADS=x expect 0 analyze --threads 1 --depth 1 "$start PNB"; silent
STARMAX_THREADS=x expect 0 analyze --serial --depth 1 "$start PNB"; silent
STARMAX_THREADS=x expect 0 perft "$start" --die P --depth 1; silent
STARMAX_THREADS=auto expect 0 "${search[@]}"; says ",\"threads\":$auto,\"bind\":"; same
STARMAX_THREADS=auto expect 0 "${search[@]}" --serial; says ',"threads":1,"bind":"none","sharing":null,'; same
unset STARMAX_THREADS
expect 0 "${search[@]}"; says ",\"threads\":$auto,\"bind\":"; same
expect 0 "${search[@]}" --serial; says ',"threads":1,"bind":"none","sharing":null,'; same
for limit in "" "--movetime 1h"; do # with a time limit the machine is read first
	# shellcheck disable=SC2086
	expect 0 analyze "$kiwipete PNQ" --width 4 --depth 2 $limit; silent
	grep -qE "^threads    $auto, (bound compactly|not bound \([^)]+\)): .*[0-9] processors?( usable.*)?$" "$out" || fail "$what: no line about threads"
	[[ $auto -eq 1 || $hwloc -ne 0 ]] || says "threads    $auto, bound compactly: "
	[[ -n $openmp ]] || says "threads    1, not bound (one thread): OpenMP is not built in, there is 1; "
	[[ $auto -gt 1 ]] || lacks "sharing    "
done
if command -v taskset >/dev/null; then
	what="analyze on one processor"
	taskset -c "$first" "$starmax" analyze "$kiwipete PNQ" --width 4 >"$out" 2>"$err" </dev/null || fail "$what: not 0"
	says "threads    1, not bound (one thread): "; says "1 processor usable, "; lacks "sharing    "
fi
export STARMAX_THREADS=1
if [[ -n $openmp ]]; then
	for bind in none compact scatter; do
		expect 0 "${search[@]}" --threads 2 --bind $bind; says ',"threads":2,"bind":"'; same
	done
	expect 0 "${search[@]}" --threads 3 --hash 64M; says ',"threads":3,"bind":"'; [[ $(raw) == "$best" ]] || fail "$what: another value"
	# so many candidates are shared whatever the time
	expect 0 analyze --json "$kiwipete PNQ" --width 400 --threads 2; says ',"sharing":{"threads":2,"used":'; says ',"task_sizes":['
	grep -oE '"sharing":\{[^}]*\}' "$out" >"$directory/sharing" # one size for each power of two, and no task is left out
	sizes=$(grep -oE '\[[0-9,]*\]' "$directory/sharing" | tr -d '[]' | tr ',' '\n')
	[[ $(wc -l <<<"$sizes") -eq 24 && $(awk '{ sum += $1 } END { print sum }' <<<"$sizes") -eq $(counter tasks) ]] ||
		fail "$what: sizes of $(counter tasks) tasks: $(cat "$directory/sharing")"
	expect 0 "${search[@]}" --threads 2 --depth 1; says ',"sharing":null,'
	OMP_PLACES=cores expect 0 "${search[@]}" --threads 2; says ',"threads":2,"bind":"none",'; same
	OMP_PLACES=cores expect 0 topology --threads 2; says "binding          none: OMP_PLACES is set, so OpenMP places the threads"
	# OpenMP may have bound the first thread before it is asked: that is not what is usable.
	for bind in true false spread; do
		OMP_PROC_BIND=$bind expect 0 topology --json; says '"usable":'"$usable"','; says '"threads":'"$auto"','; says '"bind":"none",'
	done
	OMP_PROC_BIND=true expect 0 "${search[@]}" --threads auto; says ",\"threads\":$auto,\"bind\":\"none\","; same
	if command -v taskset >/dev/null; then # ... and of all processors its places may be few
		OMP_PLACES="{$first}" expect 0 topology --json; says '"usable":1,'; says '"threads":1,"reason":"1 processor usable,'
		OMP_PLACES="{$first}" OMP_PROC_BIND=false expect 0 topology --json; says '"usable":'"$usable"','
	fi
	STARMAX_THREADS=2 expect 0 "${search[@]}"; says ',"threads":2,"bind":"'; same
	STARMAX_THREADS=3 expect 0 "${search[@]}" --threads 2; says ',"threads":2,"bind":"'; same
	OMP_NUM_THREADS=1 expect 0 topology; says "threads          1: "
	OMP_THREAD_LIMIT=1 expect 2 analyze --threads 2 "$start PNB"; complains "no 2 threads: "
	expect 0 analyze "$kiwipete PNQ" --width 4 --threads 2 --bind none
	grep -qE '^threads    2, not bound \(as asked\): asked for; .*processor' "$out" || fail "$what: no line about threads"
	says "sharing    none: one thread is done sooner"
	expect 0 analyze "$kiwipete PNQ" --width 400 --threads 2
	grep -qE '^sharing    [12] of 2 threads took part, idle [0-9.]+% of their time; [0-9,]+ tasks?' "$out" || fail "$what: no line about sharing"
	expect 0 analyze "$kiwipete PNQ" --width 4 --threads $((usable + 1))
	says "threads    $((usable + 1)), not bound ("
	if [[ $usable -gt 1 && $hwloc -eq 0 ]]; then
		expect 0 "${search[@]}" --threads 2; says ',"threads":2,"bind":"compact",'
		expect 0 analyze "$kiwipete PNQ" --width 4 --threads 2 --bind scatter; says "threads    2, bound scattered: asked for; "
	fi
else
	expect 2 analyze --threads 2 "$start PNB"; complains "no 2 threads: OpenMP is not built in"
	STARMAX_THREADS=2 expect 2 analyze "$start PNB"; complains "no 2 threads: OpenMP is not built in"
fi

# moves: rows of the counts, turns in order, partial rolls.
expect 0 moves "$start"; says "PPP   3,376           0           3          688  607a8102009c5408"
expect 0 moves --json "$start"; names "position rolls roll paths king_paths dice_spent afterstates fingerprint"; silent
says '{"roll":"PPP","paths":3376,"king_paths":0,"dice_spent":3,"afterstates":688,"fingerprint":"607a8102009c5408"}'
[[ $(grep -o '"roll"' "$out" | wc -l) -eq 56 ]] || fail "$what: not 56 rolls"
expect 0 moves --json "3k4/pppppppp/8/8/5P2/8/PPPPP1PP/4K3 w - - 1 4"
says '{"roll":"BBB","paths":0,"king_paths":0,"dice_spent":0,"afterstates":0,"fingerprint":"'
expect 0 moves "k7/8/8/8/8/8/8/R3K3 w - - 0 1 RN"; says $'a1a8\tKING'; says $'a1b1\tk7/8/8/8/8/8/8/1R2K3 b - - 1 1 -'
expect 0 moves --json "k7/8/8/8/8/8/8/R3K3 w - - 0 1 R"; names "position turns turn afterstate takes_king"
says '{"turn":"a1a8","afterstate":null,"takes_king":true}'
expect 0 moves "k7/8/8/8/8/8/8/R3K3 w - - 0 1 N"; says $'pass\tk7/8/8/8/8/8/8/R3K3 b - - '
[[ $(wc -l <"$out") -eq 1 ]] || fail "$what: more than the pass"
# Counts that another implementation made.
data=$(dirname "$0")/data
compared=0
for id in $(awk '!/^#/ { print $1 }' "$data/turns.tsv" | uniq | head -n 6); do
	expect 0 moves --json "$(awk -F'\t' -v id="$id" '$1 == id { print $2 }' "$data/positions.tsv")"
	grep -oE '"roll":[^}]*' "$out" | sed -E 's/"[a-z_]+"://g; s/"//g' | sort >"$directory/got"
	awk -F'\t' -v id="$id" '$1 == id { print $2 "," $3 "," $4 "," $5 "," $6 "," $7 }' "$data/turns.tsv" | sort >"$directory/want"
	missing=$(comm -13 "$directory/got" "$directory/want" | wc -l)
	[[ $missing -eq 0 ]] || fail "position $id: $missing rolls of moves differ from tests/data/turns.tsv"
	compared=$((compared + $(wc -l <"$directory/want")))
done
[[ $compared -gt 0 ]] || fail "nothing to compare in tests/data/turns.tsv"

# eval and perft.
expect 0 eval "$start"; says "material"; says "the king"; silent
expect 0 eval --json "4k3/8/8/8/8/8/8/Q3K3 b - - 0 1"
names "position evaluators evaluator unit scale white value raw black captures king_216 queen_216"
says '"white":{"value":900.0,"raw":58982400},"black":{"value":-900.0,"raw":-58982400}'
expect 0 eval --json "rnbqkbnr/pppppppp/8/8/8/2N5/PPPPPPPP/R1BQKBNR w KQ - 0 1"; says '"captures":{"white":{"king_216":1,'
expect 0 perft "$start" --die P --depth 1; says "nodes     16 (die P, depth 1)"
expect 0 perft "$kiwipete" --die B --depth 1 --json; names "position die depth nodes time_ms"; says '"nodes":11,'
expect 0 perft "$start"; says "11,225"; says "chance nodes a second"
expect 0 perft "$kiwipete" --json
names "position depths depth chance_nodes outcomes_won outcomes_lost paths king_paths afterstates distinct turns_ms listing_ms"
says '"paths":102967,'; says '"afterstates":20989,'
expect 0 perft "8/8/8/3k4/8/8/4P3/4K3 w - - 0 1" --depth 2 --json
levels=$(grep -oE '"(chance_nodes|distinct)":[0-9]+' "$out" | grep -oE '[0-9]+' | tr '\n' ' ')
read -r first first_distinct second _ <<<"$levels"
[[ $first -eq 1 && $second -gt 1 && $second -eq $first_distinct ]] || fail "$what: $levels"

# verify: every search agrees with the plain one; positions from the command line, a file, random play.
expect 0 verify "$start PNB" --depth 2 --width 8; silent
says "ok         material "; says "ok         winprob-standard "; lacks "DIFFERENT"; says "1 position verified, "; says ", no differences"
expect 0 verify "$kiwipete" --depth 1 --evaluator material --json; silent
names "position evaluator depth width plain_chance_nodes plain_leaf_evaluations chance_nodes searches ok differences claims false_claims first_false_claim variants star leaves bounds frames probes table fresh exact_only exact_all threads again positions tables size_bytes hits parallel_searches tasks tasks_stopped bounds_from_tasks threads_used stopped"
says '"evaluator":"material","depth":1,"width":null,"plain_chance_nodes":1,'; says '"ok":true,"differences":[],"claims":null,"false_claims":0,"first_false_claim":null,"variants":['
says '"differences":0,"claims":null,'; says '"stopped":false}'
expect 0 verify "$kiwipete PNQ" --depth 2 --width 4 --evaluator winprob:100; silent
says "winprob:100 "; says ", no differences"
expect 0 verify --random 3 --seed 1 --depth 2 --width 4 --json; silent
says '{"positions":3,"searches":'; lacks '"ok":false'
sed '$d' "$out" | grep -o '"position":"[^"]*"' | uniq >"$directory/first"
[[ $(sort -u "$directory/first" | wc -l) -eq 3 ]] || fail "$what: not 3 positions"
expect 0 verify --random 3 --seed 1 --depth 1 --json
sed '$d' "$out" | grep -o '"position":"[^"]*"' | uniq | cmp -s - "$directory/first" || fail "$what: other positions from the same seed"
expect 0 verify --random 3 --seed 2 --depth 1 --json
sed '$d' "$out" | grep -o '"position":"[^"]*"' | uniq | cmp -s - "$directory/first" && fail "$what: the seed chooses nothing"
printf '%s\n' "# comment" "$start PNB" "nonsense" "k7/8/8/8/8/8/8/R3K3 w - - 0 1 PPR" >"$directory/positions"
expect 1 verify --width 2 --evaluator material --file "$directory/positions"; complains "positions:3: "
says "2 positions verified, "; [[ $(grep -c '^ok ' "$out") -eq 2 ]] || fail "$what: not 2 results"
expect 1 verify --file "$directory/none"; complains "cannot open"
expect 2 verify --evaluator materail "$start"; complains "unknown evaluator materail; did you mean material?"
expect 2 verify; complains "position is missing"
expect 2 verify --random 3 "$start"; complains "unexpected argument"
expect 2 verify --random 3 --file -; complains "exclude each other"
expect 0 verify --random 2 --seed 5 --depth 2 --width 3 --evaluator standard; silent; lacks "claims checked"
# Tables are used, all of them, and every kind of claim is made and checked.
expect 0 verify "8/5pk1/4p1p1/3pP2p/3P1P1P/6P1/4RK2/r7 w - - 0 1 PRK" --depth 3 --width 2 --evaluator material --track; silent
says ", no differences"; says " none false"; grep -qE ' 0(,|$)' "$out" && fail "$what: a table or a kind of claim is not used"
expect 0 verify "8/5pk1/4p1p1/3pP2p/3P1P1P/6P1/4RK2/r7 w - - 0 1 PRK" --depth 3 --width 2 --evaluator winprob --track --json; silent
says '"ok":true,"differences":[],"claims":{"search":'; says '"false_claims":0,"first_false_claim":null,'
says '{"star":"etc","leaves":"fold","bounds":true,"frames":true,"probes":1,"table":67108864,"fresh":true,"exact_only":false,"exact_all":false,"threads":1,"again":true,"chance_nodes":'
grep -qE '"(search|table|look|bound_[123]|hits)":0' "$out" && fail "$what: a table or a kind of claim is not used"
# Only the ways with several threads, and the default one; that they were at work is asserted on demand.
if "$starmax" analyze --threads 2 --depth 1 "$start PNB" >/dev/null 2>&1; then
	expect 0 verify "$kiwipete PNQ" --depth 2 --width 70 --evaluator winprob --ways threads --json; silent
	says '"searches":11,"ok":true,'; says '"parallel_searches":10,'
	[[ $(sed '$d' "$out" | grep -o '"threads":[0-9]*' | sort | uniq -c | tr -s ' \n' ' ') == ' 1 "threads":1 3 "threads":2 2 "threads":3 3 "threads":4 2 "threads":8 ' ]] ||
		fail "$what: other ways"
	expect 1 verify "$start PNB" --depth 1 --evaluator material --ways threads --shared 1
	complains "--shared: too little was shared: 0 tasks, not over 1"; says ", no differences"
	expect 1 verify "$kiwipete PNQ" --depth 2 --width 70 --evaluator material --shared 1000000000; complains "not over 1,000,000,000"
else
	expect 2 verify "$start PNB" --shared 1; complains "--shared needs threads: OpenMP is not built in"
	expect 2 verify "$start PNB" --ways threads; complains "--ways threads needs threads: OpenMP is not built in"
fi
expect 2 verify "$start PNB" --ways some; complains "some"
expect 2 verify "$start PNB" --shared 0
# How much work several threads do beyond the serial search: per depth and in all, with the same answer.
threads=1
"$starmax" analyze --threads 2 --depth 1 "$start PNB" >/dev/null 2>&1 && threads=2
search=(analyze "$kiwipete PNQ" --width 4 --depth 3 --threads "$threads")
expect 0 "${search[@]}" --json; says ',"serial":null}'
expect 0 "${search[@]}" --hash 1M --compare-serial; silent
grep -qE '^serial     [0-9.]+ s, speed-up [0-9.]+; the same answer; ' "$out" || fail "$what: no comparison"
grep -qE '^depth +chance nodes +leaf evaluations +outcomes folded +frames$' "$out" || fail "$what: no table"
[[ $(sed '1,/^serial /d' "$out" | grep -cE '^([123]|all) +[0-9,]+ +[-+][0-9.]+%') -eq 4 ]] || fail "$what: not 3 depths and their sum"
expect 0 "${search[@]}" --json --compare-serial; silent
says '"serial":{"difference":null,"overhead":{"chance_nodes":'
what="the comparison of $what"
sed 's/.*"serial"://' "$out" >"$directory/serial"
[[ $(grep -o '"depth":' "$directory/serial" | wc -l) -eq 3 ]] || fail "$what: not 3 depths"
for name in chance_nodes leaf_evaluations outcomes_folded frames; do # the ratio that is shown is that of the two counts
	shown=$(grep -oE "\"$name\":-?[0-9.e-]+" "$directory/serial" | head -n 1 | cut -d: -f2)
	counted=$(sed -E 's/^\{"difference":[^,]*,"overhead":\{[^}]*\},//' "$directory/serial" | grep -oE "\"$name\":[0-9]+" | head -n 1 | cut -d: -f2)
	awk -v shown="$shown" -v serial="$counted" -v parallel="$(counter $name)" \
		'BEGIN { is = serial ? parallel / serial - 1 : 0; exit !(shown != "" && serial != "" && (is - shown) ^ 2 < 1e-12) }' ||
		fail "$what: $name $(counter $name), serially $counted, overhead $shown"
done
# One thread compared with one thread, tables with what earlier lines or a file left in them: no overhead.
printf '%s\n' "$kiwipete PNQ" "$kiwipete PNQ" "$start" >"$directory/positions"
expect 0 analyze --file "$directory/positions" --width 4 --hash 256K --compare-serial; silent
[[ $(grep -c '"serial":{"difference":null,"overhead":{"chance_nodes":0.0,"leaf_evaluations":0.0,"outcomes_folded":0.0,"frames":0.0},' "$out") -eq 3 ]] ||
	fail "$what: overhead, or not 3 comparisons"
expect 0 analyze --json "$kiwipete PNQ" --width 4 --depth 3 --hash-load "$table" --compare-serial
says '"serial":{"difference":null,"overhead":{"chance_nodes":0.0,'
for limit in "--nodes 5" "--movetime 5" "--clock 5m"; do
	# shellcheck disable=SC2086
	expect 2 analyze "$kiwipete PNQ" $limit --compare-serial; complains "--compare-serial is for searches without a limit"
done
interrupt INT '"serial":null}' analyze --json "$kiwipete PNQ" --depth 8 --compare-serial

# scale: small runs; what is measured is not looked at, only that it is there.
expect 2 scale extra; complains "unexpected argument extra"
for value in "" 0 1- -1 1,,2 2-1 "1,2," 1025 1-1025 x 1x 1.5 99999999999999999999; do
	expect 2 scale --threads "$value"; complains "option --threads takes numbers from 1 to 1024, such as 1,2,4 or 1-4, not"
done
expect 2 scale --rounds 0; complains "--rounds takes a number from 1 to 1000"
expect 2 scale --set hevy; complains "did you mean heavy?"
expect 2 scale --evaluator materail; complains "did you mean material?"
expect 2 scale --position nonsense; complains "bad position: "
expect 0 scale --help; says "(default ordinary)"; says "--plot PREFIX"; lacks 18446744073709551615
list=1-$threads
expect 0 scale --set endings --depth 2 --width 2 --rounds 2 --threads $list; silent
says "depth 2, width 2, evaluator material, table none, begun with threads asleep"; says "binding    compact"; says "2 rounds: medians"; says "all answers are the same"
[[ $(grep -cE '^(pawn|rook|queen)-end +serial ' "$out") -eq 3 ]] || fail "$what: not 3 positions"
grep -qE '^geometric means +threads +speed-up +efficiency +ceiling +of it +node overhead ' "$out" || fail "$what: no means"
expect 0 scale --depth 2 --width 2 --rounds 1 --threads 1; [[ $(grep -c ' serial ' "$out") -eq 10 ]] || fail "$what: not 10 positions"
expect 0 scale --position "$kiwipete PNQ" --depth 3 --width 2 --evaluator winprob --hash 64K --rounds 1 --threads $list --json; silent
names "set depth width evaluator hash_bytes rounds date build version commit compiler isa machine model usable processors cores numa_nodes l2_bytes l3_bytes hwloc openmp openmp_date jemalloc environment bind binding threads unbound warm threads_spin positions name position raw turn ties serial chance_nodes time_ms median min max nodes_per_second table_hit_rate cpu_share parallel speedup efficiency ceiling efficiency_of_ceiling node_overhead tasks tasks_stopped idle_share task_sizes summary total_speedup total_idle_share differences"
says '"set":null,"depth":3,"width":2,"evaluator":"winprob","hash_bytes":65536,"rounds":1,'; says '"differences":[]}'
says '"environment":{"OMP_PLACES":null,"OMP_PROC_BIND":null,"OMP_WAIT_POLICY":null},"bind":"compact","binding":[{"threads":0,'
says '],"warm":false,'
found=$(grep -oE '"raw":-?[0-9]+,"turn":"[^"]*","ties":[0-9]+,"serial":\{"chance_nodes":[0-9]+' "$out")
expect 0 analyze --json "$kiwipete PNQ" --depth 3 --width 2 --evaluator winprob --hash 64K
analyzed="$(raw),$(grep -o '"kind":"turn","turn":"[^"]*"' "$out" | sed 's/.*,//'),\"ties\":$(sed -E 's/.*"ties":\[([^]]*)\].*/\1/' "$out" | tr ',' '\n' | wc -l),\"serial\":{\"chance_nodes\":$(counter chance_nodes)"
[[ -n $found && $found == "$analyzed" ]] || fail "$what: $analyzed, scale says $found"
expect 0 scale --position "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 PRK" --depth 4 --width 1 --hash 64M --rounds 1 --threads 1 --json
says '"hash_bytes":67108864,'
rate=$(grep -oE '"table_hit_rate":\{"median":[0-9.e-]+' "$out" | head -n 1 | sed 's/.*://')
expect 0 analyze "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 PRK" --depth 4 --width 1 --hash 64M --json
awk -v rate="$rate" -v probes="$(counter table_probes)" -v hits="$(counter table_hits)" \
	'BEGIN { exit !(hits > 0 && rate != "" && (rate - hits / probes) ^ 2 < 1e-12) }' ||
	fail "$what: $(counter table_hits) hits of $(counter table_probes), scale says $rate"
expect 0 scale --position "$start" --depth 1 --rounds 1 --threads 1 --json; says '"turn":null,'; says '"table_hit_rate":null,'; says '"hash_bytes":null,'
expect 0 scale --position "k7/8/8/8/8/8/8/R3K3 w - - 0 1 PPR" --rounds 1 --threads 1; says "all answers are the same"
# Bound as analyze would bind them, or not; a search with its threads awake.
search=(scale --position "$kiwipete PNQ" --depth 3 --width 2 --rounds 1 --json)
expect 0 "${search[@]}" --threads 1 --bind none; silent
says '"bind":"none","binding":[{"threads":0,"bind":"none","unbound":"as asked"},{"threads":1,"bind":"none","unbound":"as asked"}],"warm":false,'
expect 2 scale --bind comp; complains "did you mean compact?"
expect 0 "${search[@]}" --threads $list --warm; silent; says '],"warm":true,'; says '"differences":[]}'
if [[ $threads -gt 1 ]]; then
	sed 's/.*"threads":2,"time_ms"//' "$out" >"$directory/row" # one round: each task has its place among the sizes
	tasks=$(grep -oE '"tasks":\{"median":[0-9]+' "$directory/row" | sed 's/.*://')
	sizes=$(grep -oE '"task_sizes":\[[0-9,]*\]' "$directory/row" | sed 's/.*\[//; s/\]//' | tr ',' '\n')
	[[ $(wc -l <<<"$sizes") -eq 24 && $(awk '{ sum += $1 } END { print sum }' <<<"$sizes") -eq $tasks ]] || fail "$what: $tasks tasks, sizes $sizes"
	expect 0 "${search[@]}" --threads $((usable + 1)); silent
	says "{\"threads\":$((usable + 1)),\"bind\":\"none\",\"unbound\":\"more threads than usable processors\"}"
	if [[ $usable -gt 1 && $hwloc -eq 0 ]]; then
		for bind in compact scatter; do
			expect 0 "${search[@]}" --threads 1,2 --bind $bind; silent
			says '"binding":[{"threads":0,"bind":"'$bind'","unbound":null},{"threads":1,"bind":"'$bind'","unbound":null},{"threads":2,"bind":"'$bind'","unbound":null}]'
		done
	fi
fi
what="scale and OMP_PROC_BIND"
OMP_PROC_BIND=true timeout 100 "$starmax" scale --set endings --depth 1 --rounds 1 --threads $threads --json >"$out" 2>"$err" || fail "$what: not 0"
says '"OMP_PROC_BIND":"true"'; says '"differences":[]}'
[[ $threads -eq 1 ]] || says '{"threads":2,"bind":"none","unbound":"OMP_PROC_BIND is set, so OpenMP places the threads"}'
# Plots: without gnuplot nothing is measured; else its script and its data stay beside them.
what="scale --plot without gnuplot"
mkdir "$directory/bin"
PATH=$directory/bin "$starmax" scale --plot "$directory/none" >"$out" 2>"$err"
[[ $? -eq 1 && ! -s $out ]] || fail "$what: not 1, or measured all the same"
complains "--plot needs gnuplot"
for value in $'a\nb' "" -x; do
	expect 2 scale --plot "$value"; complains "option --plot takes the beginning of file names"
done
if command -v gnuplot >/dev/null; then
	expect 1 scale --plot "$directory/missing/plot"; complains "cannot write $directory/missing/plot.dat"
	expect 0 scale --set endings --depth 2 --width 2 --rounds 1 --threads $list --plot "$directory/it's"; silent; says "all answers are the same"
	for kind in speedup efficiency overhead; do
		grep -q '<svg' "$directory/it's-$kind.svg" || fail "$what: no $kind.svg"
		[[ $(head -c 4 "$directory/it's-$kind.png" | tail -c 3) == PNG ]] || fail "$what: no $kind.png"
	done
else # one that notes what it is asked for
	# shellcheck disable=SC2016 # for the script that it writes
	printf '#!/bin/sh\necho "$1" >>"%s/asked"\n' "$directory" >"$directory/bin/gnuplot"
	chmod +x "$directory/bin/gnuplot"
	what="scale --plot"
	PATH=$directory/bin:$PATH timeout 100 "$starmax" scale --set endings --depth 2 --width 2 --rounds 1 --threads $list --plot "$directory/it's" >"$out" 2>"$err" || fail "$what: not 0"
	[[ $(cat "$directory/asked") == $'--version\n'"$directory/it's.gp" ]] || fail "$what: gnuplot is not run"
fi
[[ $(grep -cE '^"(pawn-end|rook-end|queen-end|geometric mean)"' "$directory/it's.dat") -eq 4 ]] || fail "$what: $directory/it's.dat"
[[ $(grep -cE "^1(	[-+.e0-9]+){15}$" "$directory/it's.dat") -eq 4 ]] || fail "$what: numbers of $directory/it's.dat"
grep -qF "it''s'" "$directory/it's.gp" || fail "$what: the prefix is not quoted"

interrupt INT "stopped: 0 positions verified" verify "$kiwipete PNQ" --depth 8

finish
