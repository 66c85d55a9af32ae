#pragma once
// lamina-train: what a training program needs besides the model.
//
//   train, Experiment         the training loop: saves, resumes bit for bit, ends well at Ctrl-C   models/common/training.h
//   RunFolder, Settings       config.json, metrics.csv, model.safetensors and state of a run       models/common/run_folder.h
//   MetricsFile, read_table   metrics.csv alone                                                    models/common/metrics.h
//   Progress                  a progress line on terminals, plain lines elsewhere                  models/common/progress.h
//   CatchInterrupts           Ctrl-C in a loop of your own                                         models/common/interrupt.h
//   Recorder, Recording       what a step does inside its layers                                   models/common/recorder.h
//   read_idx_images, ...      MNIST's format                                                       models/common/idx.h
//   load_mnist                MNIST in its three splits, or built-in digits                        models/common/mnist_data.h
//   NpyMatrix, npy_bytes      NumPy's format                                                       models/common/npy.h
//   write_png, Image          pictures, and moving ones                                            models/common/png.h
//   exists, read_file, ...    files, written whole or not at all                                   core/folder.h, core/file.h
//   LineReader, tokenize, Vocabulary, make_batch, read_word_vectors, ...                           models/text/

#include "core/file.h"
#include "core/folder.h"
#include "models/common/idx.h"
#include "models/common/interrupt.h"
#include "models/common/metrics.h"
#include "models/common/mnist_data.h"
#include "models/common/npy.h"
#include "models/common/png.h"
#include "models/common/progress.h"
#include "models/common/record.h"
#include "models/common/recorder.h"
#include "models/common/run_folder.h"
#include "models/common/run_state.h"
#include "models/common/training.h"
#include "models/text/batches.h"
#include "models/text/lines.h"
#include "models/text/sentences.h"
#include "models/text/tokenizer.h"
#include "models/text/utf8.h"
#include "models/text/vocabulary.h"
#include "models/text/word_vectors.h"
