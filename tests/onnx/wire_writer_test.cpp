#include "runtime/onnx/wire_writer.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <limits>

#include "runtime/base/file.h"
#include "runtime/onnx/wire_reader.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

std::string bytes_of(const WireWriter& message) {
  const TemporaryDirectory directory;
  message.save(directory / "m");
  std::string bytes = read_text_file(directory / "m");
  CHECK(bytes.size() == message.size());
  return bytes;
}

WireReader reader_of(const std::string& bytes) {
  return {std::as_bytes(std::span(bytes)), "m", "message"};
}

}  // namespace

TEST_CASE("the examples of the format's description have its bytes") {
  WireWriter number;
  number.integer(1, 150);
  CHECK(bytes_of(number) == "\x08\x96\x01");
  WireWriter text;
  text.text(2, "testing");
  CHECK(bytes_of(text) == "\x12\x07testing");
  WireWriter inner;
  inner.message(3, number);
  CHECK(bytes_of(inner) == "\x1a\x03\x08\x96\x01");
  WireWriter packed;
  packed.integers(6, std::vector<std::int64_t>{3, 270, 86942});
  CHECK(bytes_of(packed) == "\x32\x06\x03\x8e\x02\x9e\xa7\x05");
  CHECK(bytes_of({}) == "");
}

TEST_CASE("the reader gets back what was written") {
  const std::vector<float> weights = {1, -2.5F, 3};
  const std::vector<std::int64_t> numbers = {0, -1, std::numeric_limits<std::int64_t>::max(),
                                             std::numeric_limits<std::int64_t>::min()};
  WireWriter inner;
  inner.borrow(9, std::as_bytes(std::span(weights)));
  inner.real(2, 0.25F);
  WireWriter message;
  message.message(1, inner);
  for (const std::int64_t number : numbers) message.integer(3, number);
  message.integers(4, numbers);
  message.borrow(5, {});
  const std::string bytes = bytes_of(message);

  WireReader reader = reader_of(bytes);
  REQUIRE(reader.next());
  WireReader first = reader.message("inner");
  REQUIRE(first.next());
  std::vector<float> read;
  first.append_floats(read);
  CHECK(first.number() == 9);
  CHECK(read == weights);
  REQUIRE(first.next());
  CHECK(first.real() == 0.25F);
  CHECK(!first.next());
  for (const std::int64_t number : numbers) {
    REQUIRE(reader.next());
    CHECK(reader.number() == 3);
    CHECK(reader.integer() == number);
  }
  REQUIRE(reader.next());
  std::vector<std::int64_t> packed;
  reader.append_integers(packed);
  CHECK(packed == numbers);
  REQUIRE(reader.next());
  CHECK(reader.bytes().empty());
  CHECK(!reader.next());
}

TEST_CASE("a message beyond 2 GiB is refused before anything is written") {
  const TemporaryDirectory directory;
  const std::vector<std::byte> part(std::size_t{1} << 24);
  WireWriter message;
  for (int i = 0; i < 128; ++i) message.borrow(1, part);
  CHECK(message.size() > kLargestMessage);
  CHECK(error_of([&] { message.save(directory / "m"); }) == ErrorCode::usage);
  CHECK(message_of([&] { message.save(directory / "m"); }) ==
        directory / "m" +
            ": would have 2147484288 bytes, expected at most 2147483647, the most that a file of "
            "protocol buffers can have");
  CHECK(!std::filesystem::exists(directory / "m"));
}

}  // namespace winnow
