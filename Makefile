# Lamina. `make help` lists what can be made.

CXX ?= g++
REAL ?= float
ARCH ?= native
PREFIX ?= /usr/local

# Each combination of scalar type, sanitizers and compiler has its own folder; the plain one is build/ itself. What is
# installed (INSTALLED=1) is built apart for each kind of CPU.
variant = $(if $(filter double,$(1)),-double)$(if $(SANITIZE),-$(if $(filter thread,$(SANITIZE)),thread,sanitize))$(if $(findstring clang,$(CXX)),-clang)$(if $(2),-for-$(2))
build_folder = build$(if $(call variant,$(1),$(2)),/variant$(call variant,$(1),$(2)))
BUILD := $(call build_folder,$(REAL),$(if $(INSTALLED),$(ARCH)))
# In groups where the tree was begun so: TOGETHER is explained below.
IN_GROUPS := $(wildcard $(call build_folder,float)/together/groups.mk)
TOGETHER ?= $(if $(IN_GROUPS),1)
PRECOMPILED ?= $(if $(IN_GROUPS),1)
VERSION = $(shell sed -n 's/.*version = "\(.*\)".*/\1/p' core/version.h)

ifneq ($(filter-out float double,$(REAL)),)
$(error REAL=$(REAL): it is float or double)  # and would be taken for float
endif

WARNINGS_OF_BOTH := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
# clang makes it an error when a loop marked simd stays scalar, and from 19 on warns of what g++ 12's std::stable_sort calls;
# g++ 12 takes `"text" + std::string()` for overlapping memory (its bug 105651), and on ARM a list of initializers for
# uninitialized.
MACHINE := $(shell $(CXX) -dumpmachine)
WARNINGS_OF_CLANG := $(WARNINGS_OF_BOTH) -Wno-pass-failed -Wno-error=deprecated-declarations
WARNINGS := $(if $(findstring clang,$(CXX)),$(WARNINGS_OF_CLANG),$(WARNINGS_OF_BOTH) -Wno-restrict$(if $(findstring aarch64,$(MACHINE)), -Wno-maybe-uninitialized))
# No -ffast-math: NaN and infinity keep their meaning. The two -fno flags let loops vectorize without it.
# The bounds of operator[] are checked in the sanitizers' builds alone.
# .ci/run, which installs three times, sets INSTALLED_LEVEL to -O0.
INSTALLED_LEVEL ?= -O3
LEVEL := $(if $(SANITIZE),-Og,$(if $(INSTALLED),$(INSTALLED_LEVEL),-O3))
OPTIMIZE = $(LEVEL) -march=$(ARCH) -fno-math-errno -fno-trapping-math -DLAMINA_CHECK_INDEX=0
# In a shared library a call of an own function is a call, not a look-up: none is replaced by what a program brings,
# in particular no inline function by the program's copy, which was compiled for a lesser CPU.
ifdef INSTALLED
OPTIMIZE += -fPIC -fvisibility-inlines-hidden -fno-semantic-interposition
endif
# -Og and line tables only: at -O1 with -g the checks take g++ five times as long to compile.
# clang does not say in a macro that it watches addresses. Its fuzzer asks where a run of the library went: with that in
# every sanitizers' build, one serves `make test` and `make fuzz`.
SANITIZERS = $(LEVEL) -march=$(ARCH) -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
  $(if $(findstring clang,$(CXX)),$(ROUTE) -D__SANITIZE_ADDRESS__=1)
ROUTE := -fsanitize=fuzzer-no-link
# The thread sanitizer does not see what an OpenMP runtime waits for: `make test-threads` builds without it, and keeps
# the loops marked simd.
ifeq ($(SANITIZE),thread)
override TOGETHER :=  # a part of the tests
SANITIZERS := -O1 -march=$(ARCH) -g1 -fsanitize=thread
endif
LANGUAGE := -std=c++20 $(if $(filter thread,$(SANITIZE)),-fopenmp-simd,-fopenmp) $(if $(filter double,$(REAL)),-DLAMINA_DOUBLE) -I.
# The user's own flags can take back a warning, but neither the level nor the CPU, which an environment's would change.
FLAGS = $(LANGUAGE) $(WARNINGS) $(if $(CXXFLAGS),$(CXXFLAGS) )$(if $(SANITIZE),$(SANITIZERS),$(OPTIMIZE))
LIBRARY_LIBS := -lopenblas
# The web server of the live report; programs that do not call it are not linked with it.
LDLIBS := $(LIBRARY_LIBS) -lz -lpugixml -Wl,--as-needed -lcpp-httplib

# MPI, for several processes that train together, where its compiler is: MPI=0 leaves it out, MPI=1 insists. What is
# installed and what the sanitizers check has none. Only core/distributed/mpi.cpp is compiled with its flags.
MPI ?= $(if $(shell command -v mpicxx 2>/dev/null),1,0)
ifneq ($(filter-out 0 1,$(MPI)),)
$(error MPI=$(MPI): it is 0 or 1)  # and would be taken for 0
endif
ifeq ($(MPI)$(INSTALLED)$(SANITIZE),1)
MPI_WORDS := $(shell mpicxx -show)
MPI_FLAGS := -DLAMINA_MPI $(patsubst -I%,-isystem %,$(filter -I%,$(MPI_WORDS)))
LDLIBS += $(filter-out -lmpi_cxx,$(filter -L% -l% -Wl%,$(MPI_WORDS)))
endif

