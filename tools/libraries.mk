# What the two installed libraries are made of: names and patterns. The Makefile includes this file, and CMakeLists.txt
# reads its lines that are assignments.

LAMINA_SOURCES := core/*.cpp core/*/*.cpp layers/*.cpp layers/*/*.cpp optim/*.cpp
LAMINA_HEADERS := lamina.h lamina/extend.h core/*.h core/*/*.h layers/*.h layers/*/*.h optim/*.h

# The training loop, runs and what they record; readers; text.
TRAIN_SOURCES := models/common/interrupt.cpp models/common/layer_names.cpp models/common/metrics.cpp models/common/progress.cpp
TRAIN_SOURCES += models/common/record.cpp models/common/recorder.cpp models/common/run_folder.cpp models/common/run_lock.cpp
TRAIN_SOURCES += models/common/run_state.cpp models/common/training.cpp models/common/training_look.cpp
TRAIN_SOURCES += models/common/vector_changes.cpp
TRAIN_SOURCES += models/common/digit_strokes.cpp models/common/digits.cpp models/common/idx.cpp models/common/mnist_data.cpp
TRAIN_SOURCES += models/common/npy.cpp models/common/picture_file.cpp models/common/png.cpp models/common/strokes.cpp
TRAIN_SOURCES += models/text/*.cpp
TRAIN_HEADERS := lamina/train.h
