// Exercise 7.3: layer norm and batch norm of maps, from primitive ops: reshape, mean, square, sqrt and + - * /.
#include "exercises.h"
using namespace lamina;

Tensor normalize_images(const Tensor& a) {
  const size_t images = a.shape()[0], channels = a.columns(), positions = a.size() / images / channels;
  // [ your code: mean(x, axis, {.keep = true}) leaves an axis of size 1 in place of the averaged one
  const Tensor x = a.reshape({images, positions * channels});
  const Tensor centred = x - mean(x, 1, {.keep = true});
  return (centred / sqrt(mean(square(centred), 1, {.keep = true}) + real(1e-5))).reshape(a.shape());
  // | return Tensor::zeros(a.shape());
  // ]
  // mistake: you average over the channels of one position: layer norm averages over all of an image
  // ~ const Tensor centred = a - mean(a, 3, {.keep = true});
  // ~ return centred / sqrt(mean(square(centred), 3, {.keep = true}) + real(1e-5));
  // mistake: you average over each channel of an image alone: that is instance norm
  // ~ const Tensor x = a.reshape({images, positions, channels});
  // ~ const Tensor centred = x - mean(x, 1, {.keep = true});
  // ~ return (centred / sqrt(mean(square(centred), 1, {.keep = true}) + real(1e-5))).reshape(a.shape());
  // mistake: you average over all images: the result for one must not depend on the others
  // ~ const Tensor centred = a - mean(a);
  // ~ return centred / sqrt(mean(square(centred)) + real(1e-5));
  // mistake: you divide by the variance: its root is missing
  // ~ const Tensor x = a.reshape({images, positions * channels});
  // ~ const Tensor centred = x - mean(x, 1, {.keep = true});
  // ~ return (centred / (mean(square(centred), 1, {.keep = true}) + real(1e-5))).reshape(a.shape());
  // mistake: you divide by sigma alone: 1e-5 is missing under the root, beside sigma^2
  // ~ const Tensor x = a.reshape({images, positions * channels});
  // ~ const Tensor centred = x - mean(x, 1, {.keep = true});
  // ~ return (centred / sqrt(mean(square(centred), 1, {.keep = true}))).reshape(a.shape());
  // mistake: you add 1e-5 to sigma: it belongs under the root, to sigma^2
  // ~ const Tensor x = a.reshape({images, positions * channels});
  // ~ const Tensor centred = x - mean(x, 1, {.keep = true});
  // ~ return (centred / (sqrt(mean(square(centred), 1, {.keep = true})) + real(1e-5))).reshape(a.shape());
}

Tensor normalize_channels(const Tensor& a) {
  // [ your code: which axes become one?
  const Tensor x = a.reshape({a.rows(), a.columns()});
  const Tensor centred = x - mean(x, 0, {.keep = true});
  return (centred / sqrt(mean(square(centred), 0, {.keep = true}) + real(1e-5))).reshape(a.shape());
  // | return Tensor::zeros(a.shape());
  // ]
  // mistake: you average over the images alone: batch norm of maps averages over their positions, too
  // ~ const Tensor centred = a - mean(a, 0, {.keep = true});
  // ~ return centred / sqrt(mean(square(centred), 0, {.keep = true}) + real(1e-5));
  // mistake: you average over each image alone: batch norm shares mu and sigma among the images
  // ~ const Tensor x = a.reshape({a.shape()[0], a.shape()[1] * a.shape()[2], a.columns()});
  // ~ const Tensor centred = x - mean(x, 1, {.keep = true});
  // ~ return (centred / sqrt(mean(square(centred), 1, {.keep = true}) + real(1e-5))).reshape(a.shape());
  // mistake: you average over all channels together: each of them has its own mu and sigma
  // ~ const Tensor centred = a - mean(a);
  // ~ return centred / sqrt(mean(square(centred)) + real(1e-5));
  // mistake: you divide by sigma alone: 1e-5 is missing under the root, beside sigma^2
  // ~ const Tensor x = a.reshape({a.rows(), a.columns()});
  // ~ const Tensor centred = x - mean(x, 0, {.keep = true});
  // ~ return (centred / sqrt(mean(square(centred), 0, {.keep = true}))).reshape(a.shape());
}
