# What the two installed libraries are made of: names and patterns. The Makefile includes this file, and CMakeLists.txt
# reads its lines that are assignments.

LAMINA_SOURCES := core/*.cpp core/*/*.cpp core/*/*/*.cpp layers/*.cpp layers/*/*.cpp layers/*/*/*.cpp optim/*.cpp
LAMINA_HEADERS := lamina.h lamina/extend.h core/*.h core/*/*.h core/*/*/*.h layers/*.h layers/*/*.h layers/*/*/*.h optim/*.h

# The training loop, runs and what they record; readers; text.
TRAIN_SOURCES := models/pictures/*.cpp models/recording/*.cpp models/run/*.cpp models/terminal/*.cpp
TRAIN_SOURCES += models/text/*.cpp models/training/training*.cpp
TRAIN_SOURCES += models/data/*digit*.cpp models/data/idx.cpp models/data/mnist_data.cpp models/data/npy.cpp models/data/strokes.cpp
TRAIN_HEADERS := lamina/train.h
