#include "runtime/challenge/ranks/rank_group.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <future>

#include "runtime/challenge/ranks/packed.h"
#include "tests/challenge/ranks/ranks_in_threads.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

using namespace std::chrono_literals;

std::string text_of(const std::optional<Error>& error) {
  return error ? error->what() : "";
}

}  // namespace

TEST_CASE("each rank hears what all gave, often and of any size") {
  for (const std::int64_t size : {2, 3, 7}) {
    CAPTURE(size);
    const auto errors = run_ranks(size, [&](RankGroup& group) {
      CHECK(group.size() == size);
      CHECK(group.machines() == std::vector(static_cast<std::size_t>(size), machine_name()));
      for (int round = 0; round < 200; ++round) {
        const std::string mine(round % 50 == 7 ? 1'000'000 : round,
                               static_cast<char>('a' + group.rank()));
        const std::vector<std::string> all = group.gather(mine);
        CHECK(all.size() == static_cast<std::size_t>(size));
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
          CHECK(all[rank] == std::string(mine.size(), static_cast<char>('a' + rank)));
        }
      }
    });
    for (const auto& error : errors) CHECK(text_of(error) == "");
  }
}

TEST_CASE("a rank's error is told to all who wait or ask, with its name") {
  for (const std::int64_t failing : {0, 2}) {
    CAPTURE(failing);
    const auto errors = run_ranks(3, [&](RankGroup& group) {
      if (group.rank() == failing) fail(ErrorCode::bad_file, "a.wsn: is cut short");
      if (group.rank() == 1) group.gather("");
      group.require_all(20s);
    });
    const std::string name =
        "rank " + std::to_string(failing) + " of 3 on " + machine_name() + ": a.wsn: is cut short";
    for (std::size_t rank = 0; rank < 3; ++rank) {
      CAPTURE(rank);
      REQUIRE(errors[rank]);
      const bool is_own = rank == static_cast<std::size_t>(failing);
      CHECK(errors[rank]->code() == (is_own ? ErrorCode::bad_file : ErrorCode::device));
      CHECK(text_of(errors[rank]) == (is_own ? "a.wsn: is cut short" : name));
    }
  }
}

TEST_CASE("an interrupted rank ends all as interrupted") {
  const auto errors = run_ranks(3, [&](RankGroup& group) {
    if (group.rank() == 1) fail(ErrorCode::interrupted, "interrupted");
    group.gather("");
  });
  for (const auto& error : errors) {
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::interrupted);
  }
  CHECK(text_of(errors[2]) == "rank 1 of 3 on " + machine_name() + " was interrupted");
}

TEST_CASE("a rank that is done too early is named by those who wait for it") {
  for (const std::int64_t early : {0, 1}) {
    const auto errors = run_ranks(2, [&](RankGroup& group) {
      if (group.rank() != early) group.gather("");
    });
    CHECK(!errors[static_cast<std::size_t>(early)]);
    CHECK(text_of(errors[static_cast<std::size_t>(1 - early)]) ==
          "rank " + std::to_string(early) + " of 2 on " + machine_name() +
              " has ended before the others");
  }
}

TEST_CASE("different work is refused at all ranks, with the rank and the line") {
  const auto errors = run_ranks(3, [](RankGroup& group) {
    require_equal(group, group.rank() == 2 ? "engine: cpu\nlayers: 3" : "engine: cpu\nlayers: 4");
  });
  for (const auto& error : errors) {
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::usage);
    CHECK(text_of(error) == "rank 2 of 3 on " + machine_name() +
                                " has other work than rank 0: 'layers: 4' there, 'layers: 3' now");
  }
}

TEST_CASE("a rank that does not come is named at all that have") {
  const std::uint16_t port = free_port();
  const RankLimits limits{.silence = 60s, .start = 1s};
  const auto join = [&](std::int64_t rank) {
    return message_of(
        [&] { RankGroup(place_of(rank, 3, port), {port}, limits, [] { return false; }); });
  };
  auto second = std::async(std::launch::async, join, 1);
  CHECK(join(0) == "rank 2 of 3 has not come for 1 s");
  CHECK(second.get() == "rank 2 of 3 has not come for 1 s");
  CHECK(join(1).find(": no answer from rank 0 at 127.0.0.1:" + std::to_string(port) + " for 1 s") !=
        std::string::npos);
}

