/* Depths that depend on the position. */
#include "tests/support/run.h"

#include <starmax/starmax.h>

#include <stdio.h>
#include <string.h>

static struct smx_depth_rule parsed(const struct smx_game *game, const char *text)
{
	struct smx_depth_rule rule;
	struct smx_error error = {0};
	cr_assert_eq(smx_depth_rule_parse(game, text, &rule, &error), SMX_OK, "%s: %s", text, error.message);
	return rule;
}

static struct smx_position board(const char *text)
{
	struct smx_position position;
	cr_assert_eq(smx_2048.parse(text, strlen(text), &position, NULL), SMX_OK, "%s", text);
	return position;
}

/* 3 distinct tiles, 12 empty cells, highest tile 8 */
static const char three_tiles[] = "2,4,0,0/8,0,0,0/0,0,0,0/2,0,0,0";

Test(depth, a_rule_takes_the_first_step_that_is_not_below_the_measure)
{
	const struct {
		const char *rule;
		unsigned depth;
	} cases[] = {
		{"outcomes:5", 5},          {"outcomes:24=3,5", 3},      {"outcomes:23=3,5", 5},    {"outcomes:8=6,24=4,3", 4},
		{"tiles:2=1,3=2,4=3,9", 2}, {"tiles:2=1,9", 9},          {"highest:4=1,8=7,64", 7}, {"highest:7=1,8=7,64", 7},
		{"tiles:0=1,2", 2},         {"tiles:4294967295=3,2", 3},
	};
	const struct smx_position position = board(three_tiles);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct smx_depth_rule rule = parsed(&smx_2048, cases[i].rule);
		cr_assert_eq(smx_depth_of(&rule, &smx_2048, &position), cases[i].depth, "%s", cases[i].rule);
	}
}

Test(depth, what_is_no_rule_is_refused_and_changes_nothing)
{
	static const char *const bad[] = {
		"",
		"outcomes",
		"outcomes:",
		"outcomes:0",
		"outcomes:65",
		":3",
		"outcome:3",
		"outcomes:8=3",
		"outcomes:8=3,",
		"outcomes:8=3,8=2,1",
		"outcomes:8=3,7=2,1",
		"tiles:8=0,1",
		"tiles:-1",
		"tiles:8=65,1",
		"tiles:8=3 ,1",
		"tiles: 3",
		"tiles:8==3,1",
		"tiles:4294967296=3,2",
		"tiles:3x",
		"tiles:8=3;2",
		"tile:3",
		"tilesx:3",
		"tiles:1=1,2=2",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct smx_depth_rule rule, before;
		struct smx_error error = {0};
		memset(&rule, 7, sizeof rule);
		memcpy(&before, &rule, sizeof rule);
		cr_assert_eq(smx_depth_rule_parse(&smx_2048, bad[i], &rule, &error), SMX_ERR_PARSE, "%s", bad[i]);
		cr_assert_gt(strlen(error.message), 0u);
		cr_assert_eq(memcmp(&rule, &before, sizeof rule), 0);
	}
	/* as many steps as there is room for, and one more */
	char text[1024] = "outcomes:";
	for (unsigned i = 0; i < SMX_DEPTH_STEPS_MAX; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%u=2,", i);
	const size_t length = strlen(text);
	snprintf(text + length, sizeof text - length, "3");
	parsed(&smx_dicechess, text);
	snprintf(text + length, sizeof text - length, "99=2,3");
	struct smx_depth_rule rule;
	cr_assert_eq(smx_depth_rule_parse(&smx_dicechess, text, &rule, NULL), SMX_ERR_PARSE);
	/* Dice Chess measures nothing but its outcomes */
	cr_assert_eq(smx_depth_rule_parse(&smx_dicechess, "tiles:3", &rule, NULL), SMX_ERR_PARSE);
}

Test(depth, a_search_goes_as_deep_as_its_rule_says_and_no_deeper_than_its_depth)
{
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_2048, NULL, &search), SMX_OK);
	const struct smx_position few = board("2,4,8,16/4,8,16,32/8,16,32,64/16,32,64,0"), many = board(three_tiles);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_2048);
	options.depth_by = parsed(&smx_2048, "outcomes:4=4,2");
	for (options.depth_plies = 1; options.depth_plies <= 6; options.depth_plies++) {
		const unsigned most = options.depth_plies;
		const struct smx_result ruled = *run(search, &few, &options);
		cr_assert_eq(ruled.depth_plies, most < 4 ? most : 4u);
		cr_assert_eq(run(search, &many, &options)->depth_plies, most < 2 ? most : 2u);
		struct smx_search_options plain = options;
		plain.depth_by = (struct smx_depth_rule){.depth_plies = 0};
		plain.depth_plies = ruled.depth_plies;
		cr_assert_eq(run(search, &few, &plain)->value, ruled.value);
	}
	options.depth_plies = 4;
	options.depth_by.steps[0].depth_plies = 0;
	const struct smx_result *result;
	cr_assert_eq(smx_search_run(search, &few, &options, &result, NULL), SMX_ERR_ARGUMENT);
	smx_search_destroy(search);
}
