// What the WebAssembly module offers to JavaScript: as binding/addon.cc, with addresses in its own memory.
#include <atomic>
#include <cstdlib>

#include "../runtime/executor.h"
#include "../runtime/guarded.h"
#include "../runtime/pool.h"
#include "../runtime/programs.h"
#include "../runtime/registry.h"
#include "exceptions.h"
#include "pool.h"
#include "relaxed.h"

#define EXPORT(name) extern "C" __attribute__((export_name(name)))

namespace eagre {
void no_memory() { fail(Code::resource_exhausted, "no memory"); }
RelaxedProduct relaxed_product = nullptr;
}

namespace {

using namespace eagre;

const double* block = nullptr;
size_t block_length = 0;
char message[256] = "";
uint32_t step = 0;
const std::atomic<bool> never{false};

}  // namespace

EXPORT("kernels") uint32_t kernel_count() { return kernels().size; }
EXPORT("kernel") const char* kernel_name(uint32_t i) { return kernels().names[i]; }
EXPORT("lastError") const char* last_error() { return message; }
EXPORT("lastStep") uint32_t last_step() { return step; }

// Aligned to 64 bytes; 0 where there is no room.
EXPORT("allocate") void* allocate(uint32_t bytes) { return bytes > UINT32_MAX - 64 ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64); }
EXPORT("release") void release(void* memory) { std::free(memory); }

EXPORT("setBlock") void set_block(const double* data, uint32_t length) {
  block = data;
  block_length = length;
}

EXPORT("run") int32_t run(uint32_t id) {
  return guarded(message, [&] {
    const KernelTable& table = kernels();
    if (id >= table.size) fail(Code::internal, "no kernel %u", id);
    Args args(block, block + block_length);
    table.fns[id](args);
  });
}

// Null where it is refused.
EXPORT("preparePlan") Executor* prepare_plan(const double* data, uint32_t length) {
  Executor* made = nullptr;
  guarded(message, [&] { made = new Executor(data, length); });
  return made;
}

EXPORT("planOwners") uint32_t plan_owners(const Executor* plan) { return plan->owners(); }

// 0 at the end, -1 at a step that is JavaScript's, or the code of an error.
EXPORT("runPlan") int32_t run_plan(Executor* plan, uint32_t first, double* times) {
  size_t at = first;
  bool stopped = false;
  const int32_t code = guarded(message, [&] { stopped = plan->run(at, times, never) == Executor::Outcome::stopped; });
  step = static_cast<uint32_t>(at);
  return code != 0 ? code : stopped ? -1 : 0;
}

EXPORT("dropPlan") void drop_plan(Executor* plan) { delete plan; }

// -1 where it is refused.
EXPORT("compileProgram") int32_t compile(const double* code, uint32_t length) {
  int32_t id = -1;
  guarded(message, [&] { id = compile_program(code, length); });
  return id;
}

EXPORT("releaseProgram") int32_t release_one(int32_t id) {
  return guarded(message, [&] { release_program(id); });
}

// Sets how many threads are used at most, unless n is 0; as many as have come.
EXPORT("threads") int32_t threads(int32_t n) { return n > 0 ? set_thread_count(n) : thread_count(); }
EXPORT("jobs") uint32_t jobs() { return job_count(); }

// Has products of tiles computed by the module with relaxed SIMD, whose function is in the table.
EXPORT("relax") void relax(RelaxedProduct product) { relaxed_product = product; }

#if defined(__wasm_atomics__)
EXPORT("serve") void serve_here() { serve(); }
#endif
