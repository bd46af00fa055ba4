#!/bin/sh
# JSON lines of a spider in, new ones out: jsonl_pipe.sh INDEX FRESH DROPPED < PAGES
#
# The address of a page is its id, so that pages fed again after a crash are let through again rather than lost. Pages older than
# thirty days are forgotten: what is published again then is new. Records that cannot be read are kept in DROPPED.rejected. If none can be
# read, the status is 2: the spider probably writes other fields.
set -eu
[ $# -eq 3 ] || { echo "usage: jsonl_pipe.sh INDEX FRESH DROPPED < PAGES" >&2; exit 2; }
index=$1 fresh=$2 dropped=$3

# A run that was killed while it wrote leaves half a line. It gets an end, so that what comes now is not glued to it; its page comes
# whole when it is fed again. (dedup looks after the file of duplicates.)
if [ -s "$fresh" ] && [ "$(tail -c 1 "$fresh" | wc -l)" -eq 0 ]; then
    echo >> "$fresh"
fi
dedup filter --index "$index" --expire 30d --text-field text --id-field url --duplicates "$dropped" \
    --rejects "$dropped.rejected" >> "$fresh"
