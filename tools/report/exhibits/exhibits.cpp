#include "tools/report/exhibits/exhibits.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "models/recording/steps_file.h"

namespace lamina {

namespace {

/// What lamina inspect draws of a recorded run.
std::vector<PicturePlan> inside() {
  return {{"inspect.svg", "Inside the layers, against training steps (lamina inspect)"},
          {"inspect-time.svg", "Inside the recurrent layers, against time (lamina inspect)"}};
}

/// Whether its charts are of runs that train, and not of tables or studies.
bool shows_training(const Exhibit& exhibit) {
  return !exhibit.experiment.empty() && exhibit.study.empty() && exhibit.on_data && !exhibit.charts.empty();
}

/// Figure 1 and Table 2 are of the same runs, which validate while they learn and are tested at the end.
Exhibit order_embedding(const char* id, const char* title, const char* subject) {
  return {
      .id = id,
      .title = title,
      .section = "6.1",
      .subject = text("Order embeddings: ", subject),
      .command = "lamina order-embedding --data DIR --out runs/order-embedding",
      .readme = "models/order_embedding/README.md",
      .experiment = "order-embedding",
      .distinctions = {{"score", "score "}},
      .paper_data = "Microsoft COCO",
      .full_length = 100,
  };
}

Exhibit figure_1() {
  Exhibit exhibit = order_embedding("figure-1", "Figure 1", "image retrieval while learning");
  exhibit.claim =
      "Layer norm offers a speed-up per iteration on all metrics and converges to its best validation "
      "model in 60% of the baseline's time.";
  exhibit.setting =
      "Image R@1, R@5 and R@10 on validation every 300 updates. Microsoft COCO, GRU of 1024 units, "
      "batch 128, Adam at 1e-3, up to 100 epochs.";
  for (const char* k : {"1", "5", "10"})
    exhibit.charts.push_back({.title = text("Image R@", k),
                              .x = "step",
                              .x_label = "updates",
                              .y = text("valid_image_r", k),
                              .y_label = text("recall at ", k, " [%]"),
                              .best_is_highest = true});
  exhibit.measures = {{"best R@1", "valid_image_r1", Pick::highest},
                      {"reached at update", "valid_image_r1", Pick::where_highest, 1, 6, "step"}};
  return exhibit;
}

Exhibit table_2() {
  Exhibit exhibit = order_embedding("table-2", "Table 2", "caption and image retrieval");
  exhibit.claim =
      "Layer norm improves retrieval of captions and of images over the order-embedding baseline on "
      "every measure.";
  exhibit.setting = "Mean over five test splits of 1000 images and 5000 captions of Microsoft COCO.";
  exhibit.file = "test.csv";
  exhibit.measures = {{"caption R@1", "test_caption_r1"}, {"R@5", "test_caption_r5"},
                      {"R@10", "test_caption_r10"},       {"mean rank", "test_caption_mean_rank"},
                      {"image R@1", "test_image_r1"},     {"R@5", "test_image_r5"},
                      {"R@10", "test_image_r10"},         {"mean rank", "test_image_mean_rank"}};
  exhibit.paper = {
      {"Sym (Vendrov et al.)", "none", {"45.4", "", "88.7", "5.8", "36.3", "", "85.8", "9.0"}, {"cosine"}},
      {"OE (Vendrov et al.)", "", {"46.7", "", "88.9", "5.7", "37.9", "", "85.9", "8.1"}},
      {"OE (the authors)", "none", {"46.6", "79.3", "89.1", "5.2", "37.8", "73.6", "85.7", "7.9"}, {"order"}},
      {"OE + LN", "layer", {"48.5", "80.6", "89.8", "5.1", "38.9", "74.3", "86.3", "7.6"}, {"order"}}};
  return exhibit;
}

Exhibit figure_2() {
  return {
      .id = "figure-2",
      .title = "Figure 2",
      .section = "6.2",
      .subject = "Attentive reader: cloze questions",
      .claim =
          "The layer-normalized LSTM trains faster than the LSTM and both kinds of recurrent batch norm, "
          "and ends at a lower validation error. With layer norm a gain of 1.0 beats one of 0.1, so that it "
          "is not sensitive to it in the way of recurrent batch norm.",
      .setting =
          "Validation error rate against updates, to 800 thousand. CNN corpus, 240 units, batch 64, Adam at "
          "8e-5.",
      .command = "lamina attentive-reader --data DIR --out runs/attentive-reader",
      .readme = "models/attentive_reader/README.md",
      .experiment = "attentive-reader",
      .facet = {"data", "questions in "},
      .distinctions = {{"gain", "gain "}},
      .charts = {{.title = "Validation",
                  .x = "step",
                  .x_label = "updates",
                  .y = "valid_error",
                  .y_label = "error rate",
                  .levels = {{"chance_error", "a random entity"},
                             {"frequent_other_error", "the most frequent not in the question"}}}},
      .measures = {{"lowest valid error, %", "valid_error", Pick::lowest, 100},
                   {"reached at update", "valid_error", Pick::where_lowest, 1, 6, "step"},
                   {"updates", "step", Pick::last, 1, 6}},
      .paper_data = "the CNN corpus",
      .pictures = {{"validation-*.svg", "Where the reader looked: a question and its passage"},
                   {"test-*.svg", "Where the reader looked: a question and its passage"}},
      .full_length = 800000,
      .length_column = "step",
  };
}

/// Figure 3 and Table 3 are the curves and the numbers of the same file.
Exhibit skip_thoughts(const char* id, const char* title, const char* subject) {
  return {
      .id = id,
      .title = title,
      .section = "6.3",
      .subject = text("Skip-thoughts: ", subject),
      .command =
          "lamina skip-thoughts --data DIR --norm none,layer --out runs/skip-thoughts; lamina skip-thoughts "
          "eval runs/skip-thoughts --data TASKS",
      .readme = "models/skip_thoughts/README.md",
      .experiment = "skip-thoughts",
      .file = "tasks.csv",
      .measures = {{"SICK r", "sick_r"},
                   {"rho", "sick_rho"},
                   {"MSE", "sick_mse"},
                   {"MR", "mr"},
                   {"CR", "cr"},
                   {"SUBJ", "subj"},
                   {"MPQA", "mpqa"}},
      .paper_data = "BookCorpus",
  };
}

Exhibit figure_3() {
  Exhibit exhibit = skip_thoughts("figure-3", "Figure 3", "downstream tasks while learning");
  exhibit.claim =
      "Layer norm makes skip-thoughts learn faster and end better; the time of an iteration hardly changes.";
  exhibit.setting =
      "Six scores every 50,000 updates. BookCorpus, encoder and decoders of 2400 units, batch 64, vocabulary "
      "20,000. Table 3 has layer norm's scores after the last of a million updates; the baseline's are those "
      "of its curve after 800,000.";
  for (const Measure& measure : exhibit.measures)
    if (measure.column != "sick_rho")
      exhibit.charts.push_back({.title = measure.title,
                                .x = "step",
                                .x_label = "updates",
                                .y = measure.column,
                                .y_label = measure.title,
                                .best_is_highest = measure.column != "sick_mse"});
  return exhibit;
}

Exhibit table_3() {
  Exhibit exhibit = skip_thoughts("table-3", "Table 3", "sentence representations");
  exhibit.claim =
      "With layer norm skip-thoughts beat the baseline on all seven scores, by the caption after a million "
      "updates each; the baseline's are those of its curve after 800,000 (its MSE is 0.299 there).";
  exhibit.setting =
      "SICK relatedness (Pearson r, Spearman rho, mean squared error) and four classification tasks "
      "(accuracy in %), without fine-tuning.";
  exhibit.paper = {
      {"Kiros et al.", "", {"0.848", "0.778", "0.287", "75.5", "79.3", "92.1", "86.9"}},
      {"the authors", "none", {"0.842", "0.767", "0.298", "77.3", "81.8", "92.6", "87.9"}},
      {"with LN", "layer", {"0.854", "0.785", "0.277", "79.5", "82.6", "93.4", "89.0"}},
      {"with LN, one month", "layer", {"0.858", "0.788", "0.270", "79.4", "83.1", "93.7", "89.3"}}};
  exhibit.full_length = 1e6;
  exhibit.length_column = "step";
  return exhibit;
}

Exhibit figure_4() {
  return {
      .id = "figure-4",
      .title = "Figure 4",
      .section = "6.4",
      .subject = "DRAW: generating binarized MNIST",
      .claim =
          "DRAW with layer norm converges almost twice as fast as the baseline. After 200 epochs the "
          "baseline's test bound is 82.36 nats and layer norm's 82.09.",
      .setting =
          "Test variational bound against epochs, to 100; the figure shows 100 down to 80 nats. "
          "Binarized MNIST, 64 glimpses, LSTMs of 256 units, batch 128, Adam.",
      .command = "lamina draw --data DIR --norm none,weight,layer --out runs/draw",
      .readme = "models/draw/README.md",
      .experiment = "draw",
      .charts = {{"Test bound", "epoch", "epoch", "test_bound", "nats"},
                 {"Training bound", "epoch", "epoch", "train_bound", "nats"}},
      .measures = {{"test bound, nats", "test_bound", Pick::last, 1, 4},
                   {"lowest", "test_bound", Pick::lowest, 1, 4},
                   {"epochs", "epoch", Pick::last}},
      .paper = {{"baseline", "none", {"82.36", "", "200"}}, {"layer norm", "layer", {"82.09", "", "200"}}},
      .paper_data = "binarized MNIST",
      .pictures = {{"samples.png", "Digits that the model drew"},
                   {"glimpses.png", "Digits while they are drawn, and where the model looks"}},
      .full_length = 100,
  };
}

Exhibit figure_5() {
  return {
      .id = "figure-5",
      .title = "Figure 5",
      .section = "6.5",
      .subject = "Handwriting synthesis",
      .claim =
          "With layer norm the model reaches a log likelihood comparable to the baseline's, much faster.",
      .setting =
          "Negative log likelihood, train and test, against updates on a log axis; the paper does not say of "
          "how much of a line. IAM-OnDB, three LSTM layers of 400 units, batch 8, sequences of 500 points, "
          "Adam. Ours: means over 128 test lines and 64 training lines every 200 updates, offsets divided by "
          "their deviations; another data set, or another pen, has another level.",
      .command = "lamina handwriting --data DIR --norm none,layer --out runs/handwriting",
      .readme = "models/handwriting/README.md",
      .experiment = "handwriting",
      .charts = {{"Training", "step", "updates", "train_nll", "nats per sequence", true},
                 {"Test", "step", "updates", "test_nll", "nats per sequence", true}},
      .measures = {{"train NLL", "train_nll", Pick::last, 1, 4},
                   {"lowest test NLL", "test_nll", Pick::lowest, 1, 4},
                   {"reached at update", "test_nll", Pick::where_lowest, 1, 6, "step"}},
      .paper_data = "IAM-OnDB",
      .pictures = {{"stages.svg", "The same text by the models of 200, 400, 800, ... updates"},
                   {"writing.svg", "Written by the trained model"},
                   {"window.png", "The window's way over the text"}},
      .length_column = "step",
  };
}

/// The classifiers of digits.
Exhibit digits(const char* id, const char* title, const char* section, const char* experiment) {
  return {
      .id = id,
      .title = title,
      .section = section,
      .experiment = experiment,
      .facet = {"batch", "batch size "},
      .charts = {{"Training", "epoch", "epoch", "train_nll", "NLL [nats]", false, true},
                 {"Test", "epoch", "epoch", "test_error", "error rate"}},
      .measures = {{"epochs", "epoch"},
                   {"train NLL", "train_nll"},
                   {"test error, %", "test_error", Pick::last, 100},
                   {"lowest test error, %", "test_error", Pick::lowest, 100},
                   {"at epoch", "test_error", Pick::where_lowest}},
  };
}

Exhibit figure_6() {
  Exhibit exhibit = digits("figure-6", "Figure 6", "6.6", "mnist");
  exhibit.subject = "Permutation-invariant MNIST";
  exhibit.claim = "Layer norm is robust to the batch size and converges faster than batch norm.";
  exhibit.setting =
      "Train NLL and test error against epochs, for batches of 128 and of 4. MNIST, 784-1000-1000-10, Adam. "
      "The paper's text gives no numbers. Its figure counts 65 epochs from 0, where the networks err on 2 to "
      "3% and so are trained already: its 0 stands at our 1.";
  exhibit.paper_data = "MNIST";
  exhibit.command = "lamina mnist --data DIR --norm none,batch,layer --batch 128,4 --out runs/mnist";
  exhibit.readme = "models/mnist/README.md";
  exhibit.full_length = 60;
  return exhibit;
}

Exhibit convolution() {
  Exhibit exhibit = digits("section-6-7", "Section 6.7", "6.7", "convnet");
  exhibit.subject = "Convolutional networks";
  exhibit.claim =
      "Layer norm is faster than no normalization, but batch norm is better than both: units near the "
      "image's border are rarely active and have other statistics than the rest of their layer.";
  exhibit.setting = "Preliminary in the paper, without a figure. Ours: a small ConvNet on MNIST, 20 epochs.";
  exhibit.command =
      "lamina convnet --data DIR --norm none,batch,layer,group --batch 128,4 --out runs/convnet";
  exhibit.readme = "models/convnet/README.md";
  exhibit.full_length = 20;
  exhibit.pictures = {
      {"positions.svg", "Mean and deviation of every position of the feature maps: the border"}};
  return exhibit;
}

}  // namespace

Exhibit updates_of(Exhibit exhibit) {
  const bool trains = shows_training(exhibit);
  exhibit.file = steps_file;
  exhibit.charts.clear();
  if (trains)
    exhibit.charts = {
        {"Loss by update", "step", "updates", "train_loss", "training loss"},
        {"Gradient by update", "step", "updates", "gradient_norm", "norm of the gradient", false, true}};
  return exhibit;
}

const std::vector<Exhibit>& exhibits() {
  static const std::vector<Exhibit> all = [] {
    std::vector<Exhibit> parts = exhibits_of_the_theory();
    for (const auto make :
         {figure_1, table_2, figure_2, figure_3, table_3, figure_4, figure_5, figure_6, convolution})
      parts.push_back(make());
    std::ranges::move(exhibits_after_the_paper(), std::back_inserter(parts));
    std::ranges::move(exhibits_of_other_experiments(parts), std::back_inserter(parts));
    std::ranges::move(exhibits_of_the_laboratory(), std::back_inserter(parts));
    for (Exhibit& exhibit : parts)
      if (shows_training(exhibit)) std::ranges::copy(inside(), std::back_inserter(exhibit.pictures));
    return parts;
  }();
  return all;
}

}  // namespace lamina
