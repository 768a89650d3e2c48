# How a search scales: draws what starmax scale --plot has measured. The lines above this one, if any, set prefix, positions and what.
# Columns of each block: threads; median, least and greatest of the speed-up (2), the efficiency (5), the efficiency relative to separate
# processes (8), the node overhead (11), the efficiency of separate processes (14). The last block is the geometric mean.
data = prefix.'.dat'
min(a, b) = a < b ? a : b
pngs = strstrt(GPVAL_TERMINALS, 'pngcairo') ? 'pngcairo size 900,600' : 'png size 900,600'
# one colour for each position of any set, and none of them black
array colour[10] = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#7f3c8d', '#8c613c', '#b00020', '#8a9a00']
of(i) = colour[1 + i % 10]
set grid
set key outside right
set xlabel 'threads'
stats data using 1 nooutput
from_threads = STATS_min
to_threads = STATS_max
stats data using 12 nooutput name 'least'
stats data using 13 nooutput name 'most'
# A thread count more is worth less the more there are. The positions of one number of threads stand side by side.
wide = to_threads > 16
side(i) = i - (positions - 1) / 2.0
place(threads, i) = wide ? threads * 1.01 ** side(i) : threads + 0.007 * to_threads * side(i)
if (wide) {
	set logscale x 2
	set xrange [from_threads / 1.2:to_threads * 1.2]
} else {
	set xtics ceil(to_threads / 16)
	set xrange [from_threads - 0.1 * to_threads:1.1 * to_threads]
}
do for [kind in 'svg png'] {
	if (kind eq 'svg') { set terminal svg size 900,600 dynamic background rgb 'white' } else { eval 'set terminal '.pngs }
	if (wide) { set logscale y 2; set yrange [*:*] } else { set yrange [0:*] }
	set title 'Speed-up over the serial search, '.what
	set ylabel 'times as fast'
	set output prefix.'-speedup.'.kind
	plot x title 'as many as threads' with lines dt 2 lc 'gray40', \
		for [i = 0:positions - 1] data index i using (place(column(1), i)):2:3:4 \
			title columnheader(1) with yerrorlines lw 1 pt 7 ps 0.5 lc rgb of(i), \
		data index positions using 1:2:3:4 title columnheader(1) with yerrorlines lw 3 lc 'black' pt 7 ps 0.8
	unset logscale y
	set yrange [0:*]
	set title 'Efficiency: speed-up divided by threads, '.what
	set ylabel 'efficiency'
	set output prefix.'-efficiency.'.kind
	plot for [i = 0:positions - 1] data index i using (place(column(1), i)):5:6:7 \
			title columnheader(1) with yerrorlines lw 1 pt 7 ps 0.5 lc rgb of(i), \
		data index positions using 1:5:6:7 title columnheader(1) with yerrorlines lw 3 lc 'black' pt 7 ps 0.8, \
		data index positions using 1:14:15:16 title 'separate processes' with yerrorlines lw 2 dt 2 lc 'gray40' pt 6, \
		data index positions using 1:8:9:10 title 'relative to these' with yerrorlines lw 2 lc 'dark-green' pt 5 ps 0.6
	# never empty, which gnuplot would warn of
	set yrange [min(0, 110 * least_min) - 1:110 * most_max + 1]
	set title 'Chance nodes beyond those of the serial search, '.what
	set ylabel '% of the serial search'
	set output prefix.'-overhead.'.kind
	plot for [i = 0:positions - 1] data index i \
			using (place(column(1), i)):(100 * $11):(100 * $12):(100 * $13) \
			title columnheader(1) with yerrorlines lw 1 pt 7 ps 0.5 lc rgb of(i), \
		data index positions using 1:(100 * $11):(100 * $12):(100 * $13) \
			title columnheader(1) with yerrorlines lw 3 lc 'black' pt 7 ps 0.8
	unset output
}
