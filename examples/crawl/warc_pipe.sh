#!/bin/sh
# An archive in, compressed or not, new pages of it out, not compressed: warc_pipe.sh INDEX < CRAWL > FRESH
#
# Menus and footers do not count: pages are compared by their main text. Records that are no pages pass.
#
# Do not put gzip behind it: its status would hide that of dedup, and readers of .warc.gz expect each record compressed for itself.
# `warcio recompress FRESH FRESH.gz` makes such a file.
set -eu
[ $# -eq 1 ] || { echo "usage: warc_pipe.sh INDEX < CRAWL > FRESH" >&2; exit 2; }
index=$1

dedup filter --format warc --content main --index "$index"
