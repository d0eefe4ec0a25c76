// How many threads an OpenMP runtime that some library brought along uses for calls from here.
#pragma once

namespace winnow {

// Sets the calling thread's number and restores it at the end of the scope. Does nothing in a
// process without an OpenMP runtime.
class OpenMpThreads {
 public:
  explicit OpenMpThreads(int threads);
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;
  ~OpenMpThreads();

 private:
  int before_ = 0;
};

}  // namespace winnow
