#include "tools/report/server.h"

#include <httplib.h>

#include <chrono>
#include <thread>

#include "core/error.h"
#include "models/common/interrupt.h"

namespace lamina {

namespace {

constexpr const char* loopback = "127.0.0.1";

void answer(httplib::Response& response, const std::function<std::string()>& content, const char* type) {
  try {
    response.set_content(content(), type);
  } catch (const std::exception& problem) {
    response.status = 500;
    response.set_content(problem.what(), "text/plain");
  }
}

/// Two servers on one port would share its visitors; Linux allows that unless it is asked not to.
void forbid_sharing(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

}  // namespace

void serve(const ReportServer& server, const std::function<void(int port)>& ready) {
  httplib::Server http;
  http.new_task_queue = [] { return new httplib::ThreadPool(2); };  // NOLINT: httplib deletes it
  http.set_keep_alive_timeout(1);                                   // seconds that ending may take
  http.set_socket_options(forbid_sharing);
  http.set_default_headers({{"Cache-Control", "no-store"},
                            {"X-Content-Type-Options", "nosniff"},
                            {"Cross-Origin-Resource-Policy", "same-origin"}});
  http.Get("/", [&](const httplib::Request&, httplib::Response& response) {
    answer(response, server.page, "text/html; charset=utf-8");
  });
  http.Get("/data.json", [&](const httplib::Request&, httplib::Response& response) {
    answer(response, server.data, "application/json");
  });
  const bool bound = server.port == 0 || http.bind_to_port(loopback, server.port);
  if (!bound)
    fail("report: port ", server.port, " of ", loopback, " is taken; choose another one with --port");
  const int port = server.port == 0 ? http.bind_to_any_port(loopback) : server.port;
  http.set_pre_routing_handler([port](const httplib::Request& request, httplib::Response& response) {
    const std::string host = request.get_header_value("Host");
    if (host == text(loopback, ':', port) || host == text("localhost:", port))
      return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    return httplib::Server::HandlerResponse::Handled;
  });

  const CatchInterrupts catching;
  std::thread listening([&] { http.listen_after_bind(); });
  ready(port);
  while (!interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  http.stop();
  listening.join();
}

}  // namespace lamina
