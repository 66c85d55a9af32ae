#include "core/ops/attention/sizes.h"

#include <cmath>

#include "core/tape.h"

namespace lamina {

namespace {

void require_lengths(const char* op, const AttentionSizes& s, const AttentionOptions& options) {
  const auto& lengths = options.lengths;
  if (!lengths.empty() && lengths.size() != s.cases)
    fail(op, ": ", lengths.size(), " lengths for ", s.cases, " cases; give one for each, or none");
  for (const int length : lengths)
    if (length < 0 || static_cast<size_t>(length) > s.keys)
      fail(op, ": length ", length, " is outside 0 to ", s.keys, ", the number of keys");
}

void require_mask(const char* op, const AttentionSizes& s, const Tensor& mask) {
  if (!mask.defined()) return;
  const Shape of_all = {s.queries, s.keys}, of_case = {s.cases, s.queries, s.keys},
              of_head = {s.cases, s.heads, s.queries, s.keys};
  if (mask.shape() != of_all && mask.shape() != of_case && mask.shape() != of_head)
    fail(op, ": the mask ", mask.shape(), " must be ", of_all, ", ", of_case, " or ", of_head);
  if (Tape::recording({&mask, 1}) != nullptr)
    fail(op, ": the mask is a constant and gets no gradient; pass its detach()");
}

AttentionSizes checked(const char* op, AttentionSizes s, const AttentionOptions& options) {
  if (!std::isfinite(options.scale)) fail(op, ": the scale ", options.scale, " is not finite");
  s.scale = options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<real>(s.width));
  require_lengths(op, s, options);
  require_mask(op, s, options.mask);
  return s;
}

}  // namespace

AttentionSizes attention_sizes(const Tensor& q, const Tensor& k, const Tensor& v,
                               const AttentionOptions& options) {
  require_values("attention", q, k, v);
  const Shape &of_q = q.shape(), &of_k = k.shape();
  if (of_q.rank() != 4 || of_k.rank() != 4 || of_q[3] == 0)
    fail("attention: queries ", of_q, " and keys ", of_k,
         "; [cases x positions x heads x width of a head] is needed");
  if (of_q != of_k.with(1, of_q[1]))
    fail("attention: queries ", of_q, " and keys ", of_k, " may differ in their second size alone");
  if (v.shape() != of_k)
    fail("attention: values ", v.shape(), " for keys ", of_k, "; they need the same shape");
  return checked("attention", {of_q[0], of_q[1], of_k[1], of_q[2], of_q[3], 0}, options);
}

AttentionSizes self_attention_sizes(const Tensor& qkv, size_t heads, const AttentionOptions& options) {
  require_values("self_attention", qkv);
  const Shape& of_all = qkv.shape();
  if (of_all.rank() != 3) fail("self_attention: ", of_all, "; [cases x positions x 3 heads d] is needed");
  if (heads == 0 || of_all[2] == 0 || of_all[2] % (3 * heads) != 0)
    fail("self_attention: the last size of ", of_all, " must be a multiple of 3 * ", heads,
         ": queries, keys and values of ", heads, " heads");
  return checked("self_attention", {of_all[0], of_all[1], of_all[1], heads, of_all[2] / (3 * heads), 0},
                 options);
}

}  // namespace lamina
