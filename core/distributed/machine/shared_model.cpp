#include "core/distributed/machine/shared_model.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "core/distributed/group.h"
#include "core/error.h"
#include "core/memory/allocator.h"
#include "core/memory/flat_storage.h"

namespace lamina::distributed {

namespace {

constexpr size_t cache_line = 64 / sizeof(real);  // in numbers

thread_local const real* common_values = nullptr;  ///< of the model that this rank shares

/// Its values on pages of their own.
void move_to_pages(Tensor& tensor) {
  detail::Storage& storage = *tensor.storage();
  if (storage.lender != nullptr) return;  // since an earlier run
  auto* const pages = new detail::FlatStorage(1, storage.size * sizeof(real));
  const detail::StorageHandle keeps(pages);
  pages->take(storage);
  memory::trim();
}

}  // namespace

bool is_common(Parameters& parameters) {
  return common_values != nullptr && parameters.values().data() == common_values;
}

SharedModel::SharedModel(Parameters& parameters, const std::vector<Parameters::Entry>& state)
    : parameters_(parameters) {
  if (!is_shared() || group().machines() > 1) return;
  find_blocks(state);
  size_t bytes = page_size();
  for (const Block& block : blocks_) bytes += block.bytes;
  const std::vector<Descriptor> files = open_files(make_memory_file(bytes));
  if (files.empty())
    blocks_.clear();
  else
    share(files);
}

void SharedModel::find_blocks(const std::vector<Parameters::Entry>& state) {
  const auto add = [this](std::span<real> values) {
    blocks_.push_back({reinterpret_cast<std::byte*>(values.data()), whole_pages(values.size_bytes())});
  };
  add(parameters_.gradients());
  add(parameters_.values());
  for (auto [name, value] : state) {
    if (value.size() != parameters_.values().size())
      fail("shared model: the optimizer's '", name, "' is ", value.shape(), ", for ",
           parameters_.values().size(),
           " values; every rank would update it: give it one number for each of parameters.values()");
    move_to_pages(value);
    add(value.values());
  }
}

/// Those of all ranks; none where one of them cannot open one, or has memory that does not begin with a page.
std::vector<Descriptor> SharedModel::open_files(const Descriptor& own) const {
  const MemoryFileAddress address = address_of(own);
  const std::vector<double> processes = gather(address.process), descriptors = gather(address.descriptor),
                            numbers = gather(address.number);
  const char* const wanted = std::getenv("LAMINA_SHARED_MEMORY");
  bool able = (wanted == nullptr || std::strcmp(wanted, "0") != 0) &&
              std::ranges::all_of(blocks_, [](const Block& block) {
                return reinterpret_cast<std::uintptr_t>(block.place) % page_size() == 0;
              });
  std::vector<Descriptor> files;
  for (size_t rank = 0; rank < numbers.size(); ++rank) {
    files.push_back(open_memory_file({processes[rank], descriptors[rank], numbers[rank]}));
    able = able && files.back().number() >= 0;
  }
  const std::vector<double> all_able = gather(able ? 1 : 0);
  if (std::ranges::find(all_able, 0) != all_able.end()) files.clear();
  return files;
}

/// A file holds a page of signals and all blocks. The gradients are in each rank's own, all else in that of rank 0.
void SharedModel::share(const std::vector<Descriptor>& files) {
  const size_t own = group().rank();
  std::vector<Neighbour> ranks;
  for (const Descriptor& file : files) {
    const size_t bytes = page_size() + blocks_[0].bytes;
    std::byte* const view = map_file(file, 0, bytes);
    views_.push_back({view, bytes});
    ranks.push_back({reinterpret_cast<real*>(view + page_size()), reinterpret_cast<Signals*>(view)});
  }
  ranks[own].values = reinterpret_cast<real*>(blocks_[0].place);  // seen twice, pages would count twice
  new (ranks[own].signals) Signals;
  size_t begin = page_size();
  for (const Block& block : blocks_) {
    const size_t holder = begin == page_size() ? own : 0;
    if (holder == own) {
      std::byte* const shared = map_file(files[own], begin, block.bytes);
      std::memcpy(shared, block.place, block.bytes);
      ::munmap(shared, block.bytes);
    }
    replace_by_file(block.place, files[holder], begin, block.bytes);
    begin += block.bytes;
  }
  own_part_ = part_of(parameters_.values().size(), own, files.size(), cache_line);
  sum_.emplace(std::move(ranks), own);
  common_values = parameters_.values().data();
  gather(0);  // from here on all have written what the others see
}

SharedModel::~SharedModel() {
  if (sum_) common_values = nullptr;
  sum_.reset();
  for (const Block& view : views_) ::munmap(view.place, view.bytes);
  for (const Block& block : blocks_) replace_by_copy(block.place, block.bytes);
}

void SharedModel::meet() {
  if (sum_) sum_->meet();
}

}  // namespace lamina::distributed
