#include "cores.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#include <sys/resource.h>
#elif defined(_WIN32)
#include <windows.h>
#endif

namespace eagre {
namespace {

// Empty where there is no such file. (Streams of C++ would ask for a newer glibc.)
std::string read(const std::string& path) {
  std::string text;
  FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return text;
  char part[1024];
  for (size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
  std::fclose(file);
  return text;
}

// Calls f with each piece of a text between separators.
template <class F> void each_piece(const std::string& text, char separator, F f) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find(separator, begin);
    if (end == std::string::npos) end = text.size();
    f(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

double lesser_limit(double a, double b) { return a == 0 ? b : b == 0 ? a : a < b ? a : b; }

// Version 1 has the two numbers in files of their own; a quota of -1 is none.
double cores_of_group(const std::string& folder, bool unified) {
  if (unified) return cores_of_cpu_max(read(folder + "/cpu.max").c_str());
  return cores_of_cpu_max((read(folder + "/cpu.cfs_quota_us") + " " + read(folder + "/cpu.cfs_period_us")).c_str());
}

bool names_cpu(const std::string& controllers) {
  bool named = false;
  each_piece(controllers, ',', [&](const std::string& name) { named |= name == "cpu"; });
  return named;
}

}  // namespace

int threads_asked(const char* text) {
  if (*text < '0' || *text > '9') return 0;
  char* end;
  const long n = std::strtol(text, &end, 10);
  return *end == 0 && n >= 1 && n <= kMaxThreads ? static_cast<int>(n) : 0;
}

double cores_of_cpu_max(const char* text) {
  double quota, period;
  if (std::sscanf(text, "%lf %lf", &quota, &period) != 2 || !(quota > 0) || !(period > 0)) return 0;
  return quota / period;
}

double cores_of_cgroups(const char* membership, const char* mount) {
  double cores = 0;
  // hierarchy:controllers:path; version 2 has the hierarchy 0, and no controllers.
  each_piece(membership, '\n', [&](const std::string& line) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) return;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = line.compare(0, first, "0") == 0 && controllers.empty();
    if (!unified && !names_cpu(controllers)) return;
    const std::string root = std::string(mount) + (unified ? "" : "/cpu");
    // From inside of a container the path is often one outside, which is not there; its own group is then the root.
    std::string path = line.substr(second + 1);
    for (;;) {
      while (!path.empty() && path.back() == '/') path.pop_back();
      cores = lesser_limit(cores, cores_of_group(root + path, unified));
      if (path.empty()) break;
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
  });
  return cores;
}

int usable_cores() {
  int n = static_cast<int>(std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) n = CPU_COUNT(&set);
  const double granted = cores_of_cgroups(read("/proc/self/cgroup").c_str(), "/sys/fs/cgroup");
  // A thread that the grant is not enough for would be stopped in the middle of its work.
  if (granted > 0 && granted < n) n = static_cast<int>(granted);
#elif defined(_WIN32)
  DWORD_PTR process, system;
  if (GetProcessAffinityMask(GetCurrentProcess(), &process, &system) && process != 0) n = __builtin_popcountll(process);
#endif
  return n < 1 ? 1 : n > kMaxThreads ? kMaxThreads : n;
}

long interruptions() {
#if defined(__linux__)
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) == 0) return usage.ru_nivcsw;
#endif
  return 0;
}

void Contention::stalled(int64_t now, int64_t waited) {
  const bool rare = now - waited - since_ >= kRare * std::min(waited, kLongest);
  since_ = now;
  waited_ = std::min(waited, kLongest);
  if (rare) {
    factor_ = kFirst;
    return;
  }
  until_ = since_ = now + std::min(waited_ * factor_, kLongest);
  if (factor_ < kMost) factor_ *= 2;
}

void Contention::went_well(int64_t now) {
  if (now - since_ >= kRare * waited_) factor_ = kFirst;
}

}  // namespace eagre
