#!/bin/sh
# Every file of a folder through one index, each once: cron.sh IN INDEX OUT
#
# A file is done when its output has its final name, so a run that was cut short does the same file again; what was let through before
# the cut is in the index, and is let through again by its id. Only one run at a time can write to the index: a second one is refused,
# and tries again the next night.
set -eu
in=$1 index=$2 out=$3

mkdir -p "$out"
for file in "$in"/*; do
    name=$(basename "$file" .gz)
    [ ! -e "$out/$name" ] || continue
    dedup filter --quiet --index "$index" --id-field url < "$file" > "$out/.$name.part"
    mv "$out/.$name.part" "$out/$name"
done
