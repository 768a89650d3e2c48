/* starmax-project: what N threads would do for a search, predicted on one. `help` below has the options.
 *
 * The bench positions are searched by N simulated workers in virtual time (virtual.h), N from LIST. The serial time is measured the same
 * way, with one worker. Speed-up is serial time by makespan, efficiency speed-up by N, and node overhead the chance nodes opened beyond the
 * serial search's. The summaries are geometric means over the positions whose serial time is at least MS; each figure comes from
 * the run of the median makespan of R.
 *
 * --model shared: the locks as they are. A worker that finds one taken spins (--spin), and has it as soon as another core's line can be
 * had; if that takes too long it falls asleep, and the system has to wake it (--wake). stealing: no lock ever makes anybody wait, which is
 * what lock-free structures could reach at best.
 *
 * The model leaves out: memory bandwidth, caches (N workers here share one core's, where each would have its own; what one fetches
 * is not taken from another), simultaneous multithreading, the frequency falling with the number of busy cores, NUMA, and the operating system
 * beyond a fixed time to wake a waiting thread. So it is an upper bound of what a machine does, less so the larger N.
 *
 * --compare: two threads predicted, against two threads measured, which are bound as `starmax analyze` binds them; they search in turn with
 * the serial search, each after a pause in which the other's threads fall asleep. --fuzz: see schedules.h. */
#include "perf/schedules.h"
#include "perf/virtual.h"

#include "bench/clock.h"
#include "bench/positions.h"

#include <starmax/parallel.h>
#include <starmax/starmax.h>

#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	POSITIONS = sizeof smxi_bench_positions / sizeof smxi_bench_positions[0],
	ENDINGS = 3,
	THREADS_LISTED_MAX = 16,
	ROUNDS_MAX = 99,
	COMPARED_ROUNDS = 11,
	COMPARED_THREADS = 2,
	PAUSE_MS = 20,  /* more than the time for which a runtime's idle threads spin */
	LOCK_NS = 100,  /* a line that another core wrote last */
	SPIN_NS = 3000, /* some hundred looks of an adaptive mutex */
	WAKE_NS = 3000,
	OFFER_NS = 2000,
	WAIT_NS = 500, /* sched_yield, and a look */
};

static const char help[] =
	"Usage: starmax-project [options]\n\n"
	"What N threads would do for a search: predicted on one, in virtual time (perf/README.md).\n\n"
	"  --set w8|full|endings    which searches, may be repeated: depth 3, width 8; depth 3, every turn;\n"
	"                           depth 4, width 8, the three endings (default: all three)\n"
	"  --threads LIST           numbers of threads, 1 to 1024 (default 1,2,4,8,16,32,64,128,256)\n"
	"  --least MS               serial time from which on a position counts in the means (default 50)\n"
	"  --rounds R               figures are those of the run of median makespan of R (default 3)\n"
	"  --model shared|stealing  locks make threads wait, or never do (default shared)\n"
	"  --spin NS                shared: how long a thread spins before a lock (default 3000)\n"
	"  --wake NS                shared: from a lock's release to who waited for it longer than that (default 3000)\n"
	"  --seed S                 of what is drawn (default 0)\n"
	"  --json                   the same as JSON\n"
	"  --plot PREFIX            draw PREFIX-speedup, -efficiency and -overhead (.svg and .png) with gnuplot, from\n"
	"                           PREFIX.gp; status 1 where gnuplot does not, PREFIX.gp is there all the same\n"
	"  --compare                instead: two threads predicted and measured, for each position of --least MS\n"
	"  --fuzz SEEDS             instead: so many random schedules from --seed on, each against the serial search;\n"
	"                           status 1 and the seed at a wrong answer\n"
	"  --help                   this\n";

static const struct set {
	const char *name;
	const char *words;
	unsigned depth;
	size_t width;
	unsigned positions;
} sets[] = {
	{"w8", "depth 3, width 8", 3, 8, POSITIONS},
	{"full", "depth 3, full width", 3, 0, POSITIONS},
	{"endings", "depth 4, width 8, endings", 4, 8, ENDINGS},
};
enum { SETS = sizeof sets / sizeof *sets, EVALUATORS = 2 };

/* One search by N workers. */
struct figure {
	struct smxi_virtual_report report;
	uint64_t chance_nodes, tasks, tasks_stopped;
};

struct row {
	double serial_ms;
	uint64_t serial_nodes;
	struct figure figures[THREADS_LISTED_MAX];
};

