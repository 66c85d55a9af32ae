#pragma once
// The files of IAM-OnDB (Liwicki and Bunke 2005), as they are distributed:
//
//   lineStrokes/a01/a01-000/a01-000u-01.xml   a line's strokes: <Stroke><Point x= y= time=/>...</Stroke>...
//   ascii/a01/a01-000/a01-000u.txt            the text of all lines of the form, after "CSR:"
//   trainset.txt testset_v.txt testset_t.txt testset_f.txt   names of forms, one per line

#include <string>
#include <vector>

#include "models/handwriting/data/data.h"

namespace lamina::handwriting {

/// The pen's positions in a file of strokes. DataError, naming the file and the remedy, when it is not XML,
/// has a DOCTYPE (and so perhaps entities, which are refused), holds no points, or one beyond a million
/// units.
std::vector<PenPoint> read_strokes(const std::string& file);

/// The lines after "CSR:"; a run of % ends a line, too. DataError when there is no such line.
std::vector<std::string> read_texts(const std::string& file);

/// The text of a file of strokes: in an IAM folder from its place there, otherwise from the first line of the
/// file beside it with the extension .txt. DataError when there is none.
std::string text_of(const std::string& strokes_file);

/// Writes strokes and text as files that the functions above can read, FILE.xml and FILE.txt beside it.
void write_strokes(const std::string& file, const std::vector<PenPoint>& points, const std::string& text);

/// All lines of a folder. With the four lists of forms the split is that of Graves (2013): testset_v is for
/// testing, the rest for training; without them every tenth text is for testing, with all the forms on which it
/// was written. Lines without text are skipped and counted in `source`, as are texts without strokes. DataError for
/// broken files, as above, for some of the lists without the others, and when there is nothing to read.
Data load_iam(const std::string& folder);

}  // namespace lamina::handwriting
