"""A program that plays a backend of one process a prompt: it says what it was given, or fails, as its first word tells.

    echo       what came on stdin, and the arguments
    fail N     complaints, half a reply, exit code N
    last       the last line of what came on stdin
    json       the same in JSON, as agents write it
    silent     nothing at all
    hang       waits for its end
"""

from __future__ import annotations

import json
import sys


def main() -> int:
    what, *rest = sys.argv[1:]
    if what == "hang":
        sys.stdout.write("half a reply")
        sys.stdout.flush()
        sys.stdin.close()
        while True:
            import signal

            signal.pause()
    if what == "silent":
        return 0
    if what == "fail":
        sys.stdout.write("half a reply")
        sys.stderr.write("the model\nis away\n")
        return int(rest[0])
    said = sys.stdin.read()
    if what == "last":
        sys.stdout.write(said.rstrip("\n").split("\n")[-1].upper() + "\n")
    elif what == "json":
        print(json.dumps({"session_id": "x", "response": said.rstrip("\n").split("\n")[-1].upper(), "stats": {}}))
    else:
        sys.stdout.write(f"{rest}\n{said}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
