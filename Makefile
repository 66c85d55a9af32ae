# Lamina. `make help` lists what can be made.
#
#   REAL=float|double   the scalar type; double builds into its own folder
#   SANITIZE=1          address and undefined-behaviour sanitizers, in their own folder
#   ARCH=native         the CPU to build for, as in -march

CXX ?= g++
REAL ?= float
ARCH ?= native
PREFIX ?= /usr/local

VARIANT := $(if $(filter double,$(REAL)),-double)$(if $(SANITIZE),-sanitize)$(if $(findstring clang,$(CXX)),-clang)
BUILD := build$(if $(VARIANT),/variant$(VARIANT))

# clang reports loops that it could not vectorize; that costs speed and is not an error.
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
            $(if $(findstring clang,$(CXX)),-Wno-pass-failed)
# No -ffast-math: NaN and infinity keep their meaning. The two -fno flags let loops vectorize without it.
OPTIMIZE := -O3 -march=$(ARCH) -fno-math-errno -fno-trapping-math
SANITIZERS := -O1 -march=$(ARCH) -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CXXFLAGS += -std=c++20 -fopenmp $(WARNINGS) $(if $(SANITIZE),$(SANITIZERS),$(OPTIMIZE)) \
            $(if $(filter double,$(REAL)),-DLAMINA_DOUBLE) -I.
LDLIBS := -lopenblas -lz

LIBRARY_SOURCES := $(wildcard core/*.cpp core/*/*.cpp layers/*.cpp layers/*/*.cpp optim/*.cpp)
MODEL_SOURCES := $(wildcard models/*/*.cpp)
TOOL_SOURCES := $(wildcard tools/*.cpp)
TEST_SOURCES := $(wildcard tests/*.cpp tests/*/*.cpp)

objects = $(patsubst %.cpp,$(BUILD)/objects/%.o,$(1))
LIBRARY := $(BUILD)/liblamina.a
MODELS := $(BUILD)/liblamina-models.a

.PHONY: all test help clean

all: $(LIBRARY) $(MODELS) $(BUILD)/lamina-tests

$(BUILD)/objects/%.o: %.cpp Makefile
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -MMD -MP -c $< -o $@

$(LIBRARY): $(call objects,$(LIBRARY_SOURCES))
	@rm -f $@ && ar rcs $@ $^

$(MODELS): $(call objects,$(MODEL_SOURCES))
	@rm -f $@ && ar rcs $@ $^

$(BUILD)/lamina-tests: $(call objects,$(TEST_SOURCES)) $(MODELS) $(LIBRARY)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

test: $(BUILD)/lamina-tests
	$<

clean:
	rm -rf build

-include $(patsubst %.cpp,$(BUILD)/objects/%.d,$(LIBRARY_SOURCES) $(MODEL_SOURCES) $(TOOL_SOURCES) $(TEST_SOURCES))
