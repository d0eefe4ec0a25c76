// Messages between two ranks over a TCP connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/error.h"
#include "runtime/challenge/ranks/socket.h"

namespace winnow::challenge {

// The first bytes of each message, which nothing else that listens at a port sends.
enum class RankMessage : std::uint32_t {
  hello = 0x574e5201,  // who comes to rank 0
  heard,               // rank 0's answer
  welcome,             // all have come: their machines
  beat,                // a sign of life
  part,                // what a rank gives to a gathering
  all,                 // what all gave, from rank 0
  end,                 // this rank is done
  lost,                // why the run ends: packed_error()
};

struct RankFrame {
  RankMessage kind;
  std::string bytes;
};

// Neither sending nor receiving blocks. One thread at a time calls it.
class RankLink {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RankLink(Socket socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.get(); }
  bool is_open() const { return socket_.is_open(); }

  // What the connection does not take at once waits for flush().
  void send(RankMessage kind, const std::string& bytes = "");
  void flush();
  bool has_unsent() const { return is_open() && sent_ < unsent_.size(); }

  // Nothing will be sent after what waits. The other side's end closes the link.
  void finish();

  // Takes what has come. Closes the link where it has ended or is no connection of a rank.
  void receive();

  // The next whole message of what has come; it may be asked after the link has closed.
  std::optional<RankFrame> next();

  Clock::time_point last_heard() const { return last_heard_; }
  Clock::time_point last_sent() const { return last_sent_; }

 private:
  void end_sending();

  Socket socket_;
  std::string unsent_, received_;
  std::size_t sent_ = 0;  // of unsent_
  bool is_finishing_ = false;
  Clock::time_point last_heard_ = Clock::now(), last_sent_ = Clock::now();
};

// An error as bytes, and back. Bytes that are none are an Error{internal}.
std::string packed_error(ErrorCode code, const std::string& message);
Error unpacked_error(const std::string& bytes);

}  // namespace winnow::challenge
