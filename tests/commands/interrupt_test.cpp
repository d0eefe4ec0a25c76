// Ctrl-C while pictures are decoded.
#include <chrono>
#include <filesystem>

#include "tests/commands/desk.h"
#include "tests/images/encode.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

// So many pictures that decoding them takes long, all of them one file.
void put_pictures(const std::string& folder) {
  const Bytes picture = png_bytes(smooth_picture(3000, 3000, 1));
  for (const char* name : {"no", "yes"}) {
    const std::string first = folder + "/test/" + name + "/0.png";
    write_bytes(first, picture);
    for (int i = 1; i < 300; ++i) {
      fs::create_hard_link(first, folder + "/test/" + name + "/" + std::to_string(i) + ".png");
    }
  }
}

TEST_CASE("a signal while pictures are decoded ends run at once with status 130") {
  const Desk desk;
  put_pictures(desk.file("pictures"));
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome =
      shell("timeout --preserve-status -s INT 2 " + program("runtime") + " run " + desk.model() +
            " --data folder:" + desk.file("pictures") + " --device cpu --quiet");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  CHECK(outcome.status == 130);
  CHECK(outcome.output == "runtime: interrupted\n");
  CHECK(taken.count() < 2 + 1.5);
}

}  // namespace
}  // namespace winnow
