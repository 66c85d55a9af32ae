#pragma once
// What the subcommands of lamina skip-thoughts share.

#include <string>

#include "models/skip_thoughts/experiment.h"
#include "tools/commands.h"
#include "tools/common_flags.h"

namespace lamina {

struct SkipFlags {
  CommonFlags common;
  std::string condition = "initial", optimizer = "adam";
  std::int64_t evaluate_every = 0;         ///< 0: the preset's
  std::int64_t embedding = 0, hidden = 0;  ///< the preset's
  bool lazy = false;
};

/// What the user left open is the preset's: small embeddings are half as wide, and GRUs a quarter.
void fill_in_preset(SkipFlags& flags);

void write_settings(const SkipFlags& flags, Settings& settings);
void read_settings(const Settings& settings, SkipFlags& flags);

/// A model's options, once the preset is filled in.
skip_thoughts::SkipOptions options_of(const SkipFlags& flags, const std::string& norm, std::int64_t batch);

/// The books in --data, as the run in `saved` knows them if that is not empty, or the built-in stories.
skip_thoughts::Corpus corpus_of(const SkipFlags& flags, const std::string& saved);

/// encode, eval and neighbours: what trained vectors are for.
void add_skip_vector_commands(Command& command);

}  // namespace lamina
