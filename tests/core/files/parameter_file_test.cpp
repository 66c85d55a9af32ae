// Saving and loading what a model has learned.

#include "core/files/parameter_file.h"

#include "core/files/file.h"
#include "layers/linear.h"
#include "layers/norms/batch_norm.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

struct Model {
  Parameters parameters;
  Linear hidden, output;
  BatchNorm norm;

  explicit Model(std::uint64_t seed, size_t width = 4)
      : parameters(seed),
        hidden(parameters, "hidden", {.input = 3, .output = width}),
        output(parameters, "output", {.input = width, .output = 2}),
        norm(parameters, "norm", {.features = width}) {
    norm.running_mean[0] = static_cast<real>(seed);
  }

  std::vector<real> values() {
    std::vector<real> all(parameters.values().begin(), parameters.values().end());
    for (const auto& entry : parameters.state())
      all.insert(all.end(), entry.value.values().begin(), entry.value.values().end());
    return all;
  }
};

using Names = std::vector<std::string>;

/// A file with tensors of these names and shapes, of ones.
void write(const std::string& path, const std::vector<std::pair<std::string, Shape>>& tensors) {
  Checkpoint file;
  for (const auto& [name, shape] : tensors) file.tensors.push_back({name, Tensor::ones(shape)});
  save_checkpoint(path, file);
}

const std::vector<std::pair<std::string, Shape>> all_of_linear = {{"fc1.weight", {3, 4}}, {"fc1.bias", {4}}};

}  // namespace

TEST_CASE("save and load: values, state and metadata come back, of frozen parameters too") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  Model model(1), other(2);
  model.parameters.freeze("hidden");
  save(model.parameters, path, {{"epoch", "12"}});
  CHECK(model.values() != other.values());
  const Loaded loaded = load(other.parameters, path);
  CHECK(model.values() == other.values());
  CHECK(loaded.metadata.at("epoch") == "12");
  CHECK(loaded.missing.empty());
  CHECK(loaded.unexpected.empty());
  CHECK(folder.size() == 1);
  CHECK(other.parameters.frozen(0) == false);
}

TEST_CASE("load: names can be given, whole or as beginnings, the longest first") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  const auto loads = [&](const std::vector<std::pair<std::string, Shape>>& tensors,
                         const std::map<std::string, std::string>& rename) {
    write(path, tensors);
    Parameters parameters(1);
    const Linear hidden(parameters, "encoder.hidden", {.input = 3, .output = 4});
    const std::string error = message_of<DataError>([&] { load(parameters, path, {.rename = rename}); });
    return error.empty() && hidden.bias[0] == 1 && hidden.weight[0] == 1 ? "" : error + "!";
  };
  CHECK_EQ(loads(all_of_linear, {{"fc1", "encoder.hidden"}}), "");
  CHECK_EQ(loads(all_of_linear, {{"fc1.", "encoder.hidden."}}), "");
  CHECK_EQ(
      loads(all_of_linear, {{"fc1.weight", "encoder.hidden.weight"}, {"fc1.bias", "encoder.hidden.bias"}}),
      "");
  CHECK_EQ(loads(all_of_linear, {{"", "nothing"}, {"fc1", "encoder.hidden"}}), "");
  CHECK_EQ(loads({{"hidden.weight", {3, 4}}, {"hidden.bias", {4}}}, {{"", "encoder"}}), "");
  CHECK_EQ(
      loads({{"model.encoder.hidden.weight", {3, 4}}, {"model.encoder.hidden.bias", {4}}}, {{"model", ""}}),
      "");
  CHECK_EQ(loads({{"fc1.w", {3, 4}}, {"fc1.b", {4}}},
                 {{"fc1.w", "encoder.hidden.weight"}, {"fc1.b", "encoder.hidden.bias"}}),
           "");
  CHECK_EQ(loads(all_of_linear, {}),
           path +
               ": does not fit these parameters: the file lacks 'encoder.hidden.weight', "
               "'encoder.hidden.bias'; the "
               "model has no 'fc1.bias', 'fc1.weight'; give their names in `rename`, or load with strict = "
               "false what "
               "both have!");
  CHECK_EQ(loads(all_of_linear, {{"fc1.weight", "x"}, {"fc1.bias", "x"}}),
           path + ": two of its tensors would be 'x' after `rename`; give them different names!");
}

