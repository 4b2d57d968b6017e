// The addon's use of the driver, against the fake driver.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>
#include <utility>

#include "../compiler.h"
#include "../device.h"
#include "../group.h"

using namespace eagre::cuda;

static int failures = 0;
#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::fprintf(stderr, "line %d: %s is false\n", __LINE__, #condition); \
      failures++;                                                         \
    }                                                                     \
  } while (0)

template <class F> static std::string code_of(F body) {
  try {
    body();
    return "OK";
  } catch (const Failure& failure) {
    return failure.name.empty() ? failure.code : std::string(failure.code) + " " + failure.name;
  }
}

static std::vector<float> read(Device& device, CUdeviceptr from, size_t count) {
  std::vector<float> values(count);
  device.start_read(from, count * sizeof(float))->finish(values.data());
  return values;
}

static std::string fake_image() {
  std::ifstream file(FAKE_IMAGE, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Arguments {
  CUdeviceptr x, y;
  float factor;
  unsigned count;
};
static const unsigned kOne[] = {1, 1, 1}, kBlock[] = {64, 1, 1}, kNone[] = {0, 1, 1};

static std::shared_ptr<Device> open() { return std::make_shared<Device>(Driver::open(FAKE_CUDA), 0); }

static void opening() {
  CHECK(code_of([] { Driver::open("/no/such/libcuda.so.1"); }) == "UNAVAILABLE");
  CHECK(code_of([] { Driver::open("libm.so.6"); }) == "UNAVAILABLE");
  setenv("FAKE_CUDA_FAIL", "cuInit:100", 1);
  CHECK(code_of([] { Driver::open(FAKE_CUDA); }) == "UNAVAILABLE CUDA_ERROR_NO_DEVICE");
  setenv("FAKE_CUDA_FAIL", "", 1);
  CHECK(Driver::open(FAKE_CUDA)->devices() == 1);
  CHECK(code_of([] { Device(Driver::open(FAKE_CUDA), 1); }) == "NOT_FOUND");
  CHECK(code_of([] { Device(Driver::open(FAKE_CUDA), -1); }) == "NOT_FOUND");
  for (const char* call : {"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuStreamCreate", "cuDeviceGet"}) {
    setenv("FAKE_CUDA_FAIL", (std::string(call) + ":802").c_str(), 1);
    CHECK(code_of([] { open(); }) == "UNAVAILABLE CUDA_ERROR_SYSTEM_NOT_READY");
  }
  setenv("FAKE_CUDA_FAIL", "", 1);
  const DeviceInfo info = open()->info();
  CHECK(info.compute_major == 9 && info.compute_minor == 0 && info.multiprocessors == 2 && info.driver_version == 12080);
}

static void memory() {
  for (const char* pools : {"1", "0"}) {
    setenv("FAKE_CUDA_POOLS", pools, 1);
    const auto device = open();
    CHECK(device->info().has_memory_pools == (*pools == '1'));
    const size_t free = device->free_bytes();
    const CUdeviceptr a = device->allocate(400), b = device->allocate(400);
    std::vector<float> values(100);
    // Many uploads in a row: each keeps its own bytes, though nobody waits.
    for (int k = 0; k < 50; k++) {
      for (int i = 0; i < 100; i++) values[i] = static_cast<float>(100 * k + i);
      device->write(a, values.data(), 400);
      if (k == 48) device->copy(b, a, 400);
    }
    CHECK(read(*device, a, 100)[7] == 4907 && read(*device, b, 100)[7] == 4807);
    device->fill(a + 4, 0, 4);
    CHECK(read(*device, a, 2)[0] == 4900 && read(*device, a, 2)[1] == 0);
    // A read has the bytes of its place in the stream.
    const auto early = device->start_read(a, 4);
    device->fill(a, 0, 4);
    float value;
    while (!early->is_done()) {
    }
    early->finish(&value);
    CHECK(value == 4900);
    CHECK(code_of([&] { early->finish(&value); }) == "FAILED_PRECONDITION");
    { const auto dropped = device->start_read(a, 400); }
    // Nothing is done where it would leave the memory.
    CHECK(code_of([&] { device->write(a, values.data(), 401); }) == "INVALID_ARGUMENT");
    CHECK(code_of([&] { device->start_read(a + 399, 2); }) == "INVALID_ARGUMENT");
    CHECK(code_of([&] { device->copy(a, b + 1, 400); }) == "INVALID_ARGUMENT");
    CHECK(code_of([&] { device->copy(a, a + 4, 100); }) == "INVALID_ARGUMENT");
    CHECK(code_of([&] { device->fill(7, 0, 1); }) == "INVALID_ARGUMENT");
    CHECK(code_of([&] { device->free(a + 4); }) == "INVALID_ARGUMENT");
    CHECK(code_of([&] { device->allocate(0); }) == "INVALID_ARGUMENT");
    device->free(a);
    CHECK(code_of([&] { device->free(a); }) == "INVALID_ARGUMENT");
    CHECK(code_of([&] { device->allocate(size_t(1) << 40); }) == "RESOURCE_EXHAUSTED CUDA_ERROR_OUT_OF_MEMORY");
    // What was freed and is still in the stream counts as free.
    const size_t most = device->free_bytes() / 4 * 3;
    device->free(device->allocate(most));
    device->free(device->allocate(most));
    device->free(b);
    device->synchronize();
    CHECK(device->free_bytes() == free);
    // A large upload goes in pieces.
    std::vector<float> many(3 << 20);
    for (size_t i = 0; i < many.size(); i++) many[i] = static_cast<float>(i);
    const CUdeviceptr large = device->allocate(many.size() * 4);
    device->write(large, many.data(), many.size() * 4);
    CHECK(read(*device, large, many.size()) == many);
  }
  unsetenv("FAKE_CUDA_POOLS");
}

static void modules() {
  const auto device = open();
  const std::string image = fake_image();
  const uint32_t module = device->load(image.data(), image.size());
  const uint32_t scale = device->function(module, "scale");
  CHECK(code_of([&] { device->function(module, "nothing"); }) == "NOT_FOUND CUDA_ERROR_NOT_FOUND");
  CHECK(code_of([&] { device->function(99, "scale"); }) == "INVALID_ARGUMENT");
  // A multiprocessor has 227 KB of shared memory for a block.
  CHECK(code_of([&] { device->function(module, "scale", 300 << 10); }) == "INVALID_ARGUMENT CUDA_ERROR_INVALID_VALUE");
  for (size_t size = 0; size < image.size(); size += 97) CHECK(code_of([&] { device->load(image.data(), size); }) == "INVALID_ARGUMENT");
  CHECK(code_of([&] { device->load(".version 8.0 .target sm_80", 26); }) == "INVALID_ARGUMENT CUDA_ERROR_INVALID_PTX");
  const unsigned char fatbin[24] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 200};
  CHECK(code_of([&] { device->load(fatbin, sizeof fatbin); }) == "INVALID_ARGUMENT");

  const CUdeviceptr x = device->allocate(40), y = device->allocate(40);
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  device->write(x, values.data(), 40);
  Arguments arguments{x, y, 3, 10};
  device->launch(scale, kOne, kBlock, &arguments, sizeof arguments, 2);
  CHECK(read(*device, y, 10)[9] == 30);
  CHECK(code_of([&] { device->launch(scale, kNone, kBlock, &arguments, sizeof arguments, 2); }) == "INVALID_ARGUMENT CUDA_ERROR_INVALID_VALUE");
  CHECK(code_of([&] { device->launch(scale, kOne, kBlock, &arguments, sizeof arguments - 4, 2); }) ==
        "INVALID_ARGUMENT CUDA_ERROR_INVALID_VALUE");
  CHECK(code_of([&] { device->launch(scale, kOne, kBlock, &arguments, 8, 2); }) == "INVALID_ARGUMENT");
  CHECK(code_of([&] { device->launch(module, kOne, kBlock, &arguments, sizeof arguments, 2); }) == "INVALID_ARGUMENT");
  arguments.x = 12345;
  CHECK(code_of([&] { device->launch(scale, kOne, kBlock, &arguments, sizeof arguments, 2); }) == "INVALID_ARGUMENT");

  const uint32_t event = device->record();
  CHECK(!device->is_done(event) || device->is_done(event));
  device->wait(event);
  CHECK(device->is_done(event));
  device->drop(event);
  CHECK(code_of([&] { device->wait(event); }) == "INVALID_ARGUMENT");
  device->unload(module);
  arguments.x = x;
  CHECK(code_of([&] { device->launch(scale, kOne, kBlock, &arguments, sizeof arguments, 2); }) == "INVALID_ARGUMENT");
}

// A list of launches of `scale`, each on the memory and with the factor that is given.
static std::string list_of(uint32_t function, const std::vector<Arguments>& launches) {
  std::string list;
  for (const Arguments& arguments : launches) {
    const LaunchHead head{function, {1, 1, 1}, {64, 1, 1}, 2, sizeof arguments, 0};
    list.append(reinterpret_cast<const char*>(&head), sizeof head);
    list.append(reinterpret_cast<const char*>(&arguments), sizeof arguments);
  }
  return list;
}

static void graphs() {
  const auto device = open();
  CHECK(device->info().has_graphs);
  const std::string image = fake_image();
  const uint32_t module = device->load(image.data(), image.size()), scale = device->function(module, "scale");
  const CUdeviceptr x = device->allocate(40), y = device->allocate(40), z = device->allocate(40);
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  device->write(x, values.data(), 40);
  // The driver is told by another thread, which reads the environment too.
  const auto run = [&](uint32_t graph, const std::string& list) {
    const bool is_launched = device->launch_graph(graph, list.data(), list.size());
    device->settle();
    return is_launched;
  };
  const auto error_of = [&](uint32_t graph, const std::string& list) {
    return code_of([&] {
      run(graph, list);
      device->synchronize();
    });
  };
  const auto make = [&](const std::string& list) { return device->make_graph(list.data(), list.size()); };

  const std::string first = list_of(scale, {{x, y, 2, 10}, {y, z, 3, 10}});
  device->launch_all(first.data(), first.size());
  CHECK(read(*device, z, 10)[9] == 60);
  device->fill(z, 0, 40);
  const uint32_t graph = make(first);
  CHECK(read(*device, z, 10)[9] == 0);
  CHECK(run(graph, first) && read(*device, z, 10)[9] == 60);
  // Each launch has the arguments that it was given, though all wait.
  CHECK(run(graph, list_of(scale, {{x, y, 2, 10}, {y, z, 5, 10}})));
  const auto early = device->start_read(z, 4);
  CHECK(run(graph, list_of(scale, {{x, z, 7, 10}, {x, y, 9, 10}})));
  float value = 0;
  early->finish(&value);
  CHECK(value == 10 && read(*device, z, 1)[0] == 7 && read(*device, y, 1)[0] == 9);
  // Other launches than the graph's.
  CHECK(!run(graph, list_of(scale, {{x, y, 2, 10}})) && !run(graph, {}));
  const uint32_t other = device->function(module, "scale");
  const uint32_t odd = make(first);
  CHECK(run(odd, list_of(other, {{x, y, 4, 10}, {y, z, 3, 10}})) && read(*device, z, 10)[9] == 120);
  CHECK(!run(odd, first));
  // Nothing leaves the memory, and what is cut short is told.
  CHECK(code_of([&] { make(list_of(scale, {{12345, y, 2, 10}})); }) == "INVALID_ARGUMENT");
  CHECK(error_of(graph, list_of(scale, {{x, y, 2, 10}, {y, 12345, 3, 10}})) == "INVALID_ARGUMENT");
  for (size_t size = 1; size < first.size(); size++)
    if (size != first.size() / 2) CHECK(code_of([&] { device->launch_all(first.data(), size); }) == "INVALID_ARGUMENT");
  CHECK(make({}) == 0);
  CHECK(code_of([&] { run(99, first); }) == "INVALID_ARGUMENT");
  // Where the driver has no memory for a graph, there is none; other errors are told.
  for (const char* call : {"cuGraphCreate:2", "cuGraphAddKernelNode:2:1", "cuGraphInstantiateWithFlags:801"}) {
    setenv("FAKE_CUDA_FAIL", call, 1);
    CHECK(make(first) == 0);
  }
  setenv("FAKE_CUDA_FAIL", "cuGraphInstantiateWithFlags:1", 1);
  CHECK(code_of([&] { make(first); }) == "INVALID_ARGUMENT CUDA_ERROR_INVALID_VALUE");
  setenv("FAKE_CUDA_FAIL", "cuGraphExecKernelNodeSetParams:1:1", 1);
  CHECK(error_of(graph, first) == "INVALID_ARGUMENT CUDA_ERROR_INVALID_VALUE");
  setenv("FAKE_CUDA_FAIL", "", 1);
  // The node that was changed is known to be.
  CHECK(run(graph, first) && read(*device, z, 10)[9] == 60);
  // What is launched runs, though its graph is gone.
  device->fill(z, 0, 40);
  CHECK(run(graph, first));
  device->drop_graph(graph);
  CHECK(code_of([&] { device->drop_graph(graph); }) == "INVALID_ARGUMENT");
  CHECK(read(*device, z, 10)[9] == 60);
  // Memory and kernels that are gone are no more used by a graph that has them.
  const uint32_t last = make(first);
  device->free(z);
  CHECK(error_of(last, first) == "INVALID_ARGUMENT");
  device->unload(module);
  CHECK(error_of(last, list_of(scale, {{x, y, 2, 10}, {x, y, 3, 10}})) == "INVALID_ARGUMENT");
}

struct BoxArguments {
  TensorShape shape;
  CUdeviceptr y;
  unsigned element, line, matrix, elements, lines;
};
// A list of launches of `box`.
static std::string list_of(uint32_t function, const std::vector<BoxArguments>& launches) {
  std::string list;
  for (const BoxArguments& arguments : launches) {
    const uint32_t bytes = offsetof(BoxArguments, lines) + 4;
    LaunchHead head{function, {1, 1, 1}, {64, 1, 1}, 1, bytes, kKernel};
    head.maps = 1;
    list.append(reinterpret_cast<const char*>(&head), sizeof head);
    list.append(reinterpret_cast<const char*>(&arguments), bytes);
    list.append((8 - bytes % 8) % 8, 0);
  }
  return list;
}

static void maps() {
  const auto device = open();
  CHECK(device->info().has_tensor_maps);
  const std::string image = fake_image();
  const uint32_t module = device->load(image.data(), image.size()), box = device->function(module, "box", 4096);
  // Two matrices of 5 lines of 72 numbers of bfloat16, behind 8 others; a line is 80 numbers long.
  std::vector<uint16_t> values(8 + 2 * 5 * 80);
  const auto value = [](size_t i) { return static_cast<float>(i % 256); };
  for (size_t i = 0; i < values.size(); i++) {
    const float number = value(i);
    uint32_t bits;
    std::memcpy(&bits, &number, 4);
    values[i] = static_cast<uint16_t>(bits >> 16);
  }
  const size_t bytes = values.size() * 2;
  const CUdeviceptr x = device->allocate(bytes), other = device->allocate(bytes), y = device->allocate(64 * 8 * 4), z = device->allocate(64 * 8 * 4);
  device->write(x, values.data(), bytes);
  device->fill(other, 0, bytes);
  const TensorShape shape{x + 16, {160, 800}, {72, 5, 2}, {64, 8}, kMapBfloat16};
  TensorShape moved = shape;
  moved.memory = other + 16;
  const BoxArguments first{shape, y, 48, 2, 1, 64, 8};
  const auto run = [&](const std::string& list) { device->launch_all(list.data(), list.size()); };
  const auto is_box = [&](CUdeviceptr at) {
    const auto got = read(*device, at, 64 * 8);
    for (size_t line = 0; line < 8; line++)
      for (size_t i = 0; i < 64; i++)
        if (got[line * 64 + i] != (48 + i < 72 && 2 + line < 5 ? value(8 + (5 + 2 + line) * 80 + 48 + i) : 0)) return false;
    return true;
  };
  run(list_of(box, {first}));
  CHECK(is_box(y));
  // A graph takes other memory, and makes maps for what has changed alone: here of what is known.
  BoxArguments second = first;
  second.y = z;
  second.shape = moved;
  const std::string both = list_of(box, {first, second});
  const uint32_t graph = device->make_graph(both.data(), both.size());
  CHECK(graph != 0 && device->launch_graph(graph, both.data(), both.size()));
  CHECK(is_box(y) && read(*device, z, 64 * 8) == std::vector<float>(64 * 8));
  second.shape = shape;
  const std::string changed = list_of(box, {first, second});
  setenv("FAKE_CUDA_FAIL", "cuTensorMapEncodeTiled:1", 1);
  device->fill(y, 0, 64 * 8 * 4);
  CHECK(device->launch_graph(graph, changed.data(), changed.size()) && is_box(y) && is_box(z));
  setenv("FAKE_CUDA_FAIL", "", 1);
  // What the driver refuses, and what leaves the memory.
  const auto refused = [&](const std::function<void(BoxArguments&)>& change) {
    BoxArguments wrong = first;
    change(wrong);
    return code_of([&] { run(list_of(box, {wrong})); });
  };
  const std::string invalid = "INVALID_ARGUMENT CUDA_ERROR_INVALID_VALUE";
  CHECK(refused([](auto& w) { w.shape.memory -= 8; }) == invalid);
  CHECK(refused([](auto& w) { w.shape.strides[0] = 152; }) == invalid);
  CHECK(refused([](auto& w) { w.shape.box[0] = 128; }) == invalid);
  CHECK(refused([](auto& w) { w.shape.box[0] = 60; }) == invalid);
  CHECK(refused([](auto& w) { w.shape.box[1] = 257; }) == invalid);
  CHECK(refused([](auto& w) { w.shape.box[1] = 0; }) == invalid);
  CHECK(refused([](auto& w) { w.shape.sizes[2] = 3; }) == "INVALID_ARGUMENT");
  CHECK(refused([](auto& w) { w.shape.sizes[1] = 0; }) == "INVALID_ARGUMENT");
  CHECK(refused([](auto& w) { w.shape.sizes[1] = 0x7fffffff, w.shape.strides[0] = uint64_t(1) << 39; }) == "INVALID_ARGUMENT");
  CHECK(refused([](auto& w) { w.shape.strides[1] = uint64_t(1) << 40; }) == "INVALID_ARGUMENT");
  CHECK(refused([](auto& w) { w.shape.type = 8; }) == "INVALID_ARGUMENT");
  CHECK(refused([](auto& w) { w.shape.memory = 4096; }) == "INVALID_ARGUMENT");
  CHECK(refused([](auto& w) { w.y = 4096; }) == "INVALID_ARGUMENT");
  std::string many = list_of(box, {first});
  LaunchHead head;
  std::memcpy(&head, many.data(), sizeof head);
  head.maps = 2;
  std::memcpy(&many[0], &head, sizeof head);
  CHECK(code_of([&] { run(many); }) == "INVALID_ARGUMENT");
  // A graph with memory that is gone.
  device->free(other);
  CHECK(code_of([&] {
    device->launch_graph(graph, both.data(), both.size());
    device->synchronize();
  }) == "INVALID_ARGUMENT");
  setenv("FAKE_CUDA_MAPS", "0", 1);
  const auto older = open();
  CHECK(!older->info().has_tensor_maps);
  unsetenv("FAKE_CUDA_MAPS");
}

// A list of calls of products, each with its operands.
static std::string list_of(const std::vector<std::pair<uint32_t, std::vector<CUdeviceptr>>>& calls) {
  std::string list;
  for (const auto& [product, operands] : calls) {
    const auto count = static_cast<uint32_t>(operands.size());
    const LaunchHead head{product, {0, 0, 0}, {0, 0, 0}, count, 8 * count, kProduct};
    list.append(reinterpret_cast<const char*>(&head), sizeof head);
    list.append(reinterpret_cast<const char*>(operands.data()), 8 * count);
  }
  return list;
}

static void products() {
  setenv("EAGRE_CUDA_DRIVER", FAKE_CUDA, 1);
  const auto device = open();
  // [2, 3] times [3, 2] in rows, with a bias and relu.
  ProductShape shape{ProductType::kFloat32, false, false, true, true, 2, 2, 3, 1, 0, 0, 16};
  CHECK(code_of([&] { device->product(shape); }) == "FAILED_PRECONDITION");
  CHECK(code_of([&] { device->open_products({}); }) == "UNAVAILABLE");
  CHECK(code_of([&] { device->open_products({"/no/such/libcublasLt.so", FAKE_CUDA}); }) == "UNAVAILABLE");
  setenv("FAKE_CUBLASLT_FAIL", "cublasLtCreate:1", 1);
  CHECK(code_of([&] { device->open_products({FAKE_CUBLASLT}); }) == "UNAVAILABLE");
  setenv("FAKE_CUBLASLT_FAIL", "", 1);
  CHECK(device->open_products({"/no/such/libcublasLt.so", FAKE_CUBLASLT}).version() == "12.9.1");

  const uint32_t product = device->product(shape);
  CHECK(product != 0 && device->workspace(product) == 0);
  const CUdeviceptr a = device->allocate(24), b = device->allocate(24), bias = device->allocate(16), y = device->allocate(16), z = device->allocate(16);
  const std::vector<float> left{1, 2, 3, 4, 5, 6}, right{1, 0, 0, 1, 1, 1}, added{10, -8};
  device->write(a, left.data(), 24);
  device->write(b, right.data(), 24);
  device->write(bias, added.data(), 8);
  const std::string list = list_of({{product, {a, b, bias, y}}});
  const std::vector<float> expected{14, 0, 20, 3};
  device->launch_all(list.data(), list.size());
  CHECK(read(*device, y, 4) == expected);
  // The same with both transposed.
  shape.transpose_a = shape.transpose_b = true;
  const std::vector<float> left_turned{1, 4, 2, 5, 3, 6}, right_turned{1, 0, 1, 0, 1, 1};
  const uint32_t turned = device->product(shape);
  device->write(a, left_turned.data(), 24);
  device->write(b, right_turned.data(), 24);
  const std::string other = list_of({{turned, {a, b, bias, z}}});
  device->launch_all(other.data(), other.size());
  CHECK(read(*device, z, 4) == expected);

  // In a graph, with other memory, and with what a product has not.
  const std::string both = list_of({{turned, {a, b, bias, y}}, {turned, {a, b, bias, z}}});
  const uint32_t graph = device->make_graph(both.data(), both.size());
  device->fill(y, 0, 16);
  CHECK(graph != 0 && device->launch_graph(graph, both.data(), both.size()) && read(*device, y, 4) == expected);
  const std::string moved = list_of({{turned, {a, b, bias, z}}, {turned, {a, b, bias, y}}});
  device->fill(y, 0, 16);
  device->fill(z, 0, 16);
  CHECK(device->launch_graph(graph, moved.data(), moved.size()) && read(*device, y, 4) == expected && read(*device, z, 4) == expected);
  const std::string one = list_of({{turned, {a, b, bias, y}}}), same = list_of({{turned, {a, b, bias, y}}, {turned, {a, b, bias, y}}});
  CHECK(!device->launch_graph(graph, one.data(), one.size()));
  // What a graph cannot do is done without it, and told the next time.
  const auto breaks = [&](const std::string& list) {
    device->fill(y, 0, 16);
    device->settle();
    const uint32_t broken = device->make_graph(same.data(), same.size());
    const bool is_launched = device->launch_graph(broken, list.data(), list.size());
    device->settle();
    return is_launched && !device->launch_graph(broken, same.data(), same.size());
  };
  const std::string odd = list_of({{turned, {a, b, bias, z}}, {product, {a, b, bias, y}}});
  CHECK(breaks(odd) && read(*device, y, 4) != expected);
  const auto error_of = [&](const std::string& wrong) {
    return code_of([&] {
      device->launch_all(wrong.data(), wrong.size());
      device->synchronize();
    });
  };
  for (const std::string& wrong : {list_of({{99, {a, b, bias, y}}}), list_of({{turned, {a, b, bias}}}), list_of({{turned, {a, b, bias, y, z}}}),
                                   list_of({{turned, {a, b, bias, 12345}}}), list_of({{turned, {a, b + 16, bias, y}}}), list_of({{turned, {a, b, bias + 4, y}}})})
    CHECK(error_of(wrong) == "INVALID_ARGUMENT");
  LaunchHead head;
  std::string none = list;
  std::memcpy(&head, none.data(), sizeof head);
  head.kind = 2;
  std::memcpy(&none[0], &head, sizeof head);
  CHECK(code_of([&] { device->launch_all(none.data(), none.size()); }) == "INVALID_ARGUMENT");

  // What cannot be captured is no graph; what fails is told.
  for (const char* call : {"cuStreamBeginCapture_v2:900", "cuStreamEndCapture:901"}) {
    setenv("FAKE_CUDA_FAIL", call, 1);
    CHECK(device->make_graph(both.data(), both.size()) == 0);
  }
  setenv("FAKE_CUDA_FAIL", "cuGraphAddChildGraphNode:1", 1);
  CHECK(code_of([&] { device->make_graph(both.data(), both.size()); }) == "INVALID_ARGUMENT CUDA_ERROR_INVALID_VALUE");
  for (const char* call : {"cuStreamEndCapture:901:2", "cuGraphExecChildGraphNodeSetParams:910"}) {
    setenv("FAKE_CUDA_FAIL", call, 1);
    CHECK(breaks(both));
    setenv("FAKE_CUDA_FAIL", "", 1);
    CHECK(read(*device, y, 4) == expected);
  }
  setenv("FAKE_CUBLASLT_FAIL", "cublasLtMatmul:13", 1);
  CHECK(error_of(both) == "INTERNAL CUBLAS_STATUS_EXECUTION_FAILED");
  CHECK(device->make_graph(both.data(), both.size()) == 0);
  setenv("FAKE_CUBLASLT_FAIL", "", 1);
  setenv("FAKE_CUBLASLT_NONE", "1", 1);
  CHECK(device->product(shape) == 0);
  setenv("FAKE_CUBLASLT_NONE", "", 1);
  for (const auto& change : std::vector<std::function<void(ProductShape&)>>{[](auto& s) { s.rows = 0; }, [](auto& s) { s.depth = uint64_t(1) << 32; },
                                                                           [](auto& s) { s.alignment = 12; }, [](auto& s) { s.type = static_cast<ProductType>(5); },
                                                                           [](auto& s) { s.batches = 1 << 30, s.stride_a = uint64_t(1) << 50; }}) {
    ProductShape wrong = shape;
    change(wrong);
    CHECK(code_of([&] { device->product(wrong); }) == "INVALID_ARGUMENT");
  }

  // A deep one has a workspace, which has to be whole.
  const uint32_t deep = device->product({ProductType::kFloat64, false, true, false, false, 1, 1, 64, 2, 0, 64, 8});
  CHECK(deep != 0 && device->workspace(deep) > 0);
  const CUdeviceptr x = device->allocate(1024), space = device->allocate(device->workspace(deep));
  const std::vector<double> twos(128, 2);
  device->write(x, twos.data(), 1024);
  const std::string with_space = list_of({{deep, {x, x, y, space}}}), cut_short = list_of({{deep, {x, x, y, space + 8}}});
  device->launch_all(with_space.data(), with_space.size());
  double sums[2] = {};
  device->start_read(y, 16)->finish(sums);
  CHECK(sums[0] == 256 && sums[1] == 256);
  CHECK(error_of(cut_short) == "INVALID_ARGUMENT");

  // Graphs keep what they have captured.
  CHECK(device->launch_graph(graph, both.data(), both.size()));
  device->drop_product(turned);
  CHECK(code_of([&] { device->drop_product(turned); }) == "INVALID_ARGUMENT");
  CHECK(code_of([&] {
    device->launch_graph(graph, both.data(), both.size());
    device->synchronize();
  }) == "INVALID_ARGUMENT");
  CHECK(read(*device, z, 4) == expected);
  device->close();
  CHECK(code_of([&] { device->product(shape); }) == "FAILED_PRECONDITION");
}

// Jobs run one by one and in their order, on whichever thread, also where the caller waits at all times and while others fail.
static void launcher() {
  for (int round = 0; round < 200; round++) {
    std::vector<int> seen;
    bool is_busy = false;
    Launcher launcher([] {});
    for (int i = 0; i < 300; i++) {
      launcher.add([&, i] {
        if (std::exchange(is_busy, true)) std::abort();
        seen.push_back(i);
        is_busy = false;
        if (i == 7 || i == 50) throw Failure("INTERNAL", std::to_string(i));
      });
      if (i % (round + 1) == round) {
        launcher.finish();
        CHECK(seen.size() == static_cast<size_t>(i) + 1);
      }
      if (i % 100 == 99) std::this_thread::sleep_for(std::chrono::microseconds(round % 3 * 40));
    }
    launcher.finish();
    CHECK(seen.size() == 300 && std::is_sorted(seen.begin(), seen.end()) && launcher.has_failed());
    std::string said;
    try {
      std::rethrow_exception(launcher.take_failure());
    } catch (const Failure& failure) {
      said = failure.what();
    }
    // Only the first failure is kept.
    CHECK(said == "7" && !launcher.has_failed() && launcher.take_failure() == nullptr);
    launcher.add([&] { seen.clear(); });
    if (round % 2 == 0) launcher.finish();
  }
}

static void injections() {
  const auto device = open();
  const CUdeviceptr x = device->allocate(64);
  float value = 5;
  const struct {
    const char* call;
    std::function<void()> body;
  } cases[] = {
      {"cuMemHostAlloc:2", [&] { device->write(x, &value, 4); }},
      {"cuMemAllocAsync:2", [&] { device->allocate(8); }},
      {"cuEventCreate:2", [&] { device->record(); }},
      {"cuEventRecord:2", [&] { device->record(); }},
      {"cuMemcpyHtoDAsync_v2:2", [&] { device->write(x, &value, 4); }},
      {"cuMemcpyDtoHAsync_v2:2", [&] { device->start_read(x, 4); }},
      {"cuEventRecord:2", [&] { device->start_read(x, 4); }},
      {"cuMemcpyDtoDAsync_v2:2", [&] { device->copy(x, x + 32, 4); }},
      {"cuMemsetD8Async:2", [&] { device->fill(x, 0, 4); }},
      {"cuStreamSynchronize:2", [&] { device->synchronize(); }},
      {"cuMemGetInfo_v2:2", [&] { device->free_bytes(); }},
  };
  for (const auto& [call, body] : cases) {
    setenv("FAKE_CUDA_FAIL", call, 1);
    CHECK(code_of(body) == "RESOURCE_EXHAUSTED CUDA_ERROR_OUT_OF_MEMORY");
    setenv("FAKE_CUDA_FAIL", "", 1);
    device->write(x, &value, 4);
    CHECK(read(*device, x, 1)[0] == 5);
  }
  setenv("FAKE_CUDA_FAIL", "cuStreamSynchronize:4711", 1);
  CHECK(code_of([&] { device->synchronize(); }) == "UNKNOWN CUDA_ERROR_4711");
  setenv("FAKE_CUDA_FAIL", "", 1);
}

static void groups() {
  setenv("FAKE_CUDA_DEVICES", "3", 1);
  setenv("EAGRE_CUDA_DRIVER", FAKE_CUDA, 1);
  std::vector<std::shared_ptr<Device>> devices;
  for (int i = 0; i < 3; i++) devices.push_back(std::make_shared<Device>(Driver::open(FAKE_CUDA), i));
  const auto make = [&] { return std::make_unique<Group>(devices); };
  setenv("EAGRE_NCCL_LIBRARY", "/no/such/libnccl.so.2", 1);
  CHECK(code_of(make) == "UNIMPLEMENTED");
  setenv("EAGRE_NCCL_LIBRARY", FAKE_CUDA, 1);
  CHECK(code_of(make) == "UNIMPLEMENTED");
  setenv("EAGRE_NCCL_LIBRARY", FAKE_NCCL, 1);
  CHECK(code_of([&] { Group({devices[0]}); }) == "INVALID_ARGUMENT");
  CHECK(code_of([&] { Group({devices[0], devices[1], devices[0]}); }) == "INVALID_ARGUMENT");
  for (const char* call : {"cuDeviceGetMemPool", "cuMemPoolSetAccess"}) {
    setenv("FAKE_CUDA_FAIL", (std::string(call) + ":801").c_str(), 1);
    CHECK(code_of(make) == "UNIMPLEMENTED CUDA_ERROR_801");
    setenv("FAKE_CUDA_FAIL", "", 1);
  }
  for (const char* call : {"ncclGetUniqueId", "ncclCommInitRankConfig"}) {
    setenv("FAKE_NCCL_FAIL", (std::string(call) + ":1").c_str(), 1);
    CHECK(code_of(make) == "UNAVAILABLE");
    setenv("FAKE_NCCL_FAIL", "", 1);
  }
  auto group = make();
  GroupSum sum{kNcclFloat32, 4, {}, {}}, more{kNcclInt64, 1, {}, {}};
  for (int i = 0; i < 3; i++) {
    const float values[] = {1.0f + static_cast<float>(i), 10, static_cast<float>(-i), 0.5f};
    const int64_t number = (int64_t{1} << 40) + i;
    sum.from.push_back(devices[i]->allocate(16));
    sum.to.push_back(devices[i]->allocate(16));
    more.from.push_back(devices[i]->allocate(8));
    devices[i]->write(sum.from[i], values, sizeof values);
    devices[i]->write(more.from[i], &number, sizeof number);
  }
  more.to = more.from;
  group->all_reduce({});
  group->all_reduce({sum, more});
  // What is called before is summed, what is called behind is not.
  for (const auto& [i, device] : {std::pair(0, devices[0]), std::pair(2, devices[2])}) device->fill(sum.from[i], 0, 16);
  for (int i = 2; i >= 0; i--) {
    CHECK((read(*devices[i], sum.to[i], 4) == std::vector<float>{6, 30, -3, 1.5f}));
    int64_t number = 0;
    devices[i]->start_read(more.to[i], 8)->finish(&number);
    CHECK(number == (int64_t{3} << 40) + 3);
  }
  GroupSum wrong = sum;
  wrong.count = 5;
  CHECK(code_of([&] { group->all_reduce({wrong}); }) == "INVALID_ARGUMENT");
  wrong = sum;
  wrong.to[1] = sum.to[0];
  CHECK(code_of([&] { group->all_reduce({wrong}); }) == "INVALID_ARGUMENT");
  wrong.to.pop_back();
  CHECK(code_of([&] { group->all_reduce({wrong}); }) == "INVALID_ARGUMENT");
  // What fails ends the group, and another may be made.
  for (const char* setting : {"FAKE_NCCL_FAIL", "FAKE_NCCL_LATE"}) {
    setenv(setting, "ncclAllReduce:1", 1);
    CHECK(code_of([&] { group->all_reduce({sum}); }) == "UNAVAILABLE");
    setenv(setting, "", 1);
    CHECK(code_of([&] { group->all_reduce({sum}); }) == "FAILED_PRECONDITION");
    group = make();
  }
  group->all_reduce({sum});
  group->close();
  CHECK(code_of([&] { group->all_reduce({sum}); }) == "FAILED_PRECONDITION");
  CHECK((read(*devices[1], sum.to[1], 4) == std::vector<float>{2, 10, -1, 0.5f}));
  for (const auto& device : devices) device->close();
  CHECK(code_of(make) == "FAILED_PRECONDITION");
  setenv("FAKE_CUDA_DEVICES", "1", 1);
}

// Last: the fake driver is lost with it, as the driver is.
static void ends() {
  auto closed = open();
  const CUdeviceptr memory = closed->allocate(16);
  const auto read = closed->start_read(memory, 16);
  closed->close();
  closed->close();
  CHECK(code_of([&] { closed->allocate(16); }) == "FAILED_PRECONDITION");
  CHECK(code_of([&] { read->is_done(); }) == "FAILED_PRECONDITION");

  const auto device = open();
  const CUdeviceptr x = device->allocate(16);
  const std::string image = fake_image();
  const uint32_t overrun = device->function(device->load(image.data(), image.size()), "overrun");
  float value = 5;
  device->write(x, &value, 4);
  const auto transfer = device->start_read(x, 4);
  // It writes behind 16 bytes; that is known when somebody waits.
  const unsigned block[] = {8, 1, 1};
  device->launch(overrun, kOne, block, &x, sizeof x, 1);
  device->fill(x, 0, 4);
  CHECK(code_of([&] { device->synchronize(); }) == "UNAVAILABLE CUDA_ERROR_ILLEGAL_ADDRESS");
  const std::string lost = "UNAVAILABLE CUDA_ERROR_ILLEGAL_ADDRESS";
  CHECK(code_of([&] { device->write(x, &value, 4); }) == lost);
  CHECK(code_of([&] { device->allocate(4); }) == lost);
  CHECK(code_of([&] { device->free(x); }) == lost);
  CHECK(code_of([&] { device->launch(overrun, kOne, block, &x, sizeof x, 1); }) == lost);
  CHECK(code_of([&] { transfer->finish(&value); }) == lost);
  CHECK(code_of([&] { open(); }) == lost);
}

static void compiler() {
  CHECK(code_of([] { Compiler::open({"/no/such/libnvrtc.so", "libm.so.6"}); }) == "UNAVAILABLE");
  const auto compiler = Compiler::open({"/no/such/libnvrtc.so", FAKE_CUDA});
  CHECK(compiler->path() == FAKE_CUDA && compiler->major() == 12);
  CHECK(code_of([&] { compiler->compile("", "k", 75); }) == "UNIMPLEMENTED");
}

int main() {
  opening();
  memory();
  modules();
  graphs();
  maps();
  products();
  launcher();
  injections();
  compiler();
  groups();
  ends();
  if (failures == 0) std::printf("ok\n");
  return failures == 0 ? 0 : 1;
}
