#!/usr/bin/env bash
# Checks move.pml: the rules as they are must show no error, within bounds that
# take a minute, and every planted fault must show one. `make model`.
# check.sh NAME... runs only these lines.
set -euo pipefail
model=$(cd "$(dirname "$0")" && pwd)/move.pml
for tool in spin gcc; do
	command -v $tool > /dev/null || { echo "check.sh: $tool is not installed (Debian: apt-get install spin gcc)" >&2; exit 3; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# pan NAME FLAGS...: the number of errors, of states, and the depth. A search
# that was cut off is no result.
pan() {
	local gen=() cc=(-DSAFETY) run=() flag
	for flag in "${@:2}"; do
		case $flag in
		-DNP) cc=(-DNP) run=(-l) ;;
		*) gen+=("$flag") ;;
		esac
	done
	cp "$model" move.pml
	spin -a "${gen[@]}" move.pml > spin.out 2>&1 || { cat spin.out >&2; return 1; }
	gcc -O2 -w "${cc[@]}" -DCOLLAPSE -DNOREDUCE -DVECTORSZ=2048 -DMEMLIM=4096 -o pan pan.c
	./pan -m2000000 -w24 "${run[@]}" > pan.out 2>&1 || true
	if grep -q -e 'max search depth too small' -e 'out of memory' -e 'reached -DMEMLIM' pan.out; then
		echo "$1: the search was cut off" >&2
		return 1
	fi
	sed -n -e 's/.*depth reached \([0-9]*\), errors: \([0-9]*\).*/\2 \1/p' pan.out > figures
	sed -n -e 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.out >> figures
	tr '\n' ' ' < figures
}

failed=0
line() {
	local want=$1 name=$2 errors depth states
	if [ -n "$only" ] && [[ " $only " != *" $name "* ]]; then return; fi
	read -r errors depth states < <(pan "$name" "${@:3}"; echo) || true
	if { [ "$want" = none ] && [ "${errors:-x}" = 0 ]; } || { [ "$want" = error ] && [ "${errors:-0}" -gt 0 ] 2> /dev/null; }; then
		printf 'ok    %-11s %-52s %s errors, %s states, depth %s\n' "$name" "${*:3}" "$errors" "$states" "$depth"
	else
		printf 'WRONG %-11s %-52s wanted %s: %s errors\n' "$name" "${*:3}" "$want" "${errors:-?}"
		failed=1
	fi
}
only="$*"

# The rules as they are.
line none whole -DN=2 -DMAXE=2 -DCRASHES=1
line none noclaim -DV_NOCLAIM -DNOSELF -DN=2 -DMAXE=2 -DCRASHES=2
line none mixed -DV_NOCLAIM -DGATED=1 -DNOWDRAW -DN=2 -DMAXE=2 -DCRASHES=1
line none moves -DNOWDRAW -DNOHELD -DNOFAIL -DNOGATE -DN=2 -DMAXE=3 -DCRASHES=2
line none three -DNOWDRAW -DNOHELD -DNOFAIL -DNOSELF -DN=3 -DMAXE=2 -DCRASHES=1
line none cycles -DNP -DN=2 -DMAXE=1 -DCRASHES=1

# Planted faults, in the smallest model that shows them.
small="-DN=2 -DMAXE=2 -DCRASHES=1"
old="-DNOWDRAW -DNOHELD -DNOFAIL $small"
for fault in PLANT_A PLANT_B PLANT_C PLANT_D L_RESOLVE L_NOASK L_SUPACK L_LATE L_KILLS L_CLAIM \
	L_DROPALL L_FORGET L_SELF L_CANCEL L_YCANCEL L_RECORDED; do
	line error $fault -D$fault $old
done
for fault in PLANT_S L_SYNC L_RECOVER L_REUSE L_NEVERWAIT L_BYEPOCH L_GATE L_OWN; do
	line error $fault -D$fault -DNOWDRAW -DNOHELD $small
done
for fault in L_SYNC L_STARTMOVE; do
	line error $fault -D$fault -DV_NOCLAIM -DNOSELF -DNOWDRAW -DNOHELD $small
done
for fault in PLANT_LEASE L_NOLEASE L_HOLDSTART; do
	line error $fault -D$fault -DNOWDRAW -DNOFAIL $small
done
for fault in PLANT_W L_REFUSAL L_WVOL L_WGONE L_WDROP; do
	line error $fault -D$fault -DNOHELD -DNOFAIL $small
done
exit $failed
