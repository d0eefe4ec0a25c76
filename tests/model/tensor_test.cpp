#include "runtime/model/tensor.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "tests/throws.h"

namespace winnow {
namespace {

template <typename T>
Tensor tensor_of(const std::vector<T>& values) {
  return Tensor::from<T>({static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace

TEST_CASE("a new tensor holds zeros of its type") {
  const Tensor tensor(DataType::i16, {2, 3});
  CHECK(tensor.count() == 6);
  CHECK(tensor.bytes().size() == 12);
  for (const std::int16_t value : tensor.values<std::int16_t>()) CHECK(value == 0);
  CHECK(Tensor(DataType::f32, {}).bytes().size() == 4);
  CHECK(Tensor().count() == 0);
  CHECK(Tensor().bytes().empty());
}

TEST_CASE("values come back as they were given") {
  const std::vector<float> values = {1.5f, -2.0f, 0.25f, 4.0f};
  Tensor tensor = Tensor::from<float>({2, 2}, values);
  CHECK(tensor.shape() == Shape{2, 2});
  CHECK(to_floats(tensor) == values);
  tensor.values<float>()[3] = 8.0f;
  CHECK(to_floats(tensor)[3] == 8.0f);
}

TEST_CASE("a wrong element type or count is refused") {
  Tensor tensor(DataType::f32, {2});
  CHECK(message_of([&] { tensor.values<std::int8_t>(); }) ==
        "the tensor holds F32, I8 was asked for");
  const std::vector<float> three(3);
  CHECK(message_of([&] {
          Tensor::from<float>({2, 2}, three);
        }) == "shape [2, 2] does not hold 3 values");
  CHECK(error_of([&] { Tensor::from<float>({-1}, three); }) == ErrorCode::usage);
}

TEST_CASE("a tensor whose bytes overflow is refused before it is allocated") {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(error_of([&] { Tensor(DataType::f64, {most / 2}); }) == ErrorCode::usage);
  CHECK(error_of([&] { Tensor(DataType::u8, {most, 2}); }) == ErrorCode::usage);
}

TEST_CASE("every element type converts to floats") {
  CHECK(to_floats(tensor_of<double>({0.5, -3})) == std::vector<float>{0.5f, -3});
  CHECK(to_floats(tensor_of<Half>({{0x3c00}, {0xc000}})) == std::vector<float>{1, -2});
  CHECK(to_floats(tensor_of<std::int64_t>({-5, 7})) == std::vector<float>{-5, 7});
  CHECK(to_floats(tensor_of<std::int32_t>({-5, 7})) == std::vector<float>{-5, 7});
  CHECK(to_floats(tensor_of<std::int16_t>({-5, 7})) == std::vector<float>{-5, 7});
  CHECK(to_floats(tensor_of<std::int8_t>({-128, 7})) == std::vector<float>{-128, 7});
  CHECK(to_floats(tensor_of<std::uint8_t>({200, 7})) == std::vector<float>{200, 7});

  Tensor flags(DataType::boolean, {2});
  flags.bytes()[1] = std::byte{1};
  CHECK(to_floats(flags) == std::vector<float>{0, 1});

  Tensor brain(DataType::bf16, {2});  // 1.0 is 0x3f80, -2.5 is 0xc020
  brain.bytes()[1] = std::byte{0x3f};
  brain.bytes()[0] = std::byte{0x80};
  brain.bytes()[3] = std::byte{0xc0};
  brain.bytes()[2] = std::byte{0x20};
  CHECK(to_floats(brain) == std::vector<float>{1.0f, -2.5f});
}

TEST_CASE("element types have safetensors' names") {
  for (const char* name : {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"}) {
    CHECK(to_string(data_type_from(name)) == name);
  }
  CHECK(size_of(DataType::bf16) == 2);
  CHECK(error_of([] { data_type_from("F8_E4M3"); }) == ErrorCode::bad_file);
  CHECK(message_of([] { data_type_from("f32"); }) ==
        "unsupported element type 'f32'; did you mean 'F32'?");
}

TEST_CASE("tensors are equal if type, shape and bytes are") {
  const std::vector<float> zeros(4);
  CHECK(Tensor::from<float>({4}, zeros) == Tensor(DataType::f32, {4}));
  CHECK(Tensor(DataType::f32, {4}) != Tensor(DataType::f32, {2, 2}));
  CHECK(Tensor(DataType::f32, {4}) != Tensor(DataType::i32, {4}));
}

}  // namespace winnow
