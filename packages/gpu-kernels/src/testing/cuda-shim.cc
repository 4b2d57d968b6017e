// How threads of kernels run on a processor, and what the instructions of tensor cores do there.
#include "cuda-shim.h"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <vector>

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace shim {

int order = 0;
const char* failed = nullptr;

enum class State { ready, waits, waitsForWarp, polls, done };

/** A copy to shared memory that is under way. */
struct Copy {
  void* to;
  const void* from;
  bool inside;
  size_t bytes;
};
/** Sums as they are when a fence is passed. */
struct Fenced {
  const float* sums;
  std::vector<float> values;
};
/** A box of a matrix that was told to come to shared memory. */
struct Box {
  char* to;
  tc_map map;
  tc_barrier* barrier;
  unsigned at[3];
};
struct Written {
  void* at;
  size_t bytes;
};
struct Fiber {
  /** How it begins, and where it goes on from then: `swapcontext` asks the system at each switch. */
  ucontext_t context;
  jmp_buf left;
  bool begun = false;
  std::vector<char> stack;
  State state = State::done;
  std::vector<std::vector<Copy>> groups;
  std::vector<Copy> copies;
  /** What it wrote to shared memory and no fence has shown to products yet. */
  std::vector<Written> written;
  /** Barriers that it has set up, and no fence has shown yet. */
  std::vector<tc_barrier*> made;
  /** Products that are not waited for: those of each group, and those of none. */
  std::vector<std::vector<Product>> multiplied;
  std::vector<Product> products;
  /** Whether a fence is behind the last use of the sums, and behind what was packed to be multiplied. */
  bool fenced = false;
  /** The sums that products were told to make until now. */
  std::vector<Fenced> sums;
  /** The barrier that it polls, and the parity of the phase whose end it waits for. */
  const tc_barrier* polled = nullptr;
  unsigned parity = 0;
  /** What the other threads of its warp see at a warp's barrier. */
  const void* shown = nullptr;
  dim3 place;
};
static std::vector<Fiber> fibers;
static jmp_buf scheduler;
static unsigned now = 0;
/** The kernel that runs, and what calls it. */
static const void* kernel;
static void (*call)(const void*);

/** The memory that launches give, as threads see it, and as products do: what threads wrote is there behind a fence. Addresses are those in it. */
constexpr size_t kMostShared = 227 * 1024;
alignas(1024) static char memory[kMostShared], seen[kMostShared];
static size_t given = 0;
static std::vector<const tc_barrier*> barriers;
/** Boxes that are under way. */
static std::vector<Box> boxes;
static void land(const Box& box);
/** Has a box come: the last that was told, or the first where products are made early. @returns false where there is none. */
static bool landNext() {
  if (boxes.empty()) return false;
  const size_t i = order / 2 % 2 == 0 ? boxes.size() - 1 : 0;
  const Box box = boxes[i];
  boxes.erase(boxes.begin() + i);
  land(box);
  return true;
}

static void leave(State state) {
  auto& fiber = fibers[now];
  fiber.state = state;
  if (_setjmp(fiber.left) == 0) _longjmp(scheduler, 1);
}
/** Has a thread go on until it leaves. */
static void resume(unsigned i) {
  auto& fiber = fibers[i];
  now = i;
  threadIdx = fiber.place;
  if (_setjmp(scheduler) != 0) return;
  if (fiber.begun) _longjmp(fiber.left, 1);
  fiber.begun = true;
  setcontext(&fiber.context);
}
static void enter() {
  call(kernel);
  leave(State::done);
}

static std::vector<unsigned> turns(unsigned count) {
  std::vector<unsigned> list(count);
  for (unsigned i = 0; i < count; i++) list[i] = order == 1 ? count - 1 - i : i;
  unsigned state = order;
  for (unsigned i = count; order > 1 && i-- > 1;) {
    state = state * 1664525u + 1013904223u;
    std::swap(list[i], list[(state >> 8) % (i + 1)]);
  }
  return list;
}

static dim3 placeOf(unsigned i) {
  dim3 place;
  place.x = i % blockDim.x;
  place.y = i / blockDim.x % blockDim.y;
  place.z = i / (blockDim.x * blockDim.y);
  return place;
}

/** A block whose kernel has no barrier needs no fibers. */
static void runPlainly(unsigned count) {
  for (unsigned i : turns(count)) {
    threadIdx = placeOf(i);
    call(kernel);
  }
}

static void runFibers(unsigned count) {
  if (fibers.size() < count) fibers.resize(count);
  for (unsigned i = 0; i < count; i++) {
    auto& fiber = fibers[i];
    fiber.stack.resize(64 * 1024);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, enter, 0);
    fiber.state = State::ready;
    fiber.groups.clear();
    fiber.copies.clear();
    fiber.written.clear();
    fiber.made.clear();
    fiber.multiplied.clear();
    fiber.products.clear();
    fiber.fenced = false;
    fiber.begun = false;
    fiber.sums.clear();
    fiber.place = placeOf(i);
  }
  barriers.clear();
  boxes.clear();
  // Not a number, in all types.
  memset(memory, 0xff, given);
  memset(seen, 0xff, given);
  const auto list = turns(count);
  for (;;) {
    for (unsigned i : list)
      if (fibers[i].state == State::ready) resume(i);
    bool wakes = false;
    for (unsigned i = 0; i < count; i++) {
      auto& fiber = fibers[i];
      if (fiber.state != State::polls || fiber.polled->phase % 2 == fiber.parity) continue;
      fiber.state = State::ready;
      wakes = true;
    }
    if (wakes) continue;
    // In the first two orders one warp runs ahead as far as it can, so that it meets the others at barriers of the block only.
    bool goesOn = false;
    for (unsigned place = 0; place < count; place += 32) {
      const unsigned first = order == 1 ? (count - 1) / 32 * 32 - place : place;
      const unsigned last = std::min(first + 32, count);
      unsigned there = 0;
      for (unsigned i = first; i < last; i++) there += fibers[i].state == State::waitsForWarp;
      if (there == 0) continue;
      if (there < last - first) {
        failed = "some threads of a warp wait for others that do something else";
        return;
      }
      for (unsigned i = first; i < last; i++) fibers[i].state = State::ready;
      goesOn = true;
      if (order < 2) break;
    }
    if (goesOn) continue;
    // Boxes come when nobody gets on without them.
    if (failed == nullptr && landNext()) continue;
    unsigned waiting = 0;
    for (unsigned i = 0; i < count; i++) waiting += fibers[i].state == State::waits;
    if (waiting == 0) {
      if (!boxes.empty()) failed = "a block ends before its boxes have come";
      for (unsigned i = 0; i < count; i++)
        if (fibers[i].state == State::polls) failed = "some threads wait for the end of a phase that never comes";
      return;
    }
    if (waiting < count) {
      failed = "some threads of a block wait at a barrier that others never reach";
      return;
    }
    for (unsigned i = 0; i < count; i++) fibers[i].state = State::ready;
  }
}

