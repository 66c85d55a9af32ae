#include "tools/live/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/error.h"

namespace lamina {

namespace {

/// How long a client may go on sending after its response; what it sends is thrown away. A socket closed with
/// bytes unread would take the response back.
constexpr std::chrono::milliseconds farewell{1000};

constexpr std::string_view head_too_large =
    "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Descriptor listen_on(int port) {
  Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // The port of a server that has just ended is free at once; that of a running one stays taken.
  const int yes = 1;
  ::setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = loopback(port);
  if (::bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(listener.number(), SOMAXCONN) == 0)
    return listener;
  const std::string reason =
      errno == EADDRINUSE ? "is taken" : text("cannot be used: ", std::strerror(errno));
  fail("report: port ", port, " of 127.0.0.1 ", reason, "; choose another one with --port");
}

int port_of(const Descriptor& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(listener.number(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

bool try_again(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Connections::Connections(int port, const ConnectionLimits& limits)
    : limits_(limits), listener_(listen_on(port)), port_(port_of(listener_)) {}

/// What to poll for, the listener first.
std::vector<pollfd> Connections::awaited() {
  std::vector<pollfd> all{{.fd = listener_.number(), .events = POLLIN, .revents = 0}};
  for (const Connection& connection : connections_) {
    short events = 0;
    if (connection.state == State::reading || connection.state == State::leaving) events = POLLIN;
    if (connection.state == State::writing) events = POLLOUT;
    all.push_back({.fd = connection.socket.number(), .events = events, .revents = 0});
  }
  return all;
}

void Connections::serve(std::chrono::milliseconds patience, const Answer& answer) {
  std::vector<pollfd> all = awaited();
  if (::poll(all.data(), all.size(), static_cast<int>(patience.count())) < 0) return;  // a signal came
  auto place = all.begin() + 1;
  for (Connection& connection : connections_) advance(connection, (place++)->revents, answer);
  const Clock::time_point now = Clock::now();
  std::erase_if(connections_, [&](const Connection& connection) {
    return connection.state == State::closed ||
           (connection.state != State::waiting && now > connection.deadline);
  });
  if (all[0].revents != 0) accept_all();
}

/// A listener that cannot accept (too many files are open) would be ready at every turn; a pause lets others
/// close theirs.
void Connections::accept_all() {
  while (!full() || make_room()) {
    Descriptor socket(::accept4(listener_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.number() < 0) {
      if (!try_again(errno) && errno != ECONNABORTED) ::poll(nullptr, 0, 10);
      return;
    }
    const Clock::time_point now = Clock::now();
    connections_.push_back({.socket = std::move(socket), .since = now, .deadline = now + limits_.request});
  }
}

/// Closes the oldest connection that waits for its client, first of all one without a request. One whose
/// response is being made is never closed; false when there are no others.
bool Connections::make_room() {
  for (const bool request_too : {false, true})
    for (auto connection = connections_.begin(); connection != connections_.end(); ++connection)
      if (connection->state != State::waiting && (request_too || connection->state != State::writing)) {
        connections_.erase(connection);
        return true;
      }
  return false;
}

/// As many steps of the way from request to farewell as the client allows.
void Connections::advance(Connection& connection, short events, const Answer& answer) {
  if (connection.state == State::waiting && (events & (POLLHUP | POLLERR)) != 0)
    connection.state = State::closed;  // nobody waits any more
  if ((connection.state == State::reading || connection.state == State::leaving) && events != 0)
    read(connection);
  if (connection.state == State::waiting)
    if (std::optional<std::string> response = answer(connection.head, connection.since)) {
      connection.response = *std::move(response);
      connection.state = State::writing;
      connection.deadline = Clock::now() + limits_.response;
    }
  if (connection.state == State::writing) write(connection);
}

void Connections::read(Connection& connection) {
  std::array<char, 16 << 10> bytes;
  const ssize_t count = ::recv(connection.socket.number(), bytes.data(), bytes.size(), 0);
  if (count < 0 && try_again(errno)) return;
  if (count <= 0) {
    connection.state = State::closed;
    return;
  }
  if (connection.state == State::leaving) return;
  connection.head.append(bytes.data(), static_cast<size_t>(count));
  const size_t end = connection.head.find("\r\n\r\n");
  if (end != std::string::npos && end <= limits_.head_bytes) {
    connection.head.resize(end + 4);
    connection.state = State::waiting;
  } else if (connection.head.size() > limits_.head_bytes) {
    connection.response = head_too_large;
    connection.state = State::writing;
  }
}

void Connections::write(Connection& connection) {
  while (connection.sent < connection.response.size()) {
    const std::string_view rest = std::string_view(connection.response).substr(connection.sent);
    const ssize_t count = ::send(connection.socket.number(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0 && try_again(errno)) return;
    if (count < 0) {
      connection.state = State::closed;
      return;
    }
    connection.sent += static_cast<size_t>(count);
  }
  ::shutdown(connection.socket.number(), SHUT_WR);
  connection.response = {};
  connection.state = State::leaving;
  connection.deadline = Clock::now() + farewell;
}

}  // namespace lamina