TEST_CASE("load: a name that renames nothing is refused, also where only some of the names need agree") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  write(path, all_of_linear);
  Parameters parameters(1);
  const Linear hidden(parameters, "hidden", {.input = 3, .output = 4});
  for (const bool strict : {false, true})
    CHECK_EQ(
        message_of<DataError>([&] {
          load(parameters, path, {.strict = strict, .rename = {{"fc1", "hidden"}, {"fc", "hidden"}}});
        }),
        path +
            ": `rename` has 'fc', but none of its tensors is named so; there are 'fc1.bias', 'fc1.weight'");
  CHECK(hidden.bias[0] == 0);
}

TEST_CASE("load: what does not fit is named, and nothing has changed then") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  Model model(1);
  const auto error = [&](const std::vector<std::pair<std::string, Shape>>& tensors, bool strict) {
    write(path, tensors);
    const std::vector<real> before = model.values();
    const std::string message =
        message_of<DataError>([&] { load(model.parameters, path, {.strict = strict}); });
    if (!message.empty()) CHECK(model.values() == before);
    return message;
  };
  const std::vector<std::pair<std::string, Shape>> transposed = {
      {"hidden.weight", {4, 3}}, {"hidden.bias", {4}}, {"output.weight", {4, 2}}};
  CHECK_EQ(
      error(transposed, false),
      path +
          ": does not fit these parameters: 'hidden.weight' is [4 x 3] in the file and [3 x 4] here; PyTorch "
          "keeps the weights of linear layers [out x in]: transpose them where the file is written, as "
          "core/PYTORCH.md shows");
  CHECK_EQ(
      error({{"hidden.weight", {3, 5}}, {"hidden.bias", {5}}, {"extra", {1}}}, true),
      path +
          ": does not fit these parameters: 'hidden.weight' is [3 x 5] in the file and [3 x 4] here; "
          "'hidden.bias' is [5] in the file and [4] here; the file lacks 'output.weight', 'output.bias', "
          "'norm.gain', 'norm.bias', 'norm.running_mean', 'norm.running_variance'; the model has no 'extra'; "
          "build "
          "the model with the sizes it was saved with");
  CHECK_EQ(error({{"hidden.bias", {4}}, {"extra", {1}}}, false), "");
  CHECK(model.hidden.bias[0] == 1);
  write(path, {{"hidden.bias", {4}}, {"extra", {1}}});
  const Loaded loaded = load(model.parameters, path, {.strict = false});
  CHECK(loaded.missing == Names{"hidden.weight", "output.weight", "output.bias", "norm.gain", "norm.bias",
                                "norm.running_mean", "norm.running_variance"});
  CHECK(loaded.unexpected == Names{"extra"});
  CHECK(contains(message_of<DataError>([&] { load(model.parameters, folder / "none"); }), "none"));
}

TEST_CASE("load: long lists are cut, and integers are passed over") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  std::vector<std::pair<std::string, Shape>> many;
  for (int i = 0; i < 12; ++i) many.emplace_back("extra" + std::to_string(10 + i), Shape{1});
  write(path, many);
  Parameters parameters(1);
  CHECK(contains(message_of<DataError>([&] { load(parameters, path); }), "'extra17' and 4 more; give"));
  const std::string header = R"({"steps":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})";
  const auto length = static_cast<std::uint64_t>(header.size());
  write_file(path, std::string(reinterpret_cast<const char*>(&length), 8) + header + std::string(8, '\0'));
  CHECK(load(parameters, path).unexpected.empty());
}

TEST_CASE("load: what a tape holds may not be written, which its backward pass finds") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  Model model(1), other(2);
  save(other.parameters, path);
  Tape tape;
  const Tensor loss = sum(square(model.hidden(sample({2, 3}, 1))));
  load(model.parameters, path);
  CHECK(contains(error_of([&] { tape.backward(loss); }), "was written after it was recorded"));
}
