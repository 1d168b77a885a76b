#!/usr/bin/env python3
"""Prints the places of work between two questions of a budget, the longest first.

usage: gaps.py FILE [KNOWN]

A place is the calls at the question that ended the work, without those of the budget itself. Ends
with code 1 when there is a place that KNOWN, a file beside this script, does not list. A line of it is
a part of a call's name, " -- " and why no question can come sooner there.
"""

import collections
import os
import re
import subprocess
import sys

CALL = re.compile(r"^(.*)\((.*?)\+?(0x[0-9a-f]+)?\) ?\[")
OWN = ("bsonstore_", "WorkBudget", "SQLiteOpenMode")
# The calls of a place that are shown.
SHOWN = 6
KNOWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gaps-known.txt")


def gaps(path):
    """The milliseconds and the calls (program, offset) of each gap."""
    found = []
    with open(path) as lines:
        for line in lines:
            if line.startswith("gap "):
                found.append((int(line.split()[1]) / 1000, []))
            elif match := CALL.match(line):
                found[-1][1].append((match[1], match[3] or "0x0") if not match[2] else match[2])
    return found


def names(calls):
    """The names of the calls that are known by their offset in a program only."""
    known = {}
    for program in {call[0] for call in calls if isinstance(call, tuple)}:
        offsets = sorted({call[1] for call in calls
                          if isinstance(call, tuple) and call[0] == program})
        answer = subprocess.run(
            ["addr2line", "-f", "-e", program, *offsets], capture_output=True, text=True, check=True)
        for offset, name in zip(offsets, answer.stdout.splitlines()[::2]):
            known[program, offset] = name
    texts = sorted({known.get(call, call if isinstance(call, str) else "?") for call in calls})
    answer = subprocess.run(
        [os.environ.get("SWIFT", "swift"), "demangle", "--simplified", "--compact"], input="\n".join(texts),
        capture_output=True, text=True, check=True)
    plain = dict(zip(texts, answer.stdout.splitlines()))
    return {call: plain[known.get(call, call if isinstance(call, str) else "?")] for call in calls}


def reasons(path):
    """Why there is a gap at a call, by a part of the call's name."""
    found = {}
    with open(path) as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                call, separator, reason = line.strip().partition(" -- ")
                if not separator or not reason:
                    sys.exit(f"{path} gives no reason for {line.strip()!r}: write CALL -- REASON")
                found[call] = reason
    return found


def main():
    found = gaps(sys.argv[1])
    known = reasons(sys.argv[2] if len(sys.argv) > 2 else KNOWN)
    plain = names({call for _, calls in found for call in calls})
    places = collections.defaultdict(list)
    for milliseconds, calls in found:
        shown = [plain[call] for call in calls]
        shown = [name for name in shown if not any(own in name for own in OWN)]
        places["\n    ".join(shown[:SHOWN])].append(milliseconds)
    unlisted = 0
    for place, times in sorted(places.items(), key=lambda item: -max(item[1])):
        reason = next((reason for call, reason in known.items() if call in place), None)
        unlisted += reason is None
        print(f"{max(times):.1f} ms at most, {len(times)} times: {reason or 'NOT LISTED'}\n    {place}")
    print(f"{len(found)} gaps above 1 ms")
    if unlisted:
        sys.exit(f"{unlisted} places ask too rarely: have their loops ask more often "
                 "(WorkBudget.spend), or list them with a reason in Scripts/gaps-known.txt")


main()
