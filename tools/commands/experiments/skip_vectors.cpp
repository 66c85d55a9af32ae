// lamina skip-thoughts encode, eval and neighbours: what trained sentence vectors are for.

#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/threads/parallel.h"
#include "models/data/npy.h"
#include "models/skip_thoughts/evaluation/evaluation.h"
#include "models/terminal/progress.h"
#include "models/text/utf8.h"
#include "tools/commands/experiments/skip_thoughts.h"
#include "tools/results/aligned_table.h"
#include "tools/results/skip_report.h"

namespace lamina {

namespace {

using namespace skip_thoughts;

/// A run's encoder with its vocabulary.
struct Trained {
  Trained(SkipCommand& skip, const RunFolder& folder) : Trained(options_of(skip, folder), folder.path()) {}
  Trained(const SkipOptions& options, const std::string& path)
      : vocabulary(load_vocabulary(path)),
        encoder(parameters, options.norm,
                {.vocabulary = vocabulary.size(), .embedding = options.embedding, .hidden = options.hidden}) {
  }

  static SkipOptions options_of(SkipCommand& skip, const RunFolder& folder) {
    skip.open("RUN", folder.path());
    return skip.options();
  }

  /// The words that the encoder has learned, with their vectors as they are now.
  WordTable words() const { return {.vocabulary = vocabulary, .vectors = encoder.words().table()}; }

