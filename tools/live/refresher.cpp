#include "tools/live/refresher.h"

#include <thread>
#include <utility>

namespace lamina {

Refresher::Refresher(Make make) : shared_(std::make_shared<Shared>()) {
  shared_->make = std::move(make);
  std::thread([shared = shared_] { work(shared); }).detach();
}

void Refresher::work(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->changed.wait(lock, [&] { return shared->wanted || shared->stopping; });
    if (shared->stopping) break;
    lock.unlock();
    const Clock::time_point began = Clock::now();
    auto content = std::make_shared<const LiveContent>(make_content(*shared));
    lock.lock();
    shared->made = {.content = std::move(content), .began = began};
    shared->wanted = false;
  }
  shared->ended = true;
  shared->changed.notify_all();
}

LiveContent Refresher::make_content(const Shared& shared) {
  const auto enough = [&] {
    const std::lock_guard lock(shared.mutex);
    return shared.stopping;
  };
  try {
    return shared.make(enough);
  } catch (const std::exception& problem) {
    return {.problem = problem.what()};
  }
}

void Refresher::refresh() {
  const std::lock_guard lock(shared_->mutex);
  shared_->wanted = true;
  shared_->changed.notify_all();
}

bool Refresher::refreshing() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->wanted;
}

Refresher::Made Refresher::latest() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->made;
}

bool Refresher::stop() {
  std::unique_lock lock(shared_->mutex);
  if (std::exchange(shared_->stopping, true)) return shared_->ended;
  shared_->changed.notify_all();
  return shared_->changed.wait_for(lock, std::chrono::milliseconds(500), [&] { return shared_->ended; });
}

}  // namespace lamina
