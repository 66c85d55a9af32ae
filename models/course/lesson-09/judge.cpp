// Judges the exercises of lesson 9.
#include "../judge.h"

#include <limits>

#include "exercises.h"
using namespace lamina;
using course::compare, course::numbers;

namespace {

Tensor sample(const Shape& shape, std::uint64_t seed) { return normal(1)(shape, Random(seed)); }

std::string judge_attend() {
  const size_t queries = 5, keys = 6, d = 9, width = 3;
  const Tensor q = sample({queries, d}, 1), k = sample({keys, d}, 2), v = sample({keys, width}, 3);
  const Tensor mask = sample({queries, keys}, 4), products = matmul(q, transpose(k));
  const auto of_scores = [&](const Tensor& s) { return numbers(matmul(softmax(s), v)); };
  const Tensor yours = attend(q, k, v, mask), right = softmax(products / 3 + mask);
  if (course::equal(numbers(yours), numbers(right)))
    return "your result is the shares; they weigh the values";
  return compare(
      "result", numbers(yours), of_scores(products / 3 + mask),
      {{of_scores(products + mask), "your scores are not divided by sqrt(d)"},
       {of_scores(products / 9 + mask), "your scores are divided by d; it must be its root"},
       {of_scores(products / std::sqrt(real(keys)) + mask),
        "your scores are divided by the root of the number of keys; it must be that of d, the columns of q"},
       {numbers(matmul(softmax(products / 3 + mask, 0), v)),
        "your softmax runs over the queries: a column must not add up to 1, but each query's row"},
       {of_scores(products / 3), "your scores lack the mask"},
       {of_scores((products + mask) / 3),
        "your mask is divided by sqrt(d), too; it is added to the scores after that"},
       {numbers(matmul(softmax(products / 3) + mask, v)),
        "your mask is added to the shares; it must be added to the scores, before the softmax"},
       {numbers(matmul(products / 3 + mask, v)),
        "your values are weighed by the scores: the softmax is missing"}});
}

std::string judge_causal_mask(size_t queries, size_t keys) {
  const Tensor yours = causal_mask(queries, keys);
  if (yours.size() != queries * keys)
    return compare("mask", numbers(yours), numbers(Tensor::zeros({queries, keys})));
  const auto hides_as = [&](const std::function<bool(size_t i, size_t j)>& hides) {
    for (size_t i = 0; i < queries; ++i)
      for (size_t j = 0; j < keys; ++j)
        if ((yours.at(i, j) != 0) != hides(i, j)) return false;
    return true;
  };
  const size_t more = keys - queries;
  bool infinite = true;  // the numbers that hide
  for (const real number : numbers(yours)) {
    if (std::isnan(number)) return "your mask has numbers that are NaN";
    if (number == std::numeric_limits<real>::infinity())
      return "your mask has +infinity where keys are hidden: those would get everything";
    if (number != 0 && std::isfinite(number)) infinite = false;
  }
  if (hides_as([](size_t, size_t) { return false; })) return "your mask is not written yet: it hides nothing";
  const bool right = hides_as([&](size_t i, size_t j) { return j > i + more; });
  if (right && !infinite)
    return "your mask has finite numbers where keys are hidden: a large score still gets through";
  if (right) return "";
  if (!infinite && hides_as([&](size_t i, size_t j) { return j <= i + more; }))
    return "your mask says 1 where the key is seen and 0 elsewhere; it is added to the scores: 0 and "
           "-infinity";
  if (hides_as([&](size_t i, size_t j) { return j < i + more; }))
    return "your mask hides the past and shows the future";
  if (hides_as([&](size_t i, size_t j) { return j >= i + more; }))
    return "your mask hides a query's own position: every query sees itself";
  if (hides_as([](size_t i, size_t j) { return j > i; }))
    return "your mask takes the first query for the first position; the last query stands at the last key";
  if (hides_as([&](size_t i, size_t j) { return j > i + more + 1; }))
    return "your mask shows the key after each query's own position";
  for (size_t i = 0; i < queries; ++i)
    for (size_t j = 0; j < keys; ++j)
      if ((yours.at(i, j) != 0) != (j > i + more))
        return text("your mask for ", queries, " queries and ", keys, " keys ",
                    j > i + more ? "shows" : "hides", " key ", j, " to query ", i);
  return "";
}

/// The gradients that the library computes.
AttentionGradients gradients_of(const Tensor& q_values, const Tensor& k_values, const Tensor& v_values,
                                const Tensor& dy) {
  Tensor q = q_values.copy(), k = k_values.copy(), v = v_values.copy();
  for (Tensor* const x : {&q, &k, &v}) x->require_gradient();
  const auto head = [](const Tensor& x) { return x.reshape({1, x.rows(), 1, x.columns()}); };
  Tape tape;
  tape.backward(attention(head(q), head(k), head(v)), head(dy));
  return {q.gradient(), k.gradient(), v.gradient()};
}

std::string judge_attend_backward() {
  const size_t size = 5,
               d = 7;  // as many keys as queries, and v as wide as k: what is transposed can be named
  const Tensor q = sample({size, d}, 5), k = sample({size, d}, 6), v = sample({size, d}, 7),
               dy = sample({size, d}, 8);
  const AttentionGradients yours = attend_backward(q, k, v, dy);

  const real scale = 1 / std::sqrt(real(d));
  const Tensor p = softmax(scale * matmul(q, transpose(k))), dp = matmul(dy, transpose(v));
  const Tensor ds = p * (dp - sum_columns(p * dp));
  const Tensor dk_products = matmul(transpose(ds), q), dq_products = matmul(ds, k);
  const std::vector<std::pair<Tensor, std::string>> wrong_ds = {
      {dp, "is d(p): the softmax's derivative is missing"},
      {p * dp, "takes softmax's denominator for a constant: it lacks the sum over the keys"},
      {p * (1 - p) * dp, "has p (1 - p) alone: a score also lowers the shares of the other keys"},
      {dp - sum_columns(p * dp), "lacks the factor p in front"},
      {p * (dp - sum_columns(dp)), "lacks the shares in its sum: it is of p times d(p)"},
      {p * (dp - mean_columns(p * dp)), "has the mean over the keys where the sum belongs"},
      {p * (dp - sum_rows(p * dp)),
       "sums over the queries; each query has a softmax of its own, over the keys"},
      {p * (dp - sum(p * dp)), "sums over all queries together; each has a softmax of its own"}};
  std::vector<course::Mistake> of_q = {
      {numbers(dq_products), "your d(q) lacks the scale 1 / sqrt(d)"},
      {numbers(scale * matmul(transpose(ds), k)), "your d(q) has the transpose of d(s)"},
      {numbers(scale * matmul(ds, q)), "your d(q) has q where k belongs"}};
  std::vector<course::Mistake> of_k = {
      {numbers(dk_products), "your d(k) lacks the scale 1 / sqrt(d)"},
      {numbers(scale * matmul(ds, q)), "your d(k) has d(s) where its transpose belongs"},
      {numbers(scale * matmul(transpose(ds), k)), "your d(k) has k where q belongs"}};
  for (const auto& [wrong, what] : wrong_ds) {
    of_q.push_back({numbers(scale * matmul(wrong, k)), "your d(s) " + what});
    of_k.push_back({numbers(scale * matmul(transpose(wrong), q)), "your d(s) " + what});
  }

  const AttentionGradients right = gradients_of(q, k, v, dy);
  std::string wrong =
      compare("d(v)", numbers(yours.dv), numbers(right.dv),
              {{numbers(matmul(p, dy)), "your d(v) has P where its transpose belongs"},
               {numbers(dy), "your d(v) is dy: value j reaches query i with the share p_ij"}});
  if (wrong.empty()) wrong = compare("d(q)", numbers(yours.dq), numbers(right.dq), of_q);
  if (wrong.empty()) wrong = compare("d(k)", numbers(yours.dk), numbers(right.dk), of_k);
  if (!wrong.empty()) return wrong;

  const Tensor fewer = q.slice(0, 3), dy_fewer = dy.slice(0, 3);
  const AttentionGradients others = attend_backward(fewer, k, v, dy_fewer),
                           right_others = gradients_of(fewer, k, v, dy_fewer);
  const bool both = course::equal(numbers(others.dq), numbers(right_others.dq)) &&
                    course::equal(numbers(others.dk), numbers(right_others.dk)) &&
                    course::equal(numbers(others.dv), numbers(right_others.dv));
  return both ? "" : "your gradients are right for as many queries as keys, not for fewer";
}

/// A layer norm with gain and bias of its own, and two parts that are easy to tell apart.
struct Block {
  Tensor x = sample({4, 6}, 9), gain1 = sample({6}, 10), gain2 = sample({6}, 11), bias1 = sample({6}, 12);
  Tensor bias2 = sample({6}, 13), mixing = softmax(sample({4, 4}, 14)), weight = sample({6, 6}, 15);
  Parts parts = {[this](const Tensor& a) { return layer_norm(a, gain1, bias1); },
                 [this](const Tensor& a) { return matmul(mixing, a); },
                 [this](const Tensor& a) { return layer_norm(a, gain2, bias2); },
                 [this](const Tensor& a) { return gelu(matmul(a, weight)); }};
  Tensor pre() const {
    const Tensor h = x + parts.attention(parts.attention_norm(x));
    return h + parts.feed_forward(parts.feed_forward_norm(h));
  }
  Tensor post() const {
    const Tensor h = parts.attention_norm(x + parts.attention(x));
    return parts.feed_forward_norm(h + parts.feed_forward(h));
  }
  Tensor norms_of_results() const {
    const Tensor h = x + parts.attention_norm(parts.attention(x));
    return h + parts.feed_forward_norm(parts.feed_forward(h));
  }
};

std::string judge_pre_ln_block() {
  const Block block;
  const auto& [norm1, attention, norm2, feed_forward] = block.parts;
  const Tensor& x = block.x;
  const Tensor h = x + attention(norm1(x)), bare = x + attention(x), n = norm1(x),
               m = norm2(n + attention(n));
  return compare(
      "result", numbers(pre_ln_block(x, block.parts)), numbers(block.pre()),
      {{numbers(block.post()), "your pre-LN block is a post-LN block: it normalizes the stream"},
       {numbers(feed_forward(norm2(attention(norm1(x))))),
        "your pre-LN block lacks the stream: what a part computes is added to x"},
       {numbers(m + feed_forward(m)),
        "your pre-LN block adds its parts to the normalized stream; norms stand in the branches alone"},
       {numbers(block.norms_of_results()),
        "your pre-LN block normalizes what its parts return; it must normalize what they read"},
       {numbers(h + feed_forward(norm2(x))),
        "in your pre-LN block the feed-forward part reads x; it must read the stream after attention"},
       {numbers(x + feed_forward(norm2(h))), "your pre-LN block loses what attention has added"},
       {numbers(h + feed_forward(norm1(h))), "your pre-LN block uses attention's norm twice"},
       {numbers(bare + feed_forward(bare)), "your pre-LN block lacks the norms"}});
}

std::string judge_post_ln_block() {
  const Block block;
  const auto& [norm1, attention, norm2, feed_forward] = block.parts;
  const Tensor& x = block.x;
  const Tensor bare = x + attention(x);
  return compare(
      "result", numbers(post_ln_block(x, block.parts)), numbers(block.post()),
      {{numbers(block.pre()), "your post-LN block is a pre-LN block: its norms stand in the branches"},
       {numbers(norm2(feed_forward(norm1(attention(x))))),
        "your post-LN block lacks the stream: what a part computes is added to what it has read"},
       {numbers(block.norms_of_results()),
        "your post-LN block normalizes the parts' results alone; the sum must be normalized"},
       {numbers(norm2(bare + feed_forward(bare))),
        "your post-LN block normalizes once, at its end; each part has its norm"}});
}

}  // namespace

int main() {
  course::exercise("attend", judge_attend);
  course::exercise("causal_mask", [] {
    const std::string wrong = judge_causal_mask(3, 5);
    return wrong.empty() ? judge_causal_mask(4, 4) : wrong;
  });
  course::exercise("attend_backward", judge_attend_backward);
  course::exercise("pre_ln_block", judge_pre_ln_block);
  course::exercise("post_ln_block", judge_post_ln_block);
  return course::verdict();
}
