"""What noam generates for a database, from the examples and from data written down by hand."""

import json
import pathlib

from support import ROOT, noam

GAME = ROOT / "examples" / "game" / "game.noam"
FIGURE3 = ROOT / "examples" / "game" / "figure3"


def examples():
    """Every example under every strategy and every design of its own: pairs of a file and a name."""
    found = []
    for path in sorted((ROOT / "examples").glob("*/*.noam")):
        designs = [design["name"] for design in json.loads(noam("show", path, "--json"))["designs"]]
        found += [(path, strategy) for strategy in ["eao", "etf", "normalized", *designs]]
    assert found
    return found


def generate(target, path, strategy, folder, *data):
    """Generates into a folder that is there, and gives it back."""
    with_data = ["--with-data", *data] if data else []
    noam("generate", path, "--target", target, "--strategy", strategy, "-o", folder, "--force", *with_data)
    return pathlib.Path(folder)
