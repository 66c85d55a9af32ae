// What most tests include, for `make PRECOMPILED=1`.

#include <doctest/doctest.h>

#include "tests/check.h"
#include "tools/precompiled/standard.h"