TEST_CASE("processes whose variables contradict each other are refused") {
  const std::uint16_t port = free_port();
  const RankLimits limits{.silence = 60s, .start = 60s};
  const auto join = [&](std::int64_t rank, std::int64_t size) {
    return message_of(
        [&] { RankGroup(place_of(rank, size, port), {port}, limits, [] { return false; }); });
  };
  auto first = std::async(std::launch::async, join, 0, 3);
  auto other = std::async(std::launch::async, join, 1, 2);
  CHECK(first.get() == other.get());
  first = std::async(std::launch::async, join, 0, 3);
  other = std::async(std::launch::async, join, 1, 3);
  CHECK(join(1, 3).find("two processes have come as rank 1 of 3 on ") == 0);
  CHECK(first.get() == other.get());
}

TEST_CASE("a request to stop ends waiting") {
  const std::uint16_t port = free_port();
  const auto join = [&](std::int64_t rank) {
    return error_of(
        [&] { RankGroup(place_of(rank, 3, port), {port}, kPatient, [=] { return rank == 1; }); });
  };
  auto first = std::async(std::launch::async, [&] {
    return error_of(
        [&] { RankGroup(place_of(0, 2, port), {port}, kPatient, [] { return true; }); });
  });
  CHECK(first.get() == ErrorCode::interrupted);
  CHECK(join(1) == ErrorCode::interrupted);
}

TEST_CASE("what is no rank of the run does not disturb the meeting") {
  const std::uint16_t port = free_port();
  std::thread first([&] {
    RankGroup group(place_of(0, 2, port), {port}, kPatient, [] { return false; });
    CHECK(group.gather("a") == std::vector<std::string>{"a", "b"});
  });
  std::string reason;
  Socket stranger, other;
  while (!stranger.is_open()) stranger = connect_to("127.0.0.1", port, 1s, reason);
  CHECK(send(stranger.get(), "GET / HTTP/1.1\r\n\r\n", 18, 0) == 18);
  RankPlace late = place_of(1, 2, port);
  late.start = "7";  // of another start
  CHECK(message_of([&] {
          RankGroup(late, {port}, {.silence = 60s, .start = 1s}, [] { return false; });
        }).find("another program listens there") != std::string::npos);
  RankGroup group(place_of(1, 2, port), {port}, kPatient, [] { return false; });
  CHECK(group.gather("b") == std::vector<std::string>{"a", "b"});
  first.join();
}

TEST_CASE("ranks meet beside a launcher's store, at the first port that is free") {
  RankPlace place = place_of(0, 2, free_port());
  const auto none = [](const std::string&) { return std::optional<std::string>(); };
  CHECK(meeting_ports(place, none) == std::vector<std::uint16_t>{place.port});
  place.has_store = true;
  const std::vector<std::uint16_t> ports = meeting_ports(place, none);
  REQUIRE(ports.size() == 8);
  CHECK(std::abs(ports.front() - place.port) == 1);
  const auto own = [](const std::string& name) {
    return name == "WINNOW_MASTER_PORT" ? std::optional<std::string>("4711") : std::nullopt;
  };
  CHECK(meeting_ports(place, own) == std::vector<std::uint16_t>{4711});

  const Socket taken = listen_at("127.0.0.1", {place.port});  // as a store would: it says nothing
  const std::vector<std::uint16_t> both = {place.port, free_port()};
  auto first = std::async(std::launch::async, [&] {
    return RankGroup(place_of(0, 2, 1), both, kPatient, [] { return false; }).gather("a");
  });
  const std::vector<std::string> all =
      RankGroup(place_of(1, 2, 1), both, kPatient, [] { return false; }).gather("b");
  CHECK(all == std::vector<std::string>{"a", "b"});
  CHECK(first.get() == all);
  CHECK(message_of([&] { listen_at("127.0.0.1", {place.port}); }) ==
        "rank 0: port " + std::to_string(place.port) +
            " is in use; WINNOW_MASTER_PORT names another one");
}

}  // namespace winnow::challenge
