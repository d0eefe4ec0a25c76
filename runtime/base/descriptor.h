// An open file of the system.
#pragma once

#include <unistd.h>

namespace winnow {

// Closes it on every way out. Negative: none is open.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }

 private:
  int number_;
};

}  // namespace winnow
