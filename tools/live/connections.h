#pragma once
// The connections of a small web server on this machine's loopback address. One thread serves them all and
// waits for none of them: requests come in and responses go out in pieces, as far as each client takes them.
// So a slow client makes nobody else wait, and the program can end at any moment.

#include <poll.h>

#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "core/files/file.h"

namespace lamina {

/// What a client may take of the server. Its connection is closed when it takes more.
struct ConnectionLimits {
  size_t connections = 32;       ///< one more closes the one that has kept the server waiting for longest
  size_t head_bytes = 16 << 10;  ///< of a request, up to its empty line
  std::chrono::milliseconds request{5000};    ///< from accepting the connection to the end of that head
  std::chrono::milliseconds response{20000};  ///< from the first byte of the response to the last
};

class Connections {
 public:
  using Clock = std::chrono::steady_clock;

  /// Gives all bytes of the response to a request whose head has come in: its lines up to the empty one. What
  /// follows is never read. Nothing: not yet, ask again at the next turn. `since`: when the request came.
  using Answer = std::function<std::optional<std::string>(const std::string& head, Clock::time_point since)>;

  /// Listens on 127.0.0.1; port 0 is any free one. Error when the port is taken.
  explicit Connections(int port, const ConnectionLimits& limits = {});

  int port() const { return port_; }

  /// One turn: waits for at most `patience` until something can be done, and does it. Each connection is for
  /// one request and is closed after its response.
  void serve(std::chrono::milliseconds patience, const Answer& answer);

 private:
  enum class State { reading, waiting, writing, leaving, closed };
  struct Connection {
    Descriptor socket;
    Clock::time_point since, deadline;
    State state = State::reading;
    std::string head = {}, response = {};
    size_t sent = 0;
  };

  bool full() const { return connections_.size() >= limits_.connections; }
  std::vector<pollfd> awaited();
  void accept_all();
  bool make_room();
  void advance(Connection& connection, short events, const Answer& answer);
  void read(Connection& connection);
  void write(Connection& connection);

  ConnectionLimits limits_;
  Descriptor listener_;
  int port_;
  std::list<Connection> connections_;  ///< the oldest first
};

}  // namespace lamina
