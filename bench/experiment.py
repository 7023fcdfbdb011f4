#!/usr/bin/env python3
"""Writes the tables and plots of docs/experiment.md from the numbers of a run.

    build/release/bench/noam_bench experiment --json build/bench/experiment.json
    bench/experiment.py build/bench/experiment.json docs

`make experiment` does both. Tables stand between `<!-- begin NAME -->` and `<!-- end NAME -->` in the page; people write
the rest of it. Plots go to docs/experiment/.
"""

import json
import re
import statistics
import sys
from pathlib import Path

WORKLOADS = {"retrieve": "Retrieving a game", "add": "Adding a round", "mix": "Half and half"}
DESIGNS = ("EAO", "ROUNDS", "pairs")
RIVALS = ("noam", "floor", "limit", "SQLite")
COLOURS = {"EAO": "#4e79a7", "ROUNDS": "#e08a2c", "pairs": "#8f6fb0"}
INK, FAINT = "#808080", "#80808055"  # legible on white and on black


class Numbers:
    """Microseconds per operation, by workload, design, size and rival; ratios come from interleaved slices."""

    def __init__(self, run):
        self.run = run
        self.sizes = list(dict.fromkeys(row["size"] for row in run["rows"]))
        self.cells = {(row["workload"], row["design"], row["size"]): {r["name"]: r for r in row["rivals"]}
                      for row in run["rows"]}

    def time(self, workload, design, size, rival):
        found = self.cells[workload, design, size].get(rival)
        return 1e6 / found["per_second"] if found else None

    def ratio(self, workload, size, rival, better, worse):
        """The median over the repetitions, each from slices that ran one after the other."""
        slices = [self.cells[workload, design, size].get(rival) for design in (better, worse)]
        if None in slices:
            return None
        return statistics.median(b / a for a, b in zip(*(one["seconds"] for one in slices)))

    def to_floor(self, workload, design, size, rival):
        found = self.cells[workload, design, size].get(rival)
        return found.get("to_base") if found else None


def number(value):
    if value is None:
        return "—"
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] + ["---:"] * (len(head) - 1)) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def times(numbers, workload):
    head = ["games, design", *(f"{rival}, µs" for rival in RIVALS), "noam / floor", "SQLite / floor"]
    rows = []
    for size in numbers.sizes:
        for design in DESIGNS:
            rows.append([f"{size}, {design}",
                         *(number(numbers.time(workload, design, size, rival)) for rival in RIVALS),
                         number(numbers.to_floor(workload, design, size, "noam")),
                         number(numbers.to_floor(workload, design, size, "SQLite"))])
    return table(head, rows)


def between_designs(numbers, better, worse):
    """The time of `worse` divided by the time of `better`."""
    head = ["games, workload", *(rival for rival in RIVALS)]
    rows = []
    for size in numbers.sizes:
        for workload in WORKLOADS:
            row = [f"{size}, {workload}"]
            for rival in RIVALS:
                row.append(number(numbers.ratio(workload, size, rival, better, worse)))
            rows.append(row)
    return table(head, rows)


def machine(numbers):
    about, run = numbers.run["machine"], numbers.run
    text = (f"{about['processor']}, {about['cores']} cores, {about['memory_bytes'] / 2**30:.0f} GB of memory, "
            f"{about['system']}; {run['repetitions']} repetitions, seed {run['seed']}")
    return text + ("; A QUICK RUN: ITS TIMES MEAN NOTHING" if run["quick"] else "")


def round_up(value):
    """The next round number that is not below the value."""
    step = 10 ** len(str(int(value))) / 10
    for factor in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10):
        if value <= factor * step:
            return factor * step
    return value


def plot(numbers, workload):
    """Grouped bars as in figure 14: noam's time per operation, and the floor's as a line across each bar."""
    width, height, left, top, bottom = 640, 300, 64, 44, 46
    highest = max(numbers.time(workload, design, size, rival) for size in numbers.sizes for design in DESIGNS
                  for rival in ("noam", "floor"))
    scale_top = round_up(highest * 1.05)
    inner_width, inner_height = width - left - 12, height - top - bottom

    def y(value):
        return top + inner_height * (1 - value / scale_top)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
           f'font-size="12" fill="{INK}">',
           f"<title>{WORKLOADS[workload]}: microseconds per operation</title>",
           f'<text x="{left}" y="16" font-size="14" font-weight="bold">{WORKLOADS[workload]}, µs per operation</text>']
    for i in range(5):
        value = scale_top * i / 4
        out.append(f'<line x1="{left}" x2="{width - 12}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="{FAINT}"/>')
        out.append(f'<text x="{left - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{number(value) if value else 0}</text>')
    group = inner_width / len(numbers.sizes)
    bar = group * 0.8 / len(DESIGNS)
    for i, size in enumerate(numbers.sizes):
        begin = left + group * i + group * 0.1
        for j, design in enumerate(DESIGNS):
            value, floor = (numbers.time(workload, design, size, rival) for rival in ("noam", "floor"))
            x = begin + bar * j
            out.append(f'<rect x="{x + 2:.1f}" y="{y(value):.1f}" width="{bar - 4:.1f}" '
                       f'height="{max(0.5, y(0) - y(value)):.1f}" fill="{COLOURS[design]}"/>')
            # A black line with a white border is visible on every colour.
            for colour, stroke in (("#ffffff", 4), ("#000000", 2)):
                out.append(f'<line x1="{x:.1f}" x2="{x + bar:.1f}" y1="{y(floor):.1f}" y2="{y(floor):.1f}" '
                           f'stroke="{colour}" stroke-width="{stroke}"/>')
            out.append(f'<text x="{x + bar / 2:.1f}" y="{min(y(value), y(floor)) - 4:.1f}" '
                       f'text-anchor="middle">{number(value)}</text>')
        out.append(f'<text x="{begin + group * 0.4:.1f}" y="{height - bottom + 16}" text-anchor="middle">'
                   f"{size} games</text>")
    x = left
    for design in DESIGNS:
        out.append(f'<rect x="{x}" y="{height - 16}" width="12" height="12" fill="{COLOURS[design]}"/>')
        out.append(f'<text x="{x + 17}" y="{height - 6}">{design}</text>')
        x += 30 + 8 * len(design)
    for colour, stroke in (("#ffffff", 4), ("#000000", 2)):
        out.append(f'<line x1="{x}" x2="{x + 18}" y1="{height - 10}" y2="{height - 10}" stroke="{colour}" '
                   f'stroke-width="{stroke}"/>')
    out.append(f'<text x="{x + 24}" y="{height - 6}">the same, written by hand (floor)</text>')
    return "\n".join([*out, "</svg>", ""])


def fill(page, name, text):
    pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if not pattern.search(page):
        sys.exit(f"the page has no place for `{name}`")
    return pattern.sub(lambda found: found[1] + text + "\n" + found[2], page)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    numbers = Numbers(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    docs = Path(sys.argv[2])
    page_file = docs / "experiment.md"
    page = page_file.read_text(encoding="utf-8")
    page = fill(page, "machine", machine(numbers))
    for workload in WORKLOADS:
        page = fill(page, workload, times(numbers, workload))
    page = fill(page, "rounds-against-eao", between_designs(numbers, "ROUNDS", "EAO"))
    page = fill(page, "pairs-against-rounds", between_designs(numbers, "ROUNDS", "pairs"))
    plots = docs / "experiment"
    plots.mkdir(exist_ok=True)
    for workload in WORKLOADS:
        (plots / f"{workload}.svg").write_text(plot(numbers, workload), encoding="utf-8")
    page_file.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
