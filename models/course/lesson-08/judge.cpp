// Judges the exercises of lesson 8.
#include "../judge.h"

#include "exercises.h"
using namespace lamina;
using course::compare, course::numbers, course::Numbers;

namespace {

Tensor sample(const Shape& shape, std::uint64_t seed) { return normal(1)(shape, Random(seed)); }

// --- Back-propagation through time

struct Problem {
  Tensor x = sample({4, 3, 2}, 1), w_x = sample({2, 3}, 2), w_h = sample({3, 3}, 3), b = sample({3}, 4);
  Tensor dh = sample({4, 3, 3}, 5);

  std::vector<Tensor> forward() const {
    std::vector<Tensor> h;
    for (size_t t = 0; t < 4; ++t) {
      const Tensor a = matmul(x.step(t), w_x) + b;
      h.push_back(tanh(t == 0 ? a : a + matmul(h[t - 1], w_h)));
    }
    return h;
  }
};

/// Which steps of the formula a mistaken version gets wrong.
struct Wrong {
  bool back = false, slope = false, slope_of_later = false, transpose = false, time = false, sum = false;
  bool tanh_again = false, before_tanh = false;
};

RnnGradients backward(const Problem& p, const Wrong& wrong) {
  const std::vector<Tensor> h = p.forward();
  RnnGradients d = {Tensor::zeros({2, 3}), Tensor::zeros({3, 3}), Tensor::zeros({3})};
  Tensor later = Tensor::zeros({3, 3});
  for (size_t t = 4; t-- > 0;) {
    const Tensor slope = 1 - square(wrong.tanh_again ? tanh(h[t]) : h[t]);
    const Tensor before_tanh = p.dh.step(t) + later;
    const Tensor delta = wrong.slope            ? p.dh.step(t) + later
                         : wrong.slope_of_later ? p.dh.step(t) * slope + later
                                                : (p.dh.step(t) + later) * slope;
    const Tensor w_x = matmul(p.x.step(t), delta, {.a = Transpose::yes});
    d.w_x = wrong.sum ? w_x : d.w_x + w_x;
    if (wrong.time || t > 0) d.w_h = d.w_h + matmul(h[wrong.time ? t : t - 1], delta, {.a = Transpose::yes});
    d.b = d.b + sum_rows(delta);
    if (!wrong.back)
      later = matmul(wrong.before_tanh ? before_tanh : delta, p.w_h,
                     {.b = wrong.transpose ? Transpose::no : Transpose::yes});
  }
  return d;
}

std::string judge_rnn_backward() {
  Problem p;
  RnnGradients yours;
  try {
    yours = rnn_backward(p.x, stack(p.forward()), p.w_h, p.dh);
  } catch (const Error& error) {
    if (std::string(error.what()).find("outside the leading axis") == std::string::npos) throw;
    return "your code reads a step that does not exist: before step 0 the state is 0, and W_h gets nothing "
           "from it";
  }
  Tape tape;
  for (Tensor* const w : {&p.w_x, &p.w_h, &p.b}) w->require_gradient();
  tape.backward(sum(stack(p.forward()) * p.dh));
  const Tape::Pause pause;

  // The sum of the bias depends on delta alone.
  std::string wrong = compare(
      "d(b)", numbers(yours.b), numbers(p.b.gradient()),
      {{numbers(backward(p, {.back = true}).b),
        "your gradient does not go back in time: what h_t does to step t + 1 is missing"},
       {numbers(backward(p, {.slope = true}).b), "your delta lacks the derivative of tanh, 1 - h_t^2"},
       {numbers(backward(p, {.slope_of_later = true}).b),
        "only what comes from the output has your derivative of tanh: what comes from step t + 1 needs it, "
        "too"},
       {numbers(backward(p, {.transpose = true}).b),
        "your gradient goes back through W_h: it must be its transpose"},
       {numbers(backward(p, {.tanh_again = true}).b),
        "you take the tanh of h_t: it is the tanh of a_t already, and its derivative 1 - h_t^2"},
       {numbers(backward(p, {.before_tanh = true}).b),
        "you send dL/dh_t back through W_h: it must be delta, behind the derivative of tanh"}});
  if (wrong.empty())
    wrong = compare("d(W_h)", numbers(yours.w_h), numbers(p.w_h.gradient()),
                    {{numbers(backward(p, {.time = true}).w_h),
                      "your d(W_h) is made from h_t: what W_h multiplied is h_{t-1}"},
                     {numbers(transpose(p.w_h.gradient())),
                      "your d(W_h) is transposed: the state stands first, h_{t-1}^T delta"}});
  if (wrong.empty())
    wrong =
        compare("d(W_x)", numbers(yours.w_x), numbers(p.w_x.gradient()),
                {{numbers(backward(p, {.sum = true}).w_x),
                  "your d(W_x) keeps the last step that was added: all steps share W_x, so they add up"}});
  return wrong;
}

// --- A step of an LSTM

constexpr size_t hidden = 5;

Tensor gate(const Tensor& all, size_t k) { return slice(all, -1, k * hidden, (k + 1) * hidden); }

Tensor normalized_by_gate(const Tensor& a) {
  std::vector<Tensor> gates;
  for (size_t k = 0; k < 4; ++k) gates.push_back(normalized(gate(a, k)));
  return concatenate(gates, -1);
}

/// h' and c', one after the other, from the summed inputs (f, i, o, g).
Numbers state_of(const Tensor& a, const Tensor& c_before) {
  const Tensor c = sigmoid(gate(a, 0)) * c_before + sigmoid(gate(a, 1)) * tanh(gate(a, 3));
  return numbers(concatenate({sigmoid(gate(a, 2)) * tanh(normalized(c)), c}, 0));
}

std::string judge_lstm_step() {
  const Tensor x = sample({3, 4}, 1), w_x = sample({4, 4 * hidden}, 2), b = sample({4 * hidden}, 5);
  const Tensor w_h = sample({hidden, 4 * hidden}, 3) * 3;
  const RecurrentState before = {.h = sample({3, hidden}, 6), .c = sample({3, hidden}, 7)};
  const RecurrentState yours = lstm_step(x, before, w_x, w_h, b);
  const Tensor from_h = matmul(before.h, w_h), from_x = matmul(x, w_x);
  const Tensor a = normalized(from_h) + normalized(from_x) + b;
  const Tensor f = sigmoid(gate(a, 0)), i = sigmoid(gate(a, 1)), o = sigmoid(gate(a, 2)), g = gate(a, 3);
  const Tensor c = f * before.c + i * tanh(g);
  const auto state = [](const Tensor& h_after, const Tensor& c_after) {
    return numbers(concatenate({h_after, c_after}, 0));
  };
  const Tensor exchanged = i * before.c + f * tanh(g), rising = f * before.c + i * sigmoid(g);
  const Tensor other_order = f * before.c + i * tanh(gate(a, 2)), straight = f * before.c + i * g;
  const Tensor open = gate(a, 0) * before.c + gate(a, 1) * tanh(g);
  return compare(
      "state", state(yours.h, yours.c), state_of(a, before.c),
      {{state_of(normalized(from_h + from_x) + b, before.c),
        "you normalize the sum of both products: each of them has a mu and a sigma of its own"},
       {state_of(normalized_by_gate(from_h) + normalized_by_gate(from_x) + b, before.c),
        "you normalize every gate by itself: mu and sigma are those of all four together"},
       {state_of(normalized(from_h) + normalized(from_x + b), before.c),
        "your b is normalized away in part: add it behind the norm"},
       {state_of(from_h + from_x + b, before.c), "your summed inputs lack the norms"},
       {state_of(normalized(from_h) + normalized(from_x), before.c), "your b is missing"},
       {state(o * tanh(normalized(exchanged)), exchanged), "your f and i are exchanged: f is gate 0"},
       {state(o * tanh(normalized(rising)), rising),
        "your g is between 0 and 1: it is a tanh, so that c can also fall"},
       {state(o * tanh(normalized(c)), normalized(c)),
        "your c is carried on normalized: only h sees N(c'), c' itself stays a sum"},
       {state(o * tanh(c), c), "your h lacks the norm of c'"},
       {state(o * normalized(c), c), "your h lacks the tanh of N(c')"},
       {state(o * tanh(normalized(before.c)), c), "your h reads the c of the step before: it must be c'"},
       {state(sigmoid(g) * tanh(normalized(other_order)), other_order),
        "your o and g are exchanged: o is gate 2, g is gate 3"},
       {state(o * tanh(normalized(straight)), straight), "your c' lacks the tanh of g"},
       {state(gate(a, 2) * tanh(normalized(open)), open), "your f, i and o lack the sigmoid"}});
}

// --- Clipping

using Gradients = std::vector<Numbers>;

/// Length 13 together, 5 and 12 apart.
const Gradients long_ones = {{3, -4}, {12}};

/// What the exercise makes of the gradients: all of them, then the length that it returns.
Numbers clipped(Gradients gradients, double limit) {
  const double length = clip_gradients(gradients, limit);
  Numbers all;
  for (const Numbers& g : gradients) all.insert(all.end(), g.begin(), g.end());
  all.push_back(length);
  return all;
}

std::string judge_clip_gradients() {
  const Numbers yours = clipped(long_ones, 6.5), right = {1.5, -2, 6, 13};
  if (yours == Numbers{3, -4, 12, 0}) return "your gradients are not clipped yet, and the length is 0";
  std::string wrong =
      compare("gradients and length", yours, right,
              {{{3, -4, 6.5, 13}, "you clip each gradient by itself: that changes the common direction"},
               {{3 * 6.5 / 169, -4 * 6.5 / 169, 12 * 6.5 / 169, 169},
                "your length is a sum of squares: take its root"},
               {{3, -4, 12, 13}, "your length is right, but long gradients stay long"},
               {{1.5, -2, 6, 6.5}, "your gradients are right; return the length that they had before"},
               {{3 / 13.0, -4 / 13.0, 12 / 13.0, 13}, "you make the length 1: it must become the limit"}});
  if (wrong.empty() || yours == Numbers{3, -4, 6.5, 13}) {
    if (clipped({{7, -7}, {1}}, 5) == Numbers{5, -5, 1, std::sqrt(99)})
      return "you clip single numbers: that changes the direction";
  }
  if (!wrong.empty()) return wrong;
  // Between the longest part and the common length.
  wrong = compare(
      "gradients and length", clipped(long_ones, 12.5), {3 * 12.5 / 13, -4 * 12.5 / 13, 12 * 12.5 / 13, 13},
      {{{3, -4, 12, 13}, "you compare each gradient's own length with the limit: it is the common length"}});
  if (!wrong.empty()) return wrong;
  return compare("short gradients and length", clipped(long_ones, 26), {3, -4, 12, 13},
                 {{{6, -8, 24, 13}, "you make a short gradient longer: below the limit nothing changes"}});
}

// --- Drawing

/// The shares of the letters, over numbers u from 0 to 1.
Numbers shares(const Numbers& logits, double temperature) {
  constexpr int draws = 4000;
  Numbers result(logits.size(), 0);
  for (int n = 0; n < draws; ++n) {
    const int letter = draw_letter(logits, temperature, (n + 0.5) / draws);
    if (letter == -1) fail("your letter is -1: it is not written yet");
    if (letter < 0 || letter >= int(logits.size()))
      fail("your letter is ", letter, "; there are numbers 0 to ", logits.size() - 1,
           ": the letter is the one whose share makes the sum pass u, not the next");
    result[size_t(letter)] += 1.0 / draws;
  }
  return result;
}

Numbers softmax_of(const Numbers& logits, double factor) {
  Numbers result;
  double total = 0;
  for (const double l : logits) result.push_back(std::exp(l * factor)), total += result.back();
  return course::times(1 / total, result);
}

std::string judge_draw_letter() {
  const Numbers logits = {1, 3, 2, 2.5, -1};
  const std::string wrong =
      compare("shares", shares(logits, 2), softmax_of(logits, 0.5),
              {{{0, 1, 0, 0, 0}, "you always take the likeliest letter: draw, or the text repeats itself"},
               {softmax_of(logits, 1), "your shares do not depend on the temperature"},
               {softmax_of(logits, 2),
                "you multiply by the temperature: a high one must make the shares more equal"}},
              0.003);
  if (!wrong.empty()) return wrong;
  return compare(
      "shares of large logits", shares({1000, 1000 + std::log(3.0) / 2, 0}, 0.5), {0.25, 0.75, 0},
      {{{0, 0, 1}, "your exponentials overflow when a logit is 1000: subtract the largest logit first"},
       {{1, 0, 0}, "your exponentials overflow when a logit is 1000: subtract the largest logit first"}},
      0.003);
}

}  // namespace

int main() {
  course::exercise("rnn_backward", judge_rnn_backward);
  course::exercise("lstm_step", judge_lstm_step);
  course::exercise("clip_gradients", judge_clip_gradients);
  course::exercise("draw_letter", judge_draw_letter);
  return course::verdict();
}
