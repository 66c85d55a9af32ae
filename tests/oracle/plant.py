"""Faults planted in Lamina's answers, to show that the oracle finds them."""
import numpy

from measure import EPSILON, NOISE, SMALLEST, scale, units

PLAIN = 1.5  # largest error of PyTorch, in units, where a fault of a few units must be found


def ulps(case, answers, truth, theirs):
    """Twelve units at the largest element of the first answer; None where PyTorch's own error is nearly as large."""
    name = case.answers[0]
    size = scale(truth[name], case.measures.get(name, "tensor"))
    if case.double or units(theirs[name], truth[name], size, theirs[name], False) > PLAIN:
        return None
    unit = numpy.maximum(12 * EPSILON[False] * size, 12 * SMALLEST[False])
    return changed(answers, truth, name, truth[name] + unit)


def gradient(case, answers, truth, theirs):
    """The largest element of the last gradient is missing; None where there is none, or it has hardly a correct digit."""
    if not case.wanted:
        return None
    name = "d " + case.wanted[-1]
    if units(theirs[name], truth[name], scale(truth[name], "tensor"), theirs[name], False) > NOISE:
        return None
    return changed(answers, truth, name, numpy.zeros_like(truth[name]))


def changed(answers, truth, name, values):
    """The answers with the element taken from `values` that is largest in truth."""
    if truth[name].size == 0 or not numpy.abs(truth[name]).max() > 1e-6:
        return None
    wrong = answers[name].copy()
    at = numpy.unravel_index(numpy.abs(truth[name]).argmax(), truth[name].shape)
    wrong[at] = values[at]
    return {**answers, name: wrong}


def noise(case, answers, truth, theirs):
    """Every answer is PyTorch's and one unit on top: too little for a case, too much for the mean of a category."""
    if case.double:
        return None
    off = lambda name: EPSILON[False] * scale(truth[name], case.measures.get(name, "tensor"))
    return {name: theirs[name] + numpy.copysign(off(name), theirs[name] - truth[name]) for name in answers}


PLANTS = {"ulps": (ulps, 120), "gradient": (gradient, 60), "noise": (noise, 1500)}  # with the number of cases
