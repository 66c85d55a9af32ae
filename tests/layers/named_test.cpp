// Errors about shapes name the layer.

#include "layers/named.h"

#include "layers/conv2d.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/norms/batch_norm.h"
#include "layers/norms/group_norm.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/variants/dyt.h"
#include "layers/norms/variants/parameter_free_norm.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("layers: an error about shapes names the layer") {
  Parameters parameters(1);
  const Tensor x = sample({4, 3}, 1);
  const std::string linear = ": [4 x 3] * [5 x 2]: the input's last size must be the weight's first";
  CHECK_ERROR(Linear(parameters, "hidden1", {.input = 5, .output = 2})(x), "linear 'hidden1'" + linear);
  CHECK(contains(
      error_of([&] { Linear(parameters, "hidden2", {.input = 5, .output = 2, .weights = Norm::weight})(x); }),
      "weight_norm_linear 'hidden2': input [4 x 3]"));
  CHECK_ERROR(LayerNorm(parameters, "norm1", {.features = 5})(x),
              "layer_norm 'norm1': the gain is [5], the input [4 x 3]; it must be [3]");
  CHECK_ERROR(RmsNorm(parameters, "norm2", {.features = 5})(x),
              "rms_norm 'norm2': the gain is [5], the input [4 x 3]; it must be [3]");
  CHECK_ERROR(ParameterFreeNorm("norm5", {.features = 5})(x),
              "layer_norm_simple 'norm5': the input is [4 x 3]; rows of 5 are needed");
  CHECK_ERROR(DyT(parameters, "norm6", {.features = 5})(x),
              "dyt 'norm6': the gain is [5], the input [4 x 3]; it must be [3]");
  CHECK_ERROR(
      BatchNorm(parameters, "norm3", {.features = 5})(x, Mode::train),
      "batch_norm 'norm3': input [4 x 3], gain [5], bias [5]; gain and bias must have the input's last size");
  CHECK_ERROR(GroupNorm(parameters, "norm4", {5}, {})(x),
              "group_norm 'norm4': input [4 x 3], gain [5], bias [5]; both must be [3] or both [1 x 1 x 3]");
  CHECK_ERROR(Embedding(parameters, "words", {.entries = 5, .width = 2})(std::vector<int>{5}),
              "gather 'words': index 5 is outside the table of 5 rows");
  CHECK_ERROR(Linear(parameters, "hidden3", {.input = 5, .output = 2})(Tensor()),
              "linear 'hidden3': a tensor is an empty handle; give it values first, as Tensor::zeros({2, 3}) "
              "has them");
}

TEST_CASE("layers: where the other image layout is the likely reason, the error says so") {
  Parameters parameters(1);
  const Conv2d layer(parameters, "filters", {.input = 3, .output = 2, .kernel = 1});
  const std::string remedy =
      "; these look like [N x C x H x W], which channels_last() turns into [N x H x W x C]";
  CHECK_ERROR(
      layer(sample({2, 3, 8, 9}, 1)),
      "conv2d 'filters': images [2 x 3 x 8 x 9] have 9 channels, the weight [1 x 1 x 3 x 2] is for 3" +
          remedy);
  CHECK_ERROR(
      layer(sample({2, 4, 8, 9}, 1)),
      "conv2d 'filters': images [2 x 4 x 8 x 9] have 9 channels, the weight [1 x 1 x 3 x 2] is for 3");
  CHECK(layer(channels_last(sample({2, 3, 8, 9}, 1))).shape() == Shape{2, 8, 9, 2});
  BatchNorm norm(parameters, "norm", {.features = 3});
  CHECK(contains(error_of([&] { norm(sample({2, 3, 8, 9}, 1), Mode::train); }), remedy));
  CHECK(contains(error_of([&] { norm(sample({2, 3, 8, 9}, 1), Mode::evaluate); }), remedy));
  CHECK(contains(error_of([&] {
                   GroupNorm(parameters, "group", {3}, {})(sample({2, 3, 8, 9}, 1));
                 }),
                 remedy));
}

TEST_CASE("layers: other kinds of errors keep their kind and their text") {
  const auto kind = [](const auto& action) {
    try {
      in_layer("name", action);
    } catch (const DataError& error) {
      return std::string("data ") + error.what();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(kind([] { fail<DataError>("file: broken"); }) == "data file: broken");
  CHECK(kind([] { fail("op: wrong"); }) == "op 'name': wrong");
  CHECK(kind([] { fail("op 'inner': wrong"); }) == "op 'inner': wrong");
  CHECK(kind([] { fail("wrong"); }) == "wrong");
}