  Vocabulary vocabulary;
  Parameters parameters{0};
  Encoder encoder;
};

/// The words that some sentences need from a word2vec file, besides those that the encoder knows.
std::set<std::string, std::less<>> words_in(const std::vector<std::string>& sentences) {
  std::set<std::string, std::less<>> found;
  for (const std::string& sentence : sentences)
    for (std::string& word : words_of(sentence)) found.insert(std::move(word));
  return found;
}

/// Nothing without a file, and of it only what the regression is fitted on, and what is then looked up: a file of millions
/// of words may be larger than the memory. As in the public code, no phrases ("New_York").
std::optional<WordVectors> vectors_for(const std::string& path, const Vocabulary& vocabulary,
                                       const std::vector<std::string>& sentences) {
  if (path.empty()) return {};
  const auto needed = words_in(sentences);
  return read_word_vectors(path, [&](std::string_view word) {
    return word.find('_') == word.npos &&
           (vocabulary.number(word) > Vocabulary::unknown || needed.contains(word));
  });
}

/// `words`, and those that `vectors` adds if there are any.
WordTable expanded(const std::string& path, WordTable words, const std::optional<WordVectors>& vectors) {
  if (!vectors) return words;
  try {
    return expand(words, *vectors).words;
  } catch (const Error& error) {
    fail<DataError>(path, ": ", error.what());
  }
}

void add_word_vectors(Command& command, std::string& path) {
  command.add(
      "--word-vectors", path,
      "a word2vec file, text or binary: words outside the run's vocabulary are mapped in from it by linear "
      "regression");
}

/// A run of one variant.
RunFolder open_encoder(const std::string& command, const std::string& path) {
  RunFolder folder = open_run("skip-thoughts", command, path);
  if (!exists(folder.file("vocabulary.txt")))
    fail<UsageError>(command, " ", path, ": holds no encoder; name the run of one variant, as in ",
                     folder.file("layer-b64"));
  return folder;
}

// --- encode

struct EncodeFlags {
  std::string run, word_vectors;
  int threads = 0;
};

std::vector<std::string> lines_of_standard_input() {
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) {
    if (lines.empty()) line.erase(0, line.size() - without_byte_order_mark(line).size());
    if (line.ends_with('\r')) line.pop_back();
    if (line.find('\0') != line.npos)
      fail<DataError>("standard input:", lines.size() + 1, ": holds a zero byte, so it is not plain text");
    lines.push_back(is_utf8(line) ? line : from_windows_1252(line));
  }
  if (lines.empty())
    fail<DataError>("standard input: is empty; give a sentence a line, as in encode RUN < lines");
  return lines;
}

void run_encode(SkipCommand& skip, const EncodeFlags& flags) {
  if (::isatty(STDOUT_FILENO) == 1)
    fail<UsageError>(
        "encode: writes numbers that a terminal cannot show; redirect them, as in > vectors.npy");
  set_threads(flags.threads);
  const RunFolder folder = open_encoder("encode", flags.run);
  Trained trained(skip, folder);
  load_model(folder, trained.parameters);
  const std::vector<std::string> lines = lines_of_standard_input();
  const auto vectors = vectors_for(flags.word_vectors, trained.vocabulary, lines);
  const WordTable words = expanded(flags.word_vectors, trained.words(), vectors);
  const std::string bytes = npy_bytes(encode(trained.encoder, words, lines));
  std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
  if (!std::cout) fail<DataError>("standard output: cannot be written; check the disk");
}

void add_encode(Command& parent, const std::shared_ptr<SkipCommand>& skip) {
  Command& command = parent.add_command(
      "encode", "vectors of the sentences on standard input, one per line, as .npy",
      "Example: lamina skip-thoughts encode runs/skip-thoughts/layer-b64 < lines > vectors.npy");
  const auto flags = std::make_shared<EncodeFlags>();
  command.add("RUN", flags->run, "folder of a run of one variant").required();
  add_word_vectors(command, flags->word_vectors);
  add_threads_flag(command, flags->threads);
  command.action([skip, flags] { run_encode(*skip, *flags); });
}

// --- neighbours

struct NeighbourFlags {
  std::string run, sentence;
  size_t count = 5, among = 5000;
  int threads = 0;
};

std::string text_of(const Sentence& sentence, const Vocabulary& vocabulary) {
  std::string words;
  for (const int word : sentence)
    if (word != Vocabulary::end) words += (words.empty() ? "" : " ") + vocabulary.word(word);
  return words;
}

/// Sentences of the run's own text, from passages all over it, each once and none of them the `asked` one.
std::vector<Sentence> sentences_of(const Corpus& corpus, size_t most, const Sentence& asked) {
  std::set<Sentence> seen{asked};
  const size_t passages = corpus.passages.size();
  const size_t wanted = std::min(passages, most / passage_sentences + 1);
  std::vector<Sentence> found;
  for (size_t i = 0; i < wanted; ++i)
    for (Sentence& sentence : corpus.read(i * passages / wanted))
      if (seen.insert(sentence).second) found.push_back(std::move(sentence));
  return found;
}

void run_neighbours(SkipCommand& skip, const NeighbourFlags& flags) {
  set_threads(flags.threads);
  const RunFolder folder = open_encoder("neighbours", flags.run);
  Trained trained(skip, folder);
  load_model(folder, trained.parameters);
  const Corpus& corpus = skip.corpus_of(folder);
  const std::vector<std::string> words = words_of(flags.sentence);
  std::cout << corpus.vocabulary.lines_of_unknown(words);
  const Sentence asked = corpus.vocabulary.sentence(words);
  std::vector<Sentence> sentences = sentences_of(corpus, flags.among, asked);
  sentences.push_back(asked);
  const Tensor vectors = encode_numbered(trained.encoder, trained.words(), sentences);
  const DenseFeatures features(vectors);
  const size_t last = sentences.size() - 1;
  const real* const own = vectors.data() + last * vectors.columns();
  std::vector<std::pair<real, size_t>> cosines;  // vectors have length 1
  for (size_t i = 0; i < last; ++i) cosines.emplace_back(features.dot(i, own), i);
  const auto count = std::min(cosines.size(), flags.count);
  std::ranges::partial_sort(cosines, cosines.begin() + static_cast<std::ptrdiff_t>(count), std::greater<>());
  std::cout << corpus.source << '\n';
  for (size_t i = 0; i < count; ++i)
    std::cout << text("cosine ", cosines[i].first, ": ",
                      text_of(sentences[cosines[i].second], corpus.vocabulary))
              << '\n';
}

void add_neighbours(Command& parent, const std::shared_ptr<SkipCommand>& skip) {
  Command& command = parent.add_command(
      "neighbours", "the sentences of a run's own text that are nearest to another one",
      "Example: lamina skip-thoughts neighbours runs/skip-thoughts/layer-b64 \"he shut the door .\"");
  const auto flags = std::make_shared<NeighbourFlags>();
  command.add("RUN", flags->run, "folder of a run of one variant").required();
  command.add("SENTENCE", flags->sentence, "in quotes").required();
  command.add("--count", flags->count, "how many to list").positive().show_default();
  command.add("--among", flags->among, "how many sentences to look through, about").positive().show_default();
  add_threads_flag(command, flags->threads);
  command.action([skip, flags] { run_neighbours(*skip, *flags); });
}

// --- eval

struct EvalFlags {
  std::string run, data, features = "vectors", out, sick = "penalty", word_vectors;
  size_t inner_folds = 1;
  bool last = false;
  int threads = 0;

  EvaluationOptions options() const {
    return {.inner_folds = inner_folds,
            .sick = sick == "penalty" ? SickFit::penalty : SickFit::early_stopping};
  }
  /// In a run's folder: the scores by this protocol, apart from those by another.
  std::string task_file() const {
    return text("tasks", sick == "penalty" ? "" : "-early-stopping", word_vectors.empty() ? "" : "-expanded",
                inner_folds == 1 ? "" : text("-", inner_folds, "-inner-folds"), ".csv");
  }
};

struct TaskData {
  Relatedness sick;
  std::vector<Classification> tasks;
  explicit TaskData(const std::string& folder)
      : sick(read_sick(folder)), tasks(read_classifications(folder)) {}

