// How many threads a process can use, and when it should rather use one.
#pragma once
#include <cstdint>

namespace eagre {

constexpr int kMaxThreads = 256;

// The number that EAGRE_NUM_THREADS asks for: a whole number from 1 to kMaxThreads, else 0.
int threads_asked(const char* text);

// How many processors' time a cgroup's file cpu.max grants ("max 100000", "150000 100000"); 0 where it sets no limit.
double cores_of_cpu_max(const char* text);
// The least that the groups grant which a process is in, and the groups around them; 0 where there is no limit. `membership` is the
// file /proc/self/cgroup, `mount` the folder /sys/fs/cgroup.
double cores_of_cgroups(const char* membership, const char* mount);

// The processors that this process may run on, or fewer if its groups grant it less time: at least 1.
int usable_cores();

// How often the system has taken the processor from the calling thread while it had work; 0 where nobody tells.
long interruptions();

// Where more programs run than there are processors, a worker loses its processor in the middle of a chunk, and the caller waits for a
// time slice of the system's, which is longer than most jobs. This remembers such waits. Rare ones cost less than working alone would,
// and every program has them: the collector's threads want a processor too. After frequent ones the caller works alone for so long that
// the waits cost little, and each time that the next try ends in one soon, for twice as long. Times are nanoseconds of one clock.
class Contention {
 public:
  // Whether a job at that time should be done without workers.
  bool alone(int64_t now) const { return now < until_; }
  // The end of a job was waited for, since a worker had lost its processor.
  void stalled(int64_t now, int64_t waited);
  // A job ended as it should. Only told while tense.
  void went_well(int64_t now);
  // Whether waits have been frequent of late.
  bool tense() const { return factor_ > kFirst; }
  // Whether times matter at all: most processes see no frequent waits.
  bool wary() const { return until_ != 0; }

 private:
  // A wait is rare if this many times its length went by before it.
  static constexpr int64_t kRare = 8;
  static constexpr int64_t kFirst = 8, kMost = 1 << 10, kLongest = 1'000'000'000;
  // When the last try with workers began, and the last wait was over.
  int64_t since_ = 0;
  int64_t until_ = 0, factor_ = kFirst;
  // How long the last wait was.
  int64_t waited_ = 0;
};

}  // namespace eagre
