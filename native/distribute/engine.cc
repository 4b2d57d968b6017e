#include "engine.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "gloo_mesh.h"
#include "mpi_mesh.h"
#include "nccl_mesh.h"
#include "shared_mesh.h"

namespace eagre::distribute {
namespace {

// A rank that died may have given its last part before: what still can end is given so long.
constexpr Milliseconds kGrace{250};

std::string seconds(Milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", static_cast<double>(time.count()) / 1000);
  return text;
}

std::unique_ptr<Mesh> mesh_of(const EngineOptions& options) {
  switch (options.library) {
    case Library::mpi: return std::make_unique<MpiMesh>(options.rank, options.size, options.timeout);
    case Library::nccl: return std::make_unique<NcclMesh>(options.rank, options.size, options.timeout);
    default: return std::make_unique<GlooMesh>(options.rank, options.size, options.timeout);
  }
}

// The parts of a text between semicolons.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t end; (end = text.find("; ", start)) != std::string::npos; start = end + 2) parts.push_back(text.substr(start, end - start));
  parts.push_back(text.substr(start));
  return parts;
}

// Where two texts differ: their first parts that do, each behind what it is for.
std::pair<std::string, std::string> difference(const std::string& one, const std::string& two) {
  const auto a = parts_of(one), b = parts_of(two);
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) i++;
  if (i == a.size() && i == b.size()) return {};
  const std::string lead = i == 0 || a[0].find(": ") == std::string::npos ? "" : a[0].substr(0, a[0].find(": ") + 2);
  const auto part = [&](const std::vector<std::string>& parts) { return " (" + lead + (i < parts.size() ? parts[i] : "nothing more") + ")"; };
  return {part(a), part(b)};
}

}  // namespace

Engine::Engine(const EngineOptions& options)
    : options_(options), interval_(std::clamp(options.heartbeat / 4, Milliseconds(10), Milliseconds(500))),
      mesh_(mesh_of(options)),
      links_(std::make_unique<Links>(options.rank, options.size, options.host)),
      heartbeat_(std::make_unique<Heartbeat>(options.rank, options.size)),
      beats_(options.size), gone_(options.size) {
  thread_ = std::thread([this] { work(); });
}

Engine::~Engine() { close(Milliseconds(0)); }

void Engine::prepare(const std::string& shared, int gpu) {
  if (!shared.empty()) mesh_ = std::make_unique<SharedMesh>(options_.rank, options_.size, shared, options_.timeout);
  mesh_->prepare(gpu);
}

void Engine::connect(const std::vector<std::vector<char>>& addresses, const std::vector<Peer>& peers, uint64_t key) {
  // First, for it says who is missing. One socket to each is for heartbeats.
  const int channels = mesh_->channels();
  links_->connect(peers, key, 1 + channels, options_.timeout);
  for (int p = 0; p < options_.size; p++) {
    for (int channel = 0; p != options_.rank && channel < channels; channel++) mesh_->take(p, channel, links_->take(p, 1 + channel));
  }
  mesh_->connect(addresses);
  key_ = key;
}

void Engine::begin() {
  std::vector<int> sockets(options_.size, -1);
  for (int p = 0; p < options_.size; p++) if (p != options_.rank) sockets[p] = links_->take(p, 0);
  heartbeat_->start(this, sockets, key_, interval_, options_.heartbeat);
  std::lock_guard<std::mutex> lock(mutex_);
  connected_ = true;
}

void Engine::interrupt() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (connected_) return;
  }
  links_->interrupt();
  mesh_->abort("the engine was closed");
}

void Engine::name(uint32_t about, const std::string& text) {
  std::lock_guard<std::mutex> lock(mutex_);
  names_[about] = text;
}

Verdict Engine::run(const Operation& operation) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!busy_ && queue_.empty() && !closing_) {
      // Nothing is before it, so it needs no other thread.
      busy_ = true;
      unfinished_++;
      lock.unlock();
      const Verdict verdict = execute(operation);
      lock.lock();
      busy_ = false;
      unfinished_--;
      changed_.notify_all();
      return verdict;
    }
  }
  Verdict result;
  bool ended = false;
  submit(operation, [&](const Verdict& verdict) {
    std::lock_guard<std::mutex> lock(mutex_);
    result = verdict;
    ended = true;
    changed_.notify_all();
  });
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return ended; });
  return result;
}

