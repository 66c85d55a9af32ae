#!/usr/bin/env python3
"""The arithmetic behind tools/scaling, on numbers that can be checked by hand."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tools"))
from ranks import drawing, model  # noqa: E402
from ranks.model import Link, Timeline  # noqa: E402

FREE = Link(0, 0)
STEP = Timeline(whole=10.0, wait=8.0, sums=((100, 4.0), (100, 6.0)))


class Messages(unittest.TestCase):
    def test_one_rank_sends_nothing(self):
        for algorithm in model.ALGORITHMS:
            self.assertEqual(model.messages_of(1, 100, algorithm), (0, 0))

    def test_ring(self):
        self.assertEqual(model.messages_of(2, 100, "ring"), (2, 100))
        self.assertEqual(model.messages_of(4, 100, "ring"), (6, 150))

    def test_tree_has_whole_levels(self):
        self.assertEqual(model.messages_of(2, 100, "tree"), (2, 200))
        self.assertEqual(model.messages_of(3, 100, "tree"), (4, 400))
        self.assertEqual(model.messages_of(1024, 100, "tree"), (20, 2000))

    def test_a_device_for_all_carries_what_all_send(self):
        for ranks in (2, 3, 4):
            for algorithm in model.ALGORITHMS:
                moved = model.messages_of(ranks, 100, algorithm)[1]
                self.assertAlmostEqual(moved * model.share_of_device(ranks, algorithm), 2 * (ranks - 1) * 100)

    def test_large_sums_run_in_pieces(self):
        link = Link(1.0, 0)
        self.assertEqual(model.time_of_sum(link, 2, model.PIECE, "ring"), 2)
        self.assertEqual(model.time_of_sum(link, 2, model.PIECE + 1, "ring"), 4)


class Steps(unittest.TestCase):
    def time(self, processor, network, ranks=2):
        return model.time_of_step(STEP, ranks, processor, network, "ring")

    def test_sums_that_take_no_time(self):
        self.assertEqual(self.time(FREE, FREE), 10)

    def test_a_network_hides_behind_the_backward_pass(self):
        self.assertEqual(self.time(FREE, Link(0, 0.02)), 10)  # 2 s each: 4 to 6 and 6 to 8

    def test_what_does_not_hide_is_waited_for(self):
        self.assertEqual(self.time(FREE, Link(0, 0.05)), 16)  # 5 s each: 4 to 9 and 9 to 14, where 8 was the end

    def test_the_processors_part_never_hides(self):
        self.assertAlmostEqual(self.time(Link(0, 0.01), FREE), 12)
        self.assertAlmostEqual(self.time(Link(0.5, 0), FREE), 12)


class Shares(unittest.TestCase):
    MEASURED = {1: Timeline(2.0, 1.0, ((8, 1.0),)), 4: Timeline(5.0, 4.0, ((8, 2.5),))}

    def test_between_two_measurements(self):
        self.assertEqual(model.timeline_at(self.MEASURED, 2), Timeline(3.0, 2.0, ((8, 1.5),)))
        self.assertIs(model.timeline_at(self.MEASURED, 4), self.MEASURED[4])
        with self.assertRaises(ValueError):
            model.timeline_at(self.MEASURED, 5)

    def test_speed_up(self):
        strong = model.speed_up(self.MEASURED, 4, 4, "strong", FREE, FREE)
        weak = model.speed_up(self.MEASURED, 4, 4, "weak", FREE, FREE)
        self.assertEqual(strong[0], 5.0 / 2.0)
        self.assertEqual(weak[0], 4)
        self.assertIsNone(model.speed_up(self.MEASURED, 4, 8, "strong", FREE, FREE))
        self.assertEqual(model.speed_up(self.MEASURED, 4, 1, "weak", Link(1, 1), Link(1, 1))[0], 1)

    def test_many_machines_take_the_algorithm_with_fewer_messages(self):
        self.assertEqual(model.speed_up(self.MEASURED, 4, 1024, "weak", FREE, Link(1e-3, 0))[1], "tree")
        self.assertEqual(model.speed_up(self.MEASURED, 4, 1024, "weak", FREE, Link(0, 1e-3))[1], "ring")


class Fit(unittest.TestCase):
    def test_finds_the_costs_that_made_the_times(self):
        link = Link(3e-6, 2e-10)
        sums = [(ranks, size, model.time_of_sum(link, ranks, size, algorithm), algorithm)
                for ranks in (2, 3, 4) for size in (1024, 2 ** 22) for algorithm in model.ALGORITHMS]
        found = model.fit_link(sums)
        self.assertAlmostEqual(found.message / link.message, 1)
        self.assertAlmostEqual(found.byte / link.byte, 1)


    def test_finds_how_much_more_sums_cost_in_a_step(self):
        steps = [(compute + 2.5 * sums, compute, sums) for compute, sums in ((1.0, 0.5), (2.0, 0.1), (0.1, 3.0))]
        self.assertAlmostEqual(model.fit_factor(steps), 2.5)


class Drawing(unittest.TestCase):
    def test_a_row_for_each_experiment_network_and_scaling(self):
        class Measured:
            cases = {"some": (4, Shares.MEASURED)}
            processor = FREE
        rows = drawing.table(Measured).splitlines()[2:]
        self.assertEqual(len(rows), 4)
        self.assertIn("| some | 4 | 0.0 | 5000.0 | 10 Gbit/s | strong |", rows[0])
        self.assertTrue(rows[0].endswith("| - | - | - | - |"))  # a batch of 4 has no work for 8
        self.assertEqual(math.ceil(math.log2(max(drawing.MACHINES))), 10)


unittest.main()
