/* Root rescoring: a second evaluator, asked once about the candidates, blended with what the search finds.
 *
 * final = floor(((total - weight) * search + weight * rescore) / total). It grows with search, so an interval goes through it, and the least
 * search value whose final value reaches a given one is div_ceil(final * total - weight * rescore, total - weight): candidates
 * that tie with the best survive. A candidate that loses on some outcome keeps its search value. Which ones do is only known once they are
 * opened, so a candidate is searched down to the lower of the two windows. Where weight is total nothing can be inferred of the
 * search value, and every candidate is searched with an open window. */
#include "core/error.h"
#include "core/node.h"

#include <string.h>

bool smxi_rescores(const struct smx_search_options *options)
{
	return options->rescore && options->rescore_weight > 0;
}

static smx_value to_scale(smx_value value, unsigned from_bits, unsigned to_bits)
{
	if (to_bits >= from_bits)
		return value * ((smx_value)1 << (to_bits - from_bits));
	return smx_div_floor(value, (smx_value)1 << (from_bits - to_bits));
}

/* Whether total * value stays below 2^62 for all values in [lo, hi], also in the other scale. */
static bool fits(smx_value lo, smx_value hi, unsigned from_bits, unsigned to_bits)
{
	smx_value most = SMX_SUM_LIMIT / SMX_RESCORE_TOTAL_MAX - 1;
	if (to_bits > from_bits)
		most >>= to_bits - from_bits;
	return lo >= -most && hi <= most;
}

enum smx_status smxi_rescore_check(const struct smx_search_options *options, struct smx_error *error)
{
	const struct smx_evaluator *evaluator = options->evaluator, *rescore = options->rescore;
	if (!rescore)
		return SMX_OK;
	if (options->rescore_total < 1 || options->rescore_total > SMX_RESCORE_TOTAL_MAX ||
	    options->rescore_weight > options->rescore_total)
		return smxi_refuse(error, SMX_ERR_ARGUMENT,
		                   "the rescore weight is a fraction from 0 to 1 with a denominator of at most %d",
		                   SMX_RESCORE_TOTAL_MAX);
	if (strcmp(evaluator->unit, rescore->unit) != 0)
		return smxi_refuse(error, SMX_ERR_ARGUMENT, "evaluator \"%.30s\" counts in %.30s, rescorer \"%.30s\" in %.30s",
		                   evaluator->name, evaluator->unit, rescore->name, rescore->unit);
	if (!fits(smx_evaluator_floor(evaluator), smx_evaluator_ceiling(evaluator), evaluator->scale_bits,
	          evaluator->scale_bits) ||
	    !fits(rescore->lo, rescore->hi, rescore->scale_bits, evaluator->scale_bits))
		return smxi_refuse(error, SMX_ERR_BOUNDS, "the values of \"%.30s\" and \"%.30s\" are too large to be blended",
		                   evaluator->name, rescore->name);
	return SMX_OK;
}

enum end smxi_rescore_ask(struct searcher *s, const void *states, struct smx_candidate *list, size_t count)
{
	const struct smx_evaluator *rescore = s->options.rescore;
	if (!s->rescores)
		return END_DONE;
	if (smxi_must_stop(s))
		return END_STOPPED;
	const struct smx_arena_mark mark = smx_arena_mark(s->arena);
	smx_value *values = smx_arena_alloc(s->arena, count * sizeof *values);
	if (!values)
		return END_NO_MEMORY;
	rescore->evaluate(rescore->context, states, count, s->evaluated_side, values);
	s->counters.rescore_evaluations += count;
	for (size_t i = 0; i < count; i++)
		list[i].rescore = to_scale(values[i], rescore->scale_bits, s->options.evaluator->scale_bits);
	smx_arena_release(s->arena, mark);
	return smxi_must_stop(s) ? END_STOPPED : END_DONE;
}

smx_value smxi_rescore_alpha(const struct searcher *s, const struct smx_candidate *candidate, smx_value best)
{
	const smx_value total = s->options.rescore_total, weight = s->options.rescore_weight;
	if (!s->rescores)
		return best;
	if (weight == total)
		return s->floor;
	const smx_value alpha = smx_div_ceil(best * total - weight * candidate->rescore, total - weight);
	return alpha < best ? alpha < s->floor ? s->floor : alpha : best;
}

void smxi_rescore_apply(const struct searcher *s, struct smx_candidate *candidate, bool loses)
{
	const smx_value total = s->options.rescore_total, weight = s->options.rescore_weight;
	candidate->search = candidate->value;
	candidate->rescored = s->rescores && !loses;
	if (!candidate->rescored)
		return;
	const smx_value blend = smx_div_floor((total - weight) * candidate->search + weight * candidate->rescore, total);
	/* of a candidate that was left early it may not be known yet that it loses: the bound holds either way */
	candidate->value = candidate->exact || blend > candidate->search ? blend : candidate->search;
}
