"""Random graphs: many ops one after another, with views, parts, reuse, detached tensors and several outputs."""
import numpy

from case import Draw, kind


class Graph:
    """Values by shape; every step reads some and adds one. All stay at moderate magnitudes."""

    def __init__(self, d: Draw):
        self.d, self.values, self.made = d, [], 0

    def add(self, name, shape):
        self.values.append((name, tuple(shape)))

    def call(self, op, inputs, result, **attributes):
        self.made += 1
        name = f"t{self.made}"
        self.d.call(op, inputs, [name], **attributes)
        self.add(name, result)
        return name

    def any(self, wanted=lambda shape: True):
        fitting = [v for v in self.values if wanted(v[1])]
        return self.d.pick(fitting) if fitting else None

    def tamed(self, x, shape):
        """Keeps values near 1, so that errors do not grow with the length of the program."""
        if shape[-1] < 5 or self.d.chance(0.5):
            self.call("tanh", [x], shape)
            return
        gain, bias = (self.d.leaf(f"{name}{self.made}", shape[-1:], "positive") for name in ("gain", "bias"))
        self.call("layer_norm", [x, gain, bias], shape)


def matrix(shape):
    return len(shape) == 2 and shape[0] > 0


def step(graph):
    d = graph.d
    x, shape = graph.any()
    choice = d.between(0, 14)
    if choice <= 1:
        graph.call(d.pick(["tanh", "sigmoid", "square", "negate", "relu", "abs"]), [x], shape)
    elif choice <= 4:
        other = graph.any(lambda s: s == shape)
        op = d.pick(["add", "subtract", "multiply"])
        # x - x adds dy to the gradient and subtracts it again: earlier contributions are rounded at the magnitude of
        # dy.
        graph.call("add" if op == "subtract" and other[0] == x else op, [x, other[0]], shape)
    elif choice == 5 and matrix(shape):
        graph.call("multiply_number", [graph.call("transpose", [x], shape[::-1])], shape[::-1], number=0.5)
    elif choice == 6 and matrix(shape):
        rows = d.pick([1, 3, 8, 17])
        weight = d.leaf(f"weight{graph.made}", (shape[1], rows), "small")
        graph.call("linear", [x, weight, d.leaf(f"offset{graph.made}", (rows,))], (shape[0], rows))
    elif choice == 7 and len(shape) >= 2 and shape[0] > 1:
        begin = d.between(0, shape[0] - 1)
        end = d.between(begin + 1, shape[0])
        graph.call("leading", [x], (end - begin, *shape[1:]), begin=begin, end=end)
    elif choice == 8 and len(shape) >= 2:
        graph.call("step", [x], shape[1:], index=d.between(0, shape[0] - 1))
    elif choice == 9:
        size = int(numpy.prod(shape))
        halves = [size // 2, 2] if size % 2 == 0 else [1, size]
        graph.call("reshape", [x], halves, shape=halves)
    elif choice == 10:
        axis = d.between(0, len(shape) - 1)
        end = d.between(1, shape[axis])
        graph.call("slice", [x], shape[:axis] + (end,) + shape[axis + 1:], axis=axis, begin=0, end=end)
    elif choice == 11:
        other = graph.any(lambda s: s[1:] == shape[1:])
        graph.call("concatenate", [x, other[0], x], (2 * shape[0] + other[1][0], *shape[1:]), axis=0)
    elif choice == 12 and len(shape) >= 2:
        row = graph.call(d.pick(["mean_rows", "sum_rows"]), [x], shape[-1:])
        graph.call(d.pick(["add", "multiply", "subtract"]), [x, row], shape)
    elif choice == 13:
        graph.call("multiply", [graph.call("detach", [x], shape), x], shape)
    else:
        graph.call(d.pick(["softmax", "log_softmax", "unit_rows"]), [x], shape)
    graph.tamed(*graph.values[-1])


@kind("graphs", 3)
def random_graph(d):
    d.start("graphs")
    graph = Graph(d)
    shape = (d.pick([1, 2, 5, 8, 16, 17]), d.pick([2, 3, 8, 9, 16, 17, 33, 64]))
    for i in range(d.between(1, 3)):
        graph.add(d.leaf(f"x{i}", shape, d.pick(["plain", "uniform"])), shape)
    for _ in range(d.between(2, 10)):
        if max(numpy.prod(s) for _, s in graph.values) < 5000:
            step(graph)
    # The last result depends on a leaf even when all its inputs are detached.
    graph.call("multiply", [graph.values[-1][0], d.leaf("factor", (1,))], graph.values[-1][1])
    last = graph.values[-1:] + [v for v in graph.values[:-1] if v[0].startswith("t") and d.chance(0.15)]
    for name, shape_of in last[:3]:
        d.answer(name, shape_of)