/* A set by one evaluator. */
struct task {
	const struct set *set;
	const struct smx_evaluator *evaluator;
	struct row rows[POSITIONS];
};

struct projection {
	struct smx_position position[POSITIONS];
	unsigned threads[THREADS_LISTED_MAX]; /* ascending */
	unsigned thread_count;
	bool chosen[SETS];
	bool locks_wait, is_shown;
	uint64_t spin_ns, wake_ns;
	uint64_t seed;
	unsigned rounds;
	double least_ms;
	struct task tasks[SETS * EVALUATORS];
	unsigned task_count;
};

static _Noreturn void fail(const char *what, const char *text)
{
	fprintf(stderr, "starmax-project: %s%s%s\n", what, text ? ": " : "", text ? text : "");
	exit(2);
}

/* ---- searches ---- */

static struct smx_search *create_search(void)
{
	struct smx_search *search;
	if (smx_search_create(&smx_dicechess, NULL, &search) != SMX_OK)
		fail("out of memory", NULL);
	return search;
}

static struct smx_search_options options_of(const struct task *task)
{
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.evaluator = task->evaluator;
	options.depth_plies = task->set->depth;
	options.width = task->set->width;
	return options;
}

static const struct smx_result *searched(struct smx_search *search, const struct smx_position *position,
                                         const struct smx_search_options *options)
{
	const struct smx_result *result;
	struct smx_error error;
	if (smx_search_run(search, position, options, &result, &error) != SMX_OK)
		fail("search", error.message);
	return result;
}

static int by_makespan(const void *left, const void *right)
{
	const double a = ((const struct figure *)left)->report.makespan_ns;
	const double b = ((const struct figure *)right)->report.makespan_ns;
	return (a > b) - (a < b);
}

static struct figure projected(const struct projection *p, const struct task *task, unsigned position, unsigned threads)
{
	const struct smxi_virtual_options model = {
		.workers = threads,
		.order = SMXI_VIRTUAL_MEASURED,
		.seed = p->seed,
		.locks_wait = p->locks_wait,
		.lock_ns = LOCK_NS,
		.spin_ns = p->spin_ns,
		.wake_ns = p->wake_ns,
		.offer_ns = OFFER_NS,
		.wait_ns = WAIT_NS,
	};
	struct smxi_virtual *v = smxi_virtual_create(&model);
	if (!v)
		fail("out of memory", NULL);
	struct smx_search *search = create_search();
	struct smx_search_options options = options_of(task);
	options.splitter = smxi_virtual_splitter(v);
	struct figure figures[ROUNDS_MAX];
	/* one more: the first takes memory from the system */
	for (unsigned r = 0; r <= p->rounds; r++) {
		smxi_virtual_begin(v, search, options.depth_plies);
		const struct smx_result *result = searched(search, &p->position[position], &options);
		const struct smxi_virtual_report report = smxi_virtual_end(v);
		const struct smx_counters *c = &result->counters;
		figures[r ? r - 1 : 0] = (struct figure){report, c->chance_nodes, c->tasks, c->tasks_stopped};
	}
	smx_search_destroy(search);
	smxi_virtual_destroy(v);
	qsort(figures, p->rounds, sizeof *figures, by_makespan);
	return figures[p->rounds / 2];
}

static void project(struct projection *p, struct task *task)
{
	for (unsigned i = 0; i < task->set->positions; i++) {
		struct row *row = &task->rows[i];
		const struct figure serial = projected(p, task, i, 1);
		row->serial_ms = serial.report.makespan_ns * 1e-6;
		row->serial_nodes = serial.chance_nodes;
		for (unsigned t = 0; t < p->thread_count; t++) {
			row->figures[t] = p->threads[t] == 1 ? serial : projected(p, task, i, p->threads[t]);
			if (p->is_shown)
				fprintf(stderr, "\r%s, %s, %s, %u threads   ", task->set->words, task->evaluator->name,
				        smxi_bench_positions[i].name, p->threads[t]);
		}
	}
	if (p->is_shown)
		fprintf(stderr, "\r%79s\r", "");
}

/* ---- figures ---- */

static double speed_up(const struct row *row, unsigned t)
{
	return row->serial_ms * 1e6 / row->figures[t].report.makespan_ns;
}

static double node_ratio(const struct row *row, unsigned t)
{
	return (double)row->figures[t].chance_nodes / (double)row->serial_nodes;
}

