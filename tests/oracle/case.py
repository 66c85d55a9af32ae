"""A case: named tensors, a straight-line program over them, and what of it is compared. Draw makes its numbers."""
import numpy

# Around the widths of vectors, and sizes that are multiples of none.
WIDTHS = [1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 100, 127, 128, 129, 200, 257, 300, 513]
LARGEST = 20000  # numbers in a tensor of most cases

KINDS = []  # (category, weight, function): filled by the decorator below
TRUTH = {}  # op -> its function in PyTorch


def kind(category, weight=1.0):
    """Registers a function draw -> None that fills a case of this category."""
    def register(function):
        KINDS.append((category, weight, function))
        return function
    return register


def truth(*names):
    """Registers f(attributes, *tensors) -> tensor or tuple as what PyTorch computes for these ops."""
    def register(function):
        for name in names:
            TRUTH[name] = function
        return function
    return register


class Case:
    def __init__(self, category):
        self.category = category
        self.threads = 1
        self.double = False
        self.tensors = {}   # name -> numpy array of float32
        self.wanted = []    # the names whose gradient is compared
        self.program = []   # {"op", "in", "out", attributes}
        self.seeds = []     # (output, name of its derivative)
        self.answers = []   # names of tensors whose value is compared
        self.measures = {}  # name -> the scale of an error; see measure.py
        self.exact = []     # tensors whose values must not be varied: masks, targets

    def describe(self):
        lines = [f"{'float' if not self.double else 'double'}, {self.threads} thread(s)"]
        lines += [f"  {name} {list(a.shape)}, {spread(a)}" for name, a in self.tensors.items()]
        lines += [f"  {', '.join(s['out'])} = {s['op']}({', '.join(n or '-' for n in s['in'])}) "
                  f"{ {k: v for k, v in s.items() if k not in ('op', 'in', 'out')} }" for s in self.program]
        return "\n".join(lines)


def spread(array):
    return "empty" if array.size == 0 else f"{array.min():.3g} to {array.max():.3g}, mean {array.mean():.3g}"