void launch(dim3 grid, dim3 block, bool barriers, void (*threads)(const void*), const void* of, size_t shared) {
  if (shared > kMostShared) failed = "a launch gives more shared memory than there is";
  given = shared;
  gridDim = grid;
  blockDim = block;
  call = threads;
  kernel = of;
  const unsigned count = block.x * block.y * block.z;
  for (unsigned z = 0; z < grid.z; z++)
    for (unsigned y = 0; y < grid.y; y++)
      for (unsigned x = 0; x < grid.x && failed == nullptr; x++) {
        blockIdx.x = x;
        blockIdx.y = y;
        blockIdx.z = z;
        if (barriers) runFibers(count);
        else runPlainly(count);
      }
}

}  // namespace shim

void __syncthreads() { shim::leave(shim::State::waits); }

// The instructions of tensor-cores.ts. All threads of a warp meet twice: when they have shown what they give, and when they have read it.
namespace shim {
template <class Read> static void inWarp(const void* shown, Read read) {
  fibers[now].shown = shown;
  leave(State::waitsForWarp);
  read(now / 32 * 32, now % 32);
  leave(State::waitsForWarp);
}
float floatOf(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
static float halfOf(uint32_t h) {
  const uint32_t e = (h >> 10) & 31, m = h & 0x3ff;
  const float size = e == 31 ? (m != 0 ? NAN : INFINITY) : e == 0 ? ldexpf(float(m), -24) : ldexpf(float(m + 1024), int(e) - 25);
  return (h & 0x8000) != 0 ? -size : size;
}
/** Has products see what is in shared memory. */
static void show(void* at, size_t bytes) {
  const size_t offset = size_t(static_cast<char*>(at) - memory);
  if (offset < given) memcpy(seen + offset, at, bytes);
}
/** Notes what a thread wrote to shared memory. Where copies arrive early, products see it early too. */
static void write(void* at, size_t bytes) {
  if (order % 2 == 1) show(at, bytes);
  else fibers[now].written.push_back({at, bytes});
}
/** Copies arrive when they are waited for; in orders of odd numbers when they are told. */
void arrive(size_t pending) {
  auto& groups = fibers[now].groups;
  while (groups.size() > pending) {
    for (const Copy& copy : groups.front()) {
      if (copy.inside) memcpy(copy.to, copy.from, copy.bytes);
      else memset(copy.to, 0, copy.bytes);
      write(copy.to, copy.bytes);
    }
    groups.erase(groups.begin());
  }
}
struct Factors {
  const uint32_t* a;
  uint32_t b0, b1;
};
/** c += a · b of 16 by 8, `words` words deep, of elements that `value` takes out of a word. */
template <int PerWord, class Value> static void product(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, Value value) {
  const Factors own{a, b0, b1};
  inWarp(&own, [&](unsigned first, unsigned lane) {
    for (unsigned i = 0; i < 4; i++) {
      const unsigned row = lane / 4, column = lane % 4 * 2 + i % 2;
      for (unsigned word = 0; word < 8; word++)
        for (int part = 0; part < PerWord; part++) {
          const auto& left = *static_cast<const Factors*>(fibers[first + row * 4 + word % 4].shown);
          const auto& right = *static_cast<const Factors*>(fibers[first + column * 4 + word % 4].shown);
          const uint32_t l = left.a[word / 4 * 2 + i / 2], r = word / 4 == 0 ? right.b0 : right.b1;
          c[i] += value(l, part) * value(r, part);
        }
    }
  });
}
template <bool transposed> static void loadMatrices(uint32_t (&r)[4], const void* row) {
  inWarp(row, [&](unsigned first, unsigned lane) {
    for (unsigned m = 0; m < 4; m++) {
      auto at = [&](unsigned i, unsigned k) { return static_cast<const uint16_t*>(fibers[first + m * 8 + i].shown)[k]; };
      const unsigned i = lane / 4, k = lane % 4 * 2;
      r[m] = transposed ? at(k, i) | uint32_t(at(k + 1, i)) << 16 : at(i, k) | uint32_t(at(i, k + 1)) << 16;
    }
  });
}
}  // namespace shim

void tc_commit() {
  auto& fiber = shim::fibers[shim::now];
  fiber.groups.push_back(std::move(fiber.copies));
  fiber.copies.clear();
}
namespace shim {
static void copy(void* to, const void* from, bool inside, size_t bytes) {
  if (reinterpret_cast<uintptr_t>(to) % bytes != 0 || (inside && reinterpret_cast<uintptr_t>(from) % bytes != 0))
    failed = "a copy to or from a place that is not aligned";
  fibers[now].copies.push_back({to, from, inside, bytes});
  if (order % 2 == 1) {
    tc_commit();
    arrive(0);
  }
}
}  // namespace shim
void tc_copy16(void* to, const void* from, bool inside) { shim::copy(to, from, inside, 16); }
void tc_copy4(void* to, const void* from, bool inside) { shim::copy(to, from, inside, 4); }
void tc_store16(void* to, const void* from) {
  memcpy(to, from, 16);
  shim::write(to, 16);
}
void tc_load4(unsigned (&r)[4], const void* row) { shim::loadMatrices<false>(r, row); }
void tc_load4_transposed(unsigned (&r)[4], const void* row) { shim::loadMatrices<true>(r, row); }
void tc_mma_bfloat16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  shim::product<2>(c, a, b0, b1, [](uint32_t w, int part) { return shim::floatOf(part == 0 ? w << 16 : w & 0xffff0000u); });
}
void tc_mma_float16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  shim::product<2>(c, a, b0, b1, [](uint32_t w, int part) { return shim::halfOf(w >> 16 * part & 0xffff); });
}
void tc_mma_float32(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  shim::product<1>(c, a, b0, b1, [](uint32_t w, int) { return shim::floatOf(w & 0xffffe000u); });
}
float tc_shuffle(float x, unsigned away) {
  float other = 0;
  shim::inWarp(&x, [&](unsigned first, unsigned lane) { other = *static_cast<const float*>(shim::fibers[first + (lane ^ away)].shown); });
  return other;
}
unsigned tc_tf32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffffffu;
  return (bits + 0x1000u) & 0xffffe000u;
}
// What is packed may be for a product: a fence has to follow.
unsigned tc_pack_bfloat16(float low, float high) {
  shim::fibers[shim::now].fenced = false;
  auto narrowed = [](float x) -> unsigned {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  };
  return narrowed(low) | narrowed(high) << 16;
}
unsigned tc_pack_float16(float low, float high) {
  shim::fibers[shim::now].fenced = false;
  auto narrowed = [](float x) -> unsigned {
    if (x != x) return 0x7fff;
    const unsigned sign = std::signbit(x) ? 0x8000 : 0;
    const float size = fabsf(x);
    if (size >= 65520.0f) return sign | 0x7c00;
    // Below 2^-14 all numbers are as far apart. What rounds up to the next power of two has the next exponent.
    const int e = size < 6.103515625e-5f ? -14 : ilogbf(size);
    return sign + unsigned(nearbyintf(ldexpf(size, 10 - e))) + (unsigned(e + 14) << 10);
  };
  return narrowed(low) | narrowed(high) << 16;
}
float tc_exp2(float x) { return exp2f(x); }

