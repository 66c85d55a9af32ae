#pragma once
// The records of a sequence observer (layers/recurrent/fused/sequence_record.h), for a fused model and its composed
// twin.

#include <map>

#include "core/listener.h"
#include "layers/recurrent/fused/sequence_record.h"
#include "tests/check.h"

namespace lamina::test {

using Records = std::map<std::string, SequenceRecord>;

/// The records of every layer while `run` computes a loss and its gradients.
inline Records records_of(const std::function<void()>& run) {
  struct Watcher final : TapeListener, SequenceObserver {
    SequenceRecord* record_of(const std::string& layer) override { return &records[layer]; }
    Records records;
  };
  Watcher watcher;
  const Listening listening(watcher);
  run();
  return watcher.records;
}

/// Both have the same numbers, none of them zero, for the given numbers of steps and layers.
inline void check_same_records(const Records& ours, const Records& twins, size_t layers, size_t steps) {
  REQUIRE(ours.size() == layers);
  REQUIRE(twins.size() == layers);
  for (const auto& [name, record] : ours) {
    const std::string& layer = name;
    for (const auto numbers : {&SequenceRecord::hidden_norm, &SequenceRecord::hidden_gradient_norm,
                               &SequenceRecord::summed_input_mean, &SequenceRecord::summed_input_deviation}) {
      const std::vector<double>&mine = record.*numbers, &twin = twins.at(layer).*numbers;
      REQUIRE(mine.size() == steps);
      REQUIRE(twin.size() == steps);
      for (size_t t = 0; t < steps; ++t) {
        CAPTURE(text(layer, " ", t));
        CHECK(mine[t] != 0);
        CHECK(mine[t] == doctest::Approx(twin[t]).epsilon(sizeof(real) == 8 ? 1e-11 : 1e-3));
      }
    }
  }
}

}  // namespace lamina::test
