#!/usr/bin/env python3
"""tools/bench_turns.py: its statistics on made-up times whose ratio is known, and the kernels that it has OpenBLAS take."""
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tools"))
from bench_turns import LEAST_BURSTS, core_to_set, interval_text, ratio_to_first  # noqa: E402


def turns_of(count, factors, rng, drift=0.0, slow=0.0):
    """Each side's 10 ms times its factor, up to 2% longer, and for a share of the second side's bursts three times as long;
    the machine becomes slower by `drift` from the first turn to the last."""
    def time_of(turn, side):
        hit = 3 if side == 1 and rng.random() < slow else 1
        return 10 * factors[side] * (1 + drift * turn / count) * (1 + 0.02 * rng.random()) * hit
    return [[time_of(turn, side) for side in range(len(factors))] for turn in range(count)]


class Ratio(unittest.TestCase):
    def setUp(self):
        self.rng = random.Random(3)

    def test_survives_drift_of_both_and_slow_bursts_of_one(self):
        for disturbed in ({}, {"drift": 0.5}, {"slow": 0.4}):
            ratio, (low, high), too_noisy = ratio_to_first([turns_of(40, (1, 2), self.rng, **disturbed)], 1)
            for value in (ratio, low, high):
                self.assertAlmostEqual(value, 2, delta=0.04, msg=disturbed)
            self.assertFalse(too_noisy, disturbed)

    def test_interval_has_what_differs_between_starts(self):
        """Where the first start is faster than the others, twelve bursts after each of four say little of a fifth."""
        placed = [turns_of(12, (1, factor), self.rng) for factor in (1, 1.03, 1.06, 1.09)]
        _, (low, high), too_noisy = ratio_to_first(placed, 1)
        self.assertLess(low, 1.02)
        self.assertGreater(high, 1.06)
        self.assertTrue(too_noisy)

    def test_few_bursts_have_no_interval(self):
        for count in (1, 2, LEAST_BURSTS - 1):
            ratio, interval, too_noisy = ratio_to_first([turns_of(count, (1, 2), self.rng)], 1)
            self.assertAlmostEqual(ratio, 2, delta=0.04)
            self.assertEqual((interval, too_noisy), (None, False))
        self.assertIsNotNone(ratio_to_first([turns_of(LEAST_BURSTS, (1, 2), self.rng)], 1)[1])
        self.assertEqual(interval_text(None), "too few bursts")
        self.assertEqual(interval_text((1, 2.346)), "1.00 to 2.35")


class OpenBlasCore(unittest.TestCase):
    def test_narrow_one_is_replaced_and_one_that_fits_is_left(self):
        avx2, avx512 = ["sse2", "avx2"], ["sse2", "avx2", "avx512f"]
        for flags, core, expected in ((avx512, "Prescott", "SkylakeX"), (avx512, "Haswell", "SkylakeX"),
                                      (avx512, "Cooperlake", None), (avx512, "SapphireRapids", None),
                                      (avx2, "Prescott", "Haswell"), (avx2, "Zen", None), (["sse2"], "Prescott", None),
                                      (["asimd"], "NEOVERSEN1", None), ([], "ARMV8", None), (avx512, "", None)):
            self.assertEqual(core_to_set(flags, core), expected, (flags, core))


unittest.main()
