#!/usr/bin/env python3
"""Prints the places of work between two questions of a budget, the longest first.

usage: gaps.py FILE

A place is the calls at the question that ended the work, without those of the budget itself.
"""

import collections
import re
import subprocess
import sys

CALL = re.compile(r"^(.*)\((.*?)\+?(0x[0-9a-f]+)?\) ?\[")
OWN = ("bsonstore_", "WorkBudget", "SQLiteOpenMode")
# The calls of a place that are shown.
SHOWN = 6


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
        ["swift", "demangle", "--simplified", "--compact"], input="\n".join(texts),
        capture_output=True, text=True, check=True)
    plain = dict(zip(texts, answer.stdout.splitlines()))
    return {call: plain[known.get(call, call if isinstance(call, str) else "?")] for call in calls}


def main():
    found = gaps(sys.argv[1])
    plain = names({call for _, calls in found for call in calls})
    places = collections.defaultdict(list)
    for milliseconds, calls in found:
        shown = [plain[call] for call in calls]
        shown = [name for name in shown if not any(own in name for own in OWN)]
        places["\n    ".join(shown[:SHOWN])].append(milliseconds)
    for place, times in sorted(places.items(), key=lambda item: -max(item[1])):
        print(f"{max(times):.1f} ms at most, {len(times)} times\n    {place}")
    print(f"{len(found)} gaps above 1 ms")


main()
