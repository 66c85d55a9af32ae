#pragma once
// The theory commands compare numbers to 1e-8, which float cannot hold, while `real` is one type for the
// whole library. So there are two programs: `lamina`, and the same built in double beside it, which `make`
// names lamina-double. To the user they are one.

namespace lamina {

/// In the double build does nothing. In the float build lets lamina-double go on in place of this process,
/// with the same arguments; throws Error when it is not there.
void continue_in_double();

}  // namespace lamina
