#include "tools/flags/command_times.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/error.h"

namespace lamina {

namespace {

struct CommandTime {
  std::string_view words;
  double
      seconds;  ///< of the processor, with LAMINA_THREADS=1; of long ones extrapolated from 12 s or more, beside other work
};

constexpr CommandTime times[] = {
    {"geometry", 10.8},
    {"order-embedding", 60},
    {"attentive-reader", 34},
    {"skip-thoughts", 128},
    {"draw", 22},
    {"handwriting", 160},
    {"mnist", 18},
    {"convnet", 43},
    {"transformer", 3},
    {"stability", 0.2},
    {"invariance", 0.8},
    {"placement", 3.2},
    {"skip-thoughts --norm none,layer", 238},
    {"draw --norm none,weight,layer", 59},
    {"handwriting --norm none,layer", 266},
    {"mnist --norm none,batch,layer", 53},
    {"convnet --norm none,batch,layer,group", 157},
    {"transformer --norm layer,rms --placement post,pre", 11},
};

}  // namespace

std::string time_of(std::string_view words) {
  const auto* const found = std::ranges::find(times, words, &CommandTime::words);
  if (found == std::end(times)) return "";
  if (found->seconds < 5) return "a few seconds";
  if (found->seconds < 90) return text("about ", 5 * std::lround(found->seconds / 5), " s");
  return text("about ", std::lround(found->seconds / 60), " min");
}

}  // namespace lamina