# Folders are layers: a later list may use an earlier one, never the reverse. The linker reads them backwards.
include tools/libraries.mk
LIBRARY_SOURCES := $(wildcard $(LAMINA_SOURCES))
MODEL_SOURCES := $(filter-out models/examples/% models/course/%,$(wildcard models/*/*.cpp models/*/*/*.cpp))
BENCH_SOURCES := $(wildcard tools/bench/bench_*.cpp)
# A program that is linked with this one counts what it takes from the heap; others keep the C library's malloc.
HEAP_COUNTER := tools/peers/heap_allocations.cpp
BY_HAND := tools/peers/by_hand/by_hand.cpp
TOOL_SOURCES := $(filter-out tools/lamina.cpp $(BENCH_SOURCES) $(HEAP_COUNTER) tools/peers/%,$(wildcard $(addprefix tools/,*.cpp */*.cpp */*/*.cpp)))
SOURCES_OF_COMMANDS := $(filter tools/commands/%,$(TOOL_SOURCES))
# Programs of their own stand in these folders of tests.
OWN_PROGRAMS := $(addsuffix /%,$(addprefix tests/,install oracle fuzz faults stress guarded))
TEST_SOURCES := $(filter-out $(OWN_PROGRAMS),$(wildcard $(addprefix tests/,*.cpp */*.cpp */*/*.cpp */*/*/*.cpp))) \
                tests/fuzz/targets.cpp tests/fuzz/input_file.cpp
ORACLE_SOURCES := $(wildcard tests/oracle/answers/*.cpp)
COMMAND_SOURCES := $(wildcard tools/lamina.cpp)
SOURCES := $(LIBRARY_SOURCES) $(MODEL_SOURCES) $(TOOL_SOURCES) $(COMMAND_SOURCES) $(BENCH_SOURCES) $(HEAP_COUNTER) \
           $(TEST_SOURCES) $(ORACLE_SOURCES)

# In double some objects are float's. What is installed stands alone.
include tools/scalar_free.mk
SHARED_SOURCES := $(if $(INSTALLED),,$(filter $(SCALAR_FREE_SOURCES),$(if $(filter double,$(REAL)),$(SOURCES))))
objects = $(call objects_in,$(BUILD),$(filter-out $(SHARED_SOURCES),$(1))) $(call shared_objects,$(filter $(SHARED_SOURCES),$(1)))
objects_in = $(patsubst %.cpp,$(1)/objects/%.o,$(2))
shared_objects = $(call objects_in,$(call build_folder,float),$(1))

# TOGETHER=1 compiles up to twelve sources at once (tools/together.sh): of the compiler's time tests take half, models two
# thirds, the library nine tenths. .ci/run does so, and `make demo` where nothing is built: there the first build is what is
# waited for, and a plain make, for who changes sources one by one, builds each alone. A tree that was begun in groups goes on
# with them until `make clean`. Left out are sources with options of their own, and the recurrent cells:
# among others g++ calls their tanh for each number, and an LSTM takes a quarter longer.
ifneq ($(TOGETHER),)
ALONE := core/gemm/% layers/recurrent/cell.cpp core/version.cpp core/distributed/mpi.cpp tools/live/server.cpp \
  tests/fuzz/% tests/main.cpp tests/core/tensor_index_test.cpp tests/tools/live/report_server_test.cpp
SET_library := $(LIBRARY_SOURCES)
SET_train := $(wildcard $(TRAIN_SOURCES))
SET_models := $(filter-out $(SET_train),$(MODEL_SOURCES))
SET_commands := $(SOURCES_OF_COMMANDS)
SET_tools := $(filter-out $(SOURCES_OF_COMMANDS),$(TOOL_SOURCES))
SET_tests := $(TEST_SOURCES)
SETS := library train models commands tools tests
# Each set's sources that are float's alone have objects of float in both builds.
FREE_SOURCES := $(if $(INSTALLED),,$(SCALAR_FREE_SOURCES))
SOURCES_OF_SET = $(filter-out $(FREE_SOURCES) $(ALONE),$(SET_$(1)))
FREE_SOURCES_OF_SET = $(filter-out $(ALONE),$(filter $(FREE_SOURCES),$(SET_$(1))))
objects_in = $(sort $(foreach source,$(2),$(or $(TOGETHER_OF_$(source)),$(1)/objects/$(source:.cpp=.o))))
endif

LIBRARY := $(BUILD)/liblamina.a
MODELS := $(BUILD)/liblamina-models.a
TOOLS := $(BUILD)/liblamina-tools.a
# Apart from the tools, since most benchmarks do without.
COMMANDS := $(BUILD)/liblamina-commands.a
COMMAND := $(patsubst tools/%.cpp,$(BUILD)/%,$(COMMAND_SOURCES))
BENCHMARKS := $(patsubst tools/bench/%.cpp,$(BUILD)/%,$(BENCH_SOURCES))

# One core per job when this make was started without -j; used where a target builds through a second make.
SUBMAKE = $(if $(COUNTING),:,$(MAKE)) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: all programs setup demo test oracle guarded fuzz bench report sample-report install docs format lint tidy help clean force
.DELETE_ON_ERROR:

# The theory commands compute in double: `lamina` hands them over to `lamina-double` in its own folder.
DOUBLE_COMMAND := $(if $(filter float,$(REAL)),$(BUILD)/lamina-double)

all: programs $(DOUBLE_COMMAND)  ## library, models, the `lamina` command, benchmarks
programs: $(LIBRARY) $(MODELS) $(TOOLS) $(COMMANDS) $(COMMAND) $(BENCHMARKS)

# --- Compiling. What is compiled and linked is counted, "[12/182] core/tape.cpp"; V=1 shows the command lines as well.
# How much there is to do is counted by a make that does nothing (COUNTING=1), when the first line is to be printed.

say = $(if $(V),,@)$(eval DONE += 1)echo '[$(words $(DONE))/$(TOTAL)] $(1)' && 
TOTAL = $(eval TOTAL := $(if $(COUNTING),0,$(shell \
  env -u MAKEFLAGS $(MAKE) -n $(MAKEOVERRIDES) COUNTING=1 $(MAKECMDGOALS) 2>/dev/null | grep -c "^echo '\[")))$(TOTAL)

# The compiler's command line is kept in a file that changes only when it does, and so is each archive's list of members:
# other flags rebuild everything, a removed source leaves its archive, nothing else.

# (A dry run takes what it would do for done, so there these files are taken as they are.)
FORCE := $(if $(COUNTING),,force)
keep = @mkdir -p $(@D); echo '$(1)' | cmp -s - $@ || echo '$(1)' > $@

$(BUILD)/flags: $(FORCE)
	$(call keep,$(CXX) $(FLAGS))

$(BUILD)/sources: $(FORCE)
	$(call keep,$(SOURCES))

# PRECOMPILED=1 reads the standard headers, and for tests those of tests/check.h, once instead of once per source: a quarter
# of the compiler's work, of tests a third. .ci/run does so. Compiler caches, which help more from day to day, do not work
# with it. Like TOGETHER it hides a missing #include, which tools/includes.py finds.
PRELUDE := $(if $(PRECOMPILED),$(BUILD)/precompiled/standard.h)
# clang reads what it precompiled with the same level and sanitizers only.
UNOPTIMIZED_PRELUDE := $(if $(SANITIZE),$(PRELUDE:standard.h=unoptimized.h),$(PRELUDE))
# g++ 12 crashes where code at -O3 reads what was precompiled at -O1.
GEMM_PRELUDE := $(if $(SANITIZE)$(INSTALLED),,$(PRELUDE))
TEST_PRELUDE := $(if $(PRECOMPILED),$(BUILD)/precompiled/tests.h)
# With it the bug of g++ 12 above shows in two more warnings.
prelude = $(if $(1),-include $(1) $(if $(findstring clang,$(CXX)),,-Wno-stringop-overflow -Wno-array-bounds))
compile = $(call say,$<)mkdir -p $(@D) && $(CXX) $(FLAGS) $(call prelude,$(1)) -MMD -MP -c $< -o $@

$(BUILD)/objects/%.o: %.cpp $(BUILD)/flags $(PRELUDE)
	$(call compile,$(PRELUDE))
$(BUILD)/objects/core/gemm/%.o: core/gemm/%.cpp $(BUILD)/flags $(GEMM_PRELUDE)
	$(call compile,$(GEMM_PRELUDE))
$(BUILD)/objects/tools/%.o: tools/%.cpp $(BUILD)/flags $(UNOPTIMIZED_PRELUDE)
	$(call compile,$(UNOPTIMIZED_PRELUDE))
$(BUILD)/objects/tests/%.o: tests/%.cpp $(BUILD)/flags $(TEST_PRELUDE)
	$(call compile,$(TEST_PRELUDE))

ifneq ($(TOGETHER),)
# For each group its object's rule, without a recipe, its sources by this object's name, and the reverse. A new source changes
# the lists of some groups; those of the others stay as old as they are.
GROUPS := $(BUILD)/together/groups.mk
-include $(GROUPS)
group_rules = tools/together.sh groups 12 $(2) | awk -v object=$(1)/ '{ object_of = object NR ".o"; list = object NR ".sources"; \
  kept = ""; getline kept < list; close(list); if (kept != $$0) print > list; print list ": ;"; print object_of ": " list " " $$0; \
  print "SOURCES_OF_" object_of " := " $$0; for (i = 1; i <= NF; ++i) print "TOGETHER_OF_" $$i " := " object_of }'
$(GROUPS): $(BUILD)/sources tools/together.sh
	@mkdir -p $(foreach set,$(SETS),$(@D)/$(set) $(call build_folder,float)/together/$(set)-free)
	@{ $(foreach set,$(SETS),$(call group_rules,$(@D)/$(set),$(call SOURCES_OF_SET,$(set))); \
	  $(call group_rules,$(call build_folder,float)/together/$(set)-free,$(call FREE_SOURCES_OF_SET,$(set)));) } > $@
# Not those of $^, to which the last build's headers (.d) add a source that has since left the group.
compile_together = $(call say,$(SOURCES_OF_$@))tools/together.sh compile $@ $(CXX) $(FLAGS) $(call prelude,$(1)) -- $(SOURCES_OF_$@)
$(BUILD)/together/%.o: $(BUILD)/flags $(PRELUDE)
	$(call compile_together,$(PRELUDE))
$(BUILD)/together/tools%.o: $(BUILD)/flags $(UNOPTIMIZED_PRELUDE)
	$(call compile_together,$(UNOPTIMIZED_PRELUDE))
$(BUILD)/together/commands%.o: $(BUILD)/flags $(UNOPTIMIZED_PRELUDE)
	$(call compile_together,$(UNOPTIMIZED_PRELUDE))
$(BUILD)/together/tests/%.o: $(BUILD)/flags $(TEST_PRELUDE)
	$(call compile_together,$(TEST_PRELUDE))
# They are made with the objects. Without a rule of theirs make would find one, by way of an object called 1.d.o.
TOGETHER_HEADERS := $(wildcard $(BUILD)/together/*/*.d)
$(TOGETHER_HEADERS): ;
-include $(TOGETHER_HEADERS)
endif

# These have no test runner to link with.
define without_runner
$(BUILD)/objects/tests/$(1)/%.o: tests/$(1)/%.cpp $(BUILD)/flags $(PRELUDE)
	$$(call compile,$(PRELUDE))
endef
$(foreach folder,fuzz oracle stress,$(eval $(call without_runner,$(folder))))

# Each assertion of doctest becomes a call, in a seventh less of the compiler's time. Something thrown within one ends its
# test case, which fails.
$(call objects,$(filter-out tests/fuzz/%,$(TEST_SOURCES))) $(BUILD)/precompiled/tests.h: private FLAGS += -DDOCTEST_CONFIG_SUPER_FAST_ASSERTS
# -O1 compiles in two thirds of the time and is enough for the tests' own code, and for most of the tools. For the
# sanitizers both compile in half the time without optimization; the models' tests would then take ten times as long.
$(call objects,$(filter-out tests/fuzz/%,$(TEST_SOURCES)) $(wildcard tests/guarded/*.cpp) $(TOOL_SOURCES)) $(BUILD)/precompiled/tests.h: private LEVEL := $(if $(SANITIZE),-O0,-O1)
# Products keep rows in registers at -O3 only, which tests/install_test.sh looks for.
ifdef INSTALLED
$(call objects,$(wildcard core/gemm/*.cpp)): private LEVEL := -O3
endif
ifdef SANITIZE
$(call objects,$(COMMAND_SOURCES) $(BENCH_SOURCES) $(HEAP_COUNTER)) $(BUILD)/precompiled/unoptimized.h: private LEVEL := -O0
# The fuzzer does not ask for the route through a test, which takes a fifth of its compiler's time.
$(call objects,$(filter-out tests/fuzz/%,$(TEST_SOURCES))) $(BUILD)/precompiled/tests.h: private ROUTE :=
# Nor through a product: for that, clang compiles the tiles for 58 s instead of 15.
$(call objects,$(wildcard core/gemm/*.cpp)): private ROUTE :=
endif

ifndef INSTALLED
$(call shared_objects,$(SCALAR_FREE_SOURCES)): private FLAGS += -DLAMINA_SCALAR=see_tools_scalar_free_mk
endif
.PHONY: scalar-free
ifeq ($(REAL),float)
scalar-free: $(call objects,$(SCALAR_FREE_SOURCES))
else
scalar-free: force
	@+$(SUBMAKE) REAL=float scalar-free
$(call shared_objects,$(SHARED_SOURCES)): scalar-free
	@:
endif

precompile = $(call say,$@)mkdir -p $(@D) && cp $< $@ && \
  $(CXX) $(FLAGS) -MMD -MP -MT $@ -MF $@.d -x c++-header $< -o $@.$(if $(findstring clang,$(CXX)),pch,gch)
$(BUILD)/precompiled/standard.h $(BUILD)/precompiled/tests.h: $(BUILD)/precompiled/%.h: tools/precompiled/%.h $(BUILD)/flags
	$(precompile)
$(BUILD)/precompiled/unoptimized.h: tools/precompiled/standard.h $(BUILD)/flags
	$(precompile)
-include $(wildcard $(BUILD)/precompiled/*.d)

$(LIBRARY): $(call objects,$(LIBRARY_SOURCES))
$(MODELS): $(call objects,$(MODEL_SOURCES))
$(COMMANDS): $(call objects,$(SOURCES_OF_COMMANDS))
$(TOOLS): $(call objects,$(filter-out $(SOURCES_OF_COMMANDS),$(TOOL_SOURCES)))
$(LIBRARY) $(MODELS) $(TOOLS) $(COMMANDS): $(BUILD)/sources
	@rm -f $@ && ar rcs $@ $(filter %.o,$^)

LINK = $(call say,$@)$(CXX) $(FLAGS) $(filter %.o %.a,$^) $(LDFLAGS) $(LDLIBS) -o $@

$(COMMAND): $(BUILD)/%: $(BUILD)/objects/tools/%.o
$(BENCHMARKS): $(BUILD)/%: $(BUILD)/objects/tools/bench/%.o
$(BUILD)/bench_small: $(call objects,$(HEAP_COUNTER))
# These two time the training steps of the experiments.
$(COMMAND) $(addprefix $(BUILD)/,bench_steps bench_ranks): $(COMMANDS)
$(COMMAND) $(BENCHMARKS): $(TOOLS) $(MODELS) $(LIBRARY)
$(COMMAND) $(BENCHMARKS):
	$(LINK)

# Not beside this make, which may be compiling the objects that both need.
$(BUILD)/lamina-double: force | scalar-free
	@+$(SUBMAKE) REAL=double $(call build_folder,double)/lamina
	@mkdir -p $(@D) && { [ $@ -ef $(call build_folder,double)/lamina ] || ln -sfr $(call build_folder,double)/lamina $@; }

$(BUILD)/lamina-tests: $(call objects,$(TEST_SOURCES) $(HEAP_COUNTER)) $(COMMANDS) $(TOOLS) $(MODELS) $(LIBRARY) $(BUILD)/sources
	$(LINK)

# The library's own build had these switched on, and the layout of its classes depends on them.
$(call objects,tools/live/server.cpp tests/tools/live/report_server_test.cpp): private FLAGS += $(shell pkg-config --cflags cpp-httplib)

# Figures and --version name the commit, and none where the tree lies within another repository. Only this file is compiled
# again when it changes.
COMMIT := $(shell [ "$$(git rev-parse --show-toplevel 2>/dev/null)" -ef . ] && git describe --always --dirty --abbrev=10 --exclude '*' 2>/dev/null)
$(BUILD)/commit: $(FORCE)
	$(call keep,$(COMMIT))
$(call objects,core/version.cpp): $(BUILD)/commit
$(call objects,core/version.cpp): private FLAGS += $(if $(COMMIT),-DLAMINA_COMMIT='"$(COMMIT)"')

$(BUILD)/mpi-flags: force
	$(call keep,$(MPI_FLAGS))
$(call objects,core/distributed/mpi.cpp): $(BUILD)/mpi-flags
$(call objects,core/distributed/mpi.cpp): private FLAGS += $(MPI_FLAGS)

# The same tests with an allocator that puts every buffer against an unmapped page, and so for each parameter.
GUARDED_ALLOCATOR := tests/guarded/allocator.cpp tests/guarded/growing_buffer.cpp

$(BUILD)/guarded-tests: $(call objects,$(TEST_SOURCES) $(HEAP_COUNTER) $(GUARDED_ALLOCATOR)) $(COMMANDS) $(TOOLS) $(MODELS) $(LIBRARY) $(BUILD)/sources
	$(LINK)

$(call objects,tests/core/tensor_index_test.cpp): private FLAGS += -ULAMINA_CHECK_INDEX

-include $(patsubst %.cpp,$(BUILD)/objects/%.d,$(SOURCES) $(GUARDED_ALLOCATOR))

# --- Running

# Installs packages only when the compiler cannot find a header or OpenBLAS, so other systems work as well.
PROBE := cblas.h zlib.h doctest/doctest.h CLI/CLI.hpp nlohmann/json.hpp pugixml.hpp httplib.h
setup:
	@{ printf '#if !__has_include(<%s>)\n#error\n#endif\n' $(PROBE); echo 'int main() {}'; } | \
	  $(CXX) -std=c++20 -fopenmp -x c++ - $(LDLIBS) -o /dev/null 2>/dev/null || tools/install-deps.sh

# Where nothing is built yet, in groups.
QUICKLY := $(if $(wildcard $(BUILD)/sources),,PRECOMPILED=1 TOGETHER=1)
demo:  ## says what it will install and build, does so, and shows two claims of the paper in one to two minutes of training
	@tools/demo-plan.sh $(COMMAND) $(QUICKLY)
	@+$(SUBMAKE) setup
	@command -v gnuplot >/dev/null || tools/install-deps.sh
	@+$(SUBMAKE) $(COMMAND) $(QUICKLY)
	@rm -rf runs/demo
	@$(BUILD)/lamina demo --out runs/demo

# The library is tested in both scalar types (gradient checks need double), or in the one that REAL names.
# The sanitizers skip the doctest suite "slow", and the shell tests, which look at files rather than at memory. Without REAL
# double skips that suite as well: whole trainings and presets as the commands run them, which is in float.
REALS := $(if $(filter command% environment%,$(origin REAL)),$(REAL),float double)
SHELL_TESTS := $(if $(SANITIZE),,$(wildcard $(addprefix tests/,*_test.sh */*_test.sh */*/*_test.sh */*/*/*_test.sh)))
# By far the longest, so that none ends alone on one core.
FIRST_TESTS := $(filter %/install_test.sh %/course_test.sh %/mpirun_test.sh,$(SHELL_TESTS))

test: setup  ## builds and runs all tests in float and the fast ones in double, or all in REAL; with SANITIZE=1 the fast ones
	@+for real in $(REALS); do $(SUBMAKE) REAL=$$real test-program || exit; done
	@+$(if $(SHELL_TESTS),$(SUBMAKE) REAL=float build/lamina build/lamina-double fault-library)
	@tools/run-tests.sh --parts 8 $(FIRST_TESTS) $(if $(SANITIZE),--skip-slow) \
	  $(foreach real,$(REALS),$(if $(filter-out $(firstword $(REALS)),$(real)),--skip-slow) $(call build_folder,$(real))/lamina-tests) \
	  $(filter-out $(FIRST_TESTS),$(SHELL_TESTS))

.PHONY: test-program
test-program: $(BUILD)/lamina-tests

# --- Threads: programs of their own, which need nothing of the library but these two sources.

THREADS_SOURCES := core/threads/parallel.cpp core/files/control_groups.cpp
THREADS_TESTS := tests/main.cpp tests/core/threads/parallel_test.cpp tests/core/threads/team_test.cpp
JOBS ?= 1e6
THREADS ?= 2 3 4 8 16

$(BUILD)/threads-tests: $(call objects,$(THREADS_TESTS) $(THREADS_SOURCES))
$(BUILD)/stress-threads: $(call objects,tests/stress/threads.cpp $(THREADS_SOURCES))
$(BUILD)/threads-tests $(BUILD)/stress-threads:
	$(call say,$@)$(CXX) $(FLAGS) $^ -o $@

-include $(BUILD)/objects/tests/stress/threads.d

.PHONY: test-threads stress
test-threads:  ## builds and runs the tests of the threads with the thread sanitizer
	@+$(SUBMAKE) SANITIZE=thread build/variant-thread/threads-tests
	@tools/run-tests.sh build/variant-thread/threads-tests

stress: $(BUILD)/stress-threads  ## JOBS (1e6) checked jobs with each number of THREADS (2 3 4 8 16)
	@$< $(JOBS) $(THREADS)

# --- The oracle: random cases beside PyTorch in float64.

CASES ?= 30000
SEED ?= 1
oracle: setup  ## compares CASES=30000 random cases (SEED=1) with PyTorch in float64; without PyTorch all are skipped
	@+for real in $(REALS); do $(SUBMAKE) REAL=$$real oracle-program || exit; done
	@tests/oracle/oracle.py --cases $(CASES) --seed $(SEED) \
	  $(foreach real,$(REALS),--$(real) $(call build_folder,$(real))/oracle-answers)

.PHONY: oracle-program
oracle-program: $(BUILD)/oracle-answers

$(BUILD)/oracle-answers: $(call objects,$(ORACLE_SOURCES)) $(LIBRARY)
	$(call say,$@)$(CXX) $(FLAGS) $^ $(LDFLAGS) $(LIBRARY_LIBS) -o $@

# --- Guarded memory.

# Left out are tests that count allocations or look at addresses or offsets, and chains of more buffers than a process may map.
GUARDED := -sf='*/core/*,*/layers/*,*/optim/*,*loss_test*,*attention_test*,*mixture_test*' \
  -sfe='*allocator_test*,*training_step_test*,*/report*' \
  -tce='*deep chain*,*run in pieces*,*memory grows*,*tensor: construction*,*one flat buffer*,*parameters: may grow*'
guarded: setup  ## the tests of ops, layers and optimizers with every buffer against an unmapped page
	@+for real in $(REALS); do $(SUBMAKE) REAL=$$real guarded-program || exit; done
	@for program in $(foreach real,$(REALS),$(call build_folder,$(real))/guarded-tests); do \
	  for end in end beginning; do LAMINA_AGAINST=$$end $$program $(GUARDED) || exit; done; done

.PHONY: guarded-program
guarded-program: $(BUILD)/guarded-tests

bench: setup  ## times the products against OpenBLAS, then training steps against PyTorch, in one run
	@+$(SUBMAKE) all
	@tools/bench_turns.py $(BUILD)/bench_gemm
	@tools/bench.py --json runs/bench.json

# Other C++ code on small batches: each its own program, with Lamina's optimization, nothing of Lamina, and OpenBLAS.
PEERS := $(BUILD)/peers/by_hand $(if $(wildcard /usr/include/dlib/dnn.h),$(BUILD)/peers/dlib)
PEER_HEADERS := $(wildcard tools/peers/*.h)
$(BUILD)/peers/dlib: tools/peers/dlib.cpp
$(BUILD)/peers/dlib: private LDLIBS := -ldlib -lopenblas
$(BUILD)/peers/by_hand: $(BY_HAND) $(wildcard tools/peers/by_hand/*.h)
$(BUILD)/peers/by_hand: private LDLIBS := -ffast-math -lopenblas
$(BUILD)/peers/%: $(HEAP_COUNTER) $(PEER_HEADERS) $(BUILD)/flags
	$(call say,$@)mkdir -p $(@D) && $(CXX) $(FLAGS) $(filter %.cpp,$^) $(LDLIBS) -o $@

.PHONY: small-programs bench-small
small-programs: $(BUILD)/bench_small $(PEERS)
bench-small: setup  ## times small batches and inference on one thread, against PyTorch, dlib and C++ by hand
	@+$(SUBMAKE) small-programs
	@tools/bench_small.py

# --- Fuzzing, by clang's libFuzzer: one program holds all targets.

FUZZ := build/fuzz
SECONDS := 60

$(BUILD)/fuzz: $(call objects,$(wildcard tests/fuzz/*.cpp)) $(TOOLS) $(MODELS) $(LIBRARY)
	$(LINK) -fsanitize=fuzzer

-include $(BUILD)/objects/tests/fuzz/main.d

fuzz:  ## fuzzes every reader, or TARGET, for SECONDS each (60), with clang's sanitizers
	@+$(SUBMAKE) CXX=clang++ SANITIZE=1 REAL=float build/variant-sanitize-clang/fuzz
	@mkdir -p $(FUZZ) && ln -sf ../variant-sanitize-clang/fuzz $(FUZZ)/fuzz
	@tests/fuzz/run.sh $(FUZZ) $(SECONDS) $(TARGET)

# --- Faults: a library that is preloaded and makes file operations fail, and a driver for it and other faults

FAULT_LIBRARY := $(BUILD)/faults/file_faults.so
$(FAULT_LIBRARY): tests/faults/file_faults.cpp $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,$@)$(CXX) -std=c++20 -O1 -fPIC -shared $(WARNINGS) $< -o $@ -ldl

.PHONY: faults fault-library
fault-library: $(FAULT_LIBRARY)

FAULT_OPTIONS = $(if $(CLASSES),--classes $(CLASSES)) $(if $(FILTER),--experiments $(FILTER)) \
  $(if $(KILLS),--kills $(KILLS)) $(if $(EVERY),--every $(EVERY))
faults: $(COMMAND) $(FAULT_LIBRARY)  ## every experiment under faults: CLASSES, FILTER=mnist,draw, KILLS (1000), EVERY N-th operation (1)
	@tests/faults/faults.py $(FAULT_OPTIONS)

# --- The report. The page without its data is made once, beside the program that fills it. Only this needs npm.

PAGE := $(BUILD)/report/page.html
PAGE_PARTS := $(addprefix tools/report/page/,build.mjs page.html page.css) $(wildcard tools/report/page/*.js)
KNOWN := $(addprefix $(BUILD)/report/,claims.json curves.json)
PACKAGES := $(BUILD)/report/node_modules

# Whole from one moment to the next: two makes may begin it at the same time.
$(PACKAGES): tools/report/page/package.json tools/report/page/package-lock.json
	@command -v npm >/dev/null || tools/install-deps.sh --report
	@mkdir -p $(@D) && own=$$(mktemp -d $(@D)/npm.XXXXXX) && trap "rm -rf $$own" EXIT && cp $^ $$own && \
	  (cd $$own && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error) && \
	  { { [ -d $@ ] && [ -z "$$(find $^ -newer $@)" ]; } || { rm -rf $@; mv $$own/node_modules $@; touch $@; }; }

# Its verdicts and the paper's curves stand beside it.
$(PAGE): $(PAGE_PARTS) $(PACKAGES) $(KNOWN)
	@node tools/report/page/build.mjs $(PACKAGES) > $@
$(BUILD)/report/claims.json: models/evidence/claims.json
$(BUILD)/report/curves.json: tools/report/paper/curves.json
$(KNOWN):
	@mkdir -p $(@D) && cp $< $@

report: setup  ## writes report/index.html: the paper's figures and tables beside the runs in RUNS, or all
	@+$(SUBMAKE) $(COMMAND) $(PAGE)
	@$(BUILD)/lamina report $(RUNS)

# What is committed of studies, labs and theory, as a report. The labs' tables are judged again from their rows.
# Of MNIST and the reader the paper's figures alone: what was trained on fewer cases is no part of Figure 6, nor books of Figure 2.
# At the rate of figure-6-b128 figure-6-b128-rates has the same runs.
RESULTS := $(filter-out $(addprefix models/,lab/results mnist/results attentive_reader/results),$(wildcard models/*/results)) \
  $(wildcard $(addprefix models/,mnist/results/figure-6-b128 mnist/results/figure-6-b4 attentive_reader/results/figure-*))
sample-report: setup  ## writes report/sample.html: our own committed results as a report, without training
	@+$(SUBMAKE) $(COMMAND) $(PAGE)
	@$(BUILD)/lamina lab all --from models/lab/results --out $(BUILD)/sample/lab >/dev/null
	@$(BUILD)/lamina report $(RESULTS) $(BUILD)/sample/lab --out report/sample.html

# --- Installing. The folders stay as they are under include/lamina, which is what the headers' own includes name.

# Where nobody names an ARCH, x86-64 gets a shared library for AVX2, and one for AVX-512 in the folder where glibc looks
# first on a CPU that has it: the dynamic linker chooses when a program starts, and refuses a CPU that is too old for both.
# The static library is for AVX2.
X86_64 := $(findstring x86_64,$(MACHINE))
ARCHS := $(if $(filter command% environment%,$(origin ARCH)),$(ARCH),$(if $(X86_64),x86-64-v3 x86-64-v4,native))
BASE_ARCH := $(firstword $(ARCHS))
WIDER_ARCHS := $(filter-out $(BASE_ARCH),$(ARCHS))

# The double library has a name of its own, so that both can stand under one prefix.
NAME = lamina$(if $(filter double,$(REAL)),-double)
# Programs ask for a shared library by the numbers that change when it no longer fits them.
SONAME = lib$(NAME).so.$(basename $(VERSION))
SHARED = $(BUILD)/$(SONAME)

$(SHARED): $(LIBRARY)
	$(call say,$@)$(CXX) $(FLAGS) -shared -Wl,--whole-archive $< -Wl,--no-whole-archive -Wl,-soname=$(SONAME) -Wl,-Bsymbolic-functions \
	  $(addprefix -Wl$(comma)-z$(comma),defs $(filter x86-64-v%,$(ARCH))) $(LDFLAGS) $(LIBRARY_LIBS) -o $@
comma := ,

# lamina-train computes little and is static.
TRAIN := $(BUILD)/liblamina-train.a
TRAIN_NAME = lamina-train$(if $(filter double,$(REAL)),-double)
TRAIN_LIBS := -lz
$(TRAIN): $(call objects,$(wildcard $(TRAIN_SOURCES))) $(BUILD)/sources
	@rm -f $@ && ar rcs $@ $(filter %.o,$^)

.PHONY: shared-library all-libraries
shared-library: $(SHARED)
all-libraries: $(SHARED) $(LIBRARY) $(TRAIN)

HEADERS = $(wildcard $(LAMINA_HEADERS)) $(TRAIN_HEADERS) $(wildcard $(patsubst %.cpp,%.h,$(wildcard $(TRAIN_SOURCES))))
ROOT = $(DESTDIR)$(abspath $(PREFIX))
LIB = $(ROOT)/lib
installed = $(call build_folder,$(REAL),$(1))
install:  ## installs headers, libraries, pkg-config and CMake files under PREFIX, staged in DESTDIR; for AVX2 and AVX-512, or for ARCH
	$(if $(word 2,$(ROOT)),$(error '$(DESTDIR)$(PREFIX)': make and pkg-config end a name at a space; install into a folder without one, named from / on))
	@echo "building $(NAME) and $(TRAIN_NAME) for $(ARCHS)"
	@+$(SUBMAKE) INSTALLED=1 ARCH=$(BASE_ARCH) all-libraries
	@+for arch in $(WIDER_ARCHS); do $(SUBMAKE) INSTALLED=1 ARCH=$$arch shared-library || exit; done
	@for header in $(HEADERS); do install -Dm644 $$header $(ROOT)/include/lamina/$${header#lamina/} || exit; done
	@rm -f $(LIB)/lib$(NAME).* $(LIB)/glibc-hwcaps/*/lib$(NAME).*
	@install -Dm644 $(call installed,$(BASE_ARCH))/$(SONAME) $(LIB)/$(SONAME) && ln -s $(SONAME) $(LIB)/lib$(NAME).so
	@for arch in $(WIDER_ARCHS); do \
	  install -Dm644 $(call installed,$$arch)/$(SONAME) $(LIB)/glibc-hwcaps/$$arch/$(SONAME) || exit; done
	@install -m644 $(call installed,$(BASE_ARCH))/liblamina.a $(LIB)/lib$(NAME).a
	@install -m644 $(call installed,$(BASE_ARCH))/liblamina-train.a $(LIB)/lib$(TRAIN_NAME).a
	@mkdir -p $(LIB)/pkgconfig
	@$(call pkg_config,$(NAME),,-L$${libdir} -Wl$(comma)-rpath$(comma)$${libdir} -l$(NAME))
	@$(call pkg_config,$(NAME)-static,,$${libdir}/lib$(NAME).a $(LIBRARY_LIBS) -fopenmp)
	@$(call pkg_config,$(TRAIN_NAME),$(NAME),-L$${libdir} -l$(TRAIN_NAME) $(TRAIN_LIBS))
	@$(call pkg_config,$(TRAIN_NAME)-static,$(NAME)-static,$${libdir}/lib$(TRAIN_NAME).a $(TRAIN_LIBS))
	@install -Dm644 -t $(LIB)/cmake/Lamina tools/cmake/LaminaConfig.cmake
	@sed 's|@VERSION@|$(VERSION)|' tools/cmake/LaminaConfigVersion.cmake.in > $(LIB)/cmake/Lamina/LaminaConfigVersion.cmake
	@echo "installed $(NAME) and $(TRAIN_NAME) $(VERSION) for $(ARCHS) under $(ROOT)"

# $(call pkg_config,NAME,REQUIRES,LIBS)
pkg_config = sed -e 's|@PREFIX@|$(abspath $(PREFIX))|' -e 's|@VERSION@|$(VERSION)|' -e 's|@NAME@|$(1)|' -e 's|@REQUIRES@|$(2)|' \
  -e 's|@LIBS@|$(3)|' -e 's|@DEFINES@|$(filter -D%,$(LANGUAGE))|' -e 's| *$$||' tools/lamina.pc.in > $(LIB)/pkgconfig/$(1).pc

# --- The reference of the installed headers, by Doxygen

DOCS := build/docs
docs: force  ## writes build/docs/html/index.html, the reference of the installed headers
	@command -v doxygen >/dev/null || { echo "make docs needs doxygen: run tools/install-deps.sh --dev" >&2; exit 1; }
	@mkdir -p $(DOCS)
	@{ cat tools/docs/Doxyfile; echo "INPUT = tools/docs/main.md $(HEADERS)"; echo "OUTPUT_DIRECTORY = $(DOCS)"; } | doxygen -
	@echo "$(DOCS)/html/index.html"

# --- The course, which uses both installed libraries

include models/course/course.mk

# --- Checking. A source is tidied again only when it was compiled again, so headers count.

TRACKED = $(shell git ls-files '*.cpp' '*.h')

format:  ## formats every source that git knows
	@clang-format -i $(TRACKED)

lint:  ## clang-format, missing includes, clang's warnings in both scalar types, and clang-tidy; none changes a file
	@clang-format --dry-run -Werror $(TRACKED)
	@tools/includes.py
	@+$(SUBMAKE) tidy

# Tests are left out: doctest's macros and deliberate abuse are most of what it finds there, in half of its time.
TIDY_GROUPS := $(addprefix $(BUILD)/tidy/,commands tools models library)
tidy: $(addsuffix .ok,$(TIDY_GROUPS))

# Sources that are read together shadow each other's names, so that warning is left to the builds.
# The commands apart from what they call: each half takes about as long as the models.
COMMAND_FILES := $(SOURCES_OF_COMMANDS) $(COMMAND_SOURCES) $(BENCH_SOURCES) $(BY_HAND)
$(BUILD)/tidy/commands.ok: $(call objects,$(COMMAND_FILES))
$(BUILD)/tidy/tools.ok: $(call objects,$(filter-out $(COMMAND_FILES),$(TOOL_SOURCES)))
$(BUILD)/tidy/models.ok: $(call objects,$(MODEL_SOURCES))
$(BUILD)/tidy/library.ok: $(call objects,$(LIBRARY_SOURCES))
$(addsuffix .ok,$(TIDY_GROUPS)): %.ok: .clang-tidy
	@tools/tidy.sh $* '$(filter-out -DLAMINA_DOUBLE,$(LANGUAGE))' '$(filter-out -Wshadow,$(WARNINGS_OF_CLANG)) -Wreserved-identifier' \
	  $(foreach object,$(filter %.o,$(if $(filter .clang-tidy,$?),$^,$?)),$(or $(SOURCES_OF_$(object)),$(object:$(BUILD)/objects/%.o=%.cpp)))
	@touch $@

help:  ## this list
	@echo "make TARGET [REAL=float|double] [SANITIZE=1] [ARCH=native] [CXX=g++|clang++] [CXXFLAGS=...] [MPI=1|0] [V=1]"
	@echo
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1|\2/p' Makefile models/course/course.mk | column -t -s '|'
	@echo
	@echo "  REAL      the scalar type; double builds into its own folder, build/variant-double"
	@echo "  SANITIZE  address and undefined-behaviour sanitizers, in their own folder"
	@echo "  ARCH      the CPU to build for, as in -march"
	@echo "  CXXFLAGS  more options of the compiler, such as -g or -Wno-error"
	@echo "  MPI       1 with MPI, 0 without; by default with it where mpicxx is"
	@echo "  V         1 shows the command lines of the compiler"

clean:  ## removes every build
	rm -rf build
