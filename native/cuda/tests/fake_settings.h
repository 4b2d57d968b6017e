// How the fake libraries are told what to do: environment variables, read at each call. Each library is loaded apart and has its own state.
#ifndef EAGRE_FAKE_SETTINGS_H
#define EAGRE_FAKE_SETTINGS_H
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

inline const char* setting(const char* name, const char* otherwise) {
  const char* value = getenv(name);
  return value != nullptr && *value != 0 ? value : otherwise;
}

// Adds a line to the file that a variable names, if it does.
inline void note_call(const char* variable, const char* function) {
  static auto& lock = *new std::mutex();
  const std::lock_guard<std::mutex> locked(lock);
  if (const char* calls = setting(variable, nullptr))
    if (FILE* file = fopen(calls, "ab")) {
      fprintf(file, "%s\n", function);
      fclose(file);
    }
}

// The error with which a call is to fail, or 0: the variable is function:error[:calls before].
inline int injected_by(const char* variable, const char* function) {
  struct State {
    std::string value;
    int left = 0;
  };
  static auto& lock = *new std::mutex();
  static auto& states = *new std::map<std::string, State>();
  const std::lock_guard<std::mutex> locked(lock);
  State& state = states[variable];
  const std::string now = setting(variable, "");
  const size_t colon = now.find(':');
  if (now != state.value) {
    const size_t second = now.find(':', colon + 1);
    state.left = second == std::string::npos ? 0 : atoi(now.c_str() + second + 1);
    state.value = now;
  }
  if (colon == std::string::npos || now.compare(0, colon, function) != 0) return 0;
  return state.left-- > 0 ? 0 : atoi(now.c_str() + colon + 1);
}
#endif