class Draw:
    """The random choices of a case. Its structure depends on (seed, number), its numbers also on `attempt`."""

    def __init__(self, seed, number, attempt=0):
        self.shape_of_case = numpy.random.default_rng([seed, number])
        self.data = numpy.random.default_rng([seed, number, 1 + attempt])
        self.case = None

    # --- Choices of structure.

    def pick(self, values):
        return values[int(self.shape_of_case.integers(len(values)))]

    def chance(self, probability):
        return bool(self.shape_of_case.random() < probability)

    def between(self, low, high):
        return int(self.shape_of_case.integers(low, high + 1))

    def power(self, low, high):
        """10 to a random power, rounded so that float represents it exactly."""
        return float(numpy.float32(10.0 ** self.shape_of_case.uniform(low, high)))

    def uniform(self, low, high):
        return float(numpy.float32(self.shape_of_case.uniform(low, high)))

    def sizes(self, *, empty=False, limit=LARGEST):
        """[rows x columns], seldom large, seldom empty."""
        limit = limit * 10 if self.chance(0.03) else limit
        columns = self.pick(WIDTHS)
        rows = min(self.pick(WIDTHS), max(1, limit // columns))
        if empty and self.chance(0.02):
            rows = 0
        return rows, columns

    def shape(self, *, empty=False):
        """1 to 4 dimensions with the rows and columns of sizes()."""
        rows, columns = self.sizes(empty=empty)
        rank = self.pick([1, 2, 2, 2, 3, 4])
        if rank == 1:
            return (columns,)
        if rank == 2:
            return (rows, columns)
        inner = self.pick([1, 2, 3])
        return (max(rows // inner, 0 if rows == 0 else 1), inner, columns) if rank == 3 else \
               (max(rows // inner, 0 if rows == 0 else 1), 1, inner, columns)

    # --- Numbers.

    def numbers(self, shape, style="plain"):
        normal = self.data.standard_normal(shape)
        array = STYLES[style](self.data, normal) if normal.size else normal
        return numpy.asarray(array, numpy.float32)

    # --- Filling the case.

    def start(self, category):
        self.case = Case(category)
        return self.case

    def constant(self, name, array, exact=False):
        """A tensor that needs no gradient; `exact` for masks and targets, whose values are not to be varied."""
        if exact:
            self.case.exact.append(name)
        self.case.tensors[name] = numpy.asarray(array, numpy.float32)
        return name

    def leaf(self, name, shape, style="plain", view=0.15, sign=None):
        """A tensor that needs its gradient; with probability `view` it is a part of a larger one."""
        values = self.numbers(shape, style) if sign is None else numpy.abs(self.numbers(shape, style)) + sign
        self.case.wanted.append(name)
        if len(shape) < 2 or not self.chance(view):
            self.case.tensors[name] = values
            return name
        before, after = self.between(0, 2), self.between(0, 2)
        surround = [self.numbers((n,) + tuple(shape[1:])) for n in (before, after)]
        self.case.tensors[name] = numpy.concatenate([surround[0], values, surround[1]])
        self.call("leading", [name], [name + "_part"], begin=before, end=before + shape[0])
        return name + "_part"

    def call(self, op, inputs, outputs=("y",), **attributes):
        self.case.program.append({"op": op, "in": list(inputs), "out": list(outputs), **attributes})
        return outputs[0]

    def answer(self, name, shape, style="plain", seed=True, measure="tensor"):
        """Compares the value of `name` and, with `seed`, sends a random derivative through it."""
        self.case.answers.append(name)
        self.case.measures[name] = measure
        if seed:
            self.case.tensors["seed_" + name] = self.numbers(shape, style)
            self.case.seeds.append((name, "seed_" + name))

    def measure(self, kind_of_measure, *names):
        for name in names:
            self.case.measures[name] = kind_of_measure

    def use_again(self, name, shape):
        """A second consumer of a leaf, so that gradients add up."""
        self.call("multiply_number", [name], ["again"], number=3.0)
        self.answer("again", shape)


def constant_rows(random, normal):
    rows = normal.reshape(-1, normal.shape[-1]) if normal.ndim else normal.reshape(1, 1)
    some = random.random(len(rows)) < 0.6
    rows = numpy.where(some[:, None], rows[:, :1] * 50, rows)
    return rows.reshape(normal.shape)


def scaled_rows(random, normal):
    rows = normal.reshape(-1, normal.shape[-1]) if normal.ndim else normal.reshape(1, 1)
    return (rows * 10.0 ** random.uniform(-4, 4, (len(rows), 1))).reshape(normal.shape)


STYLES = {
    "plain": lambda random, n: n,
    "uniform": lambda random, n: random.uniform(-1, 1, n.shape),
    "mean 100": lambda random, n: n + 100,
    "mean -3000": lambda random, n: n - 3000,
    "mean 1e5": lambda random, n: n + 1e5,
    "constant rows": constant_rows,
    "constant": lambda random, n: numpy.full(n.shape, random.standard_normal() * 30),
    "zeros": lambda random, n: numpy.zeros(n.shape),
    "ties": lambda random, n: numpy.round(n * 2) / 2,
    "saturated": lambda random, n: n * 30,
    "wide": lambda random, n: random.uniform(-80, 80, n.shape),
    "tiny": lambda random, n: n * 1e-10,
    "huge": lambda random, n: n * 1e10,
    "scaled rows": scaled_rows,
    "powers": lambda random, n: numpy.sign(n) * 10.0 ** random.uniform(-12, 12, n.shape),
    "near one": lambda random, n: 1 + n * 1e-4,
    "sparse": lambda random, n: n * (random.random(n.shape) < 0.2),
    "logits 1e4": lambda random, n: n * 10 + 1e4 * numpy.sign(random.standard_normal()),
    "small": lambda random, n: n * 0.1,
    "positive": lambda random, n: numpy.abs(n) + 0.1,
}
GENTLE = ["plain", "plain", "plain", "uniform", "sparse", "ties", "small"]
SHIFTED = ["mean 100", "mean -3000", "mean 1e5"]
SCALED = ["tiny", "huge", "scaled rows"]
FLAT = ["constant rows", "constant", "zeros"]
ANY = GENTLE * 2 + SHIFTED + SCALED + FLAT
