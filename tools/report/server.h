#pragma once
// The live report: a web server for the one who sits at this machine.

#include <functional>
#include <string>

namespace lamina {

struct ReportServer {
  std::function<std::string()> page;  ///< of / ; called at every request
  std::function<std::string()> data;  ///< of /data.json
  int port = 0;                       ///< 0: any free one
};

/// Serves on 127.0.0.1 until Ctrl-C and calls `ready` with the port before. There are two addresses and no
/// files: nothing else can be asked for. Requests that name another host are refused, so that no web site
/// can read the report through a name that it points here. Error when the port is taken.
void serve(const ReportServer& server, const std::function<void(int port)>& ready);

}  // namespace lamina
