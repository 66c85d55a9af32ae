#include "tools/live/server.h"

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "models/terminal/interrupt.h"
#include "tools/live/connections.h"

namespace lamina {

namespace {

using std::chrono::milliseconds, std::chrono::seconds;

/// How long a request waits for content that is no older than itself before it gets what there is, and how
/// long for the first content of all.
constexpr seconds patience{2}, first_patience{10};

constexpr std::string_view method_not_allowed =
    "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// A connection in memory: the head of a request to read, a response that is written.
class HeadAndResponse : public httplib::Stream {
 public:
  explicit HeadAndResponse(std::string_view head) : head_(head) {}
  bool is_readable() const override { return !head_.empty(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* bytes, size_t size) override {
    const size_t count = head_.copy(bytes, size);
    head_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, size_t size) override {
    response.append(bytes, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return 0; }

  std::string response;

 private:
  std::string_view head_;
};

/// The two addresses. cpp-httplib reads the requests and writes the responses. Its own loop of connections is
/// not used: it keeps a thread for each of them, which a slow client can hold.
class Routes : public httplib::Server {
 public:
  Routes(Refresher& refresher, int port) : refresher_(refresher) {
    set_default_headers({{"Cache-Control", "no-store"},
                         {"X-Content-Type-Options", "nosniff"},
                         {"Cross-Origin-Resource-Policy", "same-origin"}});
    set_pre_routing_handler([port](const httplib::Request& request, httplib::Response& response) {
      const std::string host = request.get_header_value("Host");
      if (host == text("127.0.0.1:", port) || host == text("localhost:", port))
        return HandlerResponse::Unhandled;
      response.status = 403;
      return HandlerResponse::Handled;
    });
    Get("/", [this](const httplib::Request&, httplib::Response& response) {
      show(&LiveContent::page, "text/html; charset=utf-8", response);
    });
    Get("/data.json", [this](const httplib::Request&, httplib::Response& response) {
      show(&LiveContent::data, "application/json", response);
    });
  }

  /// Nothing while the content is being made.
  std::optional<std::string> respond(const std::string& head, Refresher::Clock::time_point since) {
    if (!head.starts_with("GET ") && !head.starts_with("HEAD ")) return std::string(method_not_allowed);
    since_ = since;
    waits_ = false;
    HeadAndResponse stream(head);
    bool closed = false;
    // A range is an offer that need not be taken: the whole is what everybody gets.
    process_request(stream, true, closed, [](httplib::Request& request) { request.ranges.clear(); });
    if (waits_) return {};
    return std::move(stream.response);
  }

 private:
  void show(std::string LiveContent::*part, const char* type, httplib::Response& response) {
    const Refresher::Made made = refresher_.latest();
    const auto waited = Refresher::Clock::now() - since_;
    if (!made.content || (made.began < since_ && waited < patience)) {
      if (!refresher_.refreshing()) refresher_.refresh();
      waits_ = waited < first_patience;
    }
    if (waits_) return;
    if (made.content && made.content->problem.empty()) {
      response.set_content((*made.content).*part, type);
      return;
    }
    response.status = made.content ? 500 : 503;
    response.set_content(made.content ? made.content->problem : "The runs are still being read; try again.",
                         "text/plain");
  }

  Refresher& refresher_;
  Refresher::Clock::time_point since_;  ///< when the request under way came
  bool waits_ = false;                  ///< for content
};

}  // namespace

bool serve(const ReportServer& server, const std::function<void(int port)>& ready) {
  const CatchInterrupts catching;
  Connections connections(server.port);
  Refresher refresher(server.make);
  Routes routes(refresher, connections.port());
  ready(connections.port());
  while (!interrupted())
    connections.serve(refresher.refreshing() ? milliseconds(5) : milliseconds(50),
                      [&](const std::string& head, Refresher::Clock::time_point since) {
                        return routes.respond(head, since);
                      });
  return refresher.stop();
}

}  // namespace lamina