/* Over the positions that count. Shares are of the makespan, or of the makespan times the workers. */
struct summary {
	unsigned positions;
	double least_speed_up, most_speed_up, least_node_ratio, most_node_ratio;
	double speed_up, node_ratio, work_ratio; /* geometric means */
	double tasks, alone, before, first, locked, list, waited;
};

static struct summary summary_of(const struct projection *p, const struct task *task, unsigned t)
{
	struct summary s = {0};
	double ups = 0, nodes = 0, work = 0;
	for (unsigned i = 0; i < task->set->positions; i++) {
		const struct row *row = &task->rows[i];
		const struct smxi_virtual_report *r = &row->figures[t].report;
		if (row->serial_ms < p->least_ms)
			continue;
		const bool is_first = !s.positions++;
		s.least_speed_up = is_first ? speed_up(row, t) : fmin(s.least_speed_up, speed_up(row, t));
		s.most_speed_up = fmax(s.most_speed_up, speed_up(row, t));
		s.least_node_ratio = is_first ? node_ratio(row, t) : fmin(s.least_node_ratio, node_ratio(row, t));
		s.most_node_ratio = fmax(s.most_node_ratio, node_ratio(row, t));
		ups += log(speed_up(row, t));
		nodes += log(node_ratio(row, t));
		work += log(r->work_ns / (row->serial_ms * 1e6));
		s.tasks += (double)row->figures[t].tasks;
		s.alone += r->alone_ns / r->makespan_ns;
		s.before += r->begun_ns / r->makespan_ns;
		s.first += r->first_ns > r->begun_ns ? (r->first_ns - r->begun_ns) / r->makespan_ns : 0;
		s.locked += r->locked_ns / r->makespan_ns / p->threads[t];
		s.list += r->list_ns / r->makespan_ns / p->threads[t];
		s.waited += r->waited_ns / r->makespan_ns / p->threads[t];
	}
	if (!s.positions)
		return s;
	const double count = s.positions;
	s.speed_up = exp(ups / count);
	s.node_ratio = exp(nodes / count);
	s.work_ratio = exp(work / count);
	double *const means[] = {&s.tasks, &s.alone, &s.before, &s.first, &s.locked, &s.list, &s.waited};
	for (size_t i = 0; i < sizeof means / sizeof *means; i++)
		*means[i] /= count;
	return s;
}

static void print_task(const struct projection *p, const struct task *task)
{
	printf("%s, %s: speed-up (chance nodes beyond the serial search's, per cent)\n%-10s %10s", task->set->words,
	       task->evaluator->name, "threads", "serial, ms");
	for (unsigned t = 0; t < p->thread_count; t++)
		printf(" %12u", p->threads[t]);
	for (unsigned i = 0; i < task->set->positions; i++) {
		const struct row *row = &task->rows[i];
		printf("\n%-10s %10.1f", smxi_bench_positions[i].name, row->serial_ms);
		for (unsigned t = 0; t < p->thread_count; t++)
			printf(" %6.2f (%3.0f)", speed_up(row, t), 100 * (node_ratio(row, t) - 1));
	}
	const unsigned counted = summary_of(p, task, 0).positions;
	printf("\n\n%u positions of at least %g ms; shares in per cent\n", counted, p->least_ms);
	if (counted)
		printf("%7s %8s %10s %6s %6s %9s %6s %7s %6s %7s %6s %7s\n", "threads", "speed-up", "efficiency", "nodes",
		       "work", "tasks", "alone", "before", "first", "locked", "list", "waited");
	for (unsigned t = 0; t < p->thread_count && counted; t++) {
		const struct summary s = summary_of(p, task, t);
		printf("%7u %8.2f %10.1f %+6.1f %+6.1f %9.0f %6.1f %7.1f %6.1f %7.1f %6.1f %7.1f\n", p->threads[t], s.speed_up,
		       100 * s.speed_up / p->threads[t], 100 * (s.node_ratio - 1), 100 * (s.work_ratio - 1), s.tasks,
		       100 * s.alone, 100 * s.before, 100 * s.first, 100 * s.locked, 100 * s.list, 100 * s.waited);
	}
	printf("\n");
	fflush(stdout);
}

