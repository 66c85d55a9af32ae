#pragma once
// The page: one HTML file with its styles, scripts and data in it. `make report` puts everything but the
// data together (tools/report/page/build.mjs), since uPlot comes from npm; here the data go in.

#include <string>

#include "tools/report/document.h"

namespace lamina {

/// The page without data, from the folder of the running program. DataError with the remedy when it was not
/// made.
std::string read_page();

/// The path of a file in the page's folder, report/ beside the running program.
std::string beside_page(const std::string& name);

/// The page with these data. A live one asks the server it came from for newer ones; any other may not use
/// the network at all, which its content security policy enforces. Error when `page` has no place for them.
std::string fill_page(std::string page, const Json& document, bool live);

/// JSON in ASCII that no HTML parser takes for markup, whatever text is in it.
std::string embeddable(const Json& document);

}  // namespace lamina
