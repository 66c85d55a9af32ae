// lamina draw: Section 6.4 and Figure 4. Trains DRAW on binary images with each chosen normalization; `lamina
// draw sample RUN` shows what a trained model paints.

#include <iostream>

#include "core/listener.h"
#include "core/ops.h"
#include "models/draw/experiment.h"
#include "models/draw/sample.h"
#include "tools/bench/timed_steps.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/training_command.h"

namespace lamina {

namespace {

struct SampleFlags {
  std::string run;
  size_t seed = 1;
};

class DrawCommand final : public TrainingCommand {
 public:
  explicit DrawCommand(Command& command)
      : TrainingCommand(command, draw_step(), {.epochs = {.paper = 100, .small = 5}}) {
    fields.keep("glimpses", glimpses_);
  }

  /// The pictures of one trained model, in the folder of its run.
  void sample(const RunFolder& folder, size_t start) const {
    constexpr size_t columns = 10, animated = 16, strip_rows = 6, strip_columns = 16;
    Parameters parameters(0);
    const draw::Model model(parameters, {.norm = norm(), .sizes = sizes()});
    load_model(folder, parameters);
    const draw::Painting many = draw::paint(model, columns * columns, start);
    write_png(folder.file("samples.png"), draw::grid_of(many, columns));
    write_png(folder.file("glimpses.png"), draw::strip_of(many, strip_rows, strip_columns));
    constexpr int milliseconds = 80, rest = 2000;
    write_animation(folder.file("animation.png"), draw::frames_of(draw::paint(model, animated, start), 4),
                    milliseconds, rest);
    std::cout << folder.config().variant << ": " << folder.file("samples.png") << ", "
              << folder.file("glimpses.png") << ", " << folder.file("animation.png") << '\n';
  }

 private:
  /// No shape of the model tells their number.
  void complete() override {
    if (glimpses_ == 0) glimpses_ = paper() ? draw::GlimpseSizes{}.glimpses : 16;
  }

  TrainingData load() override {
    data_ = !data_folder.empty() ? draw::load_binary_mnist(data_folder)
            : smoke > 0          ? draw::synthetic_binary_digits(seed, 512, 100, 100)
                                 : draw::synthetic_binary_digits(seed);
    return {.source = data_->source, .cases = data_->train.count()};
  }

  Outcome train_variant(const RunFolder& folder, const RunLabel& label) override {
    draw::DrawExperiment experiment(
        *data_, {.norm = norm(), .sizes = sizes(), .batch = batch(), .learning_rate = rate(), .seed = seed});
    return train(folder, experiment.parameters, experiment.adam, experiment,
                 {.label = label, .steps_per_epoch = experiment.steps_per_epoch(), .epochs = epochs});
  }

  std::string summary(const TrainedVariants& trained) const override {
    return table_of(trained, {title_column("variant"), last("epochs", "epoch", "%.0f"),
                              lowest_bold(last("train bound", "train_bound", "%.2f")),
                              lowest_bold(last("valid bound", "valid_bound", "%.2f")),
                              lowest_bold(last("test bound", "test_bound", "%.2f")),
                              last("test reconstruction", "test_reconstruction", "%.2f"),
                              last("test KL", "test_kl", "%.2f"), last("seconds", "seconds", "%.0f")});
  }

  /// Figure 4: the test variational bound against epochs; beside it that of the training set.
  std::vector<Panel> figure(const TrainedVariants& trained) const override {
    std::vector<Panel> panels;
    for (const std::string set : {"test", "train"})
      panels.push_back(panel_of(
          trained, {.title = set + " images", .x_label = "epoch", .y_label = "variational bound [nats]"},
          "epoch", set + "_bound"));
    return panels;
  }

  /// The small preset is for a first look: a quarter of the glimpses, and units that train in minutes.
  draw::GlimpseSizes sizes() const {
    draw::GlimpseSizes sizes;
    if (!paper()) sizes = {.hidden = 64, .latent = 16};
    sizes.glimpses = glimpses_;
    return sizes;
  }

  size_t glimpses_ = 0;
  std::optional<draw::DrawData> data_;
};

void add_sample_command(Command& parent, const std::shared_ptr<DrawCommand>& draw) {
  Command& command = parent.add_command(
      "sample", "pictures of what a trained model paints: samples, glimpse by glimpse, and an animation",
      "Example: lamina draw sample runs/draw");
  const auto flags = std::make_shared<SampleFlags>();
  command.add("RUN", flags->run, "folder of the run; the pictures are put into it").required();
  command.add("--seed", flags->seed, "of the samples").non_negative().show_default();
  command.action([draw, flags] {
    draw->for_each_run("sample", flags->run,
                       [&](const RunFolder& folder) { draw->sample(folder, flags->seed); });
  });
}

/// At the paper's size, on images of which a fifth is ink.
TrainingStep step_on_random_images(const TrainingStepOptions& options) {
  const auto parameters = std::make_shared<Parameters>(1);
  const draw::GlimpseSizes sizes;
  const auto model = std::make_shared<draw::Model>(*parameters, draw::ModelOptions{.norm = options.norm});
  Tensor images({options.batch, sizes.pixels()});
  Random random(3);
  for (real& pixel : images.values()) pixel = random.uniform() < real(0.2) ? real(1) : real(0);
  const Tensor noise = normal({sizes.glimpses, options.batch, sizes.latent});
  return {.parameters = parameters, .loss = [=] {
            const draw::Bound bound = (*model)(images, noise);
            const Scope scope("loss");
            return mean(bound.reconstruction + bound.kl);
          }};
}

}  // namespace

NamedTrainingStep draw_step() {
  return {.name = "draw",
          .norms = {Norm::layer, Norm::none, Norm::weight},
          .batch = 128,
          .make = step_on_random_images,
          .clips = true};
}

void add_draw_command(Command& program) {
  Command& command = program.add_command(
      "draw", "DRAW, a model that paints binary digits (Section 6.4, Figure 4)",
      "Example: lamina draw --data mnist --norm none,weight,layer --epochs 5 --out runs/draw\n"
      "         lamina draw sample runs/draw");
  const auto draw = std::make_shared<DrawCommand>(command);
  add_sample_command(command, draw);
  command.action([draw] { return draw->run(); });
}

}  // namespace lamina
