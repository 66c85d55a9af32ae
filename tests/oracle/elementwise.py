"""Arithmetic and functions of single elements, sums and structure: core/ops."""
import torch

from case import ANY, GENTLE, SCALED, SHIFTED, kind, truth

# --- Arithmetic. Here the second operand may be a row, a column or a number; axes.py has the others.


def like_rows_of(a, b):
    """b as PyTorch broadcasts it, or else a column over all rows."""
    try:
        torch.broadcast_shapes(a.shape, b.shape)
        return b
    except RuntimeError:
        return b.reshape(*a.shape[:-1], 1)


truth("add")(lambda at, a, b: a + like_rows_of(a, b))
truth("subtract")(lambda at, a, b: a - like_rows_of(a, b))
truth("multiply")(lambda at, a, b: a * like_rows_of(a, b))
truth("divide")(lambda at, a, b: a / like_rows_of(a, b))
truth("negate")(lambda at, x: -x)
truth("add_number")(lambda at, x: x + at["number"])
truth("subtract_number")(lambda at, x: x - at["number"])
truth("multiply_number")(lambda at, x: at["number"] * x)
truth("divide_number")(lambda at, x: x / at["number"])
truth("number_minus")(lambda at, x: at["number"] - x)

KINKS = []  # how close arguments of relu and similar ops came to the kink, in a run that records it


def note_kink(distance):
    """Arguments that were computed may fall on either side of a kink, where derivatives then differ completely."""
    if distance.requires_grad and not distance.is_leaf:
        with torch.no_grad():
            away = distance.abs()
            away = away[away > 0]
            if away.numel():
                KINKS.append(float(away.min() / away.square().mean().sqrt()))


@truth("relu")
def relu(at, x):
    note_kink(x)
    return torch.relu(x)


@truth("abs")
def absolute(at, x):
    note_kink(x)
    return x.abs()


truth("exp")(lambda at, x: x.exp())
truth("log")(lambda at, x: x.log())
truth("sqrt")(lambda at, x: x.sqrt())
truth("square")(lambda at, x: x.square())
truth("tanh")(lambda at, x: x.tanh())
truth("sigmoid")(lambda at, x: x.sigmoid())


class ClipGradient(torch.autograd.Function):
    @staticmethod
    def forward(context, x, bound):
        context.bound = bound
        return x.view_as(x)

    @staticmethod
    def backward(context, gradient):
        return gradient.clamp(-context.bound, context.bound), None


truth("clip_gradient")(lambda at, x: ClipGradient.apply(x, at["number"]))


@kind("elementwise", 2)
def arithmetic(d):
    case = d.start("elementwise")
    op = d.pick(["add", "subtract", "multiply", "divide"])
    shape = d.shape(empty=True)
    rows, columns = 1, shape[-1]
    for size in shape[:-1]:
        rows *= size
    operand = d.pick(["same", "same", "row", "column", "number"])
    second = {"same": shape, "row": (columns,), "column": tuple(shape[:-1]) + (1,), "number": (1,)}[operand]
    style = d.pick(ANY)
    a = d.leaf("a", shape, style)
    b = d.leaf("b", second, d.pick(["plain", "huge", "tiny"]), sign=0.25) if op == "divide" else \
        d.leaf("b", second, d.pick([style, "plain"]))
    y = d.call(op, [a, b])
    d.answer(y, shape, measure="element")
    again = d.chance(0.1)
    if again:
        d.use_again(a, shape)
    d.measure("tensor" if again else "element", "d a")
    # A row or number equal in shape to the first operand is summed over one case only.
    d.measure("element" if second == shape and not again else "tensor", "d b")


@kind("elementwise", 0.5)
def with_number(d):
    d.start("elementwise")
    shape = d.shape(empty=True)
    x = d.leaf("x", shape, d.pick(ANY))
    op = d.pick(["add_number", "subtract_number", "multiply_number", "divide_number", "number_minus", "negate"])
    y = d.call(op, [x], number=d.pick([1.0, -1.0, 3.0, d.power(-3, 3)]))
    d.answer(y, shape, measure="element")
    d.measure("element", "d x")


FUNCTIONS = {
    "exp": ["plain", "uniform", "wide", "tiny", "saturated"],
    "log": ["positive", "near one", "powers"],
    "sqrt": ["positive", "powers", "near one"],
    "square": GENTLE + SCALED + SHIFTED,
    "abs": ANY,
    "tanh": ["plain", "uniform", "saturated", "tiny", "zeros", "wide", "small", "powers"],
    "sigmoid": ["plain", "uniform", "saturated", "tiny", "zeros", "wide", "powers"],
    "relu": ANY,
    "clip_gradient": ["plain", "huge"],
}


@kind("elementwise", 3)
def function(d):
    d.start("elementwise")
    op = d.pick(sorted(FUNCTIONS))
    shape = d.shape(empty=True)
    x = d.leaf("x", shape, d.pick(FUNCTIONS[op]), sign=1e-15 if op in ("log", "sqrt") else None)
    y = d.call(op, [x], **({"number": d.power(-1, 0.5)} if op == "clip_gradient" else {}))
    d.answer(y, shape, measure="element")
    if d.chance(0.1):
        d.use_again(x, shape)


# --- Sums and means.

