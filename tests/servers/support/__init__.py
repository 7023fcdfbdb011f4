"""What the tests of tests/servers share: where the servers are, names of one's own, and the program."""

import functools
import itertools
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
RUN = pathlib.Path(os.environ.get("NOAM_SERVERS_RUN") or ROOT / "build" / "servers")


class ScriptFailed(AssertionError):
    """A program that was to succeed did not; the message has what it said."""


def noam(*arguments, text_in=None, folder=None):
    """Runs build/noam and gives back its standard output. Fails the test where noam fails."""
    return run([ROOT / "build" / "noam", *arguments], text_in=text_in, folder=folder)


def run(command, text_in=None, folder=None, environment=None):
    command = [str(word) for word in command]
    done = subprocess.run(command, input=text_in or "", cwd=folder, capture_output=True, text=True, check=False,
                          timeout=300, env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        raise ScriptFailed(f"`{' '.join(command)}` ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def server(name):
    """The host and the ports of a running server."""
    try:
        return json.loads((RUN / name / "server.json").read_text())
    except FileNotFoundError:
        raise RuntimeError(f"{name} does not run; `tools/servers start {name}` starts it") from None


@functools.cache
def fetched(name):
    """The folder of what tools/servers has fetched under that name."""
    return pathlib.Path(run([ROOT / "tools" / "servers", "path", name]).strip())


_numbers = itertools.count(1)


def unique(word):
    """A name that no other test has: `word_4711_1`."""
    return f"{word}_{os.getpid()}_{next(_numbers)}"
