#pragma once
// Text files as people have them: UTF-8 with or without a byte order mark, or Latin-1; lines that end in LF
// or CR LF.

#include <string>
#include <vector>

namespace lamina {

/// The lines of a file in UTF-8, without their ends and without a byte order mark. A line that is not valid
/// UTF-8 is taken for Latin-1, in which every line is valid. The last line may lack its end. Throws
/// DataError, naming the file and the remedy, when it cannot be read, is empty, or holds a zero byte, as
/// UTF-16 and binary files do.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace lamina
