// The second line does what the first asks for where doctest was read before (tools/precompiled/tests.h).
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