void Engine::submit(Operation operation, std::function<void(const Verdict&)> done) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!closing_) {
      unfinished_++;
      queue_.push_back({std::move(operation), std::move(done)});
      changed_.notify_all();
      return;
    }
  }
  done({Failure::aborted, "the engine is closed"});
}

void Engine::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !busy_ && (closing_ || !queue_.empty()); });
    if (queue_.empty()) return;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    const Verdict verdict = execute(job.operation);
    lock.lock();
    // Before somebody is told, who may close the engine at once.
    unfinished_--;
    lock.unlock();
    job.done(verdict);
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

Verdict Engine::execute(const Operation& operation) {
  std::string refusal;
  Failure reason = Failure::none;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (verdict_.failure == Failure::none && !connected_) return {Failure::internal, "the engine is not connected"};
    if (verdict_.failure != Failure::none) reason = verdict_.failure;
    if (reason == Failure::none) {
      sequence_++;
      history_[sequence_ % history_.size()] = operation.layout;
      abouts_[sequence_ % abouts_.size()] = operation.about;
    }
    for (int p = 0; p < options_.size && reason == Failure::none; p++) {
      if (p == options_.rank) continue;
      refusal = mismatch(p);
      if (!refusal.empty()) reason = Failure::mismatch;
      else if (beats_[p].left && beats_[p].sequence < sequence_) {
        reason = Failure::unavailable;
        refusal = options_.names[p] + " has ended its program";
      }
    }
  }
  if (reason != Failure::none) {
    decide(reason, refusal, Milliseconds(0));
    return told();
  }
  const auto start = std::chrono::steady_clock::now();
  try {
    mesh_->run(operation, sequence_);
    std::lock_guard<std::mutex> lock(mutex_);
    completed_ = sequence_;
    changed_.notify_all();
    return {};
  } catch (const std::exception& e) {
    const bool late = operation.timeout.count() > 0 && std::chrono::steady_clock::now() - start >= operation.timeout;
    return explain(e.what(), late, operation);
  }
}

// Why an operation failed. The library knows only that a connection did; the heartbeat may know more in a moment.
Verdict Engine::explain(const std::string& text, bool late, const Operation& operation) {
  heartbeat_->tell();
  std::unique_lock<std::mutex> lock(mutex_);
  if (!late) changed_.wait_for(lock, 2 * interval_ + kGrace, [&] { return verdict_.failure != Failure::none; });
  if (verdict_.failure != Failure::none) {
    lock.unlock();
    return told();
  }
  const std::string what = operation.layout.text();
  const std::string lag = lateness();
  lock.unlock();
  const int rank = mesh_->rank_in(text);
  if (late) decide(Failure::deadline, what + " did not end within " + seconds(operation.timeout) + lag, Milliseconds(0));
  else if (rank >= 0) decide(Failure::unavailable, options_.names[rank] + " cannot be reached any more: " + mesh_->plain(text), Milliseconds(0));
  else decide(Failure::unavailable, what + " failed: " + mesh_->plain(text), Milliseconds(0));
  return told();
}

std::string Engine::lateness() const {
  std::string text;
  for (int p = 0; p < options_.size; p++) {
    if (p == options_.rank || beats_[p].sequence >= sequence_) continue;
    text += (text.empty() ? ": " : ", ") + options_.names[p] + " is at operation " + std::to_string(beats_[p].sequence);
  }
  return text.empty() ? text : text + " of " + std::to_string(sequence_);
}

