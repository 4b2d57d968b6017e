// The pool: how many threads there are, what happens where the system allows none, and when the caller works alone. No times are taken.
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include "../runtime/background.h"
#include "../runtime/cores.h"
#include "harness.h"

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define EAGRE_REFUSES_THREADS
#include <cerrno>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

using namespace eagre;

namespace {
std::atomic<int> threads_left{1 << 20};
}

#if defined(EAGRE_REFUSES_THREADS)
// Instead of the C library's, so that threads fail as where a limit of processes is met.
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                                     void* (*run)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Create create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left.fetch_sub(1) <= 0) return EAGAIN;
  return create(thread, attributes, run, argument);
}
#endif

namespace {

void numbers_of_threads() {
  CHECK(threads_asked("1") == 1 && threads_asked("12") == 12 && threads_asked("256") == 256);
  for (const char* text : {"", "0", "257", "-1", "2.5", "two", "2 ", " 2", "+2", "0x2", "99999999999999999999"})
    CHECK(threads_asked(text) == 0);
  CHECK(usable_cores() >= 1);
  CHECK(set_thread_count(0) == usable_cores() && thread_count() == usable_cores());
  CHECK(set_thread_count(-1) == 1 && set_thread_count(1000) == 256 && set_thread_count(2) == 2);
}

void limits_of_groups() {
  CHECK(cores_of_cpu_max("max 100000\n") == 0);
  CHECK(cores_of_cpu_max("150000 100000\n") == 1.5);
  CHECK(cores_of_cpu_max("-1\n 100000\n") == 0);
  CHECK(cores_of_cpu_max("") == 0 && cores_of_cpu_max("nonsense") == 0);
  CHECK(cores_of_cpu_max("100000 0") == 0);
}

#if defined(EAGRE_REFUSES_THREADS)
void write(const std::string& path, const char* text) { std::ofstream(path) << text; }

void groups_around_groups() {
  char name[] = "/tmp/eagre-pool-XXXXXX";
  const std::string root = mkdtemp(name);
  const std::string folders[] = {root + "/a", root + "/a/b", root + "/cpu", root + "/cpu/c"};
  for (const std::string& f : folders) mkdir(f.c_str(), 0700);
  const auto cores = [&](const char* membership) { return cores_of_cgroups(membership, root.c_str()); };
  CHECK(cores("0::/a/b\n") == 0);
  write(root + "/a/b/cpu.max", "max 100000\n");
  write(root + "/a/cpu.max", "300000 100000\n");
  CHECK(cores("0::/a/b\n") == 3);
  write(root + "/a/b/cpu.max", "200000 100000\n");
  CHECK(cores("0::/a/b\n") == 2);
  CHECK(cores("0::/a\n") == 3);
  CHECK(cores("0::/\n") == 0);
  // A path of outside, from within a container.
  write(root + "/cpu.max", "50000 100000\n");
  CHECK(cores("0::/somewhere/else\n") == 0.5);
  // Version 1: the group of the controller cpu counts.
  write(root + "/cpu/c/cpu.cfs_quota_us", "250000\n");
  write(root + "/cpu/c/cpu.cfs_period_us", "100000\n");
  CHECK(cores("5:memory:/c\n4:cpu,cpuacct:/c\n") == 2.5);
  CHECK(cores("5:memory:/c\n4:cpuset:/c\n") == 0);
  for (const char* f : {"/a/b/cpu.max", "/a/cpu.max", "/cpu.max", "/cpu/c/cpu.cfs_quota_us", "/cpu/c/cpu.cfs_period_us"})
    unlink((root + f).c_str());
  for (int i = 3; i >= 0; i--) rmdir(folders[i].c_str());
  CHECK(rmdir(root.c_str()) == 0);
}

int64_t sum_in_chunks() {
  std::atomic<int64_t> sum{0};
  parallel_for(1000, 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) sum += i;
  });
  return sum;
}

struct Told final : Task {
  std::thread::id by;
  void run() override { by = std::this_thread::get_id(); }
};

void fewer_threads() {
  // First of all, while no thread is there for what runs in the background.
  threads_left = 0;
  Told told;
  start_task(told);
  CHECK(told.by == std::this_thread::get_id());
  set_thread_count(8);
  threads_left = 3;
  CHECK(sum_in_chunks() == 499500);
  CHECK(thread_count() == 4);
  set_thread_count(8);
  threads_left = 0;
  CHECK(sum_in_chunks() == 499500);
  CHECK(thread_count() == 1);
  CHECK(sum_in_chunks() == 499500);
  threads_left = 1 << 20;
  CHECK(set_thread_count(3) == 3);
  const uint32_t before = job_count();
  CHECK(sum_in_chunks() == 499500);
  CHECK(thread_count() == 3 && job_count() == before + 1);
}
#endif

void works_alone() {
  constexpr int64_t ms = 1'000'000;
  Contention c;
  CHECK(!c.wary() && !c.tense() && !c.alone(0));
  // Rare waits change nothing.
  c.stalled(100 * ms, 3 * ms);
  c.stalled(127 * ms, 3 * ms);
  CHECK(!c.wary() && !c.tense() && !c.alone(127 * ms));
  c.stalled(153 * ms, 3 * ms);
  CHECK(c.wary() && c.tense());
  CHECK(c.alone(153 * ms) && c.alone(176 * ms) && !c.alone(177 * ms));
  // The next try ends in one too: twice as long, and so on, but never for more than a second.
  c.stalled(200 * ms, 3 * ms);
  CHECK(c.alone(247 * ms) && !c.alone(248 * ms));
  for (int64_t i = 0; i < 20; i++) c.stalled(300 * ms, 3 * ms);
  CHECK(c.alone(1299 * ms) && !c.alone(1300 * ms));
  c.stalled(300 * ms, INT64_MAX / 2);
  CHECK(c.alone(1299 * ms) && !c.alone(1300 * ms));
  // Forgotten once a try has gone well for long enough.
  c.stalled(1301 * ms, ms / 2);
  CHECK(c.alone(1812 * ms) && !c.alone(1813 * ms));
  c.went_well(1816 * ms);
  CHECK(c.tense());
  c.went_well(1817 * ms);
  CHECK(!c.tense());
  // As is a rare wait.
  c.stalled(1818 * ms, ms);
  c.stalled(1900 * ms, ms);
  CHECK(!c.tense() && !c.alone(1900 * ms));
}

}  // namespace

int main() {
#if defined(EAGRE_REFUSES_THREADS)
  fewer_threads();
  groups_around_groups();
#endif
  numbers_of_threads();
  limits_of_groups();
  works_alone();
  return finish();
}
