#include "tools/live/server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <httplib.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <list>
#include <thread>

#include "core/error.h"
#include "core/files/file.h"
#include "tests/temporary_folder.h"
#include "tools/live/connections.h"

using namespace lamina;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

/// A server on a free port, ended as Ctrl-C would.
class Running {
 public:
  explicit Running(ReportServer server) {
    thread_ = std::thread([this, server] {
      whole_ = serve(server, [this](int port) { port_ = port; });
      ended_ = Clock::now();
    });
    while (port_ == 0) std::this_thread::yield();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (thread_.joinable()) stop();
  }
  int port() const { return port_; }

  /// Seconds from Ctrl-C to the end.
  double stop() {
    const Clock::time_point began = Clock::now();
    std::raise(SIGINT);
    thread_.join();
    return std::chrono::duration<double>(ended_ - began).count();
  }
  bool left_nothing_behind() const { return whole_; }

  httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) const {
    return httplib::Client("127.0.0.1", port_).Get(path, headers);
  }

 private:
  std::atomic<int> port_ = 0;
  std::thread thread_;
  bool whole_ = false;
  Clock::time_point ended_;
};

LiveContent content(const std::string& page) { return {.page = page, .data = "{}"}; }

ReportServer example() {
  return {.make = [](const auto&) { return content("the page"); }};
}

/// A client that sends given bytes and reads only on request.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  bool send(std::string_view bytes) {
    return ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0;
  }
  /// Everything received until the server closes the connection.
  std::string read() {
    std::string all, part(65536, '\0');
    for (ssize_t count; (count = ::recv(socket_.number(), part.data(), part.size(), 0)) > 0;)
      all.append(part, 0, static_cast<size_t>(count));
    return all;
  }

 private:
  Descriptor socket_;
};

/// Seconds until a client has received the page.
double seconds_for_the_page(const Running& running) {
  const Clock::time_point began = Clock::now();
  const auto page = running.get("/");
  REQUIRE(page);
  CHECK(page->status == 200);
  return std::chrono::duration<double>(Clock::now() - began).count();
}

std::string get_page(int port) { return text("GET / HTTP/1.1\r\nHost: 127.0.0.1:", port, "\r\n\r\n"); }

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
  const auto head = httplib::Client("127.0.0.1", running.port()).Head("/");
  CHECK(head->status == 200);
  CHECK(head->get_header_value("Content-Length") == "8");
  CHECK(head->body.empty());
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
  const Running running({.make = [](const auto&) -> LiveContent { fail<DataError>("runs: is gone"); }});
  const auto page = running.get("/");
  CHECK(page->status == 500);
  CHECK(page->body == "runs: is gone");
  CHECK(message_of<Error>([&] {
          serve({.make = {}, .port = running.port()}, [](int) {});
        }).find("is taken; choose another one with --port") != std::string::npos);
}

TEST_CASE("every visit to the live report shows what there is now") {
  std::atomic<int> number = 0;
  const Running running({.make = [&](const auto&) { return content(text("page ", ++number)); }});
  for (int visit = 1; visit <= 3; ++visit) CHECK(running.get("/")->body == text("page ", visit));
}

TEST_CASE("the live report takes GET and HEAD only, and reads no body") {
  const Running running(example());
  httplib::Client client("127.0.0.1", running.port());
  CHECK(client.Post("/", "x", "text/plain")->status == 405);
  CHECK(client.Put("/", "x", "text/plain")->status == 405);
  CHECK(client.Delete("/")->status == 405);
  CHECK(client.Options("/")->get_header_value("Allow") == "GET, HEAD");
  // A megabyte of gzip that would unpack to a gigabyte.
  RawClient bomb(running.port());
  bomb.send(text("POST / HTTP/1.1\r\nHost: 127.0.0.1:", running.port(),
                 "\r\nContent-Encoding: gzip\r\nContent-Length: 1048576\r\n\r\n", "\x1f\x8b\x08"));
  CHECK(bomb.read().starts_with("HTTP/1.1 405 "));  // although most of the body was never sent
  RawClient no_http(running.port());
  no_http.send("\x16\x03\x01 hello\r\n\r\n");
  CHECK(no_http.read().starts_with("HTTP/1.1 405 "));
}

