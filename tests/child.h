#pragma once
// Runs a test's body in a child process, where limits and privileges can be removed permanently.

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "core/error.h"
#include "tests/temporary_folder.h"

namespace lamina {

/// The text of the DataError that `body` throws in a child process that has first called `restrict_rights`.
inline std::string message_of_child(const std::function<void()>& restrict_rights,
                                    const std::function<void()>& body) {
  int channel[2];
  REQUIRE(::pipe(channel) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    restrict_rights();
    const std::string message = message_of<DataError>(body);
    const bool sent = ::write(channel[1], message.data(), message.size()) >= 0;
    ::_exit(sent ? 0 : 1);
  }
  ::close(channel[1]);
  std::string message(4096, '\0');
  const ssize_t size = ::read(channel[0], message.data(), message.size());
  ::close(channel[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  message.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return message;
}

/// Drops the privileges of root, who may read every file.
inline void become_nobody() {
  constexpr uid_t nobody = 65534;
  if (::geteuid() == 0 && ::seteuid(nobody) != 0) ::_exit(2);
}

}  // namespace lamina
