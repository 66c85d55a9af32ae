# Sources in which no number of the library's scalar type occurs: they compile to the same in float and double, so the build
# of double takes the objects of float. They are compiled with a LAMINA_SCALAR of their own: where one of them includes
# core/real.h, even through another header, the compiler says "LAMINA_SCALAR redefined", and the source does not belong
# here. A source that is not listed is compiled for each type.

sources_below = $(wildcard $(addsuffix /*.cpp,$(1)) $(addsuffix /*/*.cpp,$(1)))

SCALAR_FREE_SOURCES := $(filter-out \
  $(addprefix tools/flags/training/,common_flags.cpp digit_command.cpp training_command.cpp training_folders.cpp) \
  $(addprefix tools/,lab/measure_labs.cpp programs/process.cpp report/document.cpp report/exhibits/theory.cpp) \
  $(addprefix tools/,results/norm_table.cpp results/skip_report.cpp study/train_study.cpp), \
  $(call sources_below,$(addprefix tools/,flags lab live programs report results study)))
SCALAR_FREE_SOURCES += $(addprefix tools/commands/,data.cpp report.cpp study.cpp)

SCALAR_FREE_SOURCES += $(filter-out models/evidence/interval.cpp models/run/run_folder.cpp models/run/run_state.cpp \
  models/text/batches.cpp models/text/stories.cpp models/text/word_vectors.cpp, \
  $(call sources_below,$(addprefix models/,evidence pictures run terminal text)))
SCALAR_FREE_SOURCES += $(addprefix models/,attentive_reader/baselines.cpp attentive_reader/heat_map.cpp \
  attentive_reader/data/book.cpp attentive_reader/data/question.cpp data/digit_strokes.cpp data/idx.cpp data/letter_strokes.cpp \
  data/strokes.cpp handwriting/data/symbols.cpp lab/lab_verdict.cpp lab/rows.cpp recording/record.cpp recording/steps_file.cpp \
  skip_thoughts/evaluation/scores.cpp skip_thoughts/evaluation/tasks.cpp transformer/alphabet.cpp transformer/data.cpp)
