"""How wrong an answer is, in units of the last place of float, and when that is too much.

An error counts relative to what a float result could at best be exact to: eps times

  element   |truth| of the element itself: what one or a few roundings produce
  row       the largest |truth| in the element's row: what is computed row by row
  tensor    the largest |truth| in the tensor: sums of many terms, whose single elements may cancel to nearly zero
  a number  that number where it is larger than that: for means, the deviation of what they are the means of

never less than the smallest normal number, because Lamina flushes denormal ones to zero. PyTorch's own float result
is measured in the same way. Its error counts as one unit at least: an exact result does not make a unit a fault.
"""
import math

import numpy

EPSILON = {False: 2.0 ** -23, True: 2.0 ** -52}  # by whether Lamina computed in double
SMALLEST = {False: 2.0 ** -126, True: 2.0 ** -1022}
LARGEST_FLOAT = float(numpy.finfo(numpy.float32).max)
TIMES = 4              # the multiple of PyTorch's error that is too much
DOUBLE_BOUND = 1e-12   # relative, of an answer in double, per unit of error of PyTorch's float result
LEAST = 0.5            # units, for means of logarithms: no rounding is better
NOISE = 2.0 ** 20      # units: the result has hardly a correct digit


def scale(truth, measure):
    size = numpy.abs(truth)
    if truth.size == 0 or measure == "element":
        return size
    if measure == "row" and truth.ndim > 0:
        return size.max(-1, keepdims=True)
    return max(size.max(), 0 if isinstance(measure, str) else measure)


def units(answer, truth, scale_of_truth, theirs, double):
    """The largest error in units; infinite where an answer is not finite although PyTorch's is."""
    if truth.size == 0:
        return 0.0
    with numpy.errstate(all="ignore"):
        unit = numpy.maximum(EPSILON[double] * scale_of_truth, SMALLEST[double])
        error = numpy.abs(answer - truth) / unit
    excused = ~numpy.isfinite(theirs) & (~numpy.isfinite(answer) | (numpy.abs(truth) > LARGEST_FLOAT))
    error = numpy.where(excused, 0.0, error)
    return float(numpy.where(numpy.isfinite(error), error, math.inf).max())


class Difference:
    """Of one tensor: Lamina's and PyTorch's error in units, and the scale that a unit belongs to.

    Where the truth is zero, or PyTorch's result has hardly a digit because all terms cancel, units belong to the
    largest number among the case's gradients, or among its values: `common`.
    """

    def __init__(self, name, answer, truth, theirs, measure, common, double):
        self.name, self.double = name, double
        self.shape = None if answer.shape == truth.shape else (answer.shape, truth.shape)
        size = scale(truth, measure)
        self.theirs = units(theirs, truth, size, theirs, False)
        if truth.size and (self.theirs > NOISE or not numpy.any(truth)):
            measure, size = "tensor", numpy.float64(common)
            self.theirs = units(theirs, truth, size, theirs, False)
        self.scale = float(size) if measure not in ("element", "row") and truth.size else 1.0
        self.ours = math.inf if self.shape else units(answer, truth, size, theirs, double)

    def too_large(self):
        return not self.ours <= self.limit(self.theirs, self.double)

    @staticmethod
    def limit(theirs, double):
        """The largest error in units that is not a fault."""
        if double and theirs > NOISE:
            return math.inf  # there is no measure of how ill-conditioned the case is
        return DOUBLE_BOUND / EPSILON[True] * max(theirs, 1.0) if double else TIMES * max(theirs, 1.0)


def together(differences):
    """Lamina's and PyTorch's error over repetitions of a case: root mean squares, relative to the largest scale."""
    scales = numpy.array([d.scale for d in differences])
    common = scales.max() or 1.0

    def mean(errors):
        relative = numpy.array(errors) * (scales / common)
        largest = relative.max()
        if not 0 < largest < math.inf:
            return float(largest)
        return float(largest * math.sqrt(numpy.square(relative / largest).mean()))

    return mean([d.ours for d in differences]), mean([d.theirs for d in differences])