static void print_head(const struct projection *p)
{
	char model[80];
	if (p->locks_wait)
		snprintf(model, sizeof model, "shared: locks as they are, %llu ns of spinning, then %llu to wake",
		         (unsigned long long)p->spin_ns, (unsigned long long)p->wake_ns);
	else
		snprintf(model, sizeof model, "stealing: no lock makes anybody wait");
	printf("predicted in virtual time, median of %u; %s\n"
	       "left out: memory bandwidth, caches, SMT, NUMA, frequency, the operating system\n"
	       "nodes, work: beyond the serial search's. Of the makespan: alone: one worker busy; before: the depths "
	       "before the\n"
	       "last; first: its first candidate. Of makespan times threads: locked: waiting for locks; list: of these for "
	       "the\n"
	       "one of the list of open works; waited: owners waiting for helpers\n\n",
	       p->rounds, model);
}

static json_t *json_figure(const struct projection *p, const struct row *row, unsigned t)
{
	const struct figure *f = &row->figures[t];
	const struct smxi_virtual_report *r = &f->report;
	json_t *object = json_object();
	json_object_set_new(object, "threads", json_integer(p->threads[t]));
	json_object_set_new(object, "makespan_ms", json_real(r->makespan_ns * 1e-6));
	json_object_set_new(object, "speed_up", json_real(speed_up(row, t)));
	json_object_set_new(object, "efficiency", json_real(speed_up(row, t) / p->threads[t]));
	json_object_set_new(object, "chance_nodes", json_integer((json_int_t)f->chance_nodes));
	json_object_set_new(object, "node_overhead", json_real(node_ratio(row, t) - 1));
	json_object_set_new(object, "tasks", json_integer((json_int_t)f->tasks));
	json_object_set_new(object, "tasks_stopped", json_integer((json_int_t)f->tasks_stopped));
	json_object_set_new(object, "offers", json_integer((json_int_t)r->offers));
	json_object_set_new(object, "locks", json_integer((json_int_t)r->locks));
	json_object_set_new(object, "work_ms", json_real(r->work_ns * 1e-6));
	json_object_set_new(object, "locked_ms", json_real(r->locked_ns * 1e-6));
	json_object_set_new(object, "list_ms", json_real(r->list_ns * 1e-6));
	json_object_set_new(object, "waited_ms", json_real(r->waited_ns * 1e-6));
	json_object_set_new(object, "alone_ms", json_real(r->alone_ns * 1e-6));
	json_object_set_new(object, "last_depth_begun_ms", json_real(r->begun_ns * 1e-6));
	json_object_set_new(object, "first_candidate_ms", json_real(r->first_ns * 1e-6));
	return object;
}

static json_t *json_task(const struct projection *p, const struct task *task)
{
	json_t *object = json_object(), *rows = json_array(), *summaries = json_array();
	for (unsigned i = 0; i < task->set->positions; i++) {
		json_t *row = json_object(), *figures = json_array();
		for (unsigned t = 0; t < p->thread_count; t++)
			json_array_append_new(figures, json_figure(p, &task->rows[i], t));
		json_object_set_new(row, "name", json_string(smxi_bench_positions[i].name));
		json_object_set_new(row, "serial_ms", json_real(task->rows[i].serial_ms));
		json_object_set_new(row, "serial_chance_nodes", json_integer((json_int_t)task->rows[i].serial_nodes));
		json_object_set_new(row, "figures", figures);
		json_array_append_new(rows, row);
	}
	for (unsigned t = 0; t < p->thread_count; t++) {
		const struct summary s = summary_of(p, task, t);
		json_t *summary = json_object();
		if (!s.positions)
			break;
		json_object_set_new(summary, "threads", json_integer(p->threads[t]));
		json_object_set_new(summary, "positions", json_integer(s.positions));
		json_object_set_new(summary, "speed_up", json_real(s.speed_up));
		json_object_set_new(summary, "efficiency", json_real(s.speed_up / p->threads[t]));
		json_object_set_new(summary, "node_overhead", json_real(s.node_ratio - 1));
		json_object_set_new(summary, "work_overhead", json_real(s.work_ratio - 1));
		json_object_set_new(summary, "tasks", json_real(s.tasks));
		json_object_set_new(summary, "alone_share", json_real(s.alone));
		json_object_set_new(summary, "before_share", json_real(s.before));
		json_object_set_new(summary, "first_share", json_real(s.first));
		json_object_set_new(summary, "locked_share", json_real(s.locked));
		json_object_set_new(summary, "list_share", json_real(s.list));
		json_object_set_new(summary, "waited_share", json_real(s.waited));
		json_array_append_new(summaries, summary);
	}
	json_object_set_new(object, "set", json_string(task->set->name));
	json_object_set_new(object, "evaluator", json_string(task->evaluator->name));
	json_object_set_new(object, "depth_plies", json_integer(task->set->depth));
	json_object_set_new(object, "width", json_integer((json_int_t)task->set->width));
	json_object_set_new(object, "positions", rows);
	json_object_set_new(object, "summary", summaries);
	return object;
}