// What a rank does at this number that others do not; empty where nothing is known.
std::string Engine::mismatch(int rank) const {
  const Beat& beat = beats_[rank];
  if (beat.sequence == 0 || beat.sequence > sequence_ || sequence_ - beat.sequence >= history_.size()) return "";
  const Layout& own = history_[beat.sequence % history_.size()];
  if (own == beat.layout) return "";
  auto [mine, other] = difference(name_of(abouts_[beat.sequence % abouts_.size()]), beat.about);
  if (mine.empty() && own.text() == beat.layout.text()) other = ", in another order of sums or of another name";
  return "operation " + std::to_string(beat.sequence) + " is " + own.text() + mine + " on " + options_.names[options_.rank] + ", but " +
         beat.layout.text() + other + " on " + options_.names[rank];
}

std::string Engine::name_of(uint32_t about) const {
  const auto found = names_.find(about);
  // As beats have it.
  return found == names_.end() ? "" : found->second.substr(0, sizeof(Beat::about) - 1);
}

// Whoever reads the verdict may end the process at once. So the others are told first, also before the mesh ends, which they would notice.
void Engine::decide(Failure failure, const std::string& message, Milliseconds grace) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (left_ || verdict_.failure != Failure::none) return;
    verdict_ = {failure, message};
  }
  heartbeat_->tell();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    told_ = true;
    changed_.notify_all();
    if (grace.count() > 0) changed_.wait_for(lock, grace, [&] { return !busy_ || completed_ == sequence_; });
  }
  mesh_->abort(message);
}

Verdict Engine::told() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return told_ || verdict_.failure == Failure::none; });
  return verdict_;
}

void Engine::fail(Failure failure, const std::string& message) { decide(failure, message, Milliseconds(0)); }

Verdict Engine::verdict() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return verdict_;
}

Beat Engine::own_beat() {
  std::lock_guard<std::mutex> lock(mutex_);
  Beat beat;
  beat.left = left_;
  beat.failure = verdict_.failure;
  beat.sequence = sequence_;
  beat.completed = completed_;
  beat.layout = history_[sequence_ % history_.size()];
  std::snprintf(beat.message, sizeof beat.message, "%s", verdict_.message.c_str());
  std::snprintf(beat.about, sizeof beat.about, "%s", name_of(abouts_[sequence_ % abouts_.size()]).c_str());
  return beat;
}

void Engine::on_beat(int rank, const Beat& beat) {
  std::string text;
  Failure failure = Failure::none;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const bool farewell = beat.left && !beats_[rank].left;
    beats_[rank] = beat;
    changed_.notify_all();
    if (beat.left && left_) return;
    if (beat.failure != Failure::none) {
      failure = beat.failure;
      text = beat.message;
    } else if (!(text = mismatch(rank)).empty()) {
      failure = Failure::mismatch;
    } else if (beat.left && completed_ < sequence_ && beat.sequence < sequence_) {
      failure = Failure::unavailable;
      text = options_.names[rank] + " has ended its program";
    }
    // It may wait to hear that this rank has ended what it has.
    if (farewell) heartbeat_->wake();
  }
  if (failure != Failure::none) decide(failure, text, failure == Failure::unavailable ? kGrace : Milliseconds(0));
}

void Engine::on_lost(int rank) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    gone_[rank] = 1;
    changed_.notify_all();
  }
  decide(Failure::unavailable, options_.names[rank] + " is gone: its connection closed", kGrace);
}

void Engine::on_silent(int rank, Milliseconds silence) {
  decide(Failure::unavailable, options_.names[rank] + " has been silent for " + seconds(silence), Milliseconds(0));
}

bool Engine::others_are_done() const {
  for (int p = 0; p < options_.size; p++) {
    if (p != options_.rank && !gone_[p] && !beats_[p].left && beats_[p].completed < completed_) return false;
  }
  return true;
}

void Engine::close(Milliseconds wait) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (left_) return;
    if (unfinished_ > 0) {
      lock.unlock();
      decide(Failure::aborted, options_.names[options_.rank] + " was closed", Milliseconds(0));
      lock.lock();
    }
    closing_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !busy_ && queue_.empty(); });
    left_ = true;
  }
  thread_.join();
  heartbeat_->wake();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (connected_ && verdict_.failure == Failure::none) changed_.wait_for(lock, wait, [&] { return others_are_done(); });
  }
  mesh_->finish();
  heartbeat_->stop();
  links_->close();
}

}  // namespace eagre::distribute