TEST_CASE("the live report answers requests for ranges with the whole, once") {
  const std::string page(100000, 'x');
  const Running running({.make = [&](const auto&) { return content(page); }});
  std::string ranges = "bytes=0-";
  for (int i = 0; i < 1500; ++i) ranges += ",0-";
  const auto answer = running.get("/", {{"Range", ranges}});
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body == page);
}

TEST_CASE("the live report limits the size of a request") {
  const Running running(example());
  RawClient endless(running.port()), many(running.port());
  CHECK(endless.send("GET /" + std::string(20000, 'x')));
  CHECK(endless.read().starts_with("HTTP/1.1 431 "));
  std::string headers = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 3000; ++i) headers += text("A", i, ": b\r\n");
  CHECK(many.send(headers));
  CHECK(many.read().starts_with("HTTP/1.1 431 "));
}

TEST_CASE("slow clients make nobody wait and do not keep the live report from ending") {
  const std::string large(size_t{8} << 20, 'x');  // more than the buffers of a connection
  Running running({.make = [&](const auto&) { return content(large); }});
  std::list<RawClient> silent, trickling, deaf;
  for (int i = 0; i < 200; ++i) silent.emplace_back(running.port());
  CHECK(seconds_for_the_page(running) < 2);
  for (int i = 0; i < 20; ++i) trickling.emplace_back(running.port()).send("G");
  for (int i = 0; i < 4; ++i) deaf.emplace_back(running.port()).send(get_page(running.port()));
  for (int round = 0; round < 3; ++round) {
    for (RawClient& client : trickling) client.send("E");
    CHECK(seconds_for_the_page(running) < 2);
  }
  CHECK(running.stop() < 1);
  CHECK(running.left_nothing_behind());
}

TEST_CASE("connections that take too long are closed") {
  Connections connections(0, {.request = 200ms, .response = 200ms});
  std::atomic<bool> end = false;
  const std::string large(size_t{16} << 20, 'x');
  std::thread serving([&] {
    while (!end) connections.serve(20ms, [&](const auto&, auto) { return large; });
  });
  const Clock::time_point began = Clock::now();
  RawClient silent(connections.port()), trickling(connections.port()), deaf(connections.port());
  deaf.send("GET / HTTP/1.1\r\n\r\n");
  bool open = true;
  while (open && Clock::now() - began < 5s) {
    open = trickling.send("x");
    std::this_thread::sleep_for(20ms);
  }
  CHECK_FALSE(open);
  CHECK(silent.read().empty());
  CHECK(deaf.read().size() < large.size());
  CHECK(Clock::now() - began < 5s);
  end = true;
  serving.join();
}

TEST_CASE("while content is slow, the live report answers all else, shows what it has, and ends") {
  std::atomic<int> number = 0;
  Running running({.make = [&](const std::function<bool()>& enough) {
    for (int i = 0; ++number > 1 && i < 3000 && !enough(); ++i) std::this_thread::sleep_for(10ms);
    return content("the first page");
  }});
  CHECK(running.get("/")->body == "the first page");
  std::thread visitor([&] { CHECK(running.get("/")->body == "the first page"); });  // it has to wait
  const Clock::time_point began = Clock::now();
  CHECK(running.get("/nothing")->status == 404);
  CHECK(Clock::now() - began < 1s);
  visitor.join();
  CHECK(Clock::now() - began < 4s);
  CHECK(running.stop() < 1);
  CHECK(running.left_nothing_behind());
}

TEST_CASE("the live report ends even when its content never does") {
  const auto end = std::make_shared<std::atomic<bool>>(false);
  Running running({.make = [end](const auto&) {
    while (!*end) std::this_thread::sleep_for(1ms);
    return content("");
  }});
  RawClient visitor(running.port());
  visitor.send(get_page(running.port()));
  std::this_thread::sleep_for(100ms);
  CHECK(running.stop() < 1);
  CHECK_FALSE(running.left_nothing_behind());
  *end = true;
}

TEST_CASE("Ctrl-C at the moment the live report says its address ends it") {
  for (int i = 0; i < 50; ++i) CHECK(Running(example()).stop() < 1);
}
