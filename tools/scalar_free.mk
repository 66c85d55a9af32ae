# Sources in which no number of the library's scalar type occurs: they compile to the same in float and double, so the build
# of double takes the objects of float. They are compiled with a LAMINA_SCALAR of their own: where one of them includes
# core/real.h, even through another header, the compiler says "LAMINA_SCALAR redefined", and the source does not belong
# here. A source that is not listed is compiled for each type.

SCALAR_FREE_SOURCES := $(filter-out tools/flags/common_flags.cpp tools/flags/digit_command.cpp tools/flags/training_command.cpp \
  tools/flags/training_folders.cpp tools/lab/measure_labs.cpp tools/programs/process.cpp tools/report/document.cpp tools/report/theory.cpp \
  tools/results/norm_table.cpp tools/results/skip_report.cpp tools/study/train_study.cpp, \
  $(wildcard $(addprefix tools/,flags/*.cpp lab/*.cpp live/*.cpp programs/*.cpp report/*.cpp report/*/*.cpp results/*.cpp study/*.cpp)))
SCALAR_FREE_SOURCES += $(addprefix tools/commands/,data.cpp report.cpp study.cpp)

SCALAR_FREE_SOURCES += $(filter-out models/evidence/interval.cpp models/run/run_folder.cpp models/run/run_state.cpp \
  models/text/batches.cpp models/text/stories.cpp models/text/word_vectors.cpp, \
  $(wildcard $(addprefix models/,evidence/*.cpp pictures/*.cpp run/*.cpp text/*.cpp)))
SCALAR_FREE_SOURCES += $(addprefix models/,attentive_reader/baselines.cpp attentive_reader/heat_map.cpp \
  attentive_reader/data/book.cpp attentive_reader/data/question.cpp data/digit_strokes.cpp data/idx.cpp data/letter_strokes.cpp \
  data/strokes.cpp handwriting/data/symbols.cpp lab/lab_verdict.cpp lab/rows.cpp recording/record.cpp \
  skip_thoughts/evaluation/scores.cpp skip_thoughts/evaluation/tasks.cpp transformer/alphabet.cpp transformer/data.cpp)
