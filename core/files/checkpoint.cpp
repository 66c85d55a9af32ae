#include "core/files/checkpoint.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "core/files/file.h"
#include "core/files/narrow_floats.h"

namespace lamina {

static_assert(std::endian::native == std::endian::little, "the format is little endian");

namespace {

using Json = nlohmann::json;

constexpr const char* own_type = sizeof(real) == 4 ? "F32" : "F64";
constexpr const char* metadata_name = "__metadata__";
constexpr size_t header_limit = size_t{100} << 20;  // the limit of the format's own reader

std::string_view bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data()), tensor.size() * sizeof(real)};
}

[[noreturn]] void broken(const std::string& path, const std::string& reason) {
  fail<DataError>(path, ": not a usable checkpoint: ", reason, "; use a file written by a finished save");
}

Shape shape_from(const std::string& path, const std::string& name, const Json& sizes) {
  if (!sizes.is_array() || sizes.size() > Shape::max_rank)
    broken(path, "'" + name + "' has no shape of at most four dimensions");
  size_t n[Shape::max_rank] = {};
  double product = 1, largest = 1;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (!sizes[axis].is_number_unsigned()) broken(path, "'" + name + "' has a size that is no whole number");
    n[axis] = sizes[axis].get<size_t>();
    product *= static_cast<double>(n[axis]);
    largest = std::max(largest, product);
  }
  if (largest > static_cast<double>(Shape::max_size)) broken(path, "'" + name + "' is absurdly large");
  switch (sizes.size()) {
    case 0:
      return {};
    case 1:
      return {n[0]};
    case 2:
      return {n[0], n[1]};
    case 3:
      return {n[0], n[1], n[2]};
    default:
      return {n[0], n[1], n[2], n[3]};
  }
}

/// Whether all fit: a number that `real` is too small for would become infinite.
template <class Stored, class Widen>
bool convert_by(std::string_view from, Tensor& to, const Widen& widen) {
  for (size_t i = 0; i < to.size(); ++i) {
    Stored value;
    std::memcpy(&value, from.data() + i * sizeof(Stored), sizeof(Stored));
    const auto number = widen(value);
    if constexpr (sizeof(number) > sizeof(real))
      if (std::isfinite(number) && std::fabs(number) > std::numeric_limits<real>::max()) return false;
    to[i] = static_cast<real>(number);
  }
  return true;
}

/// The types of the format: bytes per number, and how one is converted; nullptr: not a floating-point type.
struct Type {
  std::string_view name;
  size_t width;
  bool (*convert)(std::string_view from, Tensor& to);
};

const Type types[] = {
    {"F64", 8,
     [](auto from, Tensor& to) { return convert_by<double>(from, to, [](double v) { return v; }); }},
    {"F32", 4, [](auto from, Tensor& to) { return convert_by<float>(from, to, [](float v) { return v; }); }},
    {"F16", 2, [](auto from, Tensor& to) { return convert_by<std::uint16_t>(from, to, from_half); }},
    {"BF16", 2, [](auto from, Tensor& to) { return convert_by<std::uint16_t>(from, to, from_bfloat); }},
    {"F8_E5M2", 1, [](auto from, Tensor& to) { return convert_by<std::uint8_t>(from, to, from_e5m2); }},
    {"F8_E4M3", 1, [](auto from, Tensor& to) { return convert_by<std::uint8_t>(from, to, from_e4m3); }},
    {"I64", 8, nullptr},
    {"U64", 8, nullptr},
    {"I32", 4, nullptr},
    {"U32", 4, nullptr},
    {"I16", 2, nullptr},
    {"U16", 2, nullptr},
    {"I8", 1, nullptr},
    {"U8", 1, nullptr},
    {"BOOL", 1, nullptr},
};

/// A tensor as its entry in the header describes it.
struct Described {
  std::string name;
  Shape shape;
  const Type* type = nullptr;
  size_t begin = 0, end = 0;  // in the bytes after the header
};

Described describe(const std::string& path, const std::string& name, const Json& entry) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets"))
    broken(path, "the entry '" + name + "' is incomplete");
  const Json &type = entry["dtype"], &offsets = entry["data_offsets"];
  if (!type.is_string()) broken(path, "'" + name + "' has a dtype that is no text");
  const auto* const known = std::ranges::find(types, type.get_ref<const std::string&>(), &Type::name);
  if (known == std::end(types))
    fail<DataError>(path, ": '", name, "' is of the type '", type.get_ref<const std::string&>(),
                    "', which is unknown here; convert it to F32 before it is saved");
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    broken(path, "'" + name + "' has no data_offsets");
  return {.name = name,
          .shape = shape_from(path, name, entry["shape"]),
          .type = known,
          .begin = offsets[0].get<size_t>(),
          .end = offsets[1].get<size_t>()};
}

