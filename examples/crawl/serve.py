#!/usr/bin/env python3
"""Several crawlers share one `dedup filter`, and each gets the answers to its own pages.

    serve.py SOCKET [OPTION…]

Listens on a Unix socket. A crawler connects, writes JSON lines, and reads one line for each, in its order: the page as it was if it is new,
or with a field `dedup` if it is a duplicate, or no page with a text: then the field has the `error`. A line that is no object at all comes
back as it was. Lines of nothing but spaces, tabs and carriage returns are passed over. The options are those of `dedup filter`, such as
`--index seen.idx --id-field url`, but for `--duplicates`: `--verdicts` has those too. Warnings and the state every 30 seconds go to standard
error, without `--quiet`.

All pages pass through one process, so a page that two crawlers fetch at the same time is new for one of them. If a crawler, this program or
the filter ends early, pages without an answer are to be sent again: with the same id and the same text, they pass again. With
`--drop-known` the answer may be a duplicate of the page itself, whose id is in `duplicate_of`: take a page that was sent again and has
this answer, since its first answer may be lost.

Needs Python 3.9 or later and nothing else.
"""

import asyncio
import contextlib
import os
import signal
import socket
import stat
import sys
from collections import deque

LONGEST = 16 << 20  # bytes of a page; a crawler that sends a longer line is disconnected
WAITING = 256  # pages of one crawler that may wait for an answer


def free(path):
    """Removes the socket that a killed run left."""
    if os.path.lexists(path):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            sys.exit(f"serve.py: {path} exists and is no socket: name another path")
        with socket.socket(socket.AF_UNIX) as other:
            if other.connect_ex(path) == 0:
                sys.exit(f"serve.py: another process listens at {path}: connect to it, or name another path")
        os.unlink(path)


async def main(path, options):
    free(path)
    # With these options each line that is not blank has one answer, whatever is in it.
    command = ["dedup", "filter", "--mark", "--on-error", "keep", "--format", "jsonl", "--compression", "none", *options]
    pipe = asyncio.subprocess.PIPE
    dedup = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=2 * LONGEST)
    asked = deque()  # the crawlers that wait, in the order of their pages
    feeding = asyncio.Lock()  # before Python 3.11, only one task may wait for the filter to read

    async def crawler(pages, answers):
        room = asyncio.Semaphore(WAITING)
        try:
            async for page in pages:
                if not page.strip(b" \t\r\n"):
                    continue
                await room.acquire()
                await answers.drain()  # a crawler that does not read waits
                async with feeding:
                    asked.append((answers, room))
                    dedup.stdin.write(page if page.endswith(b"\n") else page + b"\n")
                    await dedup.stdin.drain()
            for _ in range(WAITING):
                await room.acquire()  # the last answers
        except (ConnectionError, ValueError, asyncio.CancelledError):
            pass  # it went away, a line was too long, or the program ends: the answers to what it sent before are lost
        finally:
            answers.close()

    async def answer():
        async for page in dedup.stdout:
            answers, room = asked.popleft()
            if not answers.is_closing():
                answers.write(page)
            room.release()

    server = await asyncio.start_unix_server(crawler, path, limit=LONGEST)
    # SIGTERM and SIGINT end the filter as the end of its input does: what it has read is decided and remembered.
    for end in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(end, dedup.stdin.close)
    # SIGHUP asks the filter to open its files again.
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, dedup.send_signal, signal.SIGHUP)
    await answer()
    server.close()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    return await dedup.wait()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2:])))
