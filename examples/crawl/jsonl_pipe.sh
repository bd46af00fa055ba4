#!/bin/sh
# JSON lines of a spider in, new ones out: jsonl_pipe.sh INDEX FRESH DROPPED < PAGES
#
# The address of a page is its id, so that pages fed again after a crash are let through again rather than lost. Pages older than
# thirty days are forgotten: what is published again then is new.
set -eu
index=$1 fresh=$2 dropped=$3

dedup filter --index "$index" --expire 30d --text-field text --id-field url --duplicates "$dropped" >> "$fresh"
