// Threads for what would hold up the thread that asks for it.
#pragma once

namespace eagre {

struct Task {
  // Must not throw.
  virtual void run() = 0;

 protected:
  ~Task() = default;
};

// Runs a task on another thread, behind those that wait; at once on the calling one where the system allows no threads.
void start_task(Task& task);

// Whether a task was still waiting; it is then forgotten.
bool withdraw_task(Task& task);

}  // namespace eagre
