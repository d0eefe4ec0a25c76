/* A C program against the installed interface: loads a model file and runs one sample of zeros.
 *   capi_consumer MODEL          prints the outputs
 *   capi_consumer --limits MODEL checks that a model is not loaded beyond a limit on memory
 *   capi_consumer --cache MODEL FOLDER FILE
 *                                checks that timings are kept in the folder's file
 *   capi_consumer --errors       checks the failures that need no model
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "winnow.h"

/* Options of callers that were compiled with other headers. */
static int check_sizes(void) {
  winnow_engine* engine = NULL;
  struct {
    winnow_options options;
    unsigned char newer[16];
  } extended;
  memset(&extended, 0, sizeof extended);
  winnow_options* options = &extended.options;
  options->device = "gpu"; /* read only if the struct is accepted */
  options->struct_size = offsetof(winnow_options, threads) + sizeof(int32_t);
  if (winnow_load("x", options, &engine) != WINNOW_USAGE) return 20;
  if (strstr(winnow_last_error(), "did you mean 'cuda'?") == NULL) return 21;
  options->struct_size -= 1;
  if (winnow_load("x", options, &engine) != WINNOW_USAGE) return 22;
  if (strstr(winnow_last_error(), "struct_size is ") == NULL) return 23;
  options->struct_size = sizeof extended;
  if (winnow_load("x", options, &engine) != WINNOW_USAGE) return 24;
  if (strstr(winnow_last_error(), "did you mean 'cuda'?") == NULL) return 25;
  extended.newer[7] = 1;
  if (winnow_load("x", options, &engine) != WINNOW_USAGE) return 26;
  if (strstr(winnow_last_error(), " is not 0") == NULL) return 27;
  options->struct_size = 0;
  if (winnow_load("x", options, &engine) != WINNOW_USAGE) return 28;
  options->struct_size = offsetof(winnow_options, max_model_bytes) + 4;
  if (winnow_load("x", options, &engine) != WINNOW_USAGE) return 29;
  if (strstr(winnow_last_error(), "ends within a field") == NULL) return 30;
  options->struct_size = offsetof(winnow_options, cache_folder) + 1;
  if (winnow_load("x", options, &engine) != WINNOW_USAGE) return 31;
  if (strstr(winnow_last_error(), "ends within a field") == NULL) return 32;
  options->struct_size = offsetof(winnow_options, fixed_batch) + 4;
  if (winnow_load("x", options, &engine) != WINNOW_USAGE) return 35;
  if (strstr(winnow_last_error(), "ends within a field") == NULL) return 36;
  options->struct_size = offsetof(winnow_options, fixed_batch);
  if (winnow_load("x", options, &engine) != WINNOW_USAGE) return 37;
  if (strstr(winnow_last_error(), "did you mean 'cuda'?") == NULL) return 38;
  options->struct_size = offsetof(winnow_options, cache_folder);
  if (winnow_load("x", options, &engine) != WINNOW_USAGE) return 33;
  if (strstr(winnow_last_error(), "did you mean 'cuda'?") == NULL) return 34;
  return 0;
}

static int check_errors(void) {
  int not_an_engine = 0;
  winnow_engine* engine = (winnow_engine*)&not_an_engine;
  if (winnow_load("no-such-file.wnw", NULL, &engine) != WINNOW_BAD_FILE) return 1;
  if (strstr(winnow_last_error(), "no-such-file.wnw") == NULL) return 2;
  if (engine != NULL) return 3; /* a failure leaves nothing to be released */
  engine = (winnow_engine*)&not_an_engine;
  if (winnow_load(NULL, NULL, &engine) != WINNOW_USAGE || engine != NULL) return 4;
  if (winnow_load("x", NULL, NULL) != WINNOW_USAGE) return 5;
  if (winnow_run(NULL, NULL, 1, NULL) != WINNOW_USAGE) return 6;
  if (winnow_run_device(NULL, NULL, 1, NULL, NULL) != WINNOW_USAGE) return 8;
  if (winnow_share(NULL, &engine) != WINNOW_USAGE || engine != NULL) return 9;
  winnow_free(NULL);
  if (winnow_abi_version() != WINNOW_ABI_VERSION) return 7;
  return check_sizes();
}

static int run_zeros(const char* path) {
  winnow_engine* engine = NULL;
  winnow_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.device = "cpu";
  const winnow_status loaded = winnow_load(path, &options, &engine);
  if (loaded != WINNOW_OK) {
    fprintf(stderr, "%s\n", winnow_last_error());
    return (int)loaded;
  }
  float* input = calloc((size_t)winnow_input_size(engine), sizeof(float));
  float* output = calloc((size_t)winnow_output_size(engine), sizeof(float));
  const winnow_status status = winnow_run(engine, input, 1, output);
  for (int64_t i = 0; i < winnow_output_size(engine); ++i) printf("%g\n", output[i]);
  free(input);
  free(output);
  winnow_free(engine);
  return (int)status;
}

