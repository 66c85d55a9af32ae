#!/usr/bin/env python3
"""Writes the inputs that fuzzing begins with: small valid files of every format, and the words of each.

    tests/fuzz/make_seeds.py FOLDER

FOLDER/TARGET/0, 1, ... are the files, FOLDER/TARGET.dict the words in libFuzzer's format."""

import gzip
import json
import pathlib
import struct
import sys


def idx(magic, sizes, content):
    return struct.pack(f">{1 + len(sizes)}I", magic, *sizes) + content


def npy(header, content, version=1):
    text = header.encode() + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + content


def safetensors(tensors, metadata=None):
    header, content = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, (dtype, shape, numbers) in tensors.items():
        values = struct.pack(f"<{len(numbers)}{'f' if dtype == 'F32' else 'd'}", *numbers)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(content), len(content) + len(values)]}
        content += values
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content


def config(**settings):
    common = {"norm": "layer,none", "preset": "small", "data": "", "seed": 1, "epochs": 2, "batch": "128,4",
              "lr": 0.001, "record": 0}
    return json.dumps({"experiment": "mnist", "variant": "layer", "settings": common | settings, "lamina": "0.1",
                       "scalar": "float", "threads": 2, "backend": "OpenBLAS"}).encode()


EXPERIMENT = json.dumps({
    "question": "Which?", "experiment": "mnist", "settings": {"preset": "small", "epochs": 2},
    "variants": [{"norm": ["none", "layer"], "batch": [128, 4]}, {"norm": "batch", "lr": 1e-3, "tied": True}],
    "seeds": [1, 2], "threads": 1, "metrics": ["a"], "log": "a", "higher_is_better": "b", "choose": "a", "panels": "norm",
    "claims": [{"metric": "a", "take": "mean of last 3", "lower": {"norm": "layer"}, "than": {"norm": "none"}, "by": 0.1},
               {"metric": "b", "faster": {"norm": "layer"}, "than": {"norm": "none"}, "times": 2}]}).encode()
IMAGES = idx(0x803, [2, 2, 3], bytes(range(12)))
LABELS = idx(0x801, [5], bytes([0, 9, 3, 3, 1]))
MATRIX = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
STROKES = b"""<?xml version="1.0" encoding="ISO-8859-1"?>
<WhiteboardCaptureSession><StrokeSet>
<Stroke colour="black"><Point x="10" y="-2.5" time="0.1"/><Point x="1e2" y="3" time="0.2"/></Stroke>
<Stroke><Point x="12" y="4"/></Stroke><!-- end -->
</StrokeSet></WhiteboardCaptureSession>
"""
BOOK = """*** START OF THIS BOOK ***
CHAPTER I

At noon Anna met Mr. J. Orlov. \u201cWhere is Boris?\u201d asked Anna. He said: "Don't!" Then Anna left (at 3.5).

II.

_Nobody_ saw Boris, or Anna's aunt; "Good again!" cried he. Then Boris and Anna and Boris met Anna.
*** END OF THIS BOOK ***
""".encode()
QUESTION = b"""http://example.org

( @entity4 ) police in @entity1 say that @entity4 has left . it rained .

the police of @placeholder say so

@entity1

@entity1:Oslo
@entity4:CNN
"""
STATE = {"weight": ("F32", [2, 2], [1, 2, 3, 4]), "bias": ("F32", [2], [5, 6])}
METRICS = b"epoch,step,train_nll,valid_error,test_error,seconds\n1,10,0.5,0.25,nan,1e-3\n2,20,-inf,0.2,0.1,2\n"
STUDY = b"scheme,norm,transformation,change,value\nlayer,layer,weight matrix re-scaling,0.5,1e-9\n"
BENCH = json.dumps({"machine": "CPU", "backend": "OpenBLAS", "bursts": 40, "seconds": 0.15, "rows": [
    {"case": "mnist", "variant": "none", "ms": 1.25, "peer_ms": 2, "ratio": 1.6, "interval": [1.5, 1.75], "too_noisy": False, "fraction": 0.5},
    {"case": "mnist", "variant": "ln", "ms": 1.5, "peer_ms": None, "ratio": None, "interval": None, "too_noisy": False, "fraction": 1}]}).encode()

JSON_WORDS = ["{", "}", "[", "]", '":', ",", "null", "true", "1e308", "-1", "18446744073709551615", '\\"', "\\u0000"]
TEXT_WORDS = ["\n\n", "\r\n", ". ", "! ", "? ", "Mr. ", "\u201c", "\u201d", "\u2019", "'s", "n't", " - ", "_", "\xe9",
              "\ufeff"]

