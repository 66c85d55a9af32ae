// Event files, read by a reader that shares no code with the writer: it checks the frames with the checksum by table and
// takes the messages apart by protobuf's rules.
#include "models/run/event_file.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstring>
#include <map>

#include "core/files/file.h"
#include "models/training/training.h"
#include "optim/adam.h"
#include "tests/temporary_folder.h"

#include "core/ops.h"
#include "core/tape.h"
#include "layers/linear.h"

using namespace lamina;

namespace {

std::uint32_t checksum(std::string_view bytes) {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    table.at(i) = i;
    for (int bit = 0; bit < 8; ++bit)
      table.at(i) = (table.at(i) & 1) != 0 ? 0x82F63B78U ^ (table.at(i) >> 1) : table.at(i) >> 1;
  }
  std::uint32_t crc = ~0U;
  for (const char c : bytes) crc = table.at((crc ^ static_cast<std::uint32_t>(c)) & 0xff) ^ (crc >> 8);
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

template <class Number>
Number number_at(std::string_view bytes, size_t place) {
  Number number;
  REQUIRE(place + sizeof number <= bytes.size());
  std::memcpy(&number, bytes.data() + place, sizeof number);
  return number;
}

/// A message's fields: numbers in their bits, texts and messages as they are.
struct Field {
  std::uint64_t number;
  std::uint64_t bits = 0;
  std::string content = {};
};

std::uint64_t read_varint(std::string_view bytes, size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    REQUIRE(at < bytes.size());
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

std::vector<Field> fields_in(std::string_view message) {
  std::vector<Field> fields;
  for (size_t at = 0; at < message.size();) {
    const std::uint64_t key = read_varint(message, at);
    Field field{.number = key >> 3};
    switch (key & 7) {
      case 0:
        field.bits = read_varint(message, at);
        break;
      case 1:
        field.bits = number_at<std::uint64_t>(message, at);
        at += 8;
        break;
      case 2: {
        const std::uint64_t length = read_varint(message, at);
        REQUIRE(at + length <= message.size());
        field.content = message.substr(at, length);
        at += length;
        break;
      }
      case 5:
        field.bits = number_at<std::uint32_t>(message, at);
        at += 4;
        break;
      default:
        FAIL("a kind of field that does not occur");
    }
    fields.push_back(field);
  }
  return fields;
}

struct Event {
  double time = 0;
  std::uint64_t step = 0;
  std::string version;
  std::map<std::string, float> scalars;
};

std::vector<Event> read_events(const std::string& path) {
  const std::string file = read_file(path);
  std::vector<Event> events;
  for (size_t at = 0; at < file.size();) {
    const auto length = number_at<std::uint64_t>(file, at);
    CHECK(number_at<std::uint32_t>(file, at + 8) == checksum(std::string_view(file).substr(at, 8)));
    const std::string_view data = std::string_view(file).substr(at + 12, length);
    CHECK(number_at<std::uint32_t>(file, at + 12 + length) == checksum(data));
    at += 12 + length + 4;
    Event& event = events.emplace_back();
    for (const Field& field : fields_in(data)) {
      if (field.number == 1) event.time = std::bit_cast<double>(field.bits);
      if (field.number == 2) event.step = field.bits;
      if (field.number == 3) event.version = field.content;
      if (field.number != 5) continue;
      for (const Field& summary : fields_in(field.content)) {
        REQUIRE(summary.number == 1);
        const std::vector<Field> value = fields_in(summary.content);
        REQUIRE(value.size() == 2);
        event.scalars[value[0].content] = std::bit_cast<float>(static_cast<std::uint32_t>(value[1].bits));
      }
    }
  }
  return events;
}

/// Learns to answer 0.
class Falling : public Experiment {
 public:
  Tensor loss(std::uint64_t) override {
    return mean(square(layer(Tensor::from({2, 3}, {1, 2, 3, 4, 5, 6}))));
  }
  Metrics evaluate(double mean_training_loss) override { return {{"train_loss", mean_training_loss}}; }
  std::vector<std::string> metric_names() const override { return {"train_loss"}; }

  Parameters parameters{/*seed=*/1};
  Linear layer{parameters, "layer", {.input = 3, .output = 1}};
  Adam adam{parameters, {.learning_rate = real(0.1)}};
};

void train_falling(const RunFolder& folder, std::uint64_t epochs) {
  Falling falling;
  train(folder, falling.parameters, falling.adam, falling,
        {.label = "falling", .steps_per_epoch = 5, .epochs = epochs});
}

}  // namespace

TEST_CASE("CRC-32C has the check value of its catalogue and those of RFC 3720") {
  CHECK(crc32c("123456789") == 0xe3069283);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(crc32c("") == 0);
}

TEST_CASE("event files: an independent reader finds every row") {
  const TemporaryFolder scratch;
  const std::string path = scratch / event_file_name;
  const EventFile file(path, {.columns = {"epoch", "step", "loss", "seconds"}, .rows = {{1, 10, 0.5, 2}}},
                       1e9);
  file.append({{"epoch", 2}, {"step", 3000000000}, {"loss", -0.25}, {"seconds", 4.5}});
  const std::vector<Event> events = read_events(path);
  REQUIRE(events.size() == 3);
  CHECK(events[0].version == "brain.Event:2");
  CHECK(events[1].step == 10);
  CHECK(events[1].time == 1e9 + 2);
  CHECK(events[1].scalars ==
        std::map<std::string, float>{{"epoch", 1.0F}, {"loss", 0.5F}, {"seconds", 2.0F}});
  CHECK(events[2].step == 3000000000);
  CHECK(events[2].time == 1e9 + 4.5);
  CHECK(events[2].scalars.at("loss") == -0.25F);
}

TEST_CASE("a run writes events when its settings say so, each step once also when it goes on") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "run";
  RunConfig config{.experiment = "falling"};
  config.settings.set("tensorboard", true);
  train_falling(RunFolder::create(path, config), 2);
  append_to_file(path + '/' + event_file_name, "a record that a killed process left unfinished");
  train_falling(RunFolder::resume(path, "falling"), 4);
  const std::vector<Event> events = read_events(path + '/' + event_file_name);
  const Table table = read_table(path + "/metrics.csv");
  REQUIRE(events.size() == 5);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(events[i + 1].step == 5 * (i + 1));
    CHECK(events[i + 1].scalars.at("train_loss") == static_cast<float>(table.column("train_loss")[i]));
  }
}

TEST_CASE("no events are written unasked") {
  const TemporaryFolder scratch;
  RunConfig config{.experiment = "falling"};
  config.settings.set("tensorboard", false);
  train_falling(RunFolder::create(scratch / "run", config), 1);
  train_falling(RunFolder::create(scratch / "other", {.experiment = "falling"}), 1);
  for (const char* run : {"run/", "other/"})
    CHECK_THROWS_AS(read_file(scratch / (std::string(run) + event_file_name)), DataError);
}
