/* A frame, as frame.c makes and searches it and replies.c chooses from it. See frame.c for the method. */
#ifndef SMXI_FRAME_H
#define SMXI_FRAME_H

#include "core/node.h"

enum { ITEMS_MOST = 8 }; /* taken at a time */

struct reply {
	const void *state;
	uint64_t mask;            /* of the outcomes that reach it; 0: it was taken */
	struct smx_glance glance; /* narrowed by the table, too */
	uint32_t group;
	uint8_t stage; /* bounds asked for so far */
	bool from_table;
};

/* Replies of one mask. The first is the best; the others are in no order until it is taken, and then a heap. */
struct group {
	uint64_t mask;
	uint32_t *replies; /* by index */
	uint32_t count;
	bool is_heap;
	unsigned taken;    /* replies that are being valued */
	smx_value promise; /* of the best, once; at least what it is now */
};

struct frame {
	struct work work;   /* first: work_on_frame finds the frame by it */
	struct searcher *s; /* the owner */
	const struct visit *visit;
	struct chance *node;
	bool asks_table; /* settle() does */
	bool is_inner;   /* its items are large: see replies.c */

	/* The visit's window, narrower where other threads have found something above since; under the lock. */
	struct window window;
	_Atomic smx_value alpha_seen; /* of the brothers */
	atomic_uint news_seen;        /* of the frame above */
	atomic_uint news;             /* counts what may make the windows of its items narrower, or set free what is held */

	/* Under the lock, once the frame is made. */
	struct reply *replies;
	uint32_t count;
	uint32_t next; /* of the replies as listed */
	struct group *groups;
	uint32_t group_count;
	uint32_t *heap; /* groups */
	uint32_t heap_count;
	uint32_t *held; /* groups */
	uint32_t held_count;
	uint64_t unvalued;                         /* outcomes without any value yet, of which a reply is being valued */
	uint16_t unvalued_count[SMX_OUTCOMES_MAX]; /* so many of each */
};

/* A reply that was taken: from now on it is its taker's alone. */
struct item {
	struct reply *reply;
	uint32_t group;
	bool is_of_group; /* else it came as listed */
	uint64_t mask;
	uint64_t unvalued; /* of its outcomes, those without any value when it was taken */
	struct window window;
	unsigned news;         /* of the frame's, when the window was made */
	struct interval found; /* when it was valued */
};

enum taking { TAKEN, NOTHING_NOW, NOTHING_LEFT };

/* Where a node below a shared frame comes from. */
struct origin {
	struct frame *frame;
	const struct item *item;
};

static inline struct interval smxi_reply_interval(const struct reply *reply)
{
	return (struct interval){reply->glance.lower, reply->glance.upper};
}

/* Make the groups of the listed replies. A reply joins its group when it has its estimate; when all have, the groups are put in order. */
enum end smxi_replies_group(struct frame *f);
void smxi_replies_join(struct frame *f, uint32_t index);
void smxi_replies_order(struct frame *f);

/* Under the lock: the next items, at most ITEMS_MOST. NOTHING_NOW: there are more, but not before some that were taken are valued. */
enum taking smxi_replies_take(struct frame *f, struct searcher *s, struct item *items, unsigned *count);
/* Under the lock: it was valued, or will not be. */
void smxi_replies_done(struct frame *f, const struct item *item);

/* Under the lock: the window in which a reply of these outcomes still matters. */
struct window smxi_reply_window(const struct frame *f, uint64_t mask);

void smxi_count_settled(struct searcher *s, const struct reply *reply);

#endif
