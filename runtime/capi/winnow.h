/* The C ABI of the runtime: load a model file, run it. Plain C; link libwinnow.
 *
 *   winnow_options options = {sizeof options};
 *   winnow_engine* engine = NULL;
 *   if (winnow_load("model.wnw", &options, &engine) != WINNOW_OK) puts(winnow_last_error());
 *
 * Functions return a status and never throw, print or exit. An engine is used by one thread at a
 * time; different engines are independent, and winnow_share makes more of one model.
 */
#ifndef WINNOW_H
#define WINNOW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised where a caller of an older header would no longer work. */
#define WINNOW_ABI_VERSION 1

/* The values are those of the programs' exit codes. */
typedef enum winnow_status {
  WINNOW_OK = 0,
  WINNOW_INTERNAL = 1,
  WINNOW_USAGE = 2,
  WINNOW_BAD_FILE = 3,
  WINNOW_DEVICE = 4,
  WINNOW_QUALITY = 5 /* winnow_verify alone */
} winnow_status;

typedef enum winnow_precision { WINNOW_F32 = 0, WINNOW_F16 = 1 } winnow_precision;

typedef struct winnow_engine winnow_engine;

/* Later versions may have levels between these. */
typedef enum winnow_log_level { WINNOW_LOG_INFO = 0, WINNOW_LOG_WARNING = 16 } winnow_log_level;

/* One line without a line break, valid during the call. Called by the thread that loads. It may not
 * throw, and calls no function of this library. */
typedef void (*winnow_log_function)(void* user, winnow_log_level level, const char* line);

/* Zero in any field but the first takes the default.
 *
 * Later versions add fields at the end, and struct_size tells which the caller knows. A caller
 * compiled with an older header passes a smaller struct: what it lacks takes the default. A larger
 * struct, of a newer header, is accepted as long as all bytes that this library does not know are
 * 0; else it asks for something that the library cannot do, which is WINNOW_USAGE. */
typedef struct winnow_options {
  size_t struct_size; /* sizeof(winnow_options) as the caller knows it */
  const char* device; /* "auto" (default), "cpu", "cuda", "cuda:1" */
  int64_t batch;      /* samples per batch, default 1 */
  winnow_precision precision;
  int32_t threads;          /* CPU, default all cores */
  uint64_t max_model_bytes; /* memory that weights and activations may take, default 8 GiB; a file
                               that asks for more is WINNOW_BAD_FILE */
  const char* cache_folder; /* keeps measured times, so that a later start takes none; default: none
                               are kept. The same as --cache of the program `runtime` */
  int64_t fixed_batch;      /* on a GPU smaller batches are planned too, so that a run of fewer
                               samples takes less time than a whole batch; not 0: they are not,
                               and loading takes less time */
  winnow_log_function log;  /* is told of long planning, of a bad cache, and what was planned;
                               default: nobody is. Failures are statuses, not lines */
  void* log_user;           /* its first argument */
} winnow_options;

/* The ABI that the library was built with; compare with WINNOW_ABI_VERSION. */
int32_t winnow_abi_version(void);

/* "0.1.0 (b5d1f84)": version and commit; without the latter where it is not known. */
const char* winnow_version(void);

/* `options` may be NULL. On success *engine is to be released with winnow_free; on failure it is
 * NULL. */
winnow_status winnow_load(const char* path, const winnow_options* options, winnow_engine** engine);

/* The same of the `size` bytes of a model file in memory, which may be freed afterwards. */
winnow_status winnow_load_memory(const void* bytes, size_t size, const winnow_options* options,
                                 winnow_engine** engine);

/* Another engine for the same model on the same GPU: it shares plan and weights with `engine` and
 * has memory for activations and a stream of its own, so that both may run at the same time, each
 * used by one thread at a time. Make one for each thread or stream that is to have a run under way.
 * May be called while `engine` runs. Either may be freed first. On success *shared is to be
 * released with winnow_free; on failure it is NULL.
 *
 * WINNOW_USAGE: the engine runs on a CPU, whose cores one run fills. */
winnow_status winnow_share(const winnow_engine* engine, winnow_engine** shared);

/* NULL is allowed. */
void winnow_free(winnow_engine* engine);

/* The options' batch. */
int64_t winnow_batch(const winnow_engine* engine);

/* Floats per sample. */
int64_t winnow_input_size(const winnow_engine* engine);
int64_t winnow_output_size(const winnow_engine* engine);

/* A sample's sizes, outermost first: 3, 32, 32 for [channels, height, width]. Returns how many they
 * are, and writes `most` of them at most; `sizes` may be NULL. */
int32_t winnow_input_shape(const winnow_engine* engine, int64_t* sizes, int32_t most);
int32_t winnow_output_shape(const winnow_engine* engine, int64_t* sizes, int32_t most);

/* How many names of classes the model has, 0 if it has none; and one of them, in UTF-8, valid as
 * long as the engine, NULL beyond them. */
