#include "prune/timing/deployed_time.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "prune/config/json_value.h"
#include "prune/timing/child_program.h"
#include "runtime/base/device_name.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/processor.h"
#include "runtime/base/suggest.h"
#include "runtime/base/thread_pool.h"
#include "runtime/model/safetensors.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

std::string program_in(const std::string& folder, const char* name) {
  return (folder.empty() ? own_folder() : folder) + "/" + name;
}

// An empty folder, which goes with all that is in it.
class Scratch {
 public:
  explicit Scratch(const std::string& path) : path_(path) {
    std::error_code error;
    fs::remove_all(path_, error);  // of a program that was killed
    if (!error) fs::create_directory(path_, error);
    if (error) fail(ErrorCode::bad_file, path_, ": ", error.message());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// "NVIDIA H200" of "cuda:1 (NVIDIA H200), steps as CUDA graphs"; a CPU's text as it is.
std::string card_of(const std::string& device) {
  const std::size_t open = device.find('('), close = device.find(')');
  const bool is_gpu = device.starts_with("cuda") && open < close && close != std::string::npos;
  return is_gpu ? device.substr(open + 1, close - open - 1) : device;
}

[[noreturn]] void refuse_device(const TimeModel& time, const std::string& device) {
  fail(ErrorCode::usage, "time_table: has times of ", in_quotes(time.device),
       ", this machine's device is ", in_quotes(device));
}

// 2 of "cpu (Intel Xeon Processor, 2 threads, avx512)"; 0 if the text says none.
int threads_of(const std::string& device) {
  const std::size_t end = device.rfind(" thread");
  const std::size_t begin = device.substr(0, end).rfind(' ');
  if (end == std::string::npos || begin == std::string::npos) return 0;
  int threads = 0;
  std::from_chars(device.data() + begin + 1, device.data() + end, threads);
  return std::max(threads, 0);
}

// Whether this machine's processor and cores can be what the text names. It may have a wider
// instruction set, which `runtime` may use or not.
bool fits_this_processor(const std::string& device) {
  const int threads = threads_of(device);
  if (threads < 1 || threads > available_cores()) return false;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    const std::string name = cpu_device_name(threads, ", " + std::string(to_string(isa)));
    if (device == name) return processor_has(isa);
  }
  return false;
}

DeployedTime read_bench(const std::string& file) {
  DeployedTime result;
  result.bench = read_text_file(file, kMaxBytes);
  const nlohmann::json json = nlohmann::json::parse(result.bench, nullptr, false);
  if (!json.is_array()) fail(ErrorCode::bad_file, file, ": not what runtime bench --json writes");
  const JsonValue found = JsonValue(file, json, "").filled_list().front();
  result.device = found.at("device").text();
  result.ms = found.at("chosen").at("network_ms").at("median").ms();
  return result;
}

}  // namespace

void require_programs(const std::string& folder) {
  for (const char* name : {"export", "runtime"}) {
    const std::string path = program_in(folder, name);
    if (access(path.c_str(), X_OK) == 0) continue;
    fail(ErrorCode::usage, "time_programs: no program ", in_quotes(path),
         "; prune measures with export and runtime, which lie beside it or in this folder");
  }
}

std::string device_to_measure(const TimeModel& time, const std::string& device) {
  if (time.device.starts_with("cpu")) return "cpu";
  const Device named = device_from(device);
  return named.kind == Device::Kind::cuda ? "cuda:" + std::to_string(named.index) : "cuda";
}

void require_device_of(const TimeModel& time, const std::string& device) {
  if (time.device.starts_with("cuda")) {
    if (device.starts_with("cuda")) require_measured_on(time, device);
  } else if (!fits_this_processor(time.device)) {
    refuse_device(time, cpu_device_name(available_cores()));
  }
}

void require_measured_on(const TimeModel& time, const std::string& device) {
  if (card_of(device) != card_of(time.device)) refuse_device(time, device);
}

DeployedTime measure_deployed(const Model& model, const TimeModel& time,
                              const DeploymentOptions& options) {
  const Scratch scratch(options.scratch);
  const std::string checkpoint = scratch.file("network.safetensors");
  const std::string deployed = scratch.file("network.wnw"), bench = scratch.file("bench.json");
  save_model(checkpoint, model);
  run_child({program_in(options.programs, "export"), "--in", checkpoint, "-o", deployed},
            options.should_stop);
  std::vector<std::string> command = {program_in(options.programs, "runtime"),
                                      "bench",
                                      deployed,
                                      "--quiet",
                                      "--device",
                                      device_to_measure(time, options.device),
                                      "--batch",
                                      std::to_string(time.batch),
                                      "--precision",
                                      time.precision,
                                      "--threads",
                                      std::to_string(threads_of(time.device)),
                                      "--json",
                                      bench};
  if (time.use_tf32) command.push_back("--tf32");
  run_child(command, options.should_stop);
  return read_bench(bench);
}

}  // namespace winnow
