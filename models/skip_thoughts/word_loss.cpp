#include "models/skip_thoughts/word_loss.h"

#include <algorithm>
#include <cmath>

#include "core/gemm/gemm.h"
#include "core/math/exponential_sum.h"
#include "core/memory/cached_vector.h"
#include "core/ops.h"
#include "core/ops/map.h"

namespace lamina::skip_thoughts {

namespace {

// Each block reads and writes all of dW and transposes W, so there should be few blocks; 832 rows of 20,000
// logits are 67 MB.
constexpr size_t block_rows = 832;

void require_fit(std::span<const Predictions> decoders, const Tensor& weight, const Tensor& bias) {
  if (weight.shape().rank() != 2 || bias.shape() != Shape{weight.columns()})
    fail("word_loss: weight ", weight.shape(), " and bias ", bias.shape(), "; [H x V] and [V] are needed");
  size_t predicted = 0;
  for (const auto& [states, words] : decoders) {
    if (states.columns() != weight.rows() || states.rows() != words.size())
      fail("word_loss: ", words.size(), " words for states ", states.shape(), " and a weight ",
           weight.shape(), "; one a state of ", weight.rows(), " units is needed");
    for (const int word : words) {
      if (word != no_word && (word < 0 || static_cast<size_t>(word) >= weight.columns()))
        fail("word_loss: word ", word, " is outside the vocabulary of ", weight.columns());
      predicted += word != no_word;
    }
  }
  if (predicted == 0) fail("word_loss: there is no word to predict");
}

/// The states that predict a word, of all decoders one after another.
struct Predicting {
  const real* state;
  size_t word;
};

CachedVector<Predicting> predicting_states(std::span<const Predictions> decoders) {
  CachedVector<Predicting> chosen;
  for (const auto& [states, words] : decoders)
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] != no_word)
        chosen.push_back({states.data() + i * states.columns(), static_cast<size_t>(words[i])});
  return chosen;
}

/// -log softmax(x)_word; leaves e^(x - largest) in x, and also returns the factor that turns it into the
/// softmax.
std::pair<real, real> loss_of_row(real* x, size_t count, size_t word) {
  const real own = x[word];
  const ExponentialSum sum = exponential_sum(x, count, [=](size_t i, real e) { x[i] = e; });
  return {-sum.log_share(own), 1 / sum.total};
}

/// What forward keeps for backward: gradients for dL = 1.
struct Gradients {
  Tensor states, weight, bias;  ///< [predicted x H], [H x V], [V]
};

/// dL/dstates += g d, where states that predict nothing get zeros.
void contribute_states(const Predictions& decoder, const real* d, real upstream) {
  const GradientSink sink = decoder.states.gradient_sink();
  const size_t width = decoder.states.columns();
  for (size_t i = 0; i < decoder.words.size(); ++i) {
    real* const to = sink.values + i * width;
    if (decoder.words[i] == no_word) {
      if (!sink.add) std::fill_n(to, width, real{0});
      continue;
    }
#pragma omp simd
    for (size_t j = 0; j < width; ++j) to[j] = (sink.add ? to[j] : 0) + upstream * d[j];
    d += width;
  }
}

/// Processes one block after another: the losses of its rows and, if needed, their contributions to the
/// gradients.
class Blocks {
 public:
  Blocks(const Tensor& weight, const Tensor& bias, size_t predicted, Gradients* gradients)
      : weight_(weight),
        bias_(bias),
        scale_(1 / static_cast<real>(predicted)),
        gradients_(gradients),
        states_({std::min(block_rows, predicted), weight.rows()}),
        logits_({states_.rows(), weight.columns()}),
        losses_({states_.rows()}) {}

  /// The sum of the losses of these rows, the first of which is number `first` of all.
  double run(std::span<const Predicting> rows, size_t first) {
    const size_t width = weight_.rows(), vocabulary = weight_.columns();
    for (size_t r = 0; r < rows.size(); ++r) std::copy_n(rows[r].state, width, states_.data() + r * width);
    gemm(rows.size(), vocabulary, width, states_.data(), width, weight_.data(), vocabulary, logits_.data(),
         vocabulary, {.bias = bias_.data()});
    parallel_for(rows.size(), grain_of(vocabulary), [&](size_t begin, size_t end) {
      for (size_t r = begin; r < end; ++r) finish_row(logits_.data() + r * vocabulary, rows[r].word, r);
    });
    if (gradients_ != nullptr) add_gradients(rows.size(), first);
    double total = 0;
    for (size_t r = 0; r < rows.size(); ++r) total += static_cast<double>(losses_[r]);
    return total;
  }

