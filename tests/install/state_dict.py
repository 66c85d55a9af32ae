#!/usr/bin/env python3
"""Writes what safetensors.torch.save_file does of the model that models/examples/from_pytorch.cpp names, without PyTorch:
tests/install/state_dict.py FILE. PyTorch 1.13 gives f(1, 2) = -0.78844893 with these weights."""
import json
import struct
import sys

WEIGHTS = {"0.weight": [[0.5, -0.25], [1.0, 0.75], [-0.5, 0.125]], "0.bias": [0.1, -0.2, 0.3],
           "2.weight": [1.5, 0.5, -1.0], "2.bias": [0.0, 0.25, -0.5],
           "3.weight": [[0.5, -1.0, 2.0]], "3.bias": [0.125]}

header, data = {}, b""
for name, value in WEIGHTS.items():
    rows = value if isinstance(value[0], list) else [value]
    numbers = [number for row in rows for number in row]
    shape = [len(value), len(value[0])] if rows is value else [len(value)]
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * len(numbers)]}
    data += struct.pack(f"<{len(numbers)}f", *numbers)
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