/* Bytes are (byte / 255 - 0.5) / 0.25 of the golden model; three samples are two batches. */
static int check_bytes(const char* path) {
  winnow_engine* engine = NULL;
  winnow_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.device = "cpu";
  options.batch = 2;
  if (winnow_load(path, &options, &engine) != WINNOW_OK) return 70;
  unsigned char bytes[27];
  float floats[27], of_bytes[6], of_floats[6];
  for (int i = 0; i < 27; ++i) {
    bytes[i] = (unsigned char)(i * 37);
    floats[i] = ((float)bytes[i] / 255.0f - 0.5f) / 0.25f;
  }
  if (winnow_input_size(engine) != 9 || winnow_output_size(engine) != 2) return 71;
  if (winnow_run_bytes(engine, bytes, 3, of_bytes) != WINNOW_OK) return 72;
  if (winnow_run(engine, floats, 3, of_floats) != WINNOW_OK) return 73;
  for (int i = 0; i < 6; ++i) {
    if (of_bytes[i] != of_floats[i]) return 74;
  }
  if (of_bytes[0] == of_bytes[2] && of_bytes[2] == of_bytes[4]) return 75;
  winnow_free(engine);
  return 0;
}

static int check_limits(const char* path) {
  winnow_engine* engine = NULL;
  winnow_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.device = "cpu";
  options.max_model_bytes = 16;
  if (winnow_load(path, &options, &engine) != WINNOW_BAD_FILE || engine != NULL) return 40;
  if (strstr(winnow_last_error(), "at most 16 are allowed") == NULL) return 41;
  /* To a caller that does not know the limit the default applies. */
  options.struct_size = offsetof(winnow_options, max_model_bytes);
  if (winnow_load(path, &options, &engine) != WINNOW_OK || engine == NULL) return 42;
  float number = 0;
  const unsigned char byte = 0;
  const int64_t too_many = INT64_MAX / 4; /* their bytes are no number of 64 bits */
  if (winnow_run(engine, &number, too_many, &number) != WINNOW_USAGE) return 43;
  if (strstr(winnow_last_error(), "samples, expected 0 to ") == NULL) return 44;
  if (winnow_run_bytes(engine, &byte, too_many, &number) != WINNOW_USAGE) return 45;
  if (winnow_run(engine, &number, -1, &number) != WINNOW_USAGE) return 46;
  /* Device memory needs a GPU. */
  if (winnow_run_device(engine, &number, 1, &number, NULL) != WINNOW_USAGE) return 47;
  if (strstr(winnow_last_error(), "needs a GPU, the session's device is cpu (") == NULL) return 48;
  winnow_engine* shared = engine;
  if (winnow_share(engine, &shared) != WINNOW_USAGE || shared != NULL) return 49;
  if (strstr(winnow_last_error(), "sharing needs a GPU, the session's device is cpu (") == NULL) {
    return 50;
  }
  if (winnow_share(engine, NULL) != WINNOW_USAGE) return 51;
  winnow_free(engine);
  return 0;
}

static int same_file_size(const char* path, long size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return 0;
  fseek(file, 0, SEEK_END);
  const int is_same = ftell(file) == size;
  fclose(file);
  return is_same;
}

/* Appends a line that is no timing. */
static long damage(const char* path) {
  FILE* file = fopen(path, "ab");
  if (file == NULL) return -1;
  fputs("no timing\n", file);
  const long size = ftell(file);
  fclose(file);
  return size;
}

static int check_cache(const char* path, const char* folder, const char* file) {
  winnow_engine* engine = NULL;
  winnow_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.device = "cpu";
  remove(file);
  options.cache_folder = folder;
  if (winnow_load(path, &options, &engine) != WINNOW_OK) return 50;
  if (strcmp(winnow_notice(engine), "") != 0) return 51;
  winnow_free(engine);
  /* The second start adds nothing, since it measures nothing, and tells what is wrong. */
  const long size = damage(file);
  if (size < 100) return 52;
  if (winnow_load(path, &options, &engine) != WINNOW_OK) return 53;
  if (strstr(winnow_notice(engine), "ignored 1 lines that are no timings") == NULL) return 54;
  winnow_free(engine);
  if (!same_file_size(file, size)) return 55;
  /* To a caller that does not know the field there is no cache; nor is there without a folder. */
  options.struct_size = offsetof(winnow_options, cache_folder);
  if (winnow_load(path, &options, &engine) != WINNOW_OK) return 56;
  if (strcmp(winnow_notice(engine), "") != 0) return 57;
  winnow_free(engine);
  options.struct_size = sizeof options;
  options.cache_folder = "";
  if (winnow_load(path, &options, &engine) != WINNOW_OK) return 58;
  if (strcmp(winnow_notice(engine), "") != 0) return 59;
  winnow_free(engine);
  /* A folder that cannot be made costs time, not the engine. */
  options.cache_folder = "/proc/none";
  if (winnow_load(path, &options, &engine) != WINNOW_OK) return 60;
  if (strstr(winnow_notice(engine), "nothing is kept: /proc/none: ") == NULL) return 61;
  winnow_free(engine);
  return strcmp(winnow_notice(NULL), "") == 0 ? 0 : 62;
}

int main(int argc, char** argv) {
  if (argc == 5 && strcmp(argv[1], "--cache") == 0) {
    return check_cache(argv[2], argv[3], argv[4]);
  }
  if (argc == 3 && strcmp(argv[1], "--limits") == 0) return check_limits(argv[2]);
  if (argc == 3 && strcmp(argv[1], "--bytes") == 0) return check_bytes(argv[2]);
  if (argc != 2) return 99;
  return strcmp(argv[1], "--errors") == 0 ? check_errors() : run_zeros(argv[1]);
}
