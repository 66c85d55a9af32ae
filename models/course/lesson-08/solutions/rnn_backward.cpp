// Exercise 8.1: back-propagation through time.
#include "exercises.h"
using namespace lamina;

RnnGradients rnn_backward(const Tensor& x, const Tensor& h, const Tensor& w_h, const Tensor& dh) {
  const size_t steps = x.shape()[0], inputs = x.columns(), hidden = h.columns();
  RnnGradients d = {Tensor::zeros({inputs, hidden}), Tensor::zeros({hidden, hidden}),
                    Tensor::zeros({hidden})};
  Tensor later = Tensor::zeros(h.step(0).shape());  // what comes back to h_t from step t + 1
  for (size_t t = steps; t-- > 0;) {
    // [ your code: delta = dL/d(summed inputs of step t), what it adds to d, and the next `later`;
    // | //            matmul(a, b, {.a = Transpose::yes}) is a^T b, with .b it is a b^T; sum_rows(a) adds up the rows;
    // | //            a tensor has no +=: write d.b = d.b + ...
    const Tensor delta = (dh.step(t) + later) * (1 - square(h.step(t)));
    d.w_x = d.w_x + matmul(x.step(t), delta, {.a = Transpose::yes});
    if (t > 0) d.w_h = d.w_h + matmul(h.step(t - 1), delta, {.a = Transpose::yes});
    d.b = d.b + sum_rows(delta);
    later = matmul(delta, w_h, {.b = Transpose::yes});
    // ]
    // mistake: your gradient does not go back in time: what h_t does to step t + 1 is missing
    // ~ const Tensor delta = dh.step(t) * (1 - square(h.step(t)));
    // ~ d.w_x = d.w_x + matmul(x.step(t), delta, {.a = Transpose::yes});
    // ~ if (t > 0) d.w_h = d.w_h + matmul(h.step(t - 1), delta, {.a = Transpose::yes});
    // ~ d.b = d.b + sum_rows(delta);
    // mistake: your delta lacks the derivative of tanh, 1 - h_t^2
    // ~ const Tensor delta = dh.step(t) + later;
    // ~ d.w_x = d.w_x + matmul(x.step(t), delta, {.a = Transpose::yes});
    // ~ if (t > 0) d.w_h = d.w_h + matmul(h.step(t - 1), delta, {.a = Transpose::yes});
    // ~ d.b = d.b + sum_rows(delta);
    // ~ later = matmul(delta, w_h, {.b = Transpose::yes});
    // mistake: only what comes from the output has your derivative of tanh: what comes from step t + 1 needs it, too
    // ~ const Tensor delta = dh.step(t) * (1 - square(h.step(t))) + later;
    // ~ d.w_x = d.w_x + matmul(x.step(t), delta, {.a = Transpose::yes});
    // ~ if (t > 0) d.w_h = d.w_h + matmul(h.step(t - 1), delta, {.a = Transpose::yes});
    // ~ d.b = d.b + sum_rows(delta);
    // ~ later = matmul(delta, w_h, {.b = Transpose::yes});
    // mistake: your gradient goes back through W_h: it must be its transpose
    // ~ const Tensor delta = (dh.step(t) + later) * (1 - square(h.step(t)));
    // ~ d.w_x = d.w_x + matmul(x.step(t), delta, {.a = Transpose::yes});
    // ~ if (t > 0) d.w_h = d.w_h + matmul(h.step(t - 1), delta, {.a = Transpose::yes});
    // ~ d.b = d.b + sum_rows(delta);
    // ~ later = matmul(delta, w_h);
    // mistake: your d(W_h) is made from h_t: what W_h multiplied is h_{t-1}
    // ~ const Tensor delta = (dh.step(t) + later) * (1 - square(h.step(t)));
    // ~ d.w_x = d.w_x + matmul(x.step(t), delta, {.a = Transpose::yes});
    // ~ d.w_h = d.w_h + matmul(h.step(t), delta, {.a = Transpose::yes});
    // ~ d.b = d.b + sum_rows(delta);
    // ~ later = matmul(delta, w_h, {.b = Transpose::yes});
    // mistake: your d(W_x) keeps the last step that was added: all steps share W_x, so they add up
    // ~ const Tensor delta = (dh.step(t) + later) * (1 - square(h.step(t)));
    // ~ d.w_x = matmul(x.step(t), delta, {.a = Transpose::yes});
    // ~ if (t > 0) d.w_h = d.w_h + matmul(h.step(t - 1), delta, {.a = Transpose::yes});
    // ~ d.b = d.b + sum_rows(delta);
    // ~ later = matmul(delta, w_h, {.b = Transpose::yes});
    // mistake: your code reads a step that does not exist: before step 0 the state is 0, and W_h gets nothing from it
    // ~ const Tensor delta = (dh.step(t) + later) * (1 - square(h.step(t)));
    // ~ d.w_x = d.w_x + matmul(x.step(t), delta, {.a = Transpose::yes});
    // ~ d.w_h = d.w_h + matmul(h.step(t - 1), delta, {.a = Transpose::yes});
    // ~ d.b = d.b + sum_rows(delta);
    // ~ later = matmul(delta, w_h, {.b = Transpose::yes});
    // mistake: you take the tanh of h_t: it is the tanh of a_t already, and its derivative 1 - h_t^2
    // ~ const Tensor delta = (dh.step(t) + later) * (1 - square(tanh(h.step(t))));
    // ~ d.w_x = d.w_x + matmul(x.step(t), delta, {.a = Transpose::yes});
    // ~ if (t > 0) d.w_h = d.w_h + matmul(h.step(t - 1), delta, {.a = Transpose::yes});
    // ~ d.b = d.b + sum_rows(delta);
    // ~ later = matmul(delta, w_h, {.b = Transpose::yes});
    // mistake: you send dL/dh_t back through W_h: it must be delta, behind the derivative of tanh
    // ~ const Tensor delta = (dh.step(t) + later) * (1 - square(h.step(t)));
    // ~ d.w_x = d.w_x + matmul(x.step(t), delta, {.a = Transpose::yes});
    // ~ if (t > 0) d.w_h = d.w_h + matmul(h.step(t - 1), delta, {.a = Transpose::yes});
    // ~ d.b = d.b + sum_rows(delta);
    // ~ later = matmul(dh.step(t) + later, w_h, {.b = Transpose::yes});
    // mistake: your d(W_h) is transposed: the state stands first, h_{t-1}^T delta
    // ~ const Tensor delta = (dh.step(t) + later) * (1 - square(h.step(t)));
    // ~ d.w_x = d.w_x + matmul(x.step(t), delta, {.a = Transpose::yes});
    // ~ if (t > 0) d.w_h = d.w_h + matmul(delta, h.step(t - 1), {.a = Transpose::yes});
    // ~ d.b = d.b + sum_rows(delta);
    // ~ later = matmul(delta, w_h, {.b = Transpose::yes});
  }
  return d;
}
