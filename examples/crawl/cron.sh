#!/bin/sh
# Every file of a folder through one index, each once: cron.sh IN INDEX OUT
#
# What is new in IN/NAME goes to OUT/NAME.new.jsonl. A file is done when its output has that name, so a run that was cut short does the
# same file again; what was let through before the cut is in the index, and is let through again by its id. Only one run at a time can
# write to the index: a second one is refused, and tries again the next night.
#
# Where some records could not be read, the others are done, and OUT/NAME.rejected.jsonl has these. Where none could be read, the file is
# not done: the fields of its records are probably others. A compressed file that breaks off may have come in part: it is tried again the
# next night, and the next file is taken. Either way the file is named, and the status at the end is 3 if some records could not be read, 2
# if a file was not done. A signal ends the night.
set -eu
[ $# -eq 3 ] || { echo "usage: cron.sh IN INDEX OUT" >&2; exit 2; }
in=$1 index=$2 out=$3

# Whether a file is whole, as far as its compression and the programs that are installed show.
is_whole() {
    case $1 in
    *.gz) tester=gzip ;;
    *.zst) tester=zstd ;;
    *.bz2) tester=bzip2 ;;
    *.xz) tester=xz ;;
    *) return 0 ;;
    esac
    ! command -v "$tester" >/dev/null || "$tester" -qt "$1" 2>/dev/null
}

mkdir -p "$out"
end=0
for file in "$in"/*; do
    # An empty folder leaves the pattern itself.
    [ -f "$file" ] || continue
    name=${file##*/}
    fresh=$out/$name.new.jsonl part=$out/.$name.part rejected=$out/$name.rejected.jsonl
    [ ! -e "$fresh" ] || continue
    status=0
    # Each run has all of them.
    rm -f "$rejected"
    dedup filter --quiet --index "$index" --id-field url --rejects "$rejected" < "$file" > "$part" || status=$?
    [ -s "$rejected" ] || rm -f "$rejected"
    if { [ "$status" -eq 2 ] || [ "$status" -eq 3 ]; } && ! is_whole "$file"; then
        echo "cron.sh: $file: not done: it breaks off (status $status)" >&2
        end=2
        continue
    elif [ "$status" -eq 3 ]; then
        echo "cron.sh: $file: some records could not be read" >&2
        [ "$end" -eq 2 ] || end=3
    elif [ "$status" -ne 0 ]; then
        echo "cron.sh: $file: not done: status $status" >&2
        end=2
        # Stopped by a signal: so are we.
        case $status in 130 | 143) exit "$status" ;; esac
        continue
    fi
    mv "$part" "$fresh"
done
exit "$end"
