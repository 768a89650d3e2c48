/* The quota of the control group. A process that runs more threads than its quota has processors is stopped for the rest
 * of each period once they have used it up, all threads at once: worse than having fewer. */
#include "parallel/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4352, FILE_BYTES = 16384 };

/* The number that the text begins with, and what is behind it; false where it begins with none, or with one too large. */
static bool read_number(const char **text, uint64_t *number)
{
	const size_t length = strspn(*text, "0123456789");
	if (length < 1 || length > 18) /* 10^18 still fits 64 bits */
		return false;
	*number = strtoull(*text, NULL, 10);
	*text += length;
	return true;
}

bool smxi_quota_parse(const char *text, struct smxi_quota *quota)
{
	struct smxi_quota read = {0, 0};
	const bool unlimited = !strncmp(text, "max", 3);
	if (unlimited)
		text += 3;
	else if (!read_number(&text, &read.quota_us) || !read.quota_us)
		return false;
	if (*text++ != ' ' || !read_number(&text, &read.period_us) || !read.period_us || (*text && strcmp(text, "\n") != 0))
		return false;
	*quota = unlimited ? (struct smxi_quota){0, 0} : read;
	return true;
}

uint64_t smxi_quota_processors(struct smxi_quota quota)
{
	return quota.period_us ? quota.quota_us / quota.period_us + (quota.quota_us % quota.period_us != 0) : 0;
}

/* The whole file, cut to size - 1 bytes; false where it cannot be read. */
static bool read_file(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	if (!file)
		return false;
	const size_t length = fread(text, 1, size - 1, file);
	const bool ok = !ferror(file);
	text[length] = '\0';
	fclose(file);
	return ok;
}

static bool is_tighter(struct smxi_quota a, struct smxi_quota b)
{
	return !b.period_us || (double)a.quota_us / (double)a.period_us < (double)b.quota_us / (double)b.period_us;
}

struct smxi_quota smxi_quota_find(const char *memberships, const char *root)
{
	struct smxi_quota tightest = {0, 0};
	/* One line a hierarchy; that of version 2 is "0::" and the group's path. */
	const char *line = memberships;
	while (line && strncmp(line, "0::/", 4) != 0) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	if (!line)
		return tightest;
	char group[PATH_BYTES];
	const size_t length = strcspn(line + 3, "\n");
	if (length >= sizeof group)
		return tightest;
	memcpy(group, line + 3, length);
	group[length] = '\0';
	/* A group outside what is mounted here: only the mounted part is ours to see. */
	if (strstr(group, "/.."))
		group[1] = '\0';
	/* From the group up: "/a/b", "/a", "". The root group itself has no file, but that of a container has one. */
	for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
		char path[PATH_BYTES + 512], text[128];
		struct smxi_quota quota;
		*end = '\0';
		const int path_length = snprintf(path, sizeof path, "%s%s/cpu.max", root, group);
		if (path_length > 0 && (size_t)path_length < sizeof path && read_file(path, text, sizeof text) &&
		    smxi_quota_parse(text, &quota) && quota.period_us && is_tighter(quota, tightest))
			tightest = quota;
	}
	return tightest;
}

struct smxi_quota smxi_quota_here(void)
{
	char memberships[FILE_BYTES];
	if (!read_file("/proc/self/cgroup", memberships, sizeof memberships))
		return (struct smxi_quota){0, 0};
	return smxi_quota_find(memberships, "/sys/fs/cgroup");
}
