/* The whole public API. */
#ifndef STARMAX_STARMAX_H
#define STARMAX_STARMAX_H

#include <starmax/arena.h>
#include <starmax/clock.h>
#include <starmax/depth.h>
#include <starmax/dicechess.h>
#include <starmax/evaluator.h>
#include <starmax/game.h>
#include <starmax/random.h>
#include <starmax/search.h>
#include <starmax/status.h>
#include <starmax/table.h>
#include <starmax/twenty48.h>
#include <starmax/value.h>
#include <starmax/version.h>

#endif
