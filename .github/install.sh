#!/bin/sh
# Installs the program dedup from an archive of a release, after checking the archive's SHA-256. Needs a POSIX shell, tar (on Windows, in
# Git Bash: unzip), sha256sum or shasum, and curl or GNU wget where something is downloaded.
#
# This file only defines functions, up to its last line: a part of it, from a download that was cut off, does nothing.
unset CDPATH
set -eu

# .ci/release sets both in the copy that belongs to a release: where its archives are, and its version.
repository=https://github.com/OWNER/REPO
version=

# The exit status where there is no archive for this system or version. A caller may then build from source, and must not otherwise.
NO_ARCHIVE=3

usage() {
    cat <<'END'
Installs the program dedup from an archive of a release.

Usage: install.sh [OPTION]...

  --version VERSION  the release to install, such as 0.2.0 [default: that of the only archive in the folder of --from]
  --to DIR           the folder to install into [default: $DEDUP_INSTALL_DIR, else ~/.local/bin]
  --from BASE        where the archives are: a folder, or a URL that begins with https:// or file://
                     [default: the release on GitHub]
  --help             print this

Exit status: 0 installed, 3 there is no archive for this system or this version, 1 any other error.
Nothing is installed unless the archive has the stated SHA-256 and the program in it runs here.
END
}

fail() {
    printf 'install.sh: error: %s\n' "$1" >&2
    exit "${2:-1}"
}

cleanup() {
    if [ -n "$scratch" ]; then rm -rf "$scratch"; fi
    if [ -n "$staged" ]; then rm -f "$staged"; fi
}

has() {
    command -v "$1" >/dev/null 2>&1
}

parse_options() {
    while [ $# -gt 0 ]; do
        case $1 in
            --help | -h) usage && exit 0 ;;
            --version | --to | --from)
                if [ $# -lt 2 ] || [ -z "$2" ]; then fail "$1 needs a value: see --help"; fi
                case $1 in
                    --version) version=${2#v} ;;
                    --to) to=$2 ;;
                    --from) from=$2 ;;
                esac
                shift 2
                ;;
            *) fail "unknown argument '$1': see --help" ;;
        esac
    done
    if [ -z "$to" ]; then fail "HOME is not set: say with --to DIR where to install"; fi
    case $repository$from in
        */OWNER/REPO) fail "this copy of the script does not know the address of the project: give --from BASE" ;;
    esac
}

# The version, which need not be given if a folder has one archive for this system, and where that is.
resolve_version() {
    if [ -z "$version" ]; then
        case $from in
            '' | http://* | https://* | ftp://*) ;;
            *)
                set -- "${from#file://}"/dedup-*-"$target.$suffix"
                if [ $# -gt 1 ]; then fail "which version? $from has several: give --version VERSION"; fi
                if [ ! -f "$1" ]; then fail "there is no archive for $target in $from: is it the folder of the archives?" "$NO_ARCHIVE"; fi
                version=${1##*/dedup-} version=${version%"-$target.$suffix"}
                ;;
        esac
    fi
    case $version in
        '') fail "which version? Give --version VERSION, or take the install.sh of a release, which knows its own" ;;
        *[!0-9A-Za-z.+-]*) fail "'$version' is not a version: give one such as --version 0.2.0" ;;
    esac
    from=${from:-$repository/releases/download/v$version}
    # Not to be taken for an option.
    case $from in -*) from=./$from ;; esac
}

# The target that archives of this machine are named for.
detect_target() {
    system=$(uname -s) machine=$(uname -m) program=dedup suffix=tar.gz
    case $machine in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
    esac
    case $system in
        Linux) target=$machine-unknown-linux-gnu ;;
        Darwin)
            # A shell that Rosetta translates is on an ARM processor.
            if [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then machine=aarch64; fi
            target=$machine-apple-darwin
            ;;
        MINGW* | MSYS* | CYGWIN*) target=$machine-pc-windows-msvc program=dedup.exe suffix=zip ;;
        *) target= ;;
    esac
    case $target in
        x86_64-* | aarch64-unknown-linux-gnu | aarch64-apple-darwin) ;;
        *) fail "there is no archive for $system on $machine: install with 'cargo install neardups'" "$NO_ARCHIVE" ;;
    esac
    if [ "$system" = Linux ] && has ldd && ldd --version 2>&1 | grep -qi musl; then
        fail "the archives need glibc, and this system has musl: install with 'cargo install neardups'" "$NO_ARCHIVE"
    fi
}

# Downloads with curl. Only https is spoken, after redirections too.
download_with_curl() {
    code=$(curl --proto '=https' --tlsv1.2 --fail --silent --show-error --location --retry 3 \
        --output "$2" --write-out '%{http_code}' "$1") && return
    if [ "$code" = 404 ]; then fail "there is no $1: is $version a release?" "$missing"; fi
    fail "$1 cannot be downloaded: the reason is above"
}

