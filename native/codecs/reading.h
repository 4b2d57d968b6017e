// Pictures of files, read and decoded on other threads.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codecs.h"

namespace eagre::codecs {

// Files that become rows of one block of memory. Threads take one file at a time, in their order.
class Reading {
 public:
  Reading(std::vector<std::string> paths, const EagreRecipe& recipe, float* out) : paths_(std::move(paths)), recipe_(recipe), out_(out) {}

  // Takes files until none are left; whether there was one.
  bool help();
  // Takes what nobody has begun, and waits for the rest. The numbers of the files that could not be made pictures of, in order: whoever asks then finds
  // out why.
  std::vector<int32_t> finish();
  // Has nobody begin another one, and waits for those who have.
  void stop();

 private:
  void read(size_t i);

  const std::vector<std::string> paths_;
  const EagreRecipe recipe_;
  float* const out_;
  std::mutex mutex_;
  std::condition_variable ended_;
  size_t begun_ = 0, running_ = 0;
  std::vector<int32_t> failed_;
};

// Has other threads work on it, behind those that they were given before. It does no harm if there are none.
void start(const std::shared_ptr<Reading>& reading);

}  // namespace eagre::codecs