int32_t winnow_classes(const winnow_engine* engine);
const char* winnow_class_name(const winnow_engine* engine, int32_t index);

/* How a byte becomes an input of channel c: (byte / 255 - mean[c]) / deviation[c], in float.
 * Returns the number of channels, 0 if the input is tokens, and writes `most` of each at most;
 * either may be NULL. winnow_run_bytes does it for the caller. */
int32_t winnow_preprocessing(const winnow_engine* engine, float* mean, float* deviation,
                             int32_t most);

/* What becomes of a picture before it is bytes for winnow_run_bytes: it is resized, then its centre
 * is cut out, as torchvision's Resize and CenterCrop do with Pillow's images.
 *
 * `resize`, `crop`: two sizes each, height and width in pixels; either may be NULL. A resize of
 * width 0 makes the shorter side `height` and keeps the aspect; of height 0: it is not resized. A
 * crop of height 0: nothing is cut out.
 *
 * Returns 1 if the model says so. 0: it does not, all sizes are 0, and a picture is scaled, its
 * aspect kept, to cover the input, whose size is then cut out of its centre. */
int32_t winnow_picture_form(const winnow_engine* engine, int64_t* resize, int64_t* crop);

/* How pictures are resized, by Pillow's names: "nearest", "box", "bilinear", "bicubic" or
 * "lanczos"; all but nearest are antialiased. Valid as long as the library. */
const char* winnow_interpolation(const winnow_engine* engine);

/* "cuda:0 (NVIDIA H200)"; valid as long as the engine. */
const char* winnow_device(const winnow_engine* engine);

/* What runs where and why, as a JSON object: "version" (of the library), "device", "batch",
 * "precision", "timings" (how many were measured, how many the cache knew), "networks" that were
 * compared as wholes, and "layers" with their kernels and what these were chosen from. Later
 * versions may add fields. Valid as long as the engine. */
const char* winnow_plan_json(const winnow_engine* engine);

/* What was wrong with the cache of timings, in one line; empty if nothing was. Valid as long as the
 * engine. The engine is as good without it, its loading takes longer. */
const char* winnow_notice(const winnow_engine* engine);

/* input [samples, input_size] normalised floats, output [samples, output_size]; host memory. Any
 * number of samples: a GPU copies one batch while it computes another. Returns when the output is
 * there. */
winnow_status winnow_run(winnow_engine* engine, const float* input, int64_t samples, float* output);

/* Enqueues a run on a GPU and returns without waiting for it.
 *
 * `input`: [samples, input_size] normalised floats, row-major, in memory of the engine's GPU
 * (cudaMalloc, cudaMallocAsync, cudaMallocManaged). It may not be changed before the run ends.
 *
 * `samples`: 0 to the batch that the engine was loaded for.
 *
 * `output`: [samples, output_size] floats in memory of the same GPU, apart from the input.
 *
 * `stream`: a cudaStream_t of the same GPU; NULL is the default stream. The run starts when what
 * was enqueued there before has ended, and what is enqueued there afterwards sees its output.
 *
 * Runs of one engine follow each other in the order of the calls, on whatever streams. The calling
 * thread's current device stays as it is. Errors of the work itself show at a later call, as
 * CUDA's do.
 *
 * A stream that records (cudaStreamBeginCapture) records the run, which then happens whenever the
 * graph is launched, with the same pointers. The graph holds memory of the engine: it is not
 * launched after winnow_free, and the caller keeps its launches apart from other runs of the
 * engine.
 *
 * WINNOW_USAGE: the engine runs on a CPU; a pointer is NULL or no such memory; too many samples. */
winnow_status winnow_run_device(winnow_engine* engine, const float* input, int64_t samples,
                                float* output, void* stream);

/* bytes [samples, input_size]: normalised as the model's preprocessing says, then run. */
winnow_status winnow_run_bytes(winnow_engine* engine, const uint8_t* bytes, int64_t samples,
                               float* output);

/* A sentence (bytes of any encoding that extends ASCII, ended by a zero) as winnow_run and
 * winnow_run_device take it: `input` gets input_size floats, the numbers of its words in the
 * model's vocabulary, cut or padded at the end. `unknown`, which may be NULL, gets the number of
 * words that are not in the vocabulary. docs/model-file.md ("Vocabulary") says what a word is.
 *
 * WINNOW_USAGE: the model has no vocabulary. */
winnow_status winnow_tokenize(const winnow_engine* engine, const char* sentence, float* input,
                              int64_t* unknown);

/* Runs a batch of random inputs and compares each layer with plain loops on the CPU, which takes
 * long. `worst`, which may be NULL: on success the largest relative error of a layer.
 * WINNOW_QUALITY: a layer, which the last error names, differs by more than the rounding of the
 * engine's precision explains. */
winnow_status winnow_verify(winnow_engine* engine, double* worst);

/* One line about the calling thread's last failure; valid until its next call. */
const char* winnow_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
