#!/usr/bin/env python3
"""Times `noam check` on large models against `python3 -m json.tool` on JSON of the same size.

Both read a text, build all of it in memory and write: the one its diagnostics, the other the JSON again. They take
turns, so that what else the machine does meets both. Medians, and the peak memory of each.

    bench/check_large.py [--noam build/noam] [--repetitions 7] [--json] [--output FILE]
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
SIZES = ((1_000, 1_000), (10_000, 10_000))

# Linux counts into a child's peak what its parent held when it was started. So this process stays small: the model is
# made by another one, the JSON is written piece by piece, and `floor` says what cannot be seen below.


def write_model(path, entities, statements, seed):
    command = [sys.executable, str(BENCH / "generate_model.py"), "--entities", str(entities), "--statements",
               str(statements), "--seed", str(seed)]
    with path.open("wb") as out:
        subprocess.run(command, stdout=out, check=True)


def write_json(path, size, seed):
    """An array of records as applications exchange them, of exactly `size` bytes."""
    source = random.Random(seed)
    words = "block entry family design query command value entity mix target store plan".split()
    with path.open("w", encoding="ascii") as out:
        written = out.write("[")
        while True:
            record = json.dumps({
                "id": source.randrange(10**9), "name": " ".join(source.choices(words, k=3)),
                "active": source.random() < 0.5, "score": round(source.uniform(0, 100), 3),
                "tags": source.choices(words, k=4),
                "address": {"city": source.choice(words), "zip": str(source.randrange(10_000, 99_999)), "street": None},
                "lines": [{"sku": source.choice(words), "quantity": source.randrange(9)} for _ in range(3)]})
            if written + len(record) + 2 > size:
                break
            written += out.write(record if written == 1 else "," + record)
        out.write(" " * (size - written - 1) + "]")


def must_be_silent(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stdout or done.stderr:
        sys.exit(f"`{' '.join(command)}` should have had nothing to say (exit code {done.returncode})\n"
                 f"{(done.stdout + done.stderr)[:4000]}")


def run(command):
    """Seconds and peak bytes of one run, its output thrown away."""
    silence = [(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_WRONLY, 0) for n in (1, 2)]
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=silence)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(f"`{' '.join(command)}` failed: {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_maxrss * 1024  # kilobytes, on Linux


def compare(noam, entities, statements, seed, repetitions, scratch):
    model, document = scratch / "large.noam", scratch / "large.json"
    write_model(model, entities, statements, seed)
    size = model.stat().st_size
    write_json(document, size, seed)
    assert document.stat().st_size == size
    contenders = {"noam": [noam, "check", str(model)],
                  "json_tool": [sys.executable, "-m", "json.tool", str(document)]}
    must_be_silent(contenders["noam"])
    for command in contenders.values():  # once for the caches
        run(command)
    runs = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, command in contenders.items():
            runs[name].append(run(command))
    row = {"entities": entities, "statements": statements, "bytes": size}
    for name, measured in runs.items():
        row[name] = {"seconds": statistics.median(seconds for seconds, _ in measured),
                     "all_seconds": [seconds for seconds, _ in measured],
                     "peak_bytes": max(peak for _, peak in measured)}
    row["ratio"] = row["noam"]["seconds"] / row["json_tool"]["seconds"]
    return row


def table(rows):
    head = ["entities", "statements", "size", "noam check", "json.tool", "ratio", "noam's peak", "json.tool's peak"]
    body = [[f"{r['entities']:,}", f"{r['statements']:,}", f"{r['bytes'] / 1e6:.2f} MB",
             f"{r['noam']['seconds'] * 1e3:.0f} ms", f"{r['json_tool']['seconds'] * 1e3:.0f} ms", f"{r['ratio']:.2f}",
             f"{r['noam']['peak_bytes'] / 1e6:.0f} MB", f"{r['json_tool']['peak_bytes'] / 1e6:.0f} MB"] for r in rows]
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in [head, *body])


def main():
    parser = argparse.ArgumentParser(description="Times `noam check` on large models against `python3 -m json.tool`.")
    parser.add_argument("--noam", default=str(BENCH.parent / "build" / "noam"),
                        help="the program (default: build/noam)")
    parser.add_argument("--repetitions", type=int, default=7, metavar="N", help="of each, in turns (default: 7)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the models (default: 1)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the same object into a file, beside the table")
    arguments = parser.parse_args()
    if not os.access(arguments.noam, os.X_OK):
        sys.exit(f"{arguments.noam} is not there: build it first, or say --noam PATH")
    with tempfile.TemporaryDirectory(prefix="noam-bench-") as scratch:
        rows = [compare(arguments.noam, entities, statements, arguments.seed, arguments.repetitions, Path(scratch))
                for entities, statements in SIZES]
    _, floor = run(["/bin/true"])
    small, large = rows[0], rows[-1]
    growth = {"size": large["bytes"] / small["bytes"],
              "seconds": large["noam"]["seconds"] / small["noam"]["seconds"],
              "peak": large["noam"]["peak_bytes"] / small["noam"]["peak_bytes"]}
    numbers = json.dumps({"benchmark": "check_large", "seed": arguments.seed, "repetitions": arguments.repetitions,
                          "rows": rows, "noam_growth": growth, "floor_bytes": floor}, indent=2)
    if arguments.output:
        arguments.output.write_text(numbers + "\n", encoding="ascii")
    if arguments.json:
        print(numbers)
        return
    print(table(rows))
    print(f"\nThe text grows {growth['size']:.1f} times, noam's time {growth['seconds']:.1f} times, "
          f"its peak memory {growth['peak']:.1f} times. Peaks below {floor / 1e6:.0f} MB cannot be seen.")


if __name__ == "__main__":
    main()