  std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    for (const Pairs* const part : {&sick.train, &sick.trial, &sick.test})
      for (const auto* const side : {&part->first, &part->second})
        all.insert(all.end(), side->begin(), side->end());
    for (const Classification& task : tasks)
      all.insert(all.end(), task.sentences.begin(), task.sentences.end());
    return all;
  }
};

TaskScores score(const Representation& features, const TaskData& data, const EvaluationOptions& options,
                 Progress& progress) {
  return evaluate(features, data.sick, data.tasks, options, [&] { progress.step(); });
}

std::string norm_of(const RunFolder& run) { return run.config().settings.get<std::string>("norm"); }

/// "layer-b64", or what a study calls it, "layer-seed2".
std::string name_of(const RunFolder& run) {
  return std::filesystem::absolute(run.path() + "/.").lexically_normal().parent_path().filename().string();
}

/// The folder itself, or the runs of single variants in it, the baseline before layer norm.
std::vector<RunFolder> runs_in(const std::string& path) {
  const auto single = [](const std::string& folder) {
    return exists(folder + "/vocabulary.txt") || exists(folder + "/tasks.csv");
  };
  std::vector<std::string> paths{path};
  if (!single(path) && is_folder(path)) paths = entries_of(path);
  std::erase_if(paths, [&](const std::string& entry) { return !single(entry); });
  if (paths.empty()) return {open_encoder("eval", path)};
  std::vector<RunFolder> runs;
  runs.reserve(paths.size());
  for (const std::string& folder : paths) runs.push_back(open_run("skip-thoughts", "eval", folder));
  std::ranges::stable_sort(runs, std::greater<>(), norm_of);
  return runs;
}

/// The snapshots that have not been judged yet: all, or the last one and the one before any update.
std::vector<std::uint64_t> missing_snapshots(const RunFolder& run, const EvalFlags& flags) {
  std::vector<std::uint64_t> snapshots = snapshots_in(run.path());
  if (flags.last && !snapshots.empty())
    std::erase_if(snapshots, [last = snapshots.back()](std::uint64_t updates) {
      return updates != 0 && updates != last;
    });
  const std::string task_file = flags.task_file();
  if (exists(run.file(task_file)))
    for (const double done : read_table(run.file(task_file)).column("step"))
      std::erase_if(snapshots, [=](std::uint64_t updates) { return static_cast<double>(updates) == done; });
  return snapshots;
}

/// Held while a run is judged: a second eval of it waits, and then finds what is judged already. A training goes on.
Descriptor evaluation_lock(const RunFolder& run) {
  Descriptor file = open_to_read(run.path() + "/config.json");
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    std::cerr << run.path() << ": another eval judges it; this one waits for its end\n";
    ::flock(file.number(), LOCK_EX);
  }
  return file;
}

void evaluate_run(SkipCommand& skip, const RunFolder& run, const TaskData& data, const EvalFlags& flags) {
  const Descriptor lock = evaluation_lock(run);
  if (const std::string earlier = run.file(flags.task_file()); exists(earlier))
    std::cout << earlier << ": what is in it is not judged again; remove it to judge by other data\n";
  const std::vector<std::uint64_t> snapshots = missing_snapshots(run, flags);
  if (snapshots.empty()) return;
  Trained trained(skip, run);
  const auto vectors = vectors_for(flags.word_vectors, trained.vocabulary, data.sentences());
  Progress progress(
      {.total = static_cast<long>(snapshots.size() * evaluation_steps(flags.options())), .unit = "fit"});
  for (const std::uint64_t updates : snapshots) {
    progress.label(text(name_of(run), ", update ", updates));
    load_model(run, trained.parameters, snapshot_file(updates));
    const WordTable words = expanded(flags.word_vectors, trained.words(), vectors);
    const auto representation = skip_thought_vectors(trained.encoder, words);
    const TaskScores scores = score(*representation, data, flags.options(), progress);
    append_scores(run.file(flags.task_file()), static_cast<double>(updates), scores);
    progress.line(text(name_of(run), ", update ", updates, ": ", line_of(scores)));
  }
}

