// Plans for JavaScript: prepared, run on the calling thread or in the background, dropped.
#pragma once
#include <napi.h>

namespace eagre {

// preparePlan(owner, Float64Array, number[] | undefined): the plan's number, for the rest. It is there as long as its owner, and so is the
// array, which must not be detached. The numbers are those of scalar programs, one reference each, which are given back with what the plan holds.
Napi::Value prepare_plan(const Napi::CallbackInfo& info);

// runPlan(plan, Float64Array | undefined, first): runs steps from `first` on. undefined at the end; -1 where a step hands over, which
// lastStep() tells; or the code of the error whose text and step lastError() and lastStep() give. The time of each step is added to
// its owner's place in the array.
napi_value run_plan(napi_env env, napi_callback_info info);

// startPlan(owner, plan, first, done): the same on another thread. Later calls done(result, step, text), where the result is -2 if the run
// was cancelled. The plan can do nothing else meanwhile. undefined, or the code of the error for which there is no run.
napi_value start_plan(napi_env env, napi_callback_info info);

// cancelPlan(plan): a run in the background ends before its next step.
napi_value cancel_plan(napi_env env, napi_callback_info info);

// dropPlan(plan): frees what it holds now; it can run no more. Throws while it runs.
void drop_plan(const Napi::CallbackInfo& info);

}  // namespace eagre
