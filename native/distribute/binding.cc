// The engine for JavaScript. Arguments are checked in packages/distribute/src/engine, which is the only caller.
#include <napi.h>

#include <atomic>

#include "engine.h"

namespace eagre::distribute {
namespace {

// In the order of `Failure`.
const char* const kCodes[] = {"OK", "UNAVAILABLE", "DEADLINE_EXCEEDED", "INVALID_ARGUMENT", "ABORTED", "INTERNAL"};

Napi::Error error_of(Napi::Env env, const Verdict& verdict) {
  Napi::Error error = Napi::Error::New(env, verdict.message);
  error.Value().Set("code", kCodes[static_cast<int>(verdict.failure)]);
  return error;
}

Napi::Error error_of(Napi::Env env, const SetupError& reason) {
  Napi::Error error = Napi::Error::New(env, reason.what());
  error.Value().Set("code", reason.is_missing ? "UNIMPLEMENTED" : "FAILED_PRECONDITION");
  return error;
}

Milliseconds milliseconds(Napi::Value value) { return Milliseconds(value.ToNumber().Int64Value()); }

class JsEngine : public Napi::ObjectWrap<JsEngine> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Engine", {
      InstanceMethod("addresses", &JsEngine::addresses), InstanceMethod("port", &JsEngine::port), InstanceMethod("gpus", &JsEngine::gpus),
      InstanceMethod("prepare", &JsEngine::prepare), InstanceMethod("connect", &JsEngine::connect), InstanceMethod("begin", &JsEngine::begin),
      InstanceMethod("name", &JsEngine::name), InstanceMethod("run", &JsEngine::run),
      InstanceMethod("start", &JsEngine::start), InstanceMethod("fail", &JsEngine::fail),
      InstanceMethod("verdict", &JsEngine::verdict), InstanceMethod("close", &JsEngine::close),
      InstanceMethod("closeNow", &JsEngine::close_now)});
  }

  // ({ library, rank, size, host, names, heartbeat, timeout })
  explicit JsEngine(const Napi::CallbackInfo& info) : Napi::ObjectWrap<JsEngine>(info) {
    const Napi::Object given = info[0].As<Napi::Object>();
    EngineOptions options;
    options.library = static_cast<Library>(given.Get("library").ToNumber().Int32Value());
    options.rank = given.Get("rank").ToNumber().Int32Value();
    options.size = given.Get("size").ToNumber().Int32Value();
    options.host = given.Get("host").ToString().Utf8Value();
    const Napi::Array names = given.Get("names").As<Napi::Array>();
    for (uint32_t i = 0; i < names.Length(); i++) options.names.push_back(names.Get(i).ToString().Utf8Value());
    options.heartbeat = milliseconds(given.Get("heartbeat"));
    options.timeout = milliseconds(given.Get("timeout"));
    try {
      engine_ = std::make_shared<Engine>(options);
    } catch (const SetupError& e) {
      throw error_of(info.Env(), e);
    } catch (const std::exception& e) {
      throw error_of(info.Env(), {Failure::internal, e.what()});
    }
    calls_ = Calls::New(info.Env(), "eagre collectives", 0, 1, this);
    calls_.Unref(info.Env());
    env_ = info.Env();
    // Before Node takes away what threads call: hooks run in the reverse order.
    napi_add_env_cleanup_hook(env_, at_exit, this);
  }

  ~JsEngine() override {
    if (!engine_ || ended_) return;
    napi_remove_env_cleanup_hook(env_, at_exit, this);
    end();
  }

 private:
  static void at_exit(void* self) { static_cast<JsEngine*>(self)->end(); }
  // Waits for what is under way, whose memory it holds. No thread calls JavaScript any more.
  void end() {
    ended_ = true;
    end_connecting();
    engine_->close(Milliseconds(0));
    calls_.Release();
  }

  // What a promise waits for; memory is held until it is settled.
  struct Pending {
    explicit Pending(Napi::Env env) : promise(Napi::Promise::Deferred::New(env)) {}
    Napi::Promise::Deferred promise;
    Napi::ObjectReference data, out;
    Verdict verdict;
  };
  static void settle(Napi::Env env, Napi::Function, JsEngine* self, Pending* pending) {
    std::unique_ptr<Pending> owned(pending);
    if (env == nullptr) return;
    Napi::HandleScope scope(env);
    if (--self->waiting_ == 0) {
      self->calls_.Unref(env);
      self->Unref();
    }
    if (pending->verdict.failure == Failure::none) pending->promise.Resolve(env.Undefined());
    else pending->promise.Reject(error_of(env, pending->verdict).Value());
  }
  using Calls = Napi::TypedThreadSafeFunction<JsEngine, Pending, settle>;

  Pending* pending(Napi::Env env) {
    // The process and this engine live as long as somebody waits.
    if (waiting_++ == 0) {
      calls_.Ref(env);
      Ref();
    }
    return new Pending(env);
  }
  void settled(Pending* pending, const Verdict& verdict) {
    pending->verdict = verdict;
    if (calls_.NonBlockingCall(pending) != napi_ok) delete pending;
  }

  Napi::Value addresses(const Napi::CallbackInfo& info) {
    const auto all = engine_->addresses();
    Napi::Array result = Napi::Array::New(info.Env(), all.size());
    for (uint32_t p = 0; p < all.size(); p++) result.Set(p, Napi::Buffer<char>::Copy(info.Env(), all[p].data(), all[p].size()));
    return result;
  }
  Napi::Value port(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), engine_->port()); }

  Napi::Value gpus(const Napi::CallbackInfo& info) { return Napi::String::New(info.Env(), engine_->gpus()); }

  // (shared, gpu): before `connect`, once all ranks are known to be there.
  Napi::Value prepare(const Napi::CallbackInfo& info) {
    try {
      engine_->prepare(info[0].ToString().Utf8Value(), info[1].ToNumber().Int32Value());
    } catch (const SetupError& e) {
      throw error_of(info.Env(), e);
    } catch (const std::exception& e) {
      throw error_of(info.Env(), {Failure::internal, e.what()});
    }
    return info.Env().Undefined();
  }

  // (addresses, hosts, ports, key): a promise.
  Napi::Value connect(const Napi::CallbackInfo& info) {
    const Napi::Array addresses = info[0].As<Napi::Array>(), hosts = info[1].As<Napi::Array>(), ports = info[2].As<Napi::Array>();
    std::vector<std::vector<char>> bytes;
    std::vector<Peer> peers;
    for (uint32_t p = 0; p < addresses.Length(); p++) {
      const auto address = Napi::Value(addresses.Get(p)).As<Napi::Uint8Array>();
      bytes.emplace_back(address.Data(), address.Data() + address.ByteLength());
      peers.push_back({hosts.Get(p).ToString().Utf8Value(), static_cast<uint16_t>(Napi::Value(ports.Get(p)).ToNumber().Uint32Value())});
    }
    bool lossless = false;
    const uint64_t key = info[3].As<Napi::BigInt>().Uint64Value(&lossless);
    Pending* waiting = pending(info.Env());
    const Napi::Promise promise = waiting->promise.Promise();
    connecting_ = std::thread([this, waiting, bytes, peers, key] {
      Verdict verdict;
      try {
        engine_->connect(bytes, peers, key);
      } catch (const SetupError& e) {
        verdict = {Failure::unavailable, e.what()};
      } catch (const std::exception& e) {
        verdict = {Failure::deadline, e.what()};
      }
      settled(waiting, verdict);
    });
    return promise;
  }

  // Once all are known to be connected.
  Napi::Value begin(const Napi::CallbackInfo& info) {
    engine_->begin();
    return info.Env().Undefined();
  }

  // (about, text)
  Napi::Value name(const Napi::CallbackInfo& info) {
    engine_->name(info[0].ToNumber().Uint32Value(), info[1].ToString().Utf8Value());
    return info.Env().Undefined();
  }

  // (kind, element, reduction, inOrder, root, tag, about, timeout, data, out, counts)
  static Operation operation(const Napi::CallbackInfo& info) {
    Operation op;
    op.layout.kind = static_cast<Kind>(info[0].ToNumber().Int32Value());
    op.layout.element = static_cast<Element>(info[1].ToNumber().Int32Value());
    op.layout.reduction = static_cast<Reduction>(info[2].ToNumber().Int32Value());
    op.layout.in_order = info[3].ToBoolean();
    op.layout.root = info[4].ToNumber().Int32Value();
    op.layout.tag = info[5].ToNumber().Uint32Value();
    op.about = info[6].ToNumber().Uint32Value();
    op.timeout = milliseconds(info[7]);
    const size_t size = size_of(op.layout.element);
    if (info[8].IsObject() && !info[8].IsTypedArray()) {
      // Memory of a GPU. Addresses fit into the 53 bits of a number: those of GPUs have 49.
      const Napi::Object part = info[8].As<Napi::Object>();
      const auto number = [&](const char* name) { return part.Get(name).ToNumber().Int64Value(); };
      op.data = reinterpret_cast<void*>(number("address"));
      op.ready = reinterpret_cast<void*>(number("event"));
      op.layout.count = static_cast<uint64_t>(number("bytes")) / size;
      op.layout.on_gpu = 1;
    }
    if (info[8].IsTypedArray()) {
      op.data = bytes_of(info[8]);
      op.layout.count = info[8].As<Napi::TypedArray>().ByteLength() / size;
    }
    if (info[9].IsTypedArray()) {
      op.out = bytes_of(info[9]);
      op.layout.count = info[9].As<Napi::TypedArray>().ByteLength() / size;
      const Napi::Array counts = info[10].As<Napi::Array>();
      for (uint32_t p = 0; p < counts.Length(); p++) op.counts.push_back(Napi::Value(counts.Get(p)).ToNumber().Int64Value());
    }
    return op;
  }
  static void* bytes_of(Napi::Value value) {
    const auto array = value.As<Napi::TypedArray>();
    return static_cast<char*>(array.ArrayBuffer().Data()) + array.ByteOffset();
  }

  Napi::Value run(const Napi::CallbackInfo& info) {
    const Verdict verdict = engine_->run(operation(info));
    if (verdict.failure != Failure::none) throw error_of(info.Env(), verdict);
    return info.Env().Undefined();
  }

  Napi::Value start(const Napi::CallbackInfo& info) {
    const Operation op = operation(info);
    Pending* waiting = pending(info.Env());
    if (op.data) waiting->data = Napi::Persistent(info[8].As<Napi::Object>());
    if (op.out) waiting->out = Napi::Persistent(info[9].As<Napi::Object>());
    const Napi::Promise promise = waiting->promise.Promise();
    engine_->submit(op, [this, waiting](const Verdict& verdict) { settled(waiting, verdict); });
    return promise;
  }

  // (code, message)
  Napi::Value fail(const Napi::CallbackInfo& info) {
    const std::string code = info[0].ToString().Utf8Value();
    int failure = static_cast<int>(Failure::internal);
    for (int i = 0; i <= failure; i++) if (code == kCodes[i]) failure = i;
    engine_->fail(static_cast<Failure>(failure), info[1].ToString().Utf8Value());
    return info.Env().Undefined();
  }
  // undefined, or the error by which the engine ended.
  Napi::Value verdict(const Napi::CallbackInfo& info) {
    const Verdict verdict = engine_->verdict();
    return verdict.failure == Failure::none ? info.Env().Undefined() : error_of(info.Env(), verdict).Value();
  }

  // (wait): a promise.
  Napi::Value close(const Napi::CallbackInfo& info) {
    Pending* waiting = pending(info.Env());
    const Napi::Promise promise = waiting->promise.Promise();
    const Milliseconds wait = milliseconds(info[0]);
    end_connecting();
    connecting_ = std::thread([this, waiting, wait] {
      engine_->close(wait);
      settled(waiting, {});
    });
    return promise;
  }
  Napi::Value close_now(const Napi::CallbackInfo& info) {
    end_connecting();
    engine_->close(milliseconds(info[0]));
    return info.Env().Undefined();
  }

  void end_connecting() {
    if (!connecting_.joinable()) return;
    engine_->interrupt();
    connecting_.join();
  }

  std::shared_ptr<Engine> engine_;
  std::thread connecting_;
  Calls calls_;
  // Promises that are not settled; JavaScript's thread only.
  int waiting_ = 0;
  napi_env env_ = nullptr;
  bool ended_ = false;
};

Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports.Set("Engine", JsEngine::define(env));
  return exports;
}

}  // namespace
}  // namespace eagre::distribute

static Napi::Object init(Napi::Env env, Napi::Object exports) { return eagre::distribute::init(env, exports); }
NODE_API_MODULE(eagre_distribute, init)
