#pragma once
// Content that is made anew when somebody asks for it, in a thread of its own: whoever serves it can go on
// with what there is while a slow disk is read.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace lamina {

/// The live report at one moment.
struct LiveContent {
  std::string page = {}, data = {};
  std::string problem = {};  ///< why it could not be made; the others are empty then
};

class Refresher {
 public:
  using Clock = std::chrono::steady_clock;
  /// Makes the content; asks `enough` now and then, and comes to an end soon once that is true. An exception
  /// becomes the content's problem.
  using Make = std::function<LiveContent(const std::function<bool()>& enough)>;

  explicit Refresher(Make make);
  Refresher(const Refresher&) = delete;
  Refresher& operator=(const Refresher&) = delete;
  ~Refresher() { stop(); }

  /// Begins to make the content, unless that is under way.
  void refresh();
  bool refreshing() const;

  struct Made {
    std::shared_ptr<const LiveContent> content;  ///< none: nothing has been made yet
    Clock::time_point began;                     ///< it shows nothing older than this
  };
  Made latest() const;

  /// Tells the thread to end and, the first time, waits half a second for it. False: it is stuck in a file that does not answer
  /// and is left behind; then only the end of the process ends it.
  bool stop();

 private:
  struct Shared {
    Make make;
    mutable std::mutex mutex;
    std::condition_variable changed;
    bool wanted = false, stopping = false, ended = false;
    Made made;
  };
  static void work(const std::shared_ptr<Shared>& shared);
  static LiveContent make_content(const Shared& shared);

  std::shared_ptr<Shared> shared_;  ///< also the thread's, which may outlive this object
};

}  // namespace lamina
