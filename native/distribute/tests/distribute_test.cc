// Ranks as threads of one process.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>

#include "../../cuda/driver.h"
#include "../engine.h"

using namespace eagre::distribute;

namespace {

int failures = 0;
#define CHECK(what)                                                \
  do {                                                             \
    if (!(what)) {                                                 \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #what);       \
      failures++;                                                  \
    }                                                              \
  } while (0)

// Gloo's messages, memory of the machine, or NCCL on GPUs that the processor plays.
enum class By { gloo, shared, nccl };
By by = By::gloo;

// `gpu`: of all ranks; -1 for one each. @throws what one of them does
std::vector<std::unique_ptr<Engine>> cluster(int size, Milliseconds heartbeat = Milliseconds(2000), int gpu = -1) {
  std::vector<std::unique_ptr<Engine>> ranks;
  EngineOptions options;
  options.size = size;
  options.host = "127.0.0.1";
  options.heartbeat = heartbeat;
  options.library = by == By::nccl ? Library::nccl : Library::gloo;
  for (int r = 0; r < size; r++) options.names.push_back("worker " + std::to_string(r));
  for (options.rank = 0; options.rank < size; options.rank++) ranks.push_back(std::make_unique<Engine>(options));
  std::vector<Peer> peers;
  std::vector<std::vector<std::vector<char>>> table;
  for (auto& rank : ranks) {
    peers.push_back({"127.0.0.1", rank->port()});
    table.push_back(rank->addresses());
  }
  static int clusters = 0;
  const std::string name = by == By::shared ? "/eagre-test-" + std::to_string(::getpid()) + "-" + std::to_string(clusters++) : "";
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(size);
  for (int r = 0; r < size; r++) {
    threads.emplace_back([&, r] {
      try {
        ranks[r]->prepare(name, gpu < 0 ? r : gpu);
        std::vector<std::vector<char>> addresses(size);
        for (int p = 0; p < size; p++) addresses[p] = table[p][r];
        ranks[r]->connect(addresses, peers, 7);
      } catch (...) {
        errors[r] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors) if (error) std::rethrow_exception(error);
  for (auto& rank : ranks) rank->begin();
  return ranks;
}

template <class F> void on_each(std::vector<std::unique_ptr<Engine>>& ranks, F f) {
  std::vector<std::thread> threads;
  for (int r = 0; r < static_cast<int>(ranks.size()); r++) threads.emplace_back([&, r] { f(r, *ranks[r]); });
  for (auto& thread : threads) thread.join();
}

void close(std::vector<std::unique_ptr<Engine>>& ranks) {
  on_each(ranks, [](int, Engine& engine) { engine.close(Milliseconds(2000)); });
}

Operation operation(Kind kind, Element element, void* data, size_t count) {
  Operation op;
  op.layout.kind = kind;
  op.layout.element = element;
  op.layout.count = count;
  op.data = data;
  return op;
}

template <class T> void integers(std::vector<std::unique_ptr<Engine>>& ranks, Element element, size_t count, bool in_order) {
  const int size = static_cast<int>(ranks.size());
  on_each(ranks, [&](int r, Engine& engine) {
    const auto value = [](int rank, size_t i) { return static_cast<T>((rank + 1) * static_cast<int>(i % 97) - 20); };
    for (Reduction reduction : {Reduction::sum, Reduction::min, Reduction::max}) {
      std::vector<T> x(count);
      for (size_t i = 0; i < count; i++) x[i] = value(r, i);
      Operation op = operation(Kind::all_reduce, element, x.data(), count);
      op.layout.reduction = reduction;
      op.layout.in_order = in_order;
      const Verdict verdict = engine.run(op);
      CHECK(verdict.failure == Failure::none);
      bool same = true;
      for (size_t i = 0; i < count; i++) {
        T want = value(0, i);
        for (int p = 1; p < size; p++) {
          const T v = value(p, i);
          want = reduction == Reduction::sum ? want + v : reduction == Reduction::min ? std::min(want, v) : std::max(want, v);
        }
        same = same && x[i] == want;
      }
      CHECK(same);
    }
  });
}

// Floats whose sum depends on the order: equal to that in the order of ranks, bit by bit.
void rank_order(std::vector<std::unique_ptr<Engine>>& ranks, size_t count) {
  const int size = static_cast<int>(ranks.size());
  on_each(ranks, [&](int r, Engine& engine) {
    const auto value = [](int rank, size_t i) { return std::sin(static_cast<float>(i * 7 + rank * 13)) * std::pow(10.f, static_cast<float>(rank)); };
    std::vector<float> x(count);
    for (size_t i = 0; i < count; i++) x[i] = value(r, i);
    Operation op = operation(Kind::all_reduce, Element::f32, x.data(), count);
    op.layout.in_order = 1;
    op.layout.reduction = Reduction::mean;
    CHECK(engine.run(op).failure == Failure::none);
    bool same = true;
    for (size_t i = 0; i < count; i++) {
      float want = value(0, i);
      for (int p = 1; p < size; p++) want += value(p, i);
      same = same && x[i] == want / static_cast<float>(size);
    }
    CHECK(same);
  });
}

// 1 + 2⁻⁸ + 2⁻⁸ is a bfloat16, but 1 + 2⁻⁸ rounds to 1.
void sixteen_bits(std::vector<std::unique_ptr<Engine>>& ranks) {
  on_each(ranks, [&](int r, Engine& engine) {
    for (size_t count : {size_t{3}, size_t{20000}}) {
      std::vector<uint16_t> x(count, r == 0 ? 0x3f80 : 0x3b80), half(count, r == 0 ? 0x3c00 : 0x1000);
      Operation op = operation(Kind::all_reduce, Element::bf16, x.data(), count);
      CHECK(engine.run(op).failure == Failure::none);
      CHECK(x[0] == 0x3f81 && x[count - 1] == 0x3f81);
      // 1 + 2⁻¹¹ + 2⁻¹¹ in float16.
      op = operation(Kind::all_reduce, Element::f16, half.data(), count);
      CHECK(engine.run(op).failure == Failure::none);
      CHECK(half[0] == 0x3c01 && half[count - 1] == 0x3c01);
    }
  });
}

void others(std::vector<std::unique_ptr<Engine>>& ranks) {
  const int size = static_cast<int>(ranks.size());
  on_each(ranks, [&](int r, Engine& engine) {
    std::vector<int32_t> x(5, r);
    Operation op = operation(Kind::broadcast, Element::i32, x.data(), 5);
    op.layout.root = size - 1;
    CHECK(engine.run(op).failure == Failure::none);
    CHECK(x[4] == size - 1);
    // Rank r gives r + 1 elements; the last also none in a second round.
    for (int without : {0, 1}) {
      std::vector<size_t> counts;
      size_t total = 0;
      for (int p = 0; p < size; p++) {
        counts.push_back(without && p == size - 1 ? 0 : p + 1);
        total += counts.back();
      }
      std::vector<int64_t> own(counts[r], r), all(total);
      op = operation(Kind::all_gather, Element::i64, own.data(), total);
      op.out = all.data();
      op.counts = counts;
      CHECK(engine.run(op).failure == Failure::none);
      size_t at = 0;
      for (int p = 0; p < size; p++) for (size_t i = 0; i < counts[p]; i++) CHECK(all[at++] == p);
    }
    for (bool in_order : {false, true}) {
      std::vector<double> y(1000, r + 1.0);
      op = operation(Kind::reduce, Element::f64, y.data(), y.size());
      op.layout.root = 1;
      op.layout.in_order = in_order;
      CHECK(engine.run(op).failure == Failure::none);
      CHECK(y[999] == (r == 1 ? size * (size + 1) / 2.0 : r + 1.0));
    }
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> z{r == 1 ? nan : 1.f, 2.f};
    op = operation(Kind::all_reduce, Element::f32, z.data(), 2);
    op.layout.reduction = Reduction::max;
    CHECK(engine.run(op).failure == Failure::none);
    CHECK(z[0] != z[0] && z[1] == 2.f);
    CHECK(engine.run(operation(Kind::all_reduce, Element::f32, nullptr, 0)).failure == Failure::none);
    CHECK(engine.run(operation(Kind::barrier, Element::bytes, nullptr, 0)).failure == Failure::none);
  });
}

// Many at once, beside blocking ones: each ends, in order.
void queue(std::vector<std::unique_ptr<Engine>>& ranks) {
  on_each(ranks, [&](int r, Engine& engine) {
    constexpr int kMany = 50;
    std::vector<std::vector<float>> x(kMany, std::vector<float>(300, static_cast<float>(r + 1)));
    std::vector<int> order;
    for (int k = 0; k < kMany; k++) {
      engine.submit(operation(Kind::all_reduce, Element::f32, x[k].data(), 300), [&, k](const Verdict& v) {
        CHECK(v.failure == Failure::none);
        order.push_back(k);
      });
    }
    CHECK(engine.run(operation(Kind::barrier, Element::bytes, nullptr, 0)).failure == Failure::none);
    CHECK(order.size() == kMany);
    for (int k = 0; k < kMany; k++) CHECK(order[k] == k && x[k][299] == ranks.size() * (ranks.size() + 1) / 2.0f);
  });
}

void mismatched() {
  auto ranks = cluster(3, Milliseconds(400));
  on_each(ranks, [&](int r, Engine& engine) {
    std::vector<float> x(r == 2 ? 2000 : 1000);
    const Verdict verdict = engine.run(operation(Kind::all_reduce, Element::f32, x.data(), x.size()));
    CHECK(verdict.failure == Failure::mismatch);
    CHECK(verdict.message.find("2000 float32") != std::string::npos && verdict.message.find("worker 2") != std::string::npos);
    // It stays so.
    CHECK(engine.run(operation(Kind::barrier, Element::bytes, nullptr, 0)).failure == Failure::mismatch);
  });
  close(ranks);
}

void late() {
  auto ranks = cluster(2, Milliseconds(5000));
  const auto start = std::chrono::steady_clock::now();
  on_each(ranks, [&](int r, Engine& engine) {
    if (r == 1) std::this_thread::sleep_for(Milliseconds(900));
    std::vector<float> x(1000);
    Operation op = operation(Kind::all_reduce, Element::f32, x.data(), x.size());
    op.timeout = Milliseconds(300);
    const Verdict verdict = engine.run(op);
    CHECK(verdict.failure == Failure::deadline);
    if (r == 0) CHECK(verdict.message.find("worker 1 is at operation 0 of 1") != std::string::npos);
  });
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(4));
  close(ranks);
}

void left() {
  auto ranks = cluster(3);
  on_each(ranks, [&](int r, Engine& engine) {
    std::vector<float> x(10, 1.f);
    CHECK(engine.run(operation(Kind::all_reduce, Element::f32, x.data(), x.size())).failure == Failure::none);
    CHECK(x[9] == 3.f);
    if (r == 1) return engine.close(Milliseconds(2000));
    const Verdict verdict = engine.run(operation(Kind::all_reduce, Element::f32, x.data(), x.size()));
    CHECK(verdict.failure == Failure::unavailable);
    CHECK(verdict.message.find("worker 1 has ended") != std::string::npos);
  });
  close(ranks);
}

void aborted() {
  auto ranks = cluster(2);
  on_each(ranks, [&](int r, Engine& engine) {
    if (r == 1) {
      std::this_thread::sleep_for(Milliseconds(200));
      return engine.fail(Failure::aborted, "enough");
    }
    std::vector<float> x(1 << 20);
    const Verdict verdict = engine.run(operation(Kind::all_reduce, Element::f32, x.data(), x.size()));
    CHECK(verdict.failure == Failure::aborted && verdict.message == "enough");
  });
  close(ranks);
}

// Whoever learns that its last operation has ended may close at once: the engine has nothing left to give up.
void close_from_end() {
  auto ranks = cluster(2);
  on_each(ranks, [](int, Engine& engine) {
    std::vector<float> x(4, 1);
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
    engine.submit(operation(Kind::all_reduce, Element::f32, x.data(), x.size()), [&](const Verdict& v) {
      CHECK(v.failure == Failure::none);
      {
        std::lock_guard<std::mutex> lock(mutex);
        ended = true;
        changed.notify_all();
      }
      // As if the system ran another thread now.
      std::this_thread::sleep_for(Milliseconds(200));
    });
    {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return ended; });
    }
    engine.close(Milliseconds(2000));
    CHECK(engine.verdict().failure == Failure::none);
  });
}

// Several pieces of each buffer, of parts that differ.
void large(std::vector<std::unique_ptr<Engine>>& ranks) {
  const int size = static_cast<int>(ranks.size());
  on_each(ranks, [&](int r, Engine& engine) {
    std::vector<size_t> counts;
    size_t total = 0;
    for (int p = 0; p < size; p++) total += (counts.emplace_back(p == 1 ? 0 : 200000 * p + 7));
    std::vector<double> own(counts[r], r + 0.5), all(total, -1);
    Operation op = operation(Kind::all_gather, Element::f64, own.data(), total);
    op.out = all.data();
    op.counts = counts;
    CHECK(engine.run(op).failure == Failure::none);
    bool same = true;
    size_t at = 0;
    for (int p = 0; p < size; p++) for (size_t i = 0; i < counts[p]; i++) same = same && all[at++] == p + 0.5;
    CHECK(same);
    std::vector<int32_t> x(300001);
    for (size_t i = 0; i < x.size(); i++) x[i] = r == 1 ? static_cast<int32_t>(i) : -1;
    op = operation(Kind::broadcast, Element::i32, x.data(), x.size());
    op.layout.root = 1;
    CHECK(engine.run(op).failure == Failure::none);
    same = true;
    for (size_t i = 0; i < x.size(); i++) same = same && x[i] == static_cast<int32_t>(i);
    CHECK(same);
  });
}

void absent() {
  EngineOptions options;
  options.size = 2;
  options.host = "127.0.0.1";
  options.names = {"worker 0", "worker 1"};
  options.timeout = Milliseconds(200);
  Engine engine(options);
  std::string text;
  try {
    engine.connect(std::vector<std::vector<char>>(2), std::vector<Peer>(2), 7);
  } catch (const std::exception& e) {
    text = e.what();
  }
  CHECK(text.find("rank 1 did not come") != std::string::npos);
}

// More pieces than are under way at once, of a size that does not divide evenly, and all that goes beside NCCL's own sums.
void pieces() {
  auto ranks = cluster(3);
  on_each(ranks, [&](int r, Engine& engine) {
    constexpr size_t kCount = 5 * (1 << 20) + 3;
    std::vector<int32_t> x(kCount), y(kCount, r == 1 ? -7 : 0);
    for (size_t i = 0; i < kCount; i++) x[i] = static_cast<int32_t>(i) * (r + 1);
    CHECK(engine.run(operation(Kind::all_reduce, Element::i32, x.data(), kCount)).failure == Failure::none);
    bool same = true;
    for (size_t i = 0; i < kCount; i++) same = same && x[i] == static_cast<int32_t>(i) * 6;
    CHECK(same);
    Operation op = operation(Kind::broadcast, Element::i32, y.data(), kCount);
    op.layout.root = 1;
    CHECK(engine.run(op).failure == Failure::none);
    CHECK(y[0] == -7 && y[kCount - 1] == -7);
    op = operation(Kind::reduce, Element::i32, x.data(), kCount);
    op.layout.root = 2;
    CHECK(engine.run(op).failure == Failure::none);
    CHECK(x[1] == (r == 2 ? 18 : 6) && x[kCount - 1] == static_cast<int32_t>(kCount - 1) * (r == 2 ? 18 : 6));
  });
  close(ranks);
}

// Memory of the GPU, of which NCCL takes the address; nobody waits for what fills it.
void on_gpu() {
  const auto driver = eagre::cuda::Driver::open(FAKE_CUDA);
  auto ranks = cluster(3);
  on_each(ranks, [&](int r, Engine& engine) {
    namespace cuda = eagre::cuda;
    constexpr size_t kBytes = 8 << 20;
    cuda::CUcontext context = nullptr;
    cuda::CUstream stream = nullptr;
    cuda::CUevent event = nullptr;
    cuda::CUdeviceptr memory = 0;
    void* pinned = nullptr;
    driver->check(driver->cuDevicePrimaryCtxRetain(&context, r), "cuDevicePrimaryCtxRetain");
    const auto enter = [&] { driver->check(driver->cuCtxSetCurrent(context), "cuCtxSetCurrent"); };
    enter();
    driver->check(driver->cuStreamCreate(&stream, cuda::kNonBlockingStream), "cuStreamCreate");
    driver->check(driver->cuEventCreate(&event, cuda::kDisableTiming), "cuEventCreate");
    driver->check(driver->cuMemAlloc_v2(&memory, kBytes), "cuMemAlloc");
    driver->check(driver->cuMemHostAlloc(&pinned, kBytes, 0), "cuMemHostAlloc");
    const auto* values = static_cast<const int32_t*>(pinned);
    const auto run = [&](Operation op) {
      op.layout.on_gpu = 1;
      op.ready = event;
      driver->check(driver->cuEventRecord(event, stream), "cuEventRecord");
      const Verdict verdict = engine.run(op);
      enter();
      driver->check(driver->cuMemcpyDtoHAsync_v2(pinned, memory, kBytes, stream), "cuMemcpyDtoHAsync");
      driver->check(driver->cuStreamSynchronize(stream), "cuStreamSynchronize");
      return verdict.failure;
    };
    driver->check(driver->cuMemsetD8Async(memory, static_cast<unsigned char>(r + 1), kBytes, stream), "cuMemsetD8Async");
    CHECK(run(operation(Kind::all_reduce, Element::i32, reinterpret_cast<void*>(memory), kBytes / 4)) == Failure::none);
    CHECK(values[0] == 0x06060606 && values[kBytes / 4 - 1] == 0x06060606);
    // What is not the same everywhere is noticed here, too; and what fails lets go of the memory.
    CHECK(run(operation(Kind::all_reduce, Element::i32, reinterpret_cast<void*>(memory), r == 0 ? 10 : 11)) == Failure::mismatch);
    driver->cuMemFree_v2(memory);
    driver->cuMemFreeHost(pinned);
    driver->cuEventDestroy_v2(event);
    driver->cuStreamDestroy_v2(stream);
  });
  close(ranks);
}

// An error that the communicator tells of later, one of a call, one of the driver: all ranks end.
void broken() {
  const auto fails = [](const char* variable, const char* value, const char* text) {
    auto ranks = cluster(2, Milliseconds(500));
    ::setenv(variable, value, 1);
    on_each(ranks, [&](int, Engine& engine) {
      std::vector<float> x(1000, 1);
      const Verdict verdict = engine.run(operation(Kind::all_reduce, Element::f32, x.data(), x.size()));
      CHECK(verdict.failure == Failure::unavailable && verdict.message.find(text) != std::string::npos);
      CHECK(engine.run(operation(Kind::barrier, Element::bytes, nullptr, 0)).failure == Failure::unavailable);
    });
    ::setenv(variable, "", 1);
    close(ranks);
  };
  fails("FAKE_NCCL_LATE", "ncclAllReduce:6", "ncclAllReduce: remote process exited");
  fails("FAKE_NCCL_FAIL", "ncclAllReduce:1", "ncclAllReduce: unhandled cuda error");
  fails("FAKE_CUDA_FAIL", "cuMemcpyDtoHAsync_v2:2", "out of memory");
}

// Two ranks on one GPU, and a GPU that is not there: nobody waits for long.
void unfit() {
  for (int gpu : {0, 7}) {
    std::string text;
    try {
      cluster(2, Milliseconds(500), gpu);
    } catch (const std::exception& e) {
      text = e.what();
    }
    CHECK(text.find(gpu == 0 ? "Duplicate GPU" : "there is no GPU 7: this process sees 4") != std::string::npos);
  }
}

}  // namespace

