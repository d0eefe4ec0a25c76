#include "runtime/base/device_name.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/throws.h"

namespace winnow {

TEST_CASE("device names are auto, cpu, cuda and cuda:N") {
  CHECK(device_from("auto") == Device{Device::Kind::automatic, 0});
  CHECK(device_from("cpu") == Device{Device::Kind::cpu, 0});
  CHECK(device_from("cuda") == Device{Device::Kind::cuda, 0});
  CHECK(device_from("cuda:3") == Device{Device::Kind::cuda, 3});
}

TEST_CASE("other names of a GPU lead to cuda, never to cpu") {
  const auto message = [](const std::string& name) {
    return message_of([&] { device_from(name); });
  };
  CHECK(message("gpu") == "device 'gpu' is not known; did you mean 'cuda'?");
  CHECK(message("GPU") == "device 'GPU' is not known; did you mean 'cuda'?");
  CHECK(message("gpu:1") == "device 'gpu:1' is not known; did you mean 'cuda:1'?");
  CHECK(message("CUDA:0") == "device 'CUDA:0' is not known; did you mean 'cuda:0'?");
  CHECK(message("cua") == "device 'cua' is not known; did you mean 'cuda'?");
  CHECK(message("cpuu") == "device 'cpuu' is not known; did you mean 'cpu'?");
  CHECK(message("vulkan") == "device 'vulkan' is not known; known: auto, cpu, cuda, cuda:N");
}

TEST_CASE("a GPU's number is a whole number from 0") {
  for (const char* name :
       {"cuda:", "cuda:-1", "cuda:x", "cuda:1x", "cuda1", "cuda:99999999999", ""}) {
    CAPTURE(name);
    CHECK(error_of([&] { device_from(name); }) == ErrorCode::usage);
  }
}

}  // namespace winnow