 private:
  /// dlogits = (softmax(logits) - [column = word]) / predicted, in place of the logits
  void finish_row(real* row, size_t word, size_t r) {
    const size_t vocabulary = weight_.columns();
    const auto [loss, inverse_total] = loss_of_row(row, vocabulary, word);
    losses_[r] = loss;
    if (gradients_ == nullptr) return;
    const real factor = inverse_total * scale_;
#pragma omp simd
    for (size_t i = 0; i < vocabulary; ++i) row[i] *= factor;
    row[word] -= scale_;
  }

  /// dh = dlogits W^T,  dW += h^T dlogits,  db += the sum of the rows of dlogits
  void add_gradients(size_t rows, size_t first) {
    const size_t width = weight_.rows(), vocabulary = weight_.columns();
    const real* const dlogits = logits_.data();
    gemm(rows, width, vocabulary, dlogits, vocabulary, weight_.data(), vocabulary,
         gradients_->states.data() + first * width, width, {.b = Transpose::yes});
    gemm(width, vocabulary, rows, states_.data(), width, dlogits, vocabulary, gradients_->weight.data(),
         vocabulary, {.a = Transpose::yes, .accumulate = first > 0});
    parallel_for(
        vocabulary, grain_of(rows),
        [=, db = gradients_->bias.data()](size_t begin, size_t end) {
          if (first == 0) std::fill(db + begin, db + end, real{0});
          add_column_sums(rows, begin, end, db, [=](size_t r) {
            return [row = dlogits + r * vocabulary](size_t i) { return row[i]; };
          });
        },
        16);
  }

  const Tensor &weight_, &bias_;
  real scale_;
  Gradients* gradients_;
  Tensor states_, logits_, losses_;
};

/// A decoder's predictions with its own copy of the words.
struct Kept {
  Tensor states;
  CachedVector<int> words;
};

}  // namespace

/// Forward has computed all gradients for dL = 1; backward scales them by the incoming gradient.
Tensor word_loss(std::span<const Predictions> decoders, const Tensor& weight, const Tensor& bias) {
  require_fit(decoders, weight, bias);
  const CachedVector<Predicting> rows = predicting_states(decoders);
  CachedVector<Tensor> inputs = {weight, bias};
  for (const auto& decoder : decoders) inputs.push_back(decoder.states);
  Tape* const tape = Tape::recording(inputs);
  Gradients gradients;
  if (tape != nullptr)
    gradients = {.states = Tensor({rows.size(), weight.rows()}),
                 .weight = Tensor(weight.shape()),
                 .bias = Tensor(bias.shape())};
  double total = 0;
  {
    Blocks blocks(weight, bias, rows.size(), tape != nullptr ? &gradients : nullptr);
    for (size_t first = 0; first < rows.size(); first += block_rows)
      total += blocks.run(std::span(rows).subspan(first, std::min(block_rows, rows.size() - first)), first);
  }
  Tensor loss = Tensor::full({}, static_cast<real>(total / static_cast<double>(rows.size())));
  if (tape == nullptr) return loss;

  CachedVector<Kept> kept;
  for (const auto& [states, words] : decoders) kept.push_back({states, {words.begin(), words.end()}});
  tape->append("word_loss", std::span<const Tensor>(&loss, 1), inputs,
               [=, kept = std::move(kept), gradients = std::move(gradients)] {
                 const real upstream = *loss.gradient_data();
                 const auto scaled = [=](const Tensor& gradient) {
                   return [=, d = gradient.data()](size_t i) { return upstream * d[i]; };
                 };
                 contribute(weight, scaled(gradients.weight));
                 contribute(bias, scaled(gradients.bias));
                 const real* d = gradients.states.data();
                 for (const auto& [states, words] : kept) {
                   if (states.needs_gradient()) contribute_states({states, words}, d, upstream);
                   const auto predicted = static_cast<size_t>(
                       std::ranges::count_if(words, [](int word) { return word != no_word; }));
                   d += predicted * weight.rows();
                 }
               });
  return loss;
}

Tensor composed::word_loss(std::span<const Predictions> decoders, const Tensor& weight, const Tensor& bias) {
  std::vector<Tensor> states;
  std::vector<int> words;
  for (const auto& decoder : decoders) {
    std::vector<int> predicting;
    for (size_t i = 0; i < decoder.words.size(); ++i) {
      if (decoder.words[i] == no_word) continue;
      predicting.push_back(static_cast<int>(i));
      words.push_back(decoder.words[i]);
    }
    states.push_back(
        gather(decoder.states.reshape({decoder.words.size(), decoder.states.columns()}), predicting));
  }
  return cross_entropy(linear(concatenate(states, 0), weight, bias), words);
}

}  // namespace lamina::skip_thoughts