int main() {
  ::setenv("EAGRE_CUDA_DRIVER", FAKE_CUDA, 1);
  ::setenv("EAGRE_NCCL_LIBRARY", FAKE_NCCL, 1);
  ::setenv("FAKE_CUDA_DEVICES", "4", 1);
  for (By each : {By::gloo, By::shared, By::nccl}) {
    by = each;
    for (int size : {2, 3, 4}) {
      auto ranks = cluster(size);
      for (size_t count : {size_t{1}, size_t{5}, size_t{100003}, size_t{300001}}) {
        for (bool in_order : {false, true}) {
          integers<int32_t>(ranks, Element::i32, count, in_order);
          integers<int64_t>(ranks, Element::i64, count, in_order);
          integers<float>(ranks, Element::f32, count, in_order);
          integers<double>(ranks, Element::f64, count, in_order);
        }
        rank_order(ranks, count);
      }
      if (size == 3) sixteen_bits(ranks);
      others(ranks);
      large(ranks);
      queue(ranks);
      close(ranks);
    }
    mismatched();
    late();
    left();
    aborted();
    close_from_end();
  }
  pieces();
  on_gpu();
  broken();
  unfit();
  by = By::gloo;
  absent();
  if (failures > 0) std::printf("%d checks failed\n", failures);
  return failures > 0;
}