static void print_json(const struct projection *p)
{
	static const char *const left_out[] = {"memory bandwidth", "caches",          "SMT", "NUMA",
	                                       "frequency",        "operating system"};
	char seed_text[24]; /* text: not every reader's numbers hold 64 bits */
	snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)p->seed);
	json_t *root = json_object(), *tasks = json_array(), *missing = json_array();
	for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
		json_array_append_new(missing, json_string(left_out[i]));
	for (unsigned i = 0; i < p->task_count; i++)
		json_array_append_new(tasks, json_task(p, &p->tasks[i]));
	json_object_set_new(root, "isa", json_string(smx_dicechess_isa()));
	json_object_set_new(root, "model", json_string(p->locks_wait ? "shared" : "stealing"));
	json_object_set_new(root, "left_out", missing);
	json_object_set_new(root, "seed", json_string(seed_text));
	json_object_set_new(root, "rounds", json_integer(p->rounds));
	json_object_set_new(root, "least_ms", json_real(p->least_ms));
	json_object_set_new(root, "lock_ns", json_integer(LOCK_NS));
	json_object_set_new(root, "spin_ns", json_integer((json_int_t)p->spin_ns));
	json_object_set_new(root, "wake_ns", json_integer((json_int_t)p->wake_ns));
	json_object_set_new(root, "offer_ns", json_integer(OFFER_NS));
	json_object_set_new(root, "wait_ns", json_integer(WAIT_NS));
	json_object_set_new(root, "tasks", tasks);
	json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(8));
	printf("\n");
	json_decref(root);
}

/* ---- plots ---- */

/* As gnuplot takes it. */
static void write_quoted(FILE *file, const char *text)
{
	fputc('\'', file);
	for (const char *c = text; *c; c++)
		fprintf(file, *c == '\'' ? "\'\'" : "%c", *c);
	fputc('\'', file);
}

/* Columns: threads; mean over the positions, least and greatest, of the speed-up and of the node overhead in per cent. */
static void write_data(const struct projection *p, FILE *file)
{
	for (unsigned i = 0; i < p->task_count; i++) {
		fprintf(file, "$task%u << EOD\n", i);
		for (unsigned t = 0; t < p->thread_count; t++) {
			const struct summary s = summary_of(p, &p->tasks[i], t);
			if (s.positions)
				fprintf(file, "%u %.6g %.6g %.6g %.6g %.6g %.6g\n", p->threads[t], s.speed_up, s.least_speed_up,
				        s.most_speed_up, 100 * (s.node_ratio - 1), 100 * (s.least_node_ratio - 1),
				        100 * (s.most_node_ratio - 1));
		}
		fprintf(file, "EOD\n");
	}
}

/* One drawing: its lines, one for each task of which a position counts; x is place(threads, line), so that their bars do not cover each other. */
static void write_plot(const struct projection *p, FILE *file, const char *name, const char *settings,
                       const char *before, const char *columns)
{
	const char *between = before;
	fprintf(file, "%s\nset output prefix.'-%s.'.kind\nplot ", settings, name);
	for (unsigned i = 0; i < p->task_count; i++) {
		const struct task *task = &p->tasks[i];
		const unsigned positions = summary_of(p, task, 0).positions;
		if (!positions)
			continue;
		fprintf(file,
		        "%s$task%u using (place($1, %u)):%s title '%s, %s (%u position%s)' with yerrorlines lt %u pt 7 "
		        "ps 0.6",
		        between, i, i, columns, task->set->words, task->evaluator->name, positions, positions > 1 ? "s" : "",
		        i + 1);
		between = ", ";
	}
	fprintf(file, "\n");
}

