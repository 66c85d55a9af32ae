#include "layers/recurrent/fused/sequence_record.h"

#include <cmath>

#include "core/listener.h"

namespace lamina {

namespace {

// Sums of squares are in double: those of floats overflow beyond 1e19 and underflow below 1e-19, which states, summed
// inputs and gradients over many steps do reach.

/// norm2
real length(const real* vector, size_t size) {
  double total = 0;
  for (size_t i = 0; i < size; ++i) total += static_cast<double>(vector[i]) * static_cast<double>(vector[i]);
  return static_cast<real>(std::sqrt(total));
}

}  // namespace

SequenceRecord* record_for(SequenceRecord* given, const std::string& layer, size_t steps) {
  SequenceRecord* record = given;
  if (record == nullptr)
    if (auto* const observer = dynamic_cast<SequenceObserver*>(TapeListener::current()))
      record = observer->record_of(layer);
  if (record == nullptr) return nullptr;
  for (auto* const each : {&record->hidden_norm, &record->hidden_gradient_norm, &record->summed_input_mean,
                           &record->summed_input_deviation})
    each->assign(steps, std::nan(""));
  return record;
}

CaseRecord::CaseRecord(SequenceRecord* record, size_t begin, size_t steps, size_t rows)
    : record_(record), begin_(begin), rows_(rows) {
  if (wanted()) values_ = Tensor::zeros({steps, rows, size_t{numbers}});
}

void CaseRecord::summed_inputs(size_t t, size_t row, const real* x, size_t size, const real* h,
                               size_t hidden_size) {
  const size_t direct = size - hidden_size;
  const auto input = [=](size_t k) {
    return static_cast<double>(x[k]) + (k < direct ? 0 : static_cast<double>(h[k - direct]));
  };
  const auto count = static_cast<double>(size);
  double center = 0, squares = 0;
  for (size_t k = 0; k < size; ++k) center += input(k) / count;
  for (size_t k = 0; k < size; ++k) squares += (input(k) - center) * (input(k) - center);
  at(t, row, input_mean) = static_cast<real>(center);
  at(t, row, input_deviation) = static_cast<real>(std::sqrt(squares / count));
}

void CaseRecord::hidden(size_t t, size_t row, const real* h, size_t size) {
  at(t, row, state) = length(h, size);
}

void CaseRecord::hidden_gradient(size_t t, size_t row, const real* dh, size_t size) {
  at(t, row, gradient) = length(dh, size);
}

void CaseRecord::finish_forward(size_t t, const real* mask) const {
  record_->summed_input_mean[begin_ + t] = mean_of(input_mean, t, mask);
  record_->summed_input_deviation[begin_ + t] = mean_of(input_deviation, t, mask);
  record_->hidden_norm[begin_ + t] = mean_of(state, t, mask);
}

void CaseRecord::finish_backward(size_t t, const real* mask) const {
  record_->hidden_gradient_norm[begin_ + t] = mean_of(gradient, t, mask);
}

double CaseRecord::mean_of(Number which, size_t t, const real* mask) const {
  double total = 0, cases = 0;
  for (size_t r = 0; r < rows_; ++r) {
    if (mask != nullptr && mask[r] == 0) continue;
    total += static_cast<double>(values_[(t * rows_ + r) * numbers + which]);
    cases += 1;
  }
  return cases > 0 ? total / cases : std::nan("");
}

}  // namespace lamina
