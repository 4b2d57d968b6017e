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

// Where more programs run than there are processors, a worker loses its processor in the middle of a chunk, and the caller waits for a
// time slice of the system's, which is longer than most jobs. This remembers such waits: then the caller works alone for so long that
// they cost little, and each time that the next try ends in one, for twice as long. Times are nanoseconds of one clock.
class Contention {
 public:
  // Whether a job at that time should be done without workers.
  bool alone(int64_t now) const { return now < until_; }
  // The end of a job was waited for, since a worker had lost its processor.
  void stalled(int64_t now, int64_t waited);
  // A job ended as it should.
  void went_well() {
    if (tense() && ++good_ >= kForgiven) {
      factor_ = kFirst;
      good_ = 0;
    }
  }
  // Whether tries have ended so of late.
  bool tense() const { return factor_ > kFirst; }
  // Whether times matter at all: most processes never see a stall.
  bool wary() const { return until_ != 0; }

 private:
  static constexpr int64_t kFirst = 8, kMost = 1 << 10, kLongest = 1'000'000'000;
  static constexpr int kForgiven = 16;
  int64_t until_ = 0, factor_ = kFirst;
  int good_ = 0;
};

}  // namespace eagre
