#!/usr/bin/env bash
# Every symbol that libstarmax defines for others begins with smx_ or smxi_: it can be linked with anything.
# usage: symbols.sh LIBRARY [NM]
set -euo pipefail

library=$1
nm=${2:-nm}

case $library in
*.a) listing=$("$nm" --defined-only --extern-only --format=posix "$library") ;;
*) listing=$("$nm" --defined-only --extern-only --dynamic --format=posix "$library") ;;
esac
symbols=$(awk 'NF >= 2 { print $1 }' <<<"$listing" | sort -u)

if ! grep -qx 'smx_version' <<<"$symbols"; then
	echo "$library does not define smx_version: nm read nothing, or the library is incomplete" >&2
	exit 1
fi
if foreign=$(grep -Ev '^smxi?_' <<<"$symbols"); then
	echo "$library defines symbols without the prefix smx_ or smxi_:" >&2
	echo "$foreign" >&2
	exit 1
fi
echo "$(wc -l <<<"$symbols") symbols, all of them smx_ or smxi_"
