// The main function of tests that load LibTorch. It leaves without running static destructors:
// with the CUDA build of LibTorch these abort on some systems ("free(): invalid pointer").
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  doctest::Context context;
  context.applyCommandLine(argc, argv);
  const int status = context.run();
  std::cout << std::flush;
  std::fflush(nullptr);
  std::_Exit(status);
}