void tc_sync_warp() { shim::leave(shim::State::waitsForWarp); }

// Hopper's: barriers with phases, and products that warpgroups make of what is in shared memory while they go on.
char* tc_memory_bytes() { return shim::memory; }
unsigned tc_shared(const void* p) { return unsigned(static_cast<const char*>(p) - shim::memory); }
void tc_barrier_init(tc_barrier* barrier, unsigned count) {
  *barrier = {count, count, 0, 0, false};
  shim::barriers.push_back(barrier);
  shim::fibers[shim::now].made.push_back(barrier);
}
namespace shim {
template <class T> static void pair(void* to, T value) {
  if (reinterpret_cast<uintptr_t>(to) % sizeof(T) != 0) failed = "two numbers are stored where they are not aligned";
  else memcpy(to, &value, sizeof(T));
}
}  // namespace shim
void tc_pair_bfloat16(unsigned short* to, float low, float high) { shim::pair(to, tc_pack_bfloat16(low, high)); }
void tc_pair_float16(unsigned short* to, float low, float high) { shim::pair(to, tc_pack_float16(low, high)); }
void tc_pair_float32(float* to, float low, float high) {
  uint64_t both;
  const float two[] = {low, high};
  memcpy(&both, two, 8);
  shim::pair(to, both);
}
namespace shim {
static void check(const tc_barrier* barrier) {
  if (std::find(barriers.begin(), barriers.end(), barrier) == barriers.end()) failed = "a barrier that nobody has set up";
}
static void endPhase(tc_barrier* barrier) {
  if (barrier->pending > 0 || barrier->bytes != 0) return;
  barrier->pending = barrier->count;
  barrier->phase++;
}
}  // namespace shim
void tc_barrier_arrive(tc_barrier* barrier) {
  shim::check(barrier);
  if (barrier->pending == 0) {
    shim::failed = "more threads arrive in a phase than it has";
    return;
  }
  barrier->pending--;
  shim::endPhase(barrier);
}
/** Until the phase of this parity has ended. */
void tc_barrier_wait(tc_barrier* barrier, unsigned parity) {
  shim::check(barrier);
  auto& fiber = shim::fibers[shim::now];
  fiber.polled = barrier;
  fiber.parity = parity;
  while (barrier->phase % 2 == parity && shim::failed == nullptr) shim::leave(shim::State::polls);
}
void tc_fence_async() {
  auto& written = shim::fibers[shim::now].written;
  for (const auto& [at, bytes] : written) shim::show(at, bytes);
  written.clear();
  auto& made = shim::fibers[shim::now].made;
  for (tc_barrier* barrier : made) barrier->shown = true;
  made.clear();
}
namespace shim {
/**
 * An element of a factor, at `side` (its row or column) and `k`, where the bits of a descriptor of shared memory say: the address, the steps from 64 of the side
 * to the next and from 8 lines to the next, in units of 16 bytes, and that the 16 byte pieces of 8 lines of 128 bytes are turned around.
 */
static const char* element(uint64_t descriptor, bool transposed, unsigned side, unsigned k, unsigned bytes) {
  const size_t start = (descriptor & 0x3fff) << 4, leading = (descriptor >> 16 & 0x3fff) << 4, stride = (descriptor >> 32 & 0x3fff) << 4;
  if (descriptor >> 62 != 1 || (descriptor >> 46 & 0xffff) != 0) failed = "a descriptor of another layout than that of 128 bytes";
  const size_t line = transposed ? k : side, inner = (transposed ? side : k) * bytes;
  size_t at = start + line / 8 * stride + line % 8 * 128 + inner % 128 + (transposed ? inner / 128 * leading : 0);
  at ^= (at >> 7 & 7) << 4;
  if (at + bytes > given) {
    failed = "a product reads beyond the shared memory";
    return seen;
  }
  return seen + at;
}
/** Those of a lane's two rows. */
static void multiply(const Product& product, const float (&rows)[2][16]) {
  const unsigned lane = now % 32, deep = 32 / product.bytes;
  for (unsigned i = 0; i < product.width / 2 && !product.adds; i++) product.sums[i] = 0;
  for (unsigned j = 0; j < product.width / 8; j++)
    for (unsigned e = 0; e < 2; e++)
      for (unsigned k = 0; k < deep; k++) {
        const float right = product.value(element(product.b, product.transposedB, j * 8 + lane % 4 * 2 + e, k, product.bytes));
        for (unsigned half = 0; half < 2; half++) product.sums[j * 4 + half * 2 + e] += rows[half][k] * right;
      }
}
static void rowsOfMemory(const Product& product, float (&rows)[2][16]) {
  const unsigned lane = now % 32, warp = now / 32 % 4;
  for (unsigned half = 0; half < 2; half++)
    for (unsigned k = 0; k < 32 / product.bytes; k++)
      rows[half][k] = product.value(element(product.a, product.transposedA, warp * 16 + half * 8 + lane / 4, k, product.bytes));
}
/** All lanes of a warp meet, since each has a part of eight rows and needs all of two. */
static void multiply(const Product& product) {
  float rows[2][16];
  if (product.registers == nullptr) {
    rowsOfMemory(product, rows);
  } else {
    inWarp(product.registers, [&](unsigned first, unsigned lane) {
      for (unsigned half = 0; half < 2; half++)
        for (unsigned k = 0; k < 16; k++) {
          const auto* a = static_cast<const uint32_t*>(fibers[first + lane / 4 * 4 + k % 8 / 2].shown);
          const uint16_t bits = uint16_t(a[k / 8 * 2 + half] >> k % 2 * 16);
          rows[half][k] = product.value(reinterpret_cast<const char*>(&bits));
        }
    });
  }
  multiply(product, rows);
}
/** Products read and write when they are waited for; in each other pair of orders when they are told. */
static void makeProducts(size_t pending) {
  auto& groups = fibers[now].multiplied;
  while (groups.size() > pending) {
    const auto group = std::move(groups.front());
    groups.erase(groups.begin());
    for (const Product& product : group) multiply(product);
  }
}
/** Whether products that are under way make these sums. */
static bool isUnderWay(const float* sums) {
  const auto& fiber = fibers[now];
  auto has = [&](const std::vector<Product>& products) {
    return std::any_of(products.begin(), products.end(), [&](const Product& product) { return product.sums == sums; });
  };
  return has(fiber.products) || std::any_of(fiber.multiplied.begin(), fiber.multiplied.end(), has);
}
static void passFence() {
  auto& fiber = fibers[now];
  fiber.fenced = true;
  for (auto& [sums, values] : fiber.sums) values.assign(sums, sums + values.size());
}
void told(const Product& product) {
  auto& fiber = fibers[now];
  if (!fiber.fenced) failed = "a product without a fence behind the last use of its sums, or behind the packing of its rows";
  auto known = std::find_if(fiber.sums.begin(), fiber.sums.end(), [&](const Fenced& each) { return each.sums == product.sums; });
  if (known == fiber.sums.end()) {
    fiber.sums.push_back({product.sums, std::vector<float>(product.width / 2)});
  } else if (product.adds && !isUnderWay(product.sums) && order / 2 % 2 == 0 &&
             memcmp(known->values.data(), product.sums, known->values.size() * sizeof(float)) != 0) {
    failed = "sums that were changed behind the fence before their product";
  }
  if (order / 2 % 2 == 1) multiply(product);
  else fiber.products.push_back(product);
}
float ofBfloat16(const char* at) {
  uint16_t h;
  memcpy(&h, at, 2);
  return floatOf(uint32_t(h) << 16);
}
float ofFloat16(const char* at) {
  uint16_t h;
  memcpy(&h, at, 2);
  return halfOf(h);
}
// The lower bits are not looked at.
float ofFloat32(const char* at) {
  uint32_t w;
  memcpy(&w, at, 4);
  return floatOf(w & 0xffffe000u);
}
}  // namespace shim
void tc_wgmma_fence() { shim::passFence(); }
void tc_wgmma_commit() {
  auto& fiber = shim::fibers[shim::now];
  fiber.multiplied.push_back(std::move(fiber.products));
  fiber.products.clear();
}
void shim::waitForProducts(size_t pending) {
  leave(State::waitsForWarp);
  makeProducts(pending);
  fibers[now].fenced = false;
  leave(State::waitsForWarp);
}

