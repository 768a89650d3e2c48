#include "bench/scale.h"
#include "cli/command.h"
#include "cli/gnuplot.h"
#include "cli/scaling.h"

#include <errno.h>
#include <string.h>

static void write_spread(FILE *file, struct smxi_spread spread)
{
	fprintf(file, "\t%.6g\t%.6g\t%.6g", spread.median, spread.least, spread.most);
}

/* In the order that bench/scale.gp describes. */
static const enum smxi_metric plotted[] = {SMXI_SPEEDUP, SMXI_EFFICIENCY, SMXI_OF_CEILING, SMXI_NODE_OVERHEAD,
                                           SMXI_CEILING};

static void write_data(const struct smxi_scaling *scaling, FILE *data)
{
	for (size_t i = 0; i <= scaling->position_count; i++) {
		const bool is_mean = i == scaling->position_count;
		fprintf(data, "%s\"%s\"", i ? "\n\n" : "", is_mean ? "geometric mean" : scaling->names[i]);
		for (size_t m = 0; m < sizeof plotted / sizeof plotted[0]; m++)
			fprintf(data, "\t%s\tmin\tmax", smxi_metric_names[plotted[m]]);
		fputc('\n', data);
		for (size_t t = 0; t < scaling->thread_count; t++) {
			fprintf(data, "%u", scaling->threads[t]);
			for (size_t m = 0; m < sizeof plotted / sizeof plotted[0]; m++)
				write_spread(data, is_mean ? smxi_scaling_mean(scaling, t, plotted[m])
				                           : smxi_scaling_spread(scaling, i, t, plotted[m]));
			fputc('\n', data);
		}
	}
}

/* Both files stay: gnuplot PREFIX.gp draws again. */
static void write_script(const struct smxi_scaling *scaling, const char *prefix, FILE *script)
{
	const struct smx_search_options *options = &scaling->work.options;
	fputs("prefix = '", script);
	for (const char *c = prefix; *c; c++)
		fprintf(script, *c == '\'' ? "''" : "%c", *c);
	fprintf(script, "'\npositions = %zu\nwhat = 'depth %u, ", scaling->position_count, options->depth_plies);
	if (options->width)
		fprintf(script, "width %zu, ", options->width);
	else
		fputs("full width, ", script);
	fprintf(script, "%s'\n%s", options->evaluator->name, smxi_scale_plot);
}

bool smxi_scaling_plot(const struct smxi_scaling *scaling, const char *prefix, FILE *data)
{
	write_data(scaling, data);
	bool ok = smxi_gnuplot_close(data);
	FILE *script = smxi_gnuplot_open(prefix, ".gp");
	if (!script)
		return false;
	write_script(scaling, prefix, script);
	ok = smxi_gnuplot_close(script) && ok;
	if (!ok) {
		smxi_error("cannot write the plots' data: %s", strerror(errno));
		return false;
	}
	return smxi_gnuplot_run(prefix, ".gp");
}
