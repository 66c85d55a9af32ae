"""One case: drawn, computed by Lamina and by PyTorch in float and float64, compared, and if in doubt repeated."""
import numpy
import torch

# Each registers its kinds of case.
import attention, axes, blocks, elementwise, graphs, images, norms, optimizers, products, recurrent
from case import KINDS, TRUTH, Draw
from measure import Difference, together
from program import Failed

assert all((attention, blocks, graphs, images, norms, optimizers, products, recurrent))
REPETITIONS = 12
ATTEMPTS = 20  # draws of a case's numbers, until none is close to a kink
KINK = 2e-5    # relative to the numbers' size: larger than rounding errors


def draw_case(seed, number, types, attempt=0):
    """Case `number`; `types` are the scalar types to choose from, as a list of whether they are double."""
    d = Draw(seed, number, attempt)
    double, threads = d.pick(types), d.pick([1, 1, 2])
    weights = numpy.array([weight for _, weight, _ in KINDS])
    _, _, fill = KINDS[int(d.shape_of_case.choice(len(KINDS), p=weights / weights.sum()))]
    fill(d)
    d.case.double, d.case.threads = double, threads
    return d.case


def never_drawn(most=20000):
    """The ops of TRUTH that no case has, in order; looked for until all were seen, in `most` cases of seed 1."""
    missing = set(TRUTH)
    for number in range(most):
        missing -= {step["op"] for step in draw_case(1, number, [False, True]).program}
        if not missing:
            break
    return sorted(missing)


def compute(case, dtype):
    """PyTorch's results, named like the program's answers."""
    values = {name: torch.tensor(array, dtype=dtype) for name, array in case.tensors.items()}
    leaves = {name: values[name].requires_grad_() for name in case.wanted}
    for step in case.program:
        inputs = [values[name] if name else None for name in step["in"]]
        results = TRUTH[step["op"]](step, *inputs)
        values.update(zip(step["out"], results if isinstance(results, tuple) else (results,)))
    pairs = [(values[output], values[seed]) for output, seed in case.seeds if values[output].requires_grad]
    if pairs:
        torch.autograd.backward([output for output, _ in pairs], [seed for _, seed in pairs])
    answers = {name: values[name].detach() for name in case.answers}
    answers.update({"d " + name: torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
                    for name, leaf in leaves.items()})
    return {name: tensor.to(torch.float64).numpy() for name, tensor in answers.items()}


def near_a_kink(case):
    elementwise.KINKS.clear()
    truth = compute(case, torch.float64)
    return truth, bool(elementwise.KINKS) and min(elementwise.KINKS) < KINK


def largest(truth, gradients):
    """The largest finite number among the gradients of a case, or among its values."""
    sizes = [numpy.abs(array[numpy.isfinite(array)]) for name, array in truth.items()
             if name.startswith("d ") == gradients]
    return max((float(size.max()) for size in sizes if size.size), default=0.0)


def measure_of(case, name, truth):
    """As the case specifies; the mean of a batch is as exact as the spread of the batch allows."""
    variance = truth.get(name.replace("mean", "variance")) if name.endswith("mean") else None
    if variance is not None and variance.size:
        return float(numpy.sqrt(variance.max()))
    return case.measures.get(name, "tensor")


class Judge:
    def __init__(self, programs, spoil=None):
        self.programs, self.spoil = programs, spoil  # {double?: Program}; a function that plants a fault
        self.planted = False                         # whether the last answers contain one

    def differences(self, case, truth):
        theirs = compute(case, torch.float32)
        answers = self.programs[case.double].ask(case)
        if self.spoil:
            spoiled = self.spoil(case, answers, truth, theirs)
            self.planted = spoiled is not None
            answers = spoiled or answers
        return [Difference(name, answers[name], truth[name], theirs[name], measure_of(case, name, truth),
                           largest(truth, name.startswith("d ")), case.double) for name in truth]

    def draw(self, seed, number):
        """A case away from kinks, and its truth; (None, None) when there is none."""
        for attempt in range(ATTEMPTS):
            case = draw_case(seed, number, sorted(self.programs), attempt)
            truth, near = near_a_kink(case)
            if not near:
                return case, truth
        return None, None

    def judge(self, case, truth, number):
        """(differences, what is wrong or None)"""
        try:
            found = self.differences(case, truth)
        except Failed as failure:
            return [], str(failure)
        for one in found:
            if one.shape:
                return found, f"{one.name}: the answer's shape is {one.shape[0]}, not {one.shape[1]}"
        suspects = [i for i, one in enumerate(found) if one.too_large()]
        if not suspects:
            return found, None
        return found, self.confirmed(case, found, suspects, number)

    def confirmed(self, case, found, suspects, number):
        """Repeats a case with its tensors scaled: what is wrong in the mean, or None."""
        random = numpy.random.default_rng([7, number])
        series = [[one] for one in found]
        original = case.tensors
        for _ in range(REPETITIONS):
            case.tensors = {name: array if name in case.exact else array * numpy.float32(random.uniform(0.9, 1))
                            for name, array in original.items()}
            truth, near = near_a_kink(case)
            if near:
                continue
            for one, more in zip(series, self.differences(case, truth)):
                one.append(more)
        case.tensors = original
        for i in suspects:
            ours, theirs = together(series[i])
            limit = Difference.limit(theirs, case.double)
            if not ours <= limit:
                return (f"{found[i].name}: {ours:.3g} units, PyTorch {theirs:.3g}, at most {limit:.3g}; "
                        f"in {len(series[i])} repetitions")
        return None
