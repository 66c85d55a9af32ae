#pragma once
// The pictures in a run's folder, as data that the page can hold.

#include <string>
#include <vector>

namespace lamina {

/// A file that an exhibit shows.
struct PicturePlan {
  std::string file = {};   ///< "samples.png"; "validation-*.svg" stands for all that fit
  std::string title = {};  ///< what it shows
};

struct FoundPicture {
  std::string file = {};     ///< its name in the folder
  std::string source = {};   ///< "data:image/png;base64,..."; empty where there is a problem
  std::string problem = {};  ///< why it cannot be shown, as a clause
};

/// Those in the folder that some exhibit shows, in the order of their names. What is no such picture, cannot be read or has
/// more than 2 MB becomes a problem.
std::vector<FoundPicture> pictures_in(const std::string& folder);

/// Whether a name is one of the plan's, or of one of several.
bool fits(const PicturePlan& plan, const std::string& file);
bool fits(const std::vector<PicturePlan>& plans, const std::string& file);

std::string base64(const std::string& bytes);

}  // namespace lamina