static void write_script(const struct projection *p, FILE *file, const char *prefix)
{
	fprintf(file, "prefix = ");
	write_quoted(file, prefix);
	fprintf(file,
	        "\nnote = 'predicted in virtual time, model %s; geometric mean, least and greatest over the positions'\n",
	        p->locks_wait ? "shared" : "stealing");
	fprintf(file, "place(threads, i) = threads * 1.02 ** (i - %u / 2.0)\n", p->task_count - 1);
	write_data(p, file);
	fprintf(file,
	        "set logscale x 2\nset grid\nset key outside bottom center height 1\nset bars 0.5\n"
	        "set xlabel 'threads' offset 0,0.5\n"
	        "set xrange [%u / 1.2:%u * 1.2]\n"
	        "pngs = strstrt(GPVAL_TERMINALS, 'pngcairo') ? 'pngcairo size 900,700' : 'png size 900,700'\n"
	        "do for [kind in 'svg png'] {\n"
	        "if (kind eq 'svg') { set terminal svg size 900,700 dynamic background rgb 'white' } else "
	        "{ eval 'set terminal '.pngs }\n",
	        p->threads[0], p->threads[p->thread_count - 1]);
	write_plot(p, file, "speedup",
	           "set logscale y 2\nset yrange [*:*]\nset ylabel 'times as fast'\n"
	           "set title \"Speed-up over the serial search\\n\".note",
	           "x title 'as many as threads' with lines dt 2 lc 'gray40', ", "2:3:4");
	write_plot(p, file, "efficiency",
	           "unset logscale y\nset yrange [0:*]\nset ylabel 'efficiency'\n"
	           "set title \"Efficiency: speed-up divided by threads\\n\".note",
	           "", "($2 / $1):($3 / $1):($4 / $1)");
	write_plot(p, file, "overhead",
	           "set yrange [*:*]\nset offsets 0, 0, graph 0.03, 0\nset ylabel '% of the serial search'\n"
	           "set title \"Chance nodes beyond those of the serial search\\n\".note",
	           "", "5:6:7");
	fprintf(file, "unset offsets\nunset output\n}\n");
}

