#!/usr/bin/env bash
# The library as a shared one is installed and used as the static one is.
# usage: shared.sh CMAKE SOURCE-DIRECTORY C-COMPILER VERSION
set -euo pipefail

cmake=$1 source=$2 compiler=$3 version=$4
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
build=$scratch/build

{
	"$cmake" -S "$source" -B "$build" -DCMAKE_C_COMPILER="$compiler" -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Debug \
		-DCMAKE_C_FLAGS_DEBUG=-O1 &&
		"$cmake" --build "$build" --target starmax_manpage --parallel 2
} >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
bash "$tests/symbols.sh" "$build/libstarmax.so"
bash "$tests/install.sh" "$cmake" "$build" "$compiler" "$version"
