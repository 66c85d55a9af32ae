#include "layers/norms/group_norm.h"

#include "core/ops.h"
#include "layers/named.h"
#include "layers/statistics/map_norm.h"

namespace lamina {

using map_norm::Map;

namespace {

void require_groups(const Map& map, const Tensor& a, size_t groups) {
  if (groups == 0 || map.channels % groups != 0)
    fail("group_norm: ", a.shape(), " has ", map.channels, " channels, which do not divide into ", groups,
         " groups");
}

/// Before a parameter is added.
const Shape& checked(const std::string& name, const Shape& shape, size_t groups) {
  if (groups == 0 || shape.columns() % groups != 0)
    fail("group_norm '", name, "': ", shape.columns(), " channels do not divide into ", groups, " groups");
  return shape;
}

}  // namespace

Tensor group_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, const GroupNormOptions& options) {
  const Map map = map_norm::map_of("group_norm", a, gain, bias, options.border, options.then);
  require_groups(map, a, options.groups);
  // Records look at norms of rows, this one as layer norm.
  const bool of_rows = a.shape().rank() == 2 && !options.then.relu;
  return map_norm::normalize(
      {options.then.relu ? "group_norm_relu" : "group_norm", of_rows ? OpKind::norm : options.then.kind()},
      map, {.groups = options.groups}, options.epsilon, a, gain, bias);
}

Tensor composed::group_norm(const Tensor& a, const Tensor& gain, const Tensor& bias,
                            const GroupNormOptions& options) {
  const Map map = map_norm::map_of("group_norm", a, gain, bias, options.border, options.then);
  require_groups(map, a, options.groups);
  const size_t members = map.channels / options.groups, positions = map.height * map.width;
  // One row for all elements that share statistics; `inside` is 1 for those that enter them.
  const Tensor maps = a.reshape({map.images, map.height, map.width, map.channels});
  const Tensor rows = channels_first(maps).reshape({map.images * options.groups, members * positions});
  Tensor inside = Tensor::zeros({members * positions});
  for (size_t i = 0; i < inside.size(); ++i) {
    const size_t h = i % positions / map.width, w = i % map.width;
    inside[i] =
        h >= map.border && h < map.height - map.border && w >= map.border && w < map.width - map.border;
  }
  const auto count = static_cast<real>(members * map.positions());
  const auto mean = [&](const Tensor& of) { return sum_columns(of * inside) / count; };
  const Tensor once = rows - mean(rows), centered = once - mean(once);  // twice, as in composed::batch_norm
  const Tensor deviation = sqrt(mean(square(centered)) + options.epsilon);
  const Tensor normalized =
      channels_last((centered / deviation).reshape({map.images, map.channels, map.height, map.width}));
  const size_t period = gain.size();
  const Tensor y =
      normalized.reshape({a.size() / period, period}) * gain.reshape({period}) + bias.reshape({period});
  return composed::relu_pool(y.reshape(maps.shape()), options.then).reshape(map_norm::out_shape(map, a));
}

GroupNorm::GroupNorm(Parameters& parameters, const std::string& name, const Shape& shape,
                     const GroupNormOptions& chosen, real initial_gain)
    : gain(parameters.add(name + ".gain", Tensor::full(checked(name, shape, chosen.groups), initial_gain))),
      bias(parameters.add(name + ".bias", Tensor::zeros(shape))),
      options(chosen),
      name_(name) {}

Tensor GroupNorm::operator()(const Tensor& a, const ReluPool& then) const {
  GroupNormOptions all = options;
  if (then.relu || then.window != 1) all.then = then;
  return in_layer(name_, [&] { return group_norm(a, gain, bias, all); });
}

}  // namespace lamina
