// What tests include besides, for `make PRECOMPILED=1`.

#include <doctest/doctest.h>

#include "tools/precompiled/standard.h"