/// The folder for the scores of the bag of words: a new one, or one that has its scores by another protocol.
RunFolder folder_of_words(const EvalFlags& flags) {
  if (!exists(flags.out + "/config.json"))
    return RunFolder::create(flags.out, {.experiment = "skip-thoughts",
                                         .variant = "bag-of-words",
                                         .settings = {{"norm", "bag-of-words"}, {"data", flags.data}}});
  RunFolder folder = RunFolder::open(flags.out);
  const RunConfig& config = folder.config();
  if (config.experiment != "skip-thoughts" || config.variant != "bag-of-words" ||
      config.settings.word("data") != flags.data)
    fail<UsageError>("--out ", flags.out, ": holds other results; name another folder");
  if (exists(folder.file(flags.task_file())))
    fail<UsageError>("--out ", flags.out, ": holds these scores already; name another folder");
  return folder;
}

/// The bag of words as a run of its own, so that it stands beside the others in the report.
void evaluate_words(const TaskData& data, const EvalFlags& flags) {
  std::optional<RunFolder> folder;  // before an evaluation of hours
  if (!flags.out.empty()) folder = folder_of_words(flags);
  Progress progress({.total = static_cast<long>(evaluation_steps(flags.options())), .unit = "fit"});
  progress.label("bag of words");
  const TaskScores scores = score(*bag_of_words(), data, flags.options(), progress);
  progress.finish();
  std::cout << "bag of words: " << line_of(scores) << '\n';
  if (folder) append_scores(folder->file(flags.task_file()), 0, scores);
}

void run_eval(SkipCommand& skip, const EvalFlags& flags) {
  const bool words = flags.features == "bag-of-words";
  if (words != flags.run.empty())
    fail<UsageError>("eval: give the folder of a run, or --features bag-of-words without one");
  if (words && !flags.word_vectors.empty())
    fail<UsageError>("--word-vectors: the bag of words knows every word already; leave it out");
  if (!words && !flags.out.empty())
    fail<UsageError>("--out: the scores of a run are kept in its own folder; leave it out");
  set_threads(flags.threads);
  const std::vector<RunFolder> runs = words ? std::vector<RunFolder>() : runs_in(flags.run);
  const TaskData data(flags.data);
  if (words) return evaluate_words(data, flags);
  TrainedVariants judged;
  for (const RunFolder& run : runs) {
    evaluate_run(skip, run, data, flags);
    if (!exists(run.file(flags.task_file()))) continue;
    judged.push_back(read_scores(norm_of(run), run.file(flags.task_file())));
    if (std::ranges::count(runs, norm_of(run), norm_of) > 1)  // as the report has them
      judged.back().variant.title += " (" + name_of(run) + ')';
  }
  if (judged.empty())
    fail<DataError>(flags.run, ": holds no snapshots yet; wait for the run's first evaluation");
  const std::string table = table_3(judged);
  write_file(flags.run + "/table-3.md", table);
  std::cout << '\n' << aligned_tables(table);
  if (write_figure(flags.run + "/figure-3", figure_3(judged)))
    std::cout << "\nfigure: " << flags.run << "/figure-3.svg, " << flags.run << "/figure-3.png\n";
}

void add_eval(Command& parent, const std::shared_ptr<SkipCommand>& skip) {
  Command& command = parent.add_command(
      "eval", "the scores of Table 3 on SICK, MR, CR, SUBJ and MPQA, for every encoder that a run has kept",
      "Example: lamina skip-thoughts eval runs/skip-thoughts --data tasks\n"
      "         lamina skip-thoughts eval --features bag-of-words --data tasks --out runs/bag-of-words");
  const auto flags = std::make_shared<EvalFlags>();
  command.add("RUN", flags->run, "folder of a run, of one variant or of several");
  command.add("--data", flags->data, "folder with the original files, or with sick/ and sentiment/")
      .required();
  command.add("--features", flags->features, "what to judge: the run's vectors, or bag-of-words alone")
      .one_of({"vectors", "bag-of-words"})
      .show_default();
  command
      .add("--inner-folds", flags->inner_folds,
           "parts that C is chosen on in each fold; the public code takes all 10")
      .range(1, 10)
      .show_default();
  command
      .add("--sick", flags->sick,
           "how SICK's regression is fitted: with a penalty whose strength the trial pairs choose, or as in "
           "the public code, by Adam until Pearson's r on the trial pairs falls")
      .one_of({"penalty", "early-stopping"})
      .show_default();
  add_word_vectors(command, flags->word_vectors);
  command.add("--last", flags->last, "only the last encoder of each run, and the one before any update");
  command.add("--out", flags->out, "with bag-of-words: a folder to keep the scores in, for the report");
  add_threads_flag(command, flags->threads);
  command.action([skip, flags] { run_eval(*skip, *flags); });
}

}  // namespace

void add_skip_vector_commands(Command& command, const std::shared_ptr<SkipCommand>& skip) {
  add_encode(command, skip);
  add_eval(command, skip);
  add_neighbours(command, skip);
}

}  // namespace lamina
