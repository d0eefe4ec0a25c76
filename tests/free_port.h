// A TCP port of this machine that nothing listens at now.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace winnow {

inline std::uint16_t free_port() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  const bool is_bound = bind(listener, any, size) == 0 && getsockname(listener, any, &size) == 0;
  close(listener);
  if (!is_bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

}  // namespace winnow
