#include <doctest/doctest.h>
#include <httplib.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "core/error.h"
#include "tests/temporary_folder.h"
#include "tools/report/server.h"

using namespace lamina;

namespace {

/// A server on a free port, ended as Ctrl-C would.
class Running {
 public:
  explicit Running(ReportServer server) {
    thread_ = std::thread([this, server] { serve(server, [this](int port) { port_ = port; }); });
    while (port_ == 0) std::this_thread::yield();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    std::raise(SIGINT);
    thread_.join();
  }
  int port() const { return port_; }

  httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) const {
    return httplib::Client("127.0.0.1", port_).Get(path, headers);
  }

 private:
  std::atomic<int> port_ = 0;
  std::thread thread_;
};

ReportServer example() {
  return {.page = [] { return std::string("the page"); }, .data = [] { return std::string("{}"); }};
}

}  // namespace

TEST_CASE("the live report serves the page and its data and nothing else") {
  const Running running(example());
  const auto page = running.get("/");
  REQUIRE(page);
  CHECK(page->status == 200);
  CHECK(page->body == "the page");
  CHECK(page->get_header_value("Content-Type") == "text/html; charset=utf-8");
  CHECK(page->get_header_value("Cross-Origin-Resource-Policy") == "same-origin");
  CHECK_FALSE(page->has_header("Access-Control-Allow-Origin"));
  CHECK(running.get("/data.json")->body == "{}");
  for (const char* path :
       {"/config.json", "/../../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/data.json/"})
    CHECK_MESSAGE(running.get(path)->status == 404, path);
  CHECK(httplib::Client("127.0.0.1", running.port()).Post("/", "x", "text/plain")->status == 404);
}

TEST_CASE("the live report refuses requests that name another host") {
  const Running running(example());
  const std::string port = std::to_string(running.port());
  for (const std::string& host : {std::string("evil.example"), "evil.example:" + port,
                                  "127.0.0.1.evil.example:" + port, std::string("127.0.0.1"), std::string()})
    CHECK_MESSAGE(running.get("/data.json", {{"Host", host}})->status == 403, host);
  CHECK(running.get("/data.json", {{"Host", "localhost:" + port}})->status == 200);
}

TEST_CASE("the live report listens on the loopback address alone") {
  const Running running(example());
  CHECK_FALSE(httplib::Client("127.0.0.2", running.port()).Get("/"));  // this machine too, by another address
}

TEST_CASE("the live report names a port that is taken, and outlives its data") {
  const Running running({.page = []() -> std::string { fail<DataError>("runs: is gone"); },
                         .data = [] { return std::string(); }});
  const auto page = running.get("/");
  CHECK(page->status == 500);
  CHECK(page->body == "runs: is gone");
  CHECK(message_of<Error>([&] {
          serve({.page = {}, .data = {}, .port = running.port()}, [](int) {});
        }).find("is taken; choose another one with --port") != std::string::npos);
}
