/* A C program against the installed interface: loads a model file and runs one sample of zeros.
 *   capi_consumer MODEL          prints the outputs
 *   capi_consumer --errors       checks the failures that need no model
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "winnow.h"

static int check_errors(void) {
  winnow_engine* engine = NULL;
  winnow_options options;
  memset(&options, 0, sizeof options);
  if (winnow_load("no-such-file.wnw", NULL, &engine) != WINNOW_BAD_FILE) return 1;
  if (strstr(winnow_last_error(), "no-such-file.wnw") == NULL) return 2;
  if (winnow_load("x", &options, &engine) != WINNOW_USAGE) return 3; /* struct_size is 0 */
  if (winnow_load(NULL, NULL, &engine) != WINNOW_USAGE) return 4;
  if (winnow_run(NULL, NULL, 1, NULL) != WINNOW_USAGE) return 5;
  winnow_free(NULL);
  return winnow_abi_version() == WINNOW_ABI_VERSION ? 0 : 6;
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

int main(int argc, char** argv) {
  if (argc != 2) return 99;
  return strcmp(argv[1], "--errors") == 0 ? check_errors() : run_zeros(argv[1]);
}
