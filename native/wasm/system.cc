// What the C and C++ libraries would ask of a system: there is a clock, JavaScript's.
#include <cstdlib>
#include <ctime>

extern "C" {

// Milliseconds.
__attribute__((import_module("env"), import_name("now"))) double eagre_now();

int clock_gettime(clockid_t, struct timespec* time) {
  const double now = eagre_now();
  time->tv_sec = static_cast<time_t>(now / 1e3);
  time->tv_nsec = static_cast<long>((now - static_cast<double>(time->tv_sec) * 1e3) * 1e6);
  return 0;
}
char* getenv(const char*) { return nullptr; }
_Noreturn void abort() { __builtin_trap(); }

// These would print why.
_Noreturn void __abort_message(const char*, ...) { __builtin_trap(); }

}  // extern "C"

_LIBCPP_BEGIN_NAMESPACE_STD
_Noreturn void __libcpp_verbose_abort(const char*, ...) noexcept { __builtin_trap(); }
_LIBCPP_END_NAMESPACE_STD
