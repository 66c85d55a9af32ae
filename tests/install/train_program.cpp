// A program of a user of the installed lamina-train: a run in a folder, which continues where it was
// interrupted.
#include <lamina.h>
#include <lamina/train.h>

#include <iostream>
#include <string>

using namespace lamina;

namespace {

/// Learns to add its inputs.
class Adding : public Experiment {
 public:
  Tensor loss(std::uint64_t step) override {
    Tensor x({8, 3});
    Random(/*seed=*/7).split(step).fill_normal(x.data(), x.size(), 0, 1);
    return mean(square(layer(x) - sum_columns(x)));
  }
  Metrics evaluate(double mean_training_loss) override { return {{"loss", mean_training_loss}}; }
  std::vector<std::string> metric_names() const override { return {"loss"}; }

  Parameters parameters{/*seed=*/1};
  Linear layer{parameters, "layer", {.input = 3, .output = 1}};
  Adam adam{parameters, {.learning_rate = real(0.1)}};
};

}  // namespace

int main(int, char** arguments) {  // FOLDER
  const std::string path = arguments[1];
  const bool begun = exists(path + "/config.json");
  const RunFolder folder =
      begun ? RunFolder::resume(path, "adding") : RunFolder::create(path, {.experiment = "adding"});
  Adding adding;
  train(folder, adding.parameters, adding.adam, adding,
        {.label = "adding", .steps_per_epoch = 50, .epochs = begun ? 4U : 2U});
  const Table table = read_table(folder.file("metrics.csv"));
  std::cout << table.rows.size() << " rows, "
            << (table.column("loss").back() < 0.1 ? "learned" : "not learned") << " with "
            << folder.config().backend << "\n";
  const Vocabulary words({"layer", "norm"});
  write_png(folder.file("ink.png"), Image(2, 2, {0, 0, 0}));
  std::cout << words.number("norm") << ' ' << synthetic_mnist(1, 2, 1, 1).train.count() << "\n";
}
