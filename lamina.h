#pragma once
// All of Lamina's public headers, for programs that use the library as a whole:
//
//   g++ -std=c++20 program.cpp $(pkg-config --cflags --libs lamina)

#include "core/error.h"
#include "core/parallel.h"
#include "core/real.h"
#include "core/version.h"
