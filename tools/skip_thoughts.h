#pragma once
// What the subcommands of lamina skip-thoughts share.

#include <CLI/CLI.hpp>
#include <string>

#include "models/skip_thoughts/experiment.h"
#include "tools/commands.h"
#include "tools/common_flags.h"

namespace lamina {

struct SkipFlags {
  CommonFlags common;
  std::string condition = "initial";
  std::int64_t evaluate_every = 0;  ///< 0: the preset's
  bool lazy = false;

  bool paper() const { return common.preset == "paper"; }
};

void write_settings(const SkipFlags& flags, Settings& settings);
void read_settings(const Settings& settings, SkipFlags& flags);

/// A model's options; the small preset is a quarter as wide.
skip_thoughts::SkipOptions options_of(const SkipFlags& flags, const std::string& norm, std::int64_t batch);

/// The books in --data, as the run in `saved` knows them if that is not empty, or the built-in stories.
skip_thoughts::Corpus corpus_of(const SkipFlags& flags, const std::string& saved);

/// encode, eval and neighbours: what trained vectors are for.
void add_skip_vector_commands(CLI::App& command, Action& action);

}  // namespace lamina