# Downloads with GNU wget, which would follow a redirection to http: each is looked at here.
download_with_wget() {
    url=$1
    for _ in 1 2 3 4 5; do
        if wget --secure-protocol=TLSv1_2 --max-redirect=0 --server-response --output-document="$2" "$url" 2>"$scratch/log"; then
            return
        fi
        if grep -q '^ *HTTP/[0-9.]* 404' "$scratch/log"; then fail "there is no $1: is $version a release?" "$missing"; fi
        url=$(sed -n 's/^ *[Ll]ocation: *\([^ ]*\).*/\1/p' "$scratch/log" | tr -d '\r' | head -n 1)
        case $url in
            https://*) ;;
            '') sed 's/^/wget: /' "$scratch/log" >&2 && fail "$1 cannot be downloaded: the reason is above" ;;
            *) fail "$1 leads to $url, which is not https" ;;
        esac
    done
    fail "$1 leads from address to address, more than five times"
}

# Puts the file BASE/$1 into the folder for temporary files. $2 is the exit status if there is none.
get() {
    missing=$2
    case $from in
        https://*)
            if has curl; then
                download_with_curl "$from/$1" "$scratch/$1"
            elif has wget && wget --version 2>/dev/null | grep -q 'GNU Wget'; then
                download_with_wget "$from/$1" "$scratch/$1"
            else
                fail "neither curl nor GNU wget is installed: install one of them, or download by hand and give --from DIR"
            fi
            ;;
        http://* | ftp://*) fail "'$from' is not https: give --from a folder, or a URL that begins with https:// or file://" ;;
        *)
            if [ ! -f "${from#file://}/$1" ]; then
                fail "there is no $1 in ${from#file://}: is it the folder of the archives, and $version its version?" "$missing"
            fi
            cp "${from#file://}/$1" "$scratch/$1"
            ;;
    esac
}

# Fails unless the archive has the SHA-256 that the file beside it states.
verify() {
    expected=$(cut -d ' ' -f 1 "$scratch/$1.sha256" | tr 'A-F' 'a-f')
    case $expected in
        '' | *[!0-9a-f]*) fail "$1.sha256 of $from has no SHA-256" ;;
    esac
    if has sha256sum; then
        found=$(sha256sum <"$scratch/$1")
    elif has shasum; then
        found=$(shasum -a 256 <"$scratch/$1")
    else
        fail "neither sha256sum nor shasum is installed: without them the archive cannot be verified"
    fi
    if [ "${found%% *}" != "$expected" ]; then
        fail "$1 of $from is damaged or was replaced: its SHA-256 is ${found%% *}, not $expected. Download it again"
    fi
}

# Extracts the program alone.
extract() {
    case $suffix in
        zip) unzip -q "$scratch/$1.zip" "$1/$program" -d "$scratch" ;;
        *) tar -xzf "$scratch/$1.tar.gz" -C "$scratch" "$1/$program" ;;
    esac || fail "$1.$suffix of $from cannot be extracted, or has no $1/$program"
    if [ ! -f "$scratch/$1/$program" ] || [ -L "$scratch/$1/$program" ]; then
        fail "$1/$program in $1.$suffix of $from is not a file"
    fi
}

# Copies the program beside its place, starts it once, and renames it: at no time is there half a program.
place() {
    if [ -d "$to/$program" ]; then fail "$to/$program is a folder: remove it, or give another --to DIR"; fi
    mkdir -p "$to" || fail "$to cannot be made: give another --to DIR"
    to=$(cd "$to" && pwd)
    staged=$(mktemp "$to/.dedup.XXXXXX") || fail "nothing can be written in $to: give another --to DIR"
    # Windows starts nothing without this ending.
    if [ "$suffix" = zip ]; then mv "$staged" "$staged.exe" && staged=$staged.exe; fi
    cp "$1" "$staged" || fail "$to/$program cannot be written: is the disk full?"
    chmod 755 "$staged"
    if ! found=$("$staged" --version 2>&1); then
        fail "the program of $from does not run here: $found. Install with 'cargo install neardups'"
    fi
    if [ "$found" != "dedup $version" ]; then fail "the archive of version $version in $from has '$found'"; fi
    mv -f "$staged" "$to/$program"
    staged=
}

# Says what was installed, and whether a shell finds it.
report() {
    printf '%s is installed: %s\n' "$found" "$to/$program"
    case :$PATH: in
        *":$to:"*) ;;
        *)
            # shellcheck disable=SC2016 # The line is for the user to copy.
            printf '%s is not in PATH. Add this line to the profile of your shell:\n  export PATH="%s:$PATH"\n' "$to" "$to"
            return
            ;;
    esac
    first=$(command -v dedup || true)
    if [ -n "$first" ] && [ "$first" != "$to/$program" ] && [ "$first" != "$to/dedup" ]; then
        printf 'The command dedup is another program, which is found first: %s\n' "$first"
    fi
}

main() {
    scratch='' staged='' from=''
    to=${DEDUP_INSTALL_DIR:-${HOME:+$HOME/.local/bin}}
    parse_options "$@"
    detect_target
    resolve_version
    name=dedup-$version-$target
    trap cleanup EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    scratch=$(mktemp -d) || fail "no temporary folder can be made: set TMPDIR to a folder with space"
    get "$name.$suffix" "$NO_ARCHIVE"
    get "$name.$suffix.sha256" 1
    verify "$name.$suffix"
    extract "$name"
    place "$scratch/$name/$program"
    report
}

main "$@"
