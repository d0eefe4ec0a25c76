#include "runtime/challenge/ranks/rank_link.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "runtime/challenge/ranks/packed.h"

namespace winnow::challenge {
namespace {

struct Header {
  RankMessage kind;
  std::uint32_t length;
};

constexpr std::uint32_t kLongest = 1u << 30;

bool is_header(const Header& header) {
  return header.kind >= RankMessage::hello && header.kind <= RankMessage::lost &&
         header.length <= kLongest;
}

}  // namespace

void RankLink::send(RankMessage kind, const std::string& bytes) {
  if (bytes.size() > kLongest) {
    fail(ErrorCode::internal, "message of ", bytes.size(), " bytes between ranks");
  }
  unsent_ += packed(Header{kind, static_cast<std::uint32_t>(bytes.size())}) + bytes;
  last_sent_ = Clock::now();
  flush();
}

// A connection that is broken is noticed by receive().
void RankLink::flush() {
  while (has_unsent()) {
    const ssize_t count =
        ::send(socket_.get(), unsent_.data() + sent_, unsent_.size() - sent_, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    sent_ = count < 0 ? unsent_.size() : sent_ + static_cast<std::size_t>(count);
  }
  unsent_.clear();
  sent_ = 0;
  end_sending();
}

void RankLink::finish() {
  is_finishing_ = true;
  flush();
}

void RankLink::end_sending() {
  if (is_finishing_ && is_open()) shutdown(socket_.get(), SHUT_WR);
}

void RankLink::receive() {
  std::array<char, 1 << 14> buffer{};
  while (is_open()) {
    const ssize_t count = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count > 0) {
      received_.append(buffer.data(), static_cast<std::size_t>(count));
      last_heard_ = Clock::now();
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    socket_.close();
  }
}

std::optional<RankFrame> RankLink::next() {
  Header header{};
  if (received_.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, received_.data(), sizeof header);
  if (!is_header(header)) {
    received_.clear();
    socket_.close();
    return std::nullopt;
  }
  const std::size_t end = sizeof header + header.length;
  if (received_.size() < end) return std::nullopt;
  RankFrame frame{header.kind, received_.substr(sizeof header, header.length)};
  received_.erase(0, end);
  return frame;
}

std::string packed_error(ErrorCode code, const std::string& message) {
  return packed(static_cast<std::int32_t>(code)) + message;
}

Error unpacked_error(const std::string& bytes) {
  std::int32_t code = 0;
  if (bytes.size() < sizeof code) return {ErrorCode::internal, "message cut short"};
  std::memcpy(&code, bytes.data(), sizeof code);
  return {static_cast<ErrorCode>(code), bytes.substr(sizeof code)};
}

}  // namespace winnow::challenge
