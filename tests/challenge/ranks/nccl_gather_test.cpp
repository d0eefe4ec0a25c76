// Ranks on GPUs of this machine, which NCCL connects.
#include "runtime/challenge/ranks/nccl/nccl_gather.h"

#include <doctest/doctest.h>

#include "runtime/challenge/ranks/rank_engine.h"
#include "tests/challenge/random_network.h"
#include "tests/challenge/ranks/ranks_in_threads.h"
#include "tests/challenge/ranks/two_gpus.h"

namespace winnow::challenge {

TEST_CASE("NCCL brings what each rank gives to all") {
  if (lacks_two_gpus()) return;
  const auto errors = run_ranks(2, [](RankGroup& group) {
    const auto gather = make_nccl_gather(group, static_cast<int>(group.rank()));
    for (const std::size_t bytes : {8u, 8u, 4000u, 1u << 20}) {
      const std::vector<std::string> all =
          gather->all(std::string(bytes, static_cast<char>('a' + group.rank())));
      CHECK(all == std::vector{std::string(bytes, 'a'), std::string(bytes, 'b')});
    }
    group.gather("");  // no rank ends its part while another still receives
  });
  for (const auto& error : errors) CHECK(!error);
}

TEST_CASE("ranks on two GPUs give the categories of one") {
  if (lacks_two_gpus()) return;
  const MemoryNetwork network = random_network({.widths = {64, 64, 64, 64}, .seed = 5});
  const SparseImages images = random_images(64, 500, 6);
  const ExpectedResult expected = expected_result(network, images);
  for (const std::string engine_name : {"fused", "grouped"}) {
    const auto errors = run_ranks(2, [&](RankGroup& group) {
      EngineOptions options;
      options.gpu = static_cast<int>(group.rank());
      RankEngine engine(group, make_gpu_engine(engine_name, network, options),
                        make_nccl_gather(group, options.gpu));
      engine.set_images(images);
      for (int i = 0; i < 3; ++i) {
        RunTimes times;
        CHECK(engine.run(times) == expected.categories);
      }
      CHECK(engine.kernel().find("gathered by NCCL 2.") != std::string::npos);
    });
    for (const auto& error : errors) CHECK(!error);
  }
}

TEST_CASE("a rank that fails does not let the other wait in NCCL") {
  if (lacks_two_gpus()) return;
  const auto errors = run_ranks(2, [](RankGroup& group) {
    const auto gather = make_nccl_gather(group, static_cast<int>(group.rank()));
    if (group.rank() == 1) fail(ErrorCode::bad_file, "a.wsn: is cut short");
    gather->all(std::string(64, 'a'));
  });
  REQUIRE(errors[0]);
  CHECK(errors[0]->what() == "rank 1 of 2 on " + machine_name() + ": a.wsn: is cut short");
}

TEST_CASE("ranks that share a GPU are refused before NCCL starts") {
  if (lacks_gpu()) return;
  const auto errors = run_ranks(2, [](RankGroup& group) { make_nccl_gather(group, 0); });
  for (const auto& error : errors) {
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::usage);
    CHECK(std::string(error->what()).find("has the same GPU as rank 0") != std::string::npos);
  }
}

}  // namespace winnow::challenge
