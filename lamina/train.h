#pragma once
// lamina-train: what a training program needs besides the model.
//
//   train, Experiment         the training loop: saves, resumes bit for bit, ends well at Ctrl-C   models/training/training.h
//   RunFolder, Settings       config.json, metrics.csv, model.safetensors and state of a run       models/run/run_folder.h
//   MetricsFile, read_table   metrics.csv alone                                                    models/run/metrics.h
//   Progress                  a progress line on terminals, plain lines elsewhere                  models/terminal/progress.h
//   CatchInterrupts           Ctrl-C in a loop of your own                                         models/terminal/interrupt.h
//   Recorder, Recording       what a step does inside its layers                                   models/recording/recorder.h
//   read_idx_images, ...      MNIST's format                                                       models/data/idx.h
//   load_mnist                MNIST in its three splits, or built-in digits                        models/data/mnist_data.h
//   NpyMatrix, npy_bytes      NumPy's format                                                       models/data/npy.h
//   write_png, Image          pictures, and moving ones                                            models/pictures/png.h
//   exists, read_file, ...    files, written whole or not at all                                   core/files/folder.h, core/files/file.h
//   tell_story                built-in stories, for use without books                            models/text/stories.h
//   LineReader, tokenize, Vocabulary, make_batch, read_word_vectors, ...                           models/text/

#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/data/idx.h"
#include "models/data/mnist_data.h"
#include "models/data/npy.h"
#include "models/pictures/png.h"
#include "models/recording/record.h"
#include "models/recording/recorder.h"
#include "models/run/metrics.h"
#include "models/run/run_folder.h"
#include "models/run/run_state.h"
#include "models/terminal/interrupt.h"
#include "models/terminal/progress.h"
#include "models/text/batches.h"
#include "models/text/lines.h"
#include "models/text/sentences.h"
#include "models/text/stories.h"
#include "models/text/tokenizer.h"
#include "models/text/utf8.h"
#include "models/text/vocabulary.h"
#include "models/text/word_vectors.h"
#include "models/training/training.h"
