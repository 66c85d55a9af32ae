#pragma once
// The live report: a web server for the one who sits at this machine.

#include <functional>

#include "tools/live/refresher.h"

namespace lamina {

struct ReportServer {
  Refresher::Make make;  ///< what / and /data.json show; called in another thread, again for new requests
  int port = 0;          ///< 0: any free one
};

/// Serves on 127.0.0.1 until Ctrl-C and calls `ready` with the port before. There are two addresses and no
/// files: nothing else can be asked for, and with GET and HEAD alone. Requests that name another host are
/// refused, so that no web site can read the report through a name that it points here. While the content is
/// being made, requests wait for it for some seconds and then get what was made before. Ends within a second
/// of Ctrl-C; false when a thread that makes the content had to be left behind (see Refresher::stop). Error
/// when the port is taken.
bool serve(const ReportServer& server, const std::function<void(int port)>& ready);

}  // namespace lamina
