#!/usr/bin/env bash
# A library installed from a build directory is found and used by CMake's find_package and by pkg-config.
# usage: install.sh CMAKE BUILD-DIRECTORY C-COMPILER VERSION
set -euo pipefail

cmake=$1 build=$2 compiler=$3 version=$4
consumer=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/consumer
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

expect_version() {
	local got
	got=$("$1")
	if [[ $got != "$version" ]]; then
		echo "$1 says version '$got', not '$version'" >&2
		exit 1
	fi
}

"$cmake" --install "$build" --prefix "$prefix" >"$scratch/log"

"$cmake" -S "$consumer" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" >"$scratch/log"
"$cmake" --build "$scratch/cmake" >"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
expect_version "$scratch/cmake/consumer"

directory=$(dirname "$(find "$prefix" -name starmax.pc)")
export PKG_CONFIG_PATH=$directory
read -ra flags <<<"$(pkg-config --define-variable=prefix="$prefix" --cflags --libs starmax)"
"$compiler" -std=c17 "$consumer/main.c" -o "$scratch/consumer" "${flags[@]}"
LD_LIBRARY_PATH=$(dirname "$directory") expect_version "$scratch/consumer"

echo "version $version by find_package and by pkg-config"
