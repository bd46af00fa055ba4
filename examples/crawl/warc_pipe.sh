#!/bin/sh
# An archive in, compressed or not, new pages of it out, compressed: warc_pipe.sh INDEX < CRAWL > FRESH
#
# Menus and footers do not count: pages are compared by their main text. Records that are no pages pass.
set -eu
index=$1

dedup filter --format warc --content main --index "$index" | gzip
