#include "models/analysis/inspect.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/error.h"
#include "core/files/folder.h"
#include "layers/norms/weight_norm.h"
#include "models/recording/layer_names.h"
#include "models/run/metrics.h"

namespace lamina {

namespace {

InspectedTensor inspect_tensor(const std::string& name, const Tensor& value) {
  const bool vectors = holds_weight_vectors(name, value);
  const Tensor numbers = vectors ? column_norms(value.reshape({value.rows(), value.columns()})) : value;
  return {.layer = layer_part(name),
          .name = own_part(name),
          .shape = text(value.shape()),
          .vectors = vectors,
          .summary = summary_of_all({numbers.values().begin(), numbers.values().end()})};
}

/// The runs in the subfolders, "a, b".
std::string runs_inside(const std::string& path) {
  std::string list;
  for (const std::string& entry : entries_of(path))
    if (exists(entry + "/config.json")) list += (list.empty() ? "" : ", ") + entry;
  return list;
}

void add_new(std::vector<std::string>& layers, const std::string& layer) {
  if (std::ranges::find(layers, layer) == layers.end()) layers.push_back(layer);
}

std::string number(double value) { return std::isnan(value) ? "" : formatted("%.3g", value); }

const char* what_of(const InspectedTensor& tensor) {
  return tensor.vectors ? "length of each weight vector" : "values";
}

}  // namespace

Inspection inspect(const RunFolder& folder) {
  const std::string model = folder.file("model.safetensors"), record = folder.file("record.csv");
  Inspection result;
  if (exists(model)) {
    for (const auto& [name, value] : load_checkpoint(model).tensors)
      result.tensors.push_back(inspect_tensor(name, value));
    std::ranges::stable_sort(result.tensors, {}, &InspectedTensor::layer);
  } else if (!exists(record)) {
    const std::string inside = runs_inside(folder.path());
    if (!inside.empty()) fail<DataError>(folder.path(), ": holds several runs; choose one of ", inside);
    fail<DataError>(folder.path(), ": has no model.safetensors yet; wait until the run has saved one");
  }
  if (exists(record)) result.rows = read_record(record);
  for (const InspectedTensor& tensor : result.tensors) add_new(result.layers, tensor.layer);
  for (const RecordRow& row : result.rows) add_new(result.layers, row.layer);
  return result;
}

Inspection only_layer(const Inspection& all, const std::string& layer) {
  const auto belongs = [&](const std::string& name) {
    return name == layer || name.starts_with(layer + ".");
  };
  if (std::ranges::none_of(all.layers, belongs)) {
    std::string list;
    for (const std::string& name : all.layers) list += (list.empty() ? "" : ", ") + name;
    fail<UsageError>("--layer ", layer, ": no such layer; there are ", list);
  }
  Inspection result = all;
  std::erase_if(result.tensors, [&](const InspectedTensor& tensor) { return !belongs(tensor.layer); });
  std::erase_if(result.rows, [&](const RecordRow& row) { return !belongs(row.layer); });
  std::erase_if(result.layers, [&](const std::string& name) { return !belongs(name); });
  return result;
}

std::string to_csv(const std::vector<InspectedTensor>& tensors) {
  std::string csv = "layer,parameter,shape,of,mean,deviation,min,max\n";
  for (const InspectedTensor& tensor : tensors) {
    const Summary& s = tensor.summary;
    csv += text(tensor.layer, ',', tensor.name, ',', tensor.shape, ',', what_of(tensor), ',',
                number_text(s.mean), ',', number_text(s.deviation), ',', number_text(s.min), ',',
                number_text(s.max), '\n');
  }
  return csv;
}

std::string tensor_table(const std::vector<InspectedTensor>& tensors) {
  std::string table = "| parameter | shape | mean | deviation | min | max |\n|---|---|---|---|---|---|\n";
  for (const InspectedTensor& tensor : tensors) {
    const Summary& s = tensor.summary;
    table +=
        text("| ", tensor.layer, '.', tensor.name, tensor.vectors ? ", lengths" : "", " | ", tensor.shape);
    for (const double value : {s.mean, s.deviation, s.min, s.max})
      table += text(" | ", std::isnan(value) ? "NaN" : number(value));
    table += " |\n";
  }
  return table;
}

namespace {

/// A quantity of one thing, "hidden1" or "rnn input_weight", over some axis.
using Points = std::map<std::uint64_t, std::vector<double>>;

/// Whether a recorded name is of the requested quantity; for "angle.mean", "weight.angle.mean" is, and the
/// parameter is "weight".
bool matches(const std::string& quantity, const std::string& wanted, std::string& owner) {
  if (quantity != wanted && !quantity.ends_with("." + wanted)) return false;
  owner = quantity.substr(0, quantity.size() - wanted.size());
  if (!owner.empty()) owner.pop_back();
  return true;
}

/// The series of the rows for which `at` returns a place on the axis.
template <class At>
std::vector<Series> collect(const std::vector<RecordRow>& rows, const std::string& quantity, const At& at) {
  std::vector<std::pair<std::string, std::string>> keys;  // layer and parameter
  std::map<std::pair<std::string, std::string>, Points> all;
  std::map<std::string, size_t> owners;
  for (const RecordRow& row : rows) {
    std::string owner;
    std::uint64_t x = 0;
    if (!matches(row.quantity, quantity, owner) || !at(row, x)) continue;
    const std::pair key(row.layer, owner);
    if (!all.contains(key)) {
      keys.push_back(key);
      ++owners[row.layer];
    }
    all[key][x].push_back(row.value);
  }
  std::vector<Series> result;
  for (const auto& key : keys) {
    Series& series = result.emplace_back();
    series.title = key.first + (owners[key.first] > 1 ? " " + key.second : "");
    for (const auto& [x, values] : all[key]) {
      series.x.push_back(static_cast<double>(x));
      series.y.push_back(summary_of(values).mean);
    }
  }
  return result;
}

struct Column {
  const char *title, *quantity;
};

/// One row per layer and one column per quantity, for one step.
std::string table_of(const std::vector<RecordRow>& rows, std::uint64_t step,
                     std::span<const Column> columns) {
  std::vector<std::string> titles;
  std::map<std::string, std::map<const char*, double>> values;
  std::string table = "| layer |", rule = "\n|---|";
  for (const Column& column : columns) {
    ((table += ' ') += column.title) += " |";
    rule += "---|";
    const auto here = [step](const RecordRow& row, std::uint64_t& x) {
      x = row.step;
      return row.step == step;
    };
    for (const Series& series : collect(rows, column.quantity, here)) {
      add_new(titles, series.title);
      values[series.title][column.quantity] = series.y[0];
    }
  }
  if (titles.empty()) return "";
  table += rule + '\n';
  for (const std::string& title : titles) {
    table += "| " + title + " |";
    for (const Column& column : columns) {
      const auto place = values[title].find(column.quantity);
      table += text(" ", place == values[title].end() ? "" : number(place->second), " |");
    }
    table += '\n';
  }
  return table;
}

}  // namespace

std::string step_tables(const std::vector<RecordRow>& rows, std::uint64_t step) {
  constexpr std::array activities = {Column{"summed inputs: mean", "summed_inputs.mean"},
                                     Column{"deviation over units", "summed_inputs.deviation_over_units"},
                                     Column{"deviation over cases", "summed_inputs.deviation_over_cases"},
                                     Column{"dead units", "outputs.dead"}};
  constexpr std::array norms = {
      Column{"inputs of norms: mean", "input.mean"}, Column{"deviation over units", "input.deviation"},
      Column{"turned by [rad]", "input.turned"}, Column{"gradient passed back: along 1", "passed.along_one"},
      Column{"along the centred input", "passed.along_input"}};
  constexpr std::array updates = {
      Column{"weight vectors: length", "length.mean"}, Column{"relative change", "change.mean"},
      Column{"angle: mean", "angle.mean"}, Column{"min", "angle.min"}, Column{"max [rad]", "angle.max"}};
  const std::string of_norms = table_of(rows, step, norms);
  return table_of(rows, step, activities) + '\n' + (of_norms.empty() ? "" : of_norms + '\n') +
         table_of(rows, step, updates);
}

std::vector<Series> over_steps(const std::vector<RecordRow>& rows, const std::string& quantity) {
  return collect(rows, quantity, [](const RecordRow& row, std::uint64_t& x) {
    x = row.step;
    return true;
  });
}

std::vector<Series> weight_gradients(const std::vector<RecordRow>& rows) {
  std::set<std::pair<std::string, std::string>> weights;  // layer and parameter
  std::string owner;
  for (const RecordRow& row : rows)
    if (matches(row.quantity, "length.mean", owner)) weights.emplace(row.layer, owner);
  std::vector<RecordRow> gradients;
  for (const RecordRow& row : rows)
    if (matches(row.quantity, "gradient", owner) && weights.contains({row.layer, owner}))
      gradients.push_back(row);
  return over_steps(gradients, "gradient");
}

std::vector<Series> over_time(const std::vector<RecordRow>& rows, const std::string& quantity,
                              std::uint64_t step) {
  std::vector<Series> series = collect(rows, quantity, [step](const RecordRow& row, std::uint64_t& x) {
    x = row.time;
    return row.step == step && row.time > 0;
  });
  std::erase_if(series, [](const Series& each) { return each.x.size() < 2; });
  return series;
}

}  // namespace lamina
