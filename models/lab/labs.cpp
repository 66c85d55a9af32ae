#include "models/lab/labs.h"

#include <algorithm>

#include "core/error.h"
#include "models/lab/growth/early_stopping.h"
#include "models/lab/growth/equilibrium.h"
#include "models/lab/optimization/gain.h"
#include "models/lab/optimization/sgd.h"
#include "models/lab/optimization/shift.h"
#include "models/lab/optimization/smoothness.h"
#include "models/lab/statistics/features.h"
#include "models/lab/statistics/noise.h"
#include "models/lab/statistics/online.h"
#include "models/lab/statistics/train_test.h"
#include "models/lab/statistics/variable_length.h"
#include "models/lab/structure/dissect.h"
#include "models/lab/structure/input_norm.h"
#include "models/lab/structure/reparameterization.h"
#include "models/lab/structure/trained_rnn.h"

namespace lamina::lab {

const std::vector<Lab>& labs() {
  static const std::vector<Lab> all{variable_length(),
                                    features(),
                                    train_test(),
                                    noise(),
                                    shift(),
                                    smoothness(),
                                    sgd(),
                                    gain(),
                                    reparameterization(),
                                    input_norm(),
                                    online(),
                                    equilibrium(),
                                    early_stopping(),
                                    dissect(),
                                    trained_rnn()};
  return all;
}

const Lab& lab_named(const std::string& name) {
  const std::vector<Lab>& all = labs();
  const auto found = std::ranges::find(all, name, &Lab::name);
  if (found != all.end()) return *found;
  std::string names;
  for (const Lab& lab : all) names += (names.empty() ? "" : ", ") + lab.name;
  fail<UsageError>("'", name, "' is no lab; there are ", names, ", and all");
}

}  // namespace lamina::lab
