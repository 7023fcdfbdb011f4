"""noam on a keyspace of Cassandra: programs that run at the same time or are killed, and servers that are none."""

import contextlib
import json
import os
import random
import socket
import subprocess
import threading
import time
import uuid

from support import ROOT, ScriptFailed, server

NOAM = ROOT / "build" / "noam"
PATIENCE = 120  # seconds, after which something hangs


def url(keyspace, options="", name="cassandra"):
    place = server(name)
    return f"cassandra://{place['host']}:{place['port']}/{keyspace}" + (f"?{options}" if options else "")


def command_id():
    """A UUIDv7 of this moment."""
    number = (time.time_ns() // 1_000_000) << 80 | random.getrandbits(80)
    return str(uuid.UUID(int=number & ~(0xF000 << 64 | 3 << 62) | 0x7000 << 64 | 2 << 62))


def request(command, **parameters):
    return {"run": command, "params": parameters, "id": command_id()}


def start(*arguments, environment=None):
    """noam, in the background."""
    return subprocess.Popen([NOAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})


def end(program):
    """Its exit code, and what it printed."""
    try:
        out, err = program.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        program.kill()
        program.communicate()
        raise ScriptFailed(f"{program.args} did not end within {PATIENCE} s") from None
    return program.returncode, out, err


class Batch:
    """`noam run --batch` in the background. Requests and answers are files, so a kill loses no answer."""

    def __init__(self, folder, model, store, requests):
        self.requests = requests
        files = [folder / f"{uuid.uuid4()}.{name}" for name in ("requests", "answers", "errors")]
        files[0].write_text("".join(json.dumps(one) + "\n" for one in requests))
        self.out, self.err = files[1:]
        with open(files[0], "rb") as source, open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.program = subprocess.Popen([NOAM, "run", model, "--batch", "--store", store], stdin=source, stdout=out,
                                            stderr=err)

    def runs(self):
        return self.program.poll() is None

    def answers(self):
        """Those so far, in the order of the requests."""
        return [json.loads(line) for line in self.out.read_bytes().split(b"\n")[:-1]]

    def wait_for(self, count):
        """Returns once there are so many answers."""
        deadline = time.monotonic() + PATIENCE
        while self.out.read_bytes().count(b"\n") < count:
            if not self.runs() or time.monotonic() > deadline:
                self.fail(f"{count} answers were expected")
            time.sleep(0.002)

    def kill(self):
        self.program.kill()
        self.program.wait()

    def finish(self):
        """Its answers, one for each request."""
        try:
            self.program.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
        if self.program.returncode != 0 or len(self.answers()) != len(self.requests):
            self.fail(f"it ended with {self.program.returncode}")
        return self.answers()

    def fail(self, why):
        self.kill()
        raise ScriptFailed(f"noam run --batch: {why}, and {len(self.answers())} of {len(self.requests)} came:\n"
                           + self.err.read_text())


@contextlib.contextmanager
def listener(answer):
    """A port of this machine where somebody accepts connections, and sends each what `answer()` gives, until it gives
    nothing."""
    with socket.create_server(("127.0.0.1", 0)) as place:
        connections = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connections.append(place.accept()[0])
                    while data := answer():
                        connections[-1].sendall(data)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield place.getsockname()[1]
        finally:
            place.shutdown(socket.SHUT_RDWR)
            for connection in connections:
                connection.close()


def silence():
    return b""


def noise():
    return os.urandom(4096)
