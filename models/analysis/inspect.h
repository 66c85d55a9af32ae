#pragma once
// What a run's folder contains about its layers: the checkpoint's weights, gains and biases, and, where
// --record was on, the record over the steps (models/recording/recorder.h).

#include <string>
#include <vector>

#include "core/files/checkpoint.h"
#include "models/recording/record.h"
#include "models/recording/recorder.h"
#include "models/run/run_folder.h"

namespace lamina {

/// One parameter or running average of the checkpoint.
struct InspectedTensor {
  std::string layer, name, shape;
  bool vectors;     ///< whether `summary` is over norm2 of the weight vectors, else over the values
  Summary summary;  ///< NaN where one of the tensor's numbers is NaN
};

struct Inspection {
  std::vector<InspectedTensor> tensors;
  std::vector<RecordRow> rows;      ///< empty without a record
  std::vector<std::string> layers;  ///< of both the checkpoint and the record, in order
};

/// Reads model.safetensors and record.csv. DataError for a folder with neither, and for one that holds
/// several runs, naming them.
Inspection inspect(const RunFolder& folder);

/// Only `layer` and the layers inside it ("hidden1" contains "hidden1.norm"). UsageError, listing the layers,
/// when there is no such layer.
Inspection only_layer(const Inspection& all, const std::string& layer);

/// layer,parameter,shape,of,mean,deviation,min,max
std::string to_csv(const std::vector<InspectedTensor>& tensors);

/// The same as a markdown table; "lengths" are those of a weight's vectors.
std::string tensor_table(const std::vector<InspectedTensor>& tensors);

/// Markdown tables of one recorded step: the layers' activities, what norms saw, and the weight vectors' updates. For a
/// recurrent layer the first shows means over its time steps.
std::string step_tables(const std::vector<RecordRow>& rows, std::uint64_t step);

/// The value of a quantity over the recorded steps, by layer, or by layer and parameter where several have
/// it.
struct Series {
  std::string title;
  std::vector<double> x, y;
};

/// One series for each layer that has a quantity that is `quantity` or ends with ".quantity"; over training
/// steps; for a recurrent layer, means over its time steps.
std::vector<Series> over_steps(const std::vector<RecordRow>& rows, const std::string& quantity);

/// The lengths of the gradients of all weights over training steps, under whatever name a layer has them: recurrent layers
/// and embeddings too. Weights are what has weight vectors.
std::vector<Series> weight_gradients(const std::vector<RecordRow>& rows);

/// The same as over_steps() over a recurrent layer's time steps within one recorded step.
std::vector<Series> over_time(const std::vector<RecordRow>& rows, const std::string& quantity,
                              std::uint64_t step);

}  // namespace lamina
