#!/usr/bin/env bash
# What is installed from a build directory can be moved, and is found and used by CMake's find_package and by pkg-config.
# usage: install.sh CMAKE BUILD-DIRECTORY C-COMPILER VERSION [SANITIZERS]
set -euo pipefail

cmake=$1 build=$2 compiler=$3 version=$4 sanitizers=${5:-}
consumer=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/consumer
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/moved
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
}

quietly "$cmake" --install "$build" --prefix "$scratch/first"
mv "$scratch/first" "$prefix"

expect "starmax $version" "$prefix/bin/starmax" version
for file in README.md LICENSE docs/how-it-works.md; do
	[[ -s $prefix/share/doc/starmax/$file ]] || fail "$file is not installed"
done
grep -q "^## $version" "$prefix/share/doc/starmax/NEWS.md" || fail "NEWS.md has nothing about version $version"
[[ -s $prefix/share/man/man1/starmax.1 ]] || fail 'the man page is not installed'

quietly "$cmake" -S "$consumer" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags"
quietly "$cmake" --build "$scratch/cmake"
mkdir "$scratch/pkg-config"
use "$scratch/cmake"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name starmax.pc)")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
read -ra found <<<"$(pkg-config --cflags --libs starmax)"
# shellcheck disable=SC2086
quietly "$compiler" -std=c17 $flags "$consumer/main.c" -o "$scratch/pkg-config/consumer" "${found[@]}"
use "$scratch/pkg-config"

echo "version $version by find_package and by pkg-config"