truth("sum")(lambda at, x: x.sum())
truth("mean")(lambda at, x: x.mean())
truth("mean_square", "composed_mean_square")(lambda at, x: x.square().mean())
truth("sum_columns")(lambda at, x: x.sum(-1, keepdim=True))
truth("mean_columns")(lambda at, x: x.mean(-1, keepdim=True))
truth("sum_rows")(lambda at, x: x.reshape(-1, x.shape[-1]).sum(0))
truth("mean_rows")(lambda at, x: x.reshape(-1, x.shape[-1]).mean(0))


@kind("sums", 2)
def reduction(d):
    d.start("sums")
    op = d.pick(["sum", "mean", "mean_square", "composed_mean_square", "sum_columns", "mean_columns", "sum_rows",
                 "mean_rows"])
    long_sum = d.chance(0.08)
    shape = d.shape(empty=op.startswith("sum"))
    if long_sum:
        shape = (d.between(2000, 60000), d.pick([1, 2, 3, 7, 16]))
        shape = shape[::-1] if op.endswith("columns") else shape
    x = d.leaf("x", shape, d.pick(ANY))
    y = d.call(op, [x])
    result = () if op.endswith("sum") or op in ("mean", "mean_square", "composed_mean_square") else \
        tuple(shape[:-1]) + (1,) if op.endswith("columns") else (shape[-1],)
    d.answer(y, result)
    if d.chance(0.1):
        d.use_again(x, shape)


# --- Ops that rearrange elements.

truth("transpose")(lambda at, x: x.t())
truth("slice")(lambda at, x: x.narrow(at["axis"], at["begin"], at["end"] - at["begin"]))
truth("concatenate")(lambda at, *parts: torch.cat(parts, at["axis"]))
truth("gather")(lambda at, table: table[torch.tensor(at["indices"], dtype=torch.long)])
truth("reshape")(lambda at, x: x.reshape(at["shape"]))
truth("leading")(lambda at, x: x[at["begin"]:at["end"]])
truth("step")(lambda at, x: x[at["index"]])
truth("detach")(lambda at, x: x.detach())
truth("channels_last")(lambda at, x: x.permute(0, 2, 3, 1))
truth("channels_first")(lambda at, x: x.permute(0, 3, 1, 2))


@truth("unit_rows", "composed_unit_rows")
def unit_rows(at, x):
    zero = (x.detach() == 0).all(-1, keepdim=True)
    square = x.square().sum(-1, keepdim=True)
    return torch.where(zero, torch.zeros_like(x), x / torch.where(zero, torch.ones_like(square), square).sqrt())


@kind("structure", 1.5)
def moved(d):
    d.start("structure")
    op = d.pick(["transpose", "slice", "concatenate", "gather", "reshape", "step", "channels_last", "channels_first"])
    shape = d.shape()
    if op == "transpose":
        shape = d.sizes()
    if op.startswith("channels"):
        shape = (d.between(0, 4), d.pick([1, 3, 5, 8, 17]), d.pick([1, 2, 7, 9]), d.pick([1, 3, 8, 16, 33]))
    style = d.pick(ANY)
    x = d.leaf("x", shape, style)
    axis = d.between(0, len(shape) - 1)
    result = shape
    if op == "slice":
        begin = d.between(0, shape[axis])
        end = d.between(begin, shape[axis])
        y = d.call(op, [x], axis=d.pick([axis, axis - len(shape)]), begin=begin, end=end)
        result = shape[:axis] + (end - begin,) + shape[axis + 1:]
    elif op == "concatenate":
        other = shape[:axis] + (d.pick([1, 2, 5, 16, 31]),) + shape[axis + 1:]
        y = d.call(op, [x, d.leaf("other", other, style), x], axis=d.pick([axis, axis - len(shape)]))
        result = shape[:axis] + (2 * shape[axis] + other[axis],) + shape[axis + 1:]
    elif op == "gather":
        shape = tuple(d.sizes())
        x = d.leaf("table", shape, style)
        indices = d.data.integers(0, shape[0], d.pick([0, 1, 7, 30, 100])).tolist()
        y = d.call(op, [x], indices=indices)
        result = (len(indices), shape[1])
    elif op == "reshape":
        total = 1
        for size in shape:
            total *= size
        result = d.pick([(total,), (total, 1), (1, total), (1, total, 1)])
        y = d.call("multiply_number", [d.call(op, [x], ["view"], shape=list(result))], number=2.0)
    elif op == "step":
        y = d.call("multiply_number", [d.call(op, [x], ["view"], index=d.between(0, shape[0] - 1))], number=2.0)
        result = shape[1:]
    else:
        y = d.call(op, [x])
        result = {"transpose": lambda s: s[::-1], "channels_last": lambda s: (s[0], s[2], s[3], s[1]),
                  "channels_first": lambda s: (s[0], s[3], s[1], s[2])}[op](tuple(shape))
    d.answer(y, result, measure="element")
    if d.chance(0.2):
        d.use_again(x, shape)


@kind("unit rows", 0.5)
def on_the_sphere(d):
    d.start("unit rows")
    shape = d.shape()
    op = d.pick(["unit_rows", "unit_rows", "composed_unit_rows"])
    x = d.leaf("x", shape, d.pick(ANY if op == "unit_rows" else ["plain", "uniform", "mean 100", "scaled rows"]))
    y = d.call(op, [x])
    d.answer(y, shape, measure="row")
    d.measure("row", "d x")