# For each target: its files and its words.
SEEDS = {
    "idx_images": ([IMAGES, gzip.compress(IMAGES, mtime=0)], ["\x00\x00\x08\x03", "\x1f\x8b\x08"]),
    "idx_labels": ([LABELS, gzip.compress(LABELS, mtime=0)], ["\x00\x00\x08\x01", "\x1f\x8b\x08"]),
    "amat": ([b"0 1 0 1\n1 1 0 0\n", b"0 0 0 1 \r\n"], ["0 ", "1 ", "\r\n", "\t"]),
    "npy": ([npy(MATRIX, bytes(24)), npy(MATRIX.replace("f4", "f8"), bytes(48), 2)],
            ["'descr': ", "'fortran_order': ", "'shape': ", "True", "False", "'<f8'", "'<f4'", "4294967295", "L, ", "("]),
    "captions": ([b"a dog runs .\ntwo caf\xe9s\r\n", "\ufeffone\n".encode()], TEXT_WORDS),
    "sick": ([b"pair_ID\tsentence_A\tsentence_B\trelatedness_score\n1\tA dog\tA cat\t4.9\tNO\r\n\n2\ta\tb\t1\n"],
             ["\t", "\n", "1e0", "5.0", "nan"]),
    "question": ([QUESTION], ["@entity", "@placeholder", "@entity9999", "\n\n", ":", " . "]),
    "iam_strokes": ([STROKES], ["<Stroke>", "</Stroke>", "<Point ", "x=", "y=", '"1e38"', '"nan"', "<!DOCTYPE ", "<![CDATA[",
                                "&#x41;", "&lt;", "<?xml ", "<!--"]),
    "iam_texts": ([b"OCR:\n\nA word\n\nCSR:\n\nA word\nand another\n"], ["CSR:\n", "\r\n", " "]),
    "book": ([BOOK], TEXT_WORDS + ["CHAPTER ", "II.", "EPILOGUE", "*** START OF", "*** END OF", '"']),
    "corpus": ([BOOK, b"A b c. D e f. G h.\n\n" * 8], TEXT_WORDS),
    "passages": ([b"book\t128\t/proc/self/fd/200\npassage\t0\t0\t8\t6\npassage\t0\t64\t8\t6\n",
                  b"book\t128\t/proc/self/fd/200\npassage\t0\t0\t16\t14\npassage\t0\t16\t4\t2\npassage\t0\t32\t4\t2\n"],
                 ["book\t128\t/proc/self/fd/200\n", "passage\t0\t0\t", "passage\t0\t", "\t", "999999999999999999"]),
    "vocabulary": ([b"the\na\ncaf\xc3\xa9\n"], ["<eos>", "<unk>", "\n", "\r\n"]),
    "utf8": (["a\u00e9\u20ac\U0001f600".encode(), b"\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80"],
             ["\u00e9", "\u20ac", "\U0001f600", "\ufffd"]),
    "sentences": ([BOOK, b"a b. c d! e?\nf 3.5 g."], TEXT_WORDS),
    "words": (["Don't say \u2018black-and-white\u2019 3.5, 1,000 it's they've".encode()], TEXT_WORDS + ["'ll", "'re"]),
    "word_vectors": ([b"2 3\nthe 1 -2.5 1e-3\ncaf\xc3\xa9 0 0 1\n",
                      b"2 2\nthe " + struct.pack("<2f", 1, -2) + b"\na " + struct.pack("<2f", 0.5, 3) + b"\n"],
                     ["1 1\n", " ", "\n", "nan", "1e39", "inf"]),
    "checkpoint": ([safetensors(STATE, {"format": "pt"}), safetensors({"s": ("F64", [], [1])}), safetensors({})],
                   JSON_WORDS + ['"dtype"', '"shape"', '"data_offsets"', '"F32"', '"F64"', '"__metadata__"']),
    "state": ([safetensors(STATE, {"format": "pt", "step": "12"})],
              JSON_WORDS + ['"weight"', '"bias"', '"step"', '"dtype"', '"shape"', '"data_offsets"', '"__metadata__"']),
    "config": ([config(), config(batch="4", record=100, lazy=True, gain=None)],
               JSON_WORDS + ['"experiment"', '"variant"', '"settings"', '"lamina"', '"scalar"', '"threads"', '"backend"']),
    "study": ([EXPERIMENT, b'{"experiment":"mnist"}'],
              JSON_WORDS + ['"experiment"', '"settings"', '"variants"', '"seeds"', '"claims"', '"lower"', '"higher"', '"than"',
                            '"take"', '"best"', '"where a is best"', '"by"', '"times"', '"panels"', '"choose"']),
    "metrics": ([METRICS], ["nan", "inf", "-inf", "1e308", ",", "\r\n", "step"]),
    "record": ([b"step,layer,quantity,time,value\n1,hidden1,weight.length.mean,,1.414\n20,h,outputs.dead,3,-2e-5\n"],
               ["nan", "inf", ",,", "\r\n", "18446744073709551615"]),
    "csv": ([METRICS, STUDY], ["nan", "inf", ",", "\r\n"]),
    "report": ([bytes([i]) + rows for i in range(64) for rows in (METRICS, STUDY)],
               ["nan", "inf", ",", "\n", "epoch", "step", "train_nll", "norm", "scheme", "1e308"]),
    "bench": ([BENCH], JSON_WORDS + ['"rows"', '"ratio"', '"interval"', '"too_noisy"', '"ms"', '"peer_ms"', '"case"', '"variant"', '"fraction"']),
}


def quoted(word):
    data = word.encode("latin1") if max(word) < "\x80" or word[0] in "\x00\x1f" else word.encode()
    return '"' + "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else f"\\x{b:02x}" for b in data) + '"\n'


def main():
    folder = pathlib.Path(sys.argv[1])
    for target, (files, words) in SEEDS.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for number, content in enumerate(files):
            (folder / target / str(number)).write_bytes(content)
        (folder / f"{target}.dict").write_text("".join(map(quoted, words)))


main()
