// Plans for JavaScript: prepared, run on the calling thread or in the background, dropped.
#pragma once
#include <napi.h>

namespace eagre {

// preparePlan(Float64Array, number[] | undefined): a handle for the rest. The array is kept as long as the handle lives and must not be
// detached. The numbers are those of scalar programs, one reference each, which are given back with what the handle holds.
Napi::Value prepare_plan(const Napi::CallbackInfo& info);

// runPlan(handle, Float64Array | undefined, first): runs steps from `first` on. undefined at the end; -1 where a step hands over, which
// lastStep() tells; or the code of the error whose text and step lastError() and lastStep() give. The time of each step is added to
// its owner's place in the array.
napi_value run_plan(napi_env env, napi_callback_info info);

// startPlan(handle, first, done): the same on another thread. Later calls done(result, step, text), where the result is -2 if the run
// was cancelled. The plan can do nothing else meanwhile. undefined, or the code of the error for which there is no run.
napi_value start_plan(napi_env env, napi_callback_info info);

// cancelPlan(handle): a run in the background ends before its next step.
napi_value cancel_plan(napi_env env, napi_callback_info info);

// dropPlan(handle): frees what it holds now; it can run no more. Throws while it runs.
void drop_plan(const Napi::CallbackInfo& info);

}  // namespace eagre
