// TCP sockets, as ranks need them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace winnow::challenge {

// Owns a descriptor of the system; move-only.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  void close();

 private:
  int descriptor_ = -1;  // negative: none
};

// Listens at the first of the ports that is free: on the loopback interface if `host` is 127.0.0.1
// or localhost, else on all. Does not block. Throws Error{usage} if all are taken.
Socket listen_at(const std::string& host, const std::vector<std::uint16_t>& ports);

// A connection that came in, which does not block, or none.
Socket accept_from(const Socket& listener);

// Connects within `patience`; the socket does not block. Without success it is not open and
// `reason` says why.
Socket connect_to(const std::string& host, std::uint16_t port, std::chrono::milliseconds patience,
                  std::string& reason);

// Waits until something can be read or the time is over; a signal ends it early.
void await_input(const std::vector<int>& descriptors, std::chrono::milliseconds patience);

}  // namespace winnow::challenge
