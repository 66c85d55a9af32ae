"""The program that computes cases with Lamina (answers.cpp), started once for many cases."""
import json
import os
import struct
import subprocess
import threading

import numpy

LONGEST = 120  # seconds for one case


class Failed(Exception):
    """Lamina returned no answer: an error, a crash, or a hang."""


class Program:
    def __init__(self, path):
        self.path, self.process = path, None

    def start(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
        self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def ask(self, case):
        """The answers to a case as {name: float64 array}, gradients under "d NAME"."""
        if self.process is None:
            self.start()
        guard = threading.Timer(LONGEST, self.process.kill)
        guard.start()
        try:
            self.send(case)
            return self.receive()
        except (BrokenPipeError, EOFError):
            code = self.process.wait()
            self.process = None
            raise Failed(f"the program stopped with code {code}") from None
        finally:
            guard.cancel()

    def send(self, case):
        header = {"threads": case.threads, "program": case.program, "seeds": case.seeds, "answers": case.answers,
                  "tensors": [{"name": name, "shape": array.shape, "gradient": name in case.wanted}
                              for name, array in case.tensors.items()]}
        text = json.dumps(header).encode()
        numbers = [array.astype(numpy.float64).tobytes() for array in case.tensors.values()]
        self.process.stdin.write(b"".join([struct.pack("<Q", len(text)), text, *numbers]))
        self.process.stdin.flush()

    def read(self, length):
        data = self.process.stdout.read(length)
        if len(data) < length:
            raise EOFError
        return data

    def receive(self):
        header = json.loads(self.read(struct.unpack("<Q", self.read(8))[0]))
        if "error" in header:
            raise Failed(header["error"])
        answers = {}
        for tensor in header["tensors"]:
            count = int(numpy.prod(tensor["shape"]))
            answers[tensor["name"]] = numpy.frombuffer(self.read(8 * count)).reshape(tensor["shape"])
        return answers

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None
