#!/usr/bin/env bash
# What is installed from a build directory can be moved, and is found and used by CMake's find_package and by pkg-config: by
# tests/consumer, and by Pig, the documentation's example of a game of one's own, which checks itself.
# usage: install.sh CMAKE BUILD-DIRECTORY C-COMPILER VERSION [SANITIZERS]
set -euo pipefail

cmake=$1 build=$2 compiler=$3 version=$4 sanitizers=${5:-}
consumer=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/consumer
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/moved
examples=$prefix/share/doc/starmax/docs/examples
flags=-O1
# A library with sanitizers needs programs with them.
if [[ -n $sanitizers ]]; then flags+=" -fsanitize=$sanitizers -fno-sanitize-recover=all"; fi

fail() {
	echo "$*" >&2
	exit 1
}

# quietly COMMAND...: what it prints only matters where it fails.
quietly() {
	"$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail "failed: $*"; }
}

# expect TEXT COMMAND...
expect() {
	local text=$1 got
	shift
	got=$("$@") || fail "$* failed: $got"
	[[ $got == *"$text"* ]] || fail "$* says '$got', not '$text'"
}

use() {
	expect "$version" "$1/consumer"
	expect 'value 0.530593' "$1/pig" '0 0 0 0' 4 solution
}

quietly "$cmake" --install "$build" --prefix "$scratch/first"
mv "$scratch/first" "$prefix"

expect "starmax $version" "$prefix/bin/starmax" version
for file in README.md LICENSE docs/adding-a-game.md; do
	[[ -s $prefix/share/doc/starmax/$file ]] || fail "$file is not installed"
done
grep -q "^## $version" "$prefix/share/doc/starmax/NEWS.md" || fail "NEWS.md has nothing about version $version"
[[ -s $prefix/share/man/man1/starmax.1 ]] || fail 'the man page is not installed'

for source in "$consumer" "$examples/pig"; do
	quietly "$cmake" -S "$source" -B "$scratch/build/$(basename "$source")" -DCMAKE_PREFIX_PATH="$prefix" \
		-DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags"
	quietly "$cmake" --build "$scratch/build/$(basename "$source")"
done
mkdir "$scratch/cmake" "$scratch/pkg-config"
mv "$scratch"/build/{consumer/consumer,pig/pig,pig/pig-check} "$scratch/cmake"
use "$scratch/cmake"
expect ' 0 failed' "$scratch/cmake/pig-check"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name starmax.pc)")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
read -ra found <<<"$(pkg-config --cflags --libs starmax)"
# shellcheck disable=SC2086
quietly "$compiler" -std=c17 $flags "$consumer/main.c" -o "$scratch/pkg-config/consumer" "${found[@]}"
quietly make -C "$examples/pig" CC="$compiler" CFLAGS="$flags"
mv "$examples/pig/pig" "$scratch/pkg-config"
use "$scratch/pkg-config"

echo "version $version by find_package and by pkg-config"
