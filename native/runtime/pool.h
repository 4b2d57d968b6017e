// The persistent thread pool. Workers spin for a while after a job, then park.
#pragma once
#include <cstdint>

namespace eagre {

int thread_count();
// At least 1, at most 256, or 0 for the processors that this process may use; returns what is used now.
int set_thread_count(int n);
// Jobs that were cut among threads since the start, modulo 2^32: tests ask whether an input was large enough.
uint32_t job_count();

// Runs fn(context, begin, end) over [0, n) cut into chunks of `grain` (the last may be shorter). Chunk borders depend on `grain`
// alone, never on the number of threads, so a kernel that combines per-chunk results in order is reproducible. Runs inline when
// there is one chunk or one thread, or when called from inside a job (then also chunk by chunk). A KernelError thrown by fn is
// thrown again by the caller once all chunks have ended.
void parallel_for_raw(int64_t n, int64_t grain, void (*fn)(void*, int64_t, int64_t), void* context);

template <class T> struct Bare { using type = T; };
template <class T> struct Bare<T&> { using type = T; };

template <class F> inline void parallel_for(int64_t n, int64_t grain, F&& f) {
  using Fn = typename Bare<F>::type;
  parallel_for_raw(n, grain, [](void* c, int64_t b, int64_t e) { (*static_cast<Fn*>(c))(b, e); },
                   const_cast<void*>(static_cast<const void*>(&f)));
}

// A grain for n units of a large job: more chunks than these for each thread would cost a twentieth, as threads take them from one place.
constexpr int64_t kChunksPerThread = 8;
inline int64_t few_chunks(int64_t n) { return n / (kChunksPerThread * thread_count()); }

// Scratch memory of the calling thread, 64-byte aligned, kept between calls; each slot (0..7) is a buffer of its own, which
// a later call with a larger size replaces. Throws KernelError(resource_exhausted).
void* scratch(int slot, int64_t bytes);

}  // namespace eagre