/// As the format demands, the tensors lie one after another and fill the `size` bytes after the header:
/// otherwise a small file could name the same bytes a thousand times and fill the memory.
void require_contiguous(const std::string& path, std::vector<Described> tensors, size_t size) {
  std::ranges::sort(tensors, {}, [](const Described& tensor) { return std::pair(tensor.begin, tensor.end); });
  size_t position = 0;
  for (const auto& [name, shape, type, begin, end] : tensors) {
    if (begin > end || end > size || end - begin != shape.size() * type->width)
      broken(path,
             "'" + name + "' lies outside the file or has another size than its shape; it may be truncated");
    if (begin != position) broken(path, "'" + name + "' does not begin where the tensor before it ends");
    position = end;
  }
  if (position != size) broken(path, "it goes on behind its last tensor");
}

/// The header is JSON, whose text is UTF-8.
void require_utf8(const std::string& path, const char* what, const std::string& value) {
  try {
    (void)Json(value).dump();
  } catch (const Json::exception&) {
    fail(path, ": cannot be written: the ", what, " ",
         Json(value).dump(-1, ' ', false, Json::error_handler_t::replace), " is not UTF-8; convert it");
  }
}

Tensor read_tensor(const std::string& path, const Described& from, std::string_view data) {
  Tensor tensor(from.shape);
  if (!from.type->convert(data.substr(from.begin, from.end - from.begin), tensor))
    fail<DataError>(path, ": '", from.name,
                    "' holds numbers too large for float; load it in a program built with REAL=double");
  return tensor;
}

}  // namespace

const Tensor* Checkpoint::find(const std::string& name) const {
  auto entry = std::ranges::lower_bound(tensors, name, {}, &Entry::name);
  if (entry == tensors.end() || entry->name != name) entry = std::ranges::find(tensors, name, &Entry::name);
  return entry == tensors.end() ? nullptr : &entry->value;
}

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  using Ordered = nlohmann::ordered_json;
  Ordered header = Ordered::object();
  for (const auto& [key, value] : checkpoint.metadata) {
    require_utf8(path, "metadata", key);
    require_utf8(path, "metadata", value);
    header[metadata_name][key] = value;
  }
  // Appended: header[name] would compare the name with all before it.
  auto& entries = header.get_ref<Ordered::object_t&>();
  std::unordered_set<std::string_view> names;
  size_t position = 0;
  for (const auto& [name, value] : checkpoint.tensors) {
    require_utf8(path, "name", name);
    if (name == metadata_name)
      fail("checkpoint: the name '", name, "' is the format's own; choose another one");
    if (!names.insert(name).second) fail("checkpoint: the name '", name, "' is used twice");
    Json shape = Json::array();
    for (int axis = 0; axis < value.shape().rank(); ++axis) shape.push_back(value.shape()[axis]);
    const size_t end = position + value.size() * sizeof(real);
    entries.emplace_back(name,
                         Ordered{{"dtype", own_type}, {"shape", shape}, {"data_offsets", {position, end}}});
    position = end;
  }
  std::string json = header.dump();
  json.resize((json.size() + 7) / 8 * 8, ' ');  // the values start aligned
  const auto length = static_cast<std::uint64_t>(json.size());
  std::vector<std::string_view> parts{{reinterpret_cast<const char*>(&length), sizeof length}, json};
  for (const auto& entry : checkpoint.tensors) parts.push_back(bytes_of(entry.value));
  write_file(path, parts);
}

Checkpoint load_checkpoint(const std::string& path, OtherTypes others) {
  const std::string file = read_file(path);
  std::uint64_t length = 0;
  if (file.size() < sizeof length) broken(path, "it is shorter than its header");
  std::memcpy(&length, file.data(), sizeof length);
  if (length > header_limit || length > file.size() - sizeof length) broken(path, "its header is cut off");
  const std::string_view header_text(file.data() + sizeof length, length);
  const std::string_view data = std::string_view(file).substr(sizeof length + length);
  const Json header = Json::parse(header_text, nullptr, false);
  if (!header.is_object()) broken(path, "its header is not JSON");

  Checkpoint checkpoint;
  std::vector<Described> described;
  for (const auto& [name, entry] : header.items()) {
    if (name != metadata_name) {
      described.push_back(describe(path, name, entry));
      continue;
    }
    if (!entry.is_object()) broken(path, "its metadata is no object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) broken(path, "its metadata '" + key + "' is not text");
      checkpoint.metadata[key] = value.get<std::string>();
    }
  }
  require_contiguous(path, described, data.size());
  for (const Described& from : described) {
    if (from.type->convert != nullptr)
      checkpoint.tensors.push_back({from.name, read_tensor(path, from, data)});
    else if (others == OtherTypes::refuse)
      fail<DataError>(path, ": '", from.name, "' is of the type ", from.type->name,
                      ", not of floating-point numbers; leave it out of the file, or load that with "
                      "OtherTypes::skip");
  }
  return checkpoint;
}

}  // namespace lamina
