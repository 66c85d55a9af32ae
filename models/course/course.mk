# The course, included by the Makefile: `make course`, `make slides`. It computes in double, where gradients can be checked.

LESSONS := $(patsubst models/course/lesson-%/,%,$(sort $(wildcard models/course/lesson-*/)))
# LESSON=6 and LESSON=06 are the same.
lesson := $(if $(filter 1 2 3 4 5 6 7 8 9,$(LESSON)),0)$(LESSON)
# Where the student's files are; they are written once, and never again.
COURSE_FOLDER := course

.PHONY: course slides course-library course-lesson course-compile course-link
course:  ## the course's lessons; with LESSON=N builds and runs lesson N, and judges the exercises in course/
ifndef LESSON
	@for n in $(LESSONS); do sed -n '1s/^# //p' models/course/lesson-$$n/README.md; done
	@echo "make course LESSON=N runs lesson N and judges its exercises; the pages: models/course"
else ifeq ($(filter $(lesson),$(LESSONS)),)
	@echo "LESSON=$(LESSON): give one of $(LESSONS)" >&2; exit 1
else
	@models/course/tools/make-exercises into $(COURSE_FOLDER)/lesson-$(lesson) models/course/lesson-$(lesson)/solutions/*.cpp
	@[ -e $(call build_folder,double)/liblamina-train.a ] || echo "building the library, which takes minutes, once"
	@+$(SUBMAKE) -s REAL=double course-lesson
endif

course-library: $(LIBRARY) $(TRAIN)

COURSE_LEVEL := -O3
COURSE_COMPILE = $(CXX) $(LANGUAGE) $(COURSE_LEVEL) -march=$(ARCH) -fno-math-errno -fno-trapping-math -Wall -Wextra -Wno-unused -Wno-unused-parameter
COURSE_LINK = $(TRAIN) $(LIBRARY) $(LDFLAGS) $(LIBRARY_LIBS) $(TRAIN_LIBS)
# For the test, which builds many variants of the exercises.
course-compile: ; @echo "$(COURSE_COMPILE)"
course-link: ; @echo "$(COURSE_LINK)"

ifdef LESSON
build/course/objects/%.o: %.cpp
	@mkdir -p $(@D)
	@$(COURSE_COMPILE) -Imodels/course/lesson-$(lesson) -MMD -MP -c $< -o $@

course_sources := $(addprefix models/course/lesson-$(lesson)/,lesson.cpp judge.cpp) \
  $(patsubst models/course/lesson-$(lesson)/solutions/%,$(COURSE_FOLDER)/lesson-$(lesson)/%,$(wildcard models/course/lesson-$(lesson)/solutions/*.cpp))
course_objects := $(patsubst %.cpp,build/course/objects/%.o,$(course_sources))
build/course/lesson-$(lesson): $(filter %/lesson.o,$(course_objects))
build/course/judge-$(lesson): $(filter-out %/lesson.o,$(course_objects))
build/course/lesson-$(lesson) build/course/judge-$(lesson): $(LIBRARY) $(TRAIN)
	@$(CXX) $(LANGUAGE) $(filter %.o,$^) $(COURSE_LINK) -o $@

-include $(course_objects:.o=.d)

course-lesson: build/course/lesson-$(lesson) build/course/judge-$(lesson)
	@cd $(COURSE_FOLDER)/lesson-$(lesson) && $(CURDIR)/build/course/lesson-$(lesson)
	@echo
	@cd $(COURSE_FOLDER)/lesson-$(lesson) && { $(CURDIR)/build/course/judge-$(lesson) || [ $$? = 1 ]; }
endif

# All of <lamina.h> read once. Only the test, with its hundreds of small files, gains by it.
build/course/precompiled/lamina.h.gch: lamina.h
	@mkdir -p $(@D) && echo '#include "$(CURDIR)/lamina.h"' > $(@D)/all.h
	@$(COURSE_COMPILE) -MMD -MP -MT $@ -MF $@.d -x c++-header $(@D)/all.h -o $@
-include $(wildcard build/course/precompiled/*.d)

slides:  ## the course's pages as slides: build/course/slides/lesson-NN.html, one file each without network
	@models/course/tools/make-slides build/course/slides $(LESSONS:%=models/course/lesson-%)