// TMA's: boxes that come to shared memory. Threads and products see them once they have waited for the phase that counts the bytes.
namespace shim {
/** To the nearest number of 11 bits, of two the even one. */
static uint32_t tensorFloat32(uint32_t bits) {
  if ((bits & 0x7f800000u) == 0x7f800000u) return bits;
  return (bits + 0xfffu + (bits >> 13 & 1)) & 0xffffe000u;
}
static void land(const Box& box) {
  const tc_map& map = box.map;
  const unsigned bytes = elementBytes(map.type), first = unsigned(box.to - memory);
  for (unsigned line = 0; line < map.box[1]; line++)
    for (unsigned i = 0; i < map.box[0]; i++) {
      const uint64_t at[] = {uint64_t(box.at[0]) + i, uint64_t(box.at[1]) + line, box.at[2]};
      uint32_t value = 0;
      if (at[0] < map.sizes[0] && at[1] < map.sizes[1] && at[2] < map.sizes[2])
        memcpy(&value, reinterpret_cast<const char*>(map.memory) + at[2] * map.strides[1] + at[1] * map.strides[0] + at[0] * bytes, bytes);
      if (map.type == kTensorFloat32) value = tensorFloat32(value);
      unsigned place = first + line * 128 + i * bytes;
      place ^= (place >> 7 & 7) << 4;
      memcpy(memory + place, &value, bytes);
      memcpy(seen + place, &value, bytes);
    }
  box.barrier->bytes -= long(map.box[0]) * map.box[1] * bytes;
  endPhase(box.barrier);
}
static bool isMap(const tc_map* map) { return reinterpret_cast<uintptr_t>(map) % 64 == 0 && map->magic == kMap; }
}  // namespace shim
void tc_prefetch_map(const tc_map* map) {
  if (!shim::isMap(map)) shim::failed = "a tensor map that is none";
}
void tc_barrier_expect(tc_barrier* barrier, unsigned bytes) {
  barrier->bytes += bytes;
  if (barrier->bytes >= 1 << 20) shim::failed = "a phase of more bytes than a barrier counts";
  tc_barrier_arrive(barrier);
}
void tc_copy_box(void* to, const tc_map* map, tc_barrier* barrier, unsigned element, unsigned line, unsigned matrix) {
  shim::check(barrier);
  if (!shim::isMap(map)) {
    shim::failed = "a tensor map that is none";
    return;
  }
  const size_t offset = size_t(static_cast<char*>(to) - shim::memory);
  // Boxes of shorter lines lie in another way.
  if (map->box[0] * shim::elementBytes(map->type) != 128 || map->box[2] != 1) shim::failed = "a box whose lines are not 128 bytes";
  else if (offset % 128 != 0) shim::failed = "a box to a place that is not aligned to 128 bytes";
  else if (offset + map->box[1] * 128 > shim::given) shim::failed = "a box that is larger than the shared memory behind its place";
  else if (!barrier->shown) shim::failed = "a box for a barrier that no fence has shown";
  else if (int(element) < 0 || int(line) < 0 || int(matrix) < 0) shim::failed = "a box far outside of its matrix";
  else if (shim::order % 2 == 1) shim::land({static_cast<char*>(to), *map, barrier, {element, line, matrix}});
  else shim::boxes.push_back({static_cast<char*>(to), *map, barrier, {element, line, matrix}});
}
