/* Depths that depend on the position. */
#include <starmax/depth.h>

#include "core/error.h"

#include <string.h>

static const char outcomes_name[] = "outcomes";

static bool is_named(const char *name, const char *text, size_t length)
{
	return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* NULL where the game has none of that name. */
static const struct smx_measure *find_measure(const struct smx_game *game, const char *text, size_t length)
{
	for (const struct smx_measure *measure = game->measures; measure && measure->name; measure++)
		if (is_named(measure->name, text, length))
			return measure;
	return NULL;
}

/* Decimal digits of a number up to `most`; false where there is none. */
static bool read_number(const char **text, unsigned most, unsigned *number)
{
	uint64_t value = 0;
	const char *at = *text;
	for (; *at >= '0' && *at <= '9' && value <= most; at++)
		value = value * 10 + (unsigned)(*at - '0');
	const bool ok = at > *text && value <= most;
	*text = at;
	*number = (unsigned)value;
	return ok;
}

static bool is_depth(unsigned depth)
{
	return depth >= 1 && depth <= SMX_DEPTH_MAX;
}

static bool read_steps(const char *text, struct smx_depth_rule *rule)
{
	for (;;) {
		unsigned number, depth;
		if (!read_number(&text, UINT32_MAX, &number))
			return false;
		if (*text == '\0') {
			rule->depth_plies = number;
			return is_depth(number);
		}
		const bool ascends = rule->count == 0 || number > rule->steps[rule->count - 1].most;
		if (*text++ != '=' || !ascends || rule->count == SMX_DEPTH_STEPS_MAX ||
		    !read_number(&text, SMX_DEPTH_MAX, &depth) || !is_depth(depth) || *text++ != ',')
			return false;
		rule->steps[rule->count++] = (struct smx_depth_step){number, depth};
	}
}

enum smx_status smx_depth_rule_parse(const struct smx_game *game, const char *text, struct smx_depth_rule *rule,
                                     struct smx_error *error)
{
	const size_t length = strcspn(text, ":");
	struct smx_depth_rule made = {.measure = find_measure(game, text, length)};
	if (!made.measure && !is_named(outcomes_name, text, length))
		return smxi_refuse(error, SMX_ERR_PARSE, "game %s has no measure \"%.*s\" to choose a depth by", game->name,
		                   length < 40 ? (int)length : 40, text);
	if (text[length] != ':' || !read_steps(text + length + 1, &made))
		return smxi_refuse(error, SMX_ERR_PARSE,
		                   "\"%.80s\" is no rule for depths from 1 to %d, such as outcomes:8=6,16=5,4", text,
		                   SMX_DEPTH_MAX);
	*rule = made;
	return SMX_OK;
}

unsigned smx_depth_of(const struct smx_depth_rule *rule, const struct smx_game *game,
                      const struct smx_position *position)
{
	uint32_t weights[SMX_OUTCOMES_MAX];
	const unsigned number = rule->measure ? rule->measure->of(position) : game->outcomes(position->state, weights);
	for (unsigned i = 0; i < rule->count; i++)
		if (number <= rule->steps[i].most)
			return rule->steps[i].depth_plies;
	return rule->depth_plies;
}