static bool run_gnuplot(const char *path)
{
	int status = 0;
	fflush(NULL);
	const pid_t child = fork();
	if (child == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO); /* what it prints must not get into the JSON */
		execlp("gnuplot", "gnuplot", path, (char *)NULL);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool has_line(const struct projection *p)
{
	for (unsigned i = 0; i < p->task_count; i++)
		if (summary_of(p, &p->tasks[i], 0).positions)
			return true;
	return false;
}

/* Before anything is measured: what would fail afterwards. */
static FILE *open_plots(const char *prefix, char *path, size_t size)
{
	if (!*prefix || *prefix == '-' || strpbrk(prefix, "\n\r"))
		fail("--plot takes the beginning of file names, not starting with a dash, on one line", NULL);
	if (snprintf(path, size, "%s.gp", prefix) >= (int)size)
		fail("--plot: too long", prefix);
	FILE *file = fopen(path, "w");
	if (!file)
		fail("--plot: cannot write", path);
	return file;
}

static bool plot(const struct projection *p, const char *prefix, FILE *file, const char *path)
{
	write_script(p, file, prefix);
	if (fclose(file) != 0)
		fail("--plot: cannot write", path);
	if (!has_line(p)) {
		fprintf(stderr, "starmax-project: no position of at least %g ms, nothing to draw\n", p->least_ms);
		return false;
	}
	if (run_gnuplot(path))
		return true;
	fprintf(stderr, "starmax-project: gnuplot did not draw it; the script is %s\n", path);
	return false;
}

/* ---- two threads, predicted and measured ---- */

static int by_value(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

struct measured {
	double serial_ms, parallel_ms, speed_up, least, most; /* medians; of the speed-up also the extremes */
	double nodes;
};

static double median(double *values)
{
	qsort(values, COMPARED_ROUNDS, sizeof *values, by_value);
	return values[COMPARED_ROUNDS / 2];
}

/* Asleep, and then a search. */
static double timed_ms(struct smx_search *search, const struct smx_position *position,
                       const struct smx_search_options *options, uint64_t *nodes)
{
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
	const double begun_ms = now_ms();
	const struct smx_result *result = searched(search, position, options);
	const double time_ms = now_ms() - begun_ms;
	*nodes = result->counters.chance_nodes;
	return time_ms;
}

static struct measured measured(const struct task *task, const struct smx_position *position,
                                const struct smx_parallel *parallel)
{
	struct smx_search_options serial = options_of(task), both = serial;
	both.splitter = smx_parallel_splitter(parallel);
	struct smx_search *search = create_search();
	double serial_ms[COMPARED_ROUNDS], parallel_ms[COMPARED_ROUNDS], ratio[COMPARED_ROUNDS], nodes[COMPARED_ROUNDS];
	searched(search, position, &both); /* takes memory and threads from the system */
	for (unsigned r = 0; r < COMPARED_ROUNDS; r++) {
		uint64_t count;
		serial_ms[r] = timed_ms(search, position, &serial, &count);
		parallel_ms[r] = timed_ms(search, position, &both, &count);
		ratio[r] = serial_ms[r] / parallel_ms[r];
		nodes[r] = (double)count;
	}
	smx_search_destroy(search);
	return (struct measured){
		.serial_ms = median(serial_ms),
		.parallel_ms = median(parallel_ms),
		.speed_up = median(ratio), /* and sorts them */
		.least = ratio[0],
		.most = ratio[COMPARED_ROUNDS - 1],
		.nodes = median(nodes),
	};
}

static void compare(const struct projection *p, const struct task *task, const struct smx_parallel *parallel)
{
	for (unsigned i = 0; i < task->set->positions; i++) {
		const struct figure serial = projected(p, task, i, 1);
		if (serial.report.makespan_ns * 1e-6 < p->least_ms)
			continue;
		const struct figure both = projected(p, task, i, COMPARED_THREADS);
		const double predicted = serial.report.makespan_ns / both.report.makespan_ns;
		const double serial_nodes = (double)serial.chance_nodes;
		const struct measured found = measured(task, &p->position[i], parallel);
		char range[32];
		snprintf(range, sizeof range, "%.2f [%.2f, %.2f]", found.speed_up, found.least, found.most);
		printf("%-26s %-8s %-10s %9.1f %9.1f %9.2f %9.1f %9.1f %18s %+10.1f %7.1f %7.1f\n", task->set->words,
		       task->evaluator->name, smxi_bench_positions[i].name, serial.report.makespan_ns * 1e-6,
		       both.report.makespan_ns * 1e-6, predicted, found.serial_ms, found.parallel_ms, range,
		       100 * (predicted / found.speed_up - 1), 100 * ((double)both.chance_nodes / serial_nodes - 1),
		       100 * (found.nodes / serial_nodes - 1));
		fflush(stdout);
	}
}

static void compare_all(const struct projection *p)
{
	static struct smx_parallel_plan plan;
	struct smx_parallel *parallel;
	if (smx_parallel_plan(COMPARED_THREADS, SMX_BIND_COMPACT, &plan) != SMX_OK ||
	    smx_parallel_create_planned(&plan, &parallel) != SMX_OK)
		fail("no two threads", NULL);
	printf("two threads, %s%s; measured: median of %d, each in turn with the serial search\n"
	       "difference: predicted beyond the median measured; nodes: beyond the serial search's; both in per cent\n\n",
	       plan.bind == SMX_BIND_NONE ? "not bound: " : "bound compactly",
	       plan.bind == SMX_BIND_NONE ? plan.unbound : "", COMPARED_ROUNDS);
	printf("%-46s %29s %38s %10s %15s\n%-26s %-8s %-10s %9s %9s %9s %9s %9s %18s %10s %7s %7s\n", "", "predicted",
	       "measured", "", "nodes", "", "", "", "1, ms", "2, ms", "speed-up", "1, ms", "2, ms", "speed-up [range]",
	       "difference", "pred.", "meas.");
	for (unsigned i = 0; i < p->task_count; i++)
		compare(p, &p->tasks[i], parallel);
	smx_parallel_destroy(parallel);
}

/* ---- the command line ---- */

static uint64_t read_number(const char *text, uint64_t least, uint64_t most, const char *what)
{
	char *end;
	const unsigned long long number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || number < least || number > most)
		fail(what, text);
	return number;
}

static int by_number(const void *left, const void *right)
{
	const unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;
	return (a > b) - (a < b);
}

static void read_threads(struct projection *p, char *list)
{
	p->thread_count = 0;
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		if (p->thread_count == THREADS_LISTED_MAX)
			fail("--threads takes 16 numbers at most", NULL);
		p->threads[p->thread_count++] =
			(unsigned)read_number(word, 1, SMXI_VIRTUAL_WORKERS_MAX, "--threads takes numbers from 1 to 1024, not");
	}
	if (!p->thread_count)
		fail("--threads takes numbers, parted by commas", NULL);
	qsort(p->threads, p->thread_count, sizeof *p->threads, by_number);
}

