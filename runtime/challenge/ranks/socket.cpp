#include "runtime/challenge/ranks/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "runtime/base/error.h"

namespace winnow::challenge {
namespace {

constexpr int kKind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

void set(int descriptor, int level, int option, int value) {
  setsockopt(descriptor, level, option, &value, sizeof value);
}

bool is_loopback(const std::string& host) {
  return host == "127.0.0.1" || host == "localhost";
}

bool listens(int descriptor, const sockaddr* address, socklen_t length) {
  set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1);  // connections of an earlier run may linger
  return bind(descriptor, address, length) == 0 && listen(descriptor, SOMAXCONN) == 0;
}

// By IPv4; not open if the port is taken.
Socket listener_on(std::uint32_t address, std::uint16_t port) {
  Socket made(socket(AF_INET, kKind, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(address);
  place.sin_port = htons(port);
  if (!listens(made.get(), reinterpret_cast<sockaddr*>(&place), sizeof place)) made.close();
  return made;
}

// By IPv6 and IPv4, or by IPv4 where this machine has no other.
Socket listener_on_all(std::uint16_t port) {
  Socket made(socket(AF_INET6, kKind, 0));
  if (!made.is_open()) return listener_on(INADDR_ANY, port);
  set(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  sockaddr_in6 place{};
  place.sin6_family = AF_INET6;
  place.sin6_addr = in6addr_any;
  place.sin6_port = htons(port);
  if (!listens(made.get(), reinterpret_cast<sockaddr*>(&place), sizeof place)) {
    if (errno != EADDRINUSE) return listener_on(INADDR_ANY, port);
    made.close();
  }
  return made;
}

// Whether a connection that was begun is there within the time.
bool is_connected(int descriptor, std::chrono::milliseconds patience, std::string& reason) {
  pollfd wait{.fd = descriptor, .events = POLLOUT, .revents = 0};
  if (poll(&wait, 1, static_cast<int>(patience.count())) <= 0) {
    reason = "no answer";
    return false;
  }
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) reason = std::strerror(error);
  return error == 0;
}

// Where nobody listens at a port that the system gives away, it may be given to who connects to it.
bool is_own_end(int descriptor) {
  sockaddr_storage here{}, there{};
  socklen_t size_here = sizeof here, size_there = sizeof there;
  return getsockname(descriptor, reinterpret_cast<sockaddr*>(&here), &size_here) == 0 &&
         getpeername(descriptor, reinterpret_cast<sockaddr*>(&there), &size_there) == 0 &&
         size_here == size_there && std::memcmp(&here, &there, size_here) == 0;
}

Socket connection(const addrinfo& address, std::chrono::milliseconds patience,
                  std::string& reason) {
  Socket made(socket(address.ai_family, kKind, 0));
  if (!made.is_open()) return made;
  const int status = connect(made.get(), address.ai_addr, address.ai_addrlen);
  if (status != 0 && errno != EINPROGRESS) {
    reason = std::strerror(errno);
    made.close();
  } else if (!is_connected(made.get(), patience, reason)) {
    made.close();
  } else if (is_own_end(made.get())) {
    reason = "nobody listens there";
    made.close();
  } else {
    set(made.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  }
  return made;
}

}  // namespace

void Socket::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

Socket listen_at(const std::string& host, const std::vector<std::uint16_t>& ports) {
  for (const std::uint16_t port : ports) {
    Socket made = is_loopback(host) ? listener_on(INADDR_LOOPBACK, port) : listener_on_all(port);
    if (made.is_open()) return made;
  }
  fail(ErrorCode::usage, "rank 0: port ", ports.front(),
       ports.size() > 1 ? " and those behind it are" : " is",
       " in use; WINNOW_MASTER_PORT names another one");
}

Socket accept_from(const Socket& listener) {
  Socket made(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (made.is_open()) set(made.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  return made;
}

Socket connect_to(const std::string& host, std::uint16_t port, std::chrono::milliseconds patience,
                  std::string& reason) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (status != 0) {
    reason = gai_strerror(status);
    return {};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Socket made = connection(*at, patience, reason);
    if (made.is_open()) return made;
  }
  return {};
}

void await_input(const std::vector<int>& descriptors, std::chrono::milliseconds patience) {
  std::vector<pollfd> waits;
  for (const int descriptor : descriptors) {
    waits.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
  }
  poll(waits.data(), waits.size(), static_cast<int>(patience.count()));
}

}  // namespace winnow::challenge
