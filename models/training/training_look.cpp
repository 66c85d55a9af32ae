#include "models/training/training_look.h"

#include <utility>

namespace lamina {

namespace {

thread_local TrainingLook* current = nullptr;

}  // namespace

TrainingLook::TrainingLook(std::function<void(const TrainingStart&)> look)
    : look_(std::move(look)), outer_(std::exchange(current, this)) {}

TrainingLook::~TrainingLook() { current = outer_; }

bool TrainingLook::taken(const TrainingStart& start) {
  if (current == nullptr) return false;
  current->look_(start);
  return true;
}

}  // namespace lamina