static void choose_set(struct projection *p, const char *name)
{
	for (unsigned i = 0; i < SETS; i++)
		if (strcmp(sets[i].name, name) == 0) {
			p->chosen[i] = true;
			return;
		}
	fail("--set takes w8, full or endings, not", name);
}

/* Where no set is chosen, all are. */
static void choose_tasks(struct projection *p)
{
	bool any = false;
	for (unsigned i = 0; i < SETS; i++)
		any = any || p->chosen[i];
	for (unsigned i = 0; i < SETS; i++)
		for (unsigned e = 0; e < EVALUATORS && (p->chosen[i] || !any); e++)
			p->tasks[p->task_count++] =
				(struct task){.set = &sets[i], .evaluator = e ? &smx_dicechess_winprob : &smx_dicechess_material};
}

static void read_positions(struct projection *p)
{
	for (size_t i = 0; i < POSITIONS; i++) {
		struct smx_error error;
		const char *text = smxi_bench_positions[i].text;
		if (smx_dicechess.parse(text, strlen(text), &p->position[i], &error) != SMX_OK)
			fail(smxi_bench_positions[i].name, error.message);
	}
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"json", no_argument, NULL, 'j'},          {"plot", required_argument, NULL, 'p'},
		{"threads", required_argument, NULL, 't'}, {"set", required_argument, NULL, 's'},
		{"model", required_argument, NULL, 'm'},   {"seed", required_argument, NULL, 'd'},
		{"rounds", required_argument, NULL, 'r'},  {"least", required_argument, NULL, 'l'},
		{"compare", no_argument, NULL, 'c'},       {"spin", required_argument, NULL, 'i'},
		{"wake", required_argument, NULL, 'w'},    {"fuzz", required_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
	};
	static struct projection p = {
		.threads = {1, 2, 4, 8, 16, 32, 64, 128, 256},
		.thread_count = 9,
		.locks_wait = true,
		.spin_ns = SPIN_NS,
		.wake_ns = WAKE_NS,
		.rounds = 3,
		.least_ms = 50,
	};
	bool json = false, compares = false;
	const char *prefix = NULL;
	uint64_t fuzz = 0;
	for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
		switch (option) {
		case 'j':
			json = true;
			break;
		case 'p':
			prefix = optarg;
			break;
		case 't':
			read_threads(&p, optarg);
			break;
		case 's':
			choose_set(&p, optarg);
			break;
		case 'm':
			p.locks_wait = strcmp(optarg, "shared") == 0;
			if (!p.locks_wait && strcmp(optarg, "stealing") != 0)
				fail("--model takes shared or stealing, not", optarg);
			break;
		case 'd':
			p.seed = read_number(optarg, 0, UINT64_MAX, "--seed takes a number, not");
			break;
		case 'r':
			p.rounds = (unsigned)read_number(optarg, 1, ROUNDS_MAX, "--rounds takes a number from 1 to 99, not");
			break;
		case 'l':
			p.least_ms = (double)read_number(optarg, 0, 1000000, "--least takes milliseconds, not");
			break;
		case 'i':
			p.spin_ns = read_number(optarg, 0, 1000000000, "--spin takes nanoseconds, not");
			break;
		case 'w':
			p.wake_ns = read_number(optarg, 0, 1000000000, "--wake takes nanoseconds, not");
			break;
		case 'c':
			compares = true;
			break;
		case 'f':
			fuzz = read_number(optarg, 1, UINT32_MAX, "--fuzz takes a number of seeds, not");
			break;
		case 'h':
			fputs(help, stdout);
			return 0;
		default:
			fputs("starmax-project: --help lists the options\n", stderr);
			return 2;
		}
	if (argc != optind)
		fail("there is no such argument", argv[optind]);
	if (fuzz)
		return smxi_schedules_try(p.seed, fuzz) ? 0 : 1;
	if (compares && (json || prefix))
		fail("--compare prints a table: no --json and no --plot", NULL);
	read_positions(&p);
	p.is_shown = isatty(STDERR_FILENO);
	choose_tasks(&p);
	if (compares) {
		compare_all(&p);
		return 0;
	}
	char path[4096];
	FILE *script = prefix ? open_plots(prefix, path, sizeof path) : NULL;
	if (!json)
		print_head(&p);
	for (unsigned i = 0; i < p.task_count; i++) {
		project(&p, &p.tasks[i]);
		if (!json)
			print_task(&p, &p.tasks[i]);
	}
	if (json)
		print_json(&p);
	return !script || plot(&p, prefix, script, path) ? 0 : 1;
}
