/* Stands in for libcupti and libcuda where there is no GPU: calls that only tell their subscriber. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  int site;
  const char *name;
  const void *parameters;
  void *rest[6];
} CallbackData;
typedef void (*Callback)(void *, unsigned, unsigned, const CallbackData *);

static const char *NAMES[] = {
    0, "cuInit", "cuStreamSynchronize", "cuCtxSynchronize_v2", "cuEventSynchronize", "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2", "cuMemcpyAsync", "cuMemcpyDtoH_v2", "cuLaunchKernel",
    "cuLaunchKernelEx", "cuGraphLaunch", "cuStreamDestroy_v2",
};
enum { COUNT = sizeof NAMES / sizeof *NAMES };
static int enabled[COUNT];
static long delivered[COUNT];
static long switches;
static unsigned long long context = 1;
static Callback subscriber;

int cuptiSubscribe(void **handle, Callback callback, void *user) {
  (void)user;
  if (subscriber || getenv("FAKE_CUPTI_BUSY")) return 39;
  subscriber = callback;
  *handle = (void *)1;
  return 0;
}
int cuptiUnsubscribe(void *handle) {
  (void)handle;
  subscriber = 0;
  return 0;
}
int cuptiEnableCallback(unsigned on, void *handle, unsigned domain, unsigned id) {
  (void)handle;
  if (domain != 1 || id >= COUNT) return 1;
  enabled[id] = on;
  switches++;
  return 0;
}
int cuptiGetCallbackName(unsigned domain, unsigned id, const char **name) {
  if (domain != 1 || id == 0 || id >= COUNT) return 1;
  *name = NAMES[id];
  return 0;
}

/* An odd address is pageable memory, which the driver does not know. */
int cuPointerGetAttribute(unsigned *value, int attribute, unsigned long long pointer) {
  if (attribute != 2 || pointer % 2) return 1;
  *value = 1;
  return 0;
}

/* Activity records: a kernel begins where its launch ends, and is told of when it and all in its buffer have ended, or without
   an end by a forced flush. As CUPTI does, buffers are asked for and given back on a thread of its own while its lock is held, which launches need too. */
#include <pthread.h>
typedef struct {
  unsigned kind, pad[3];
  unsigned long long start, end, rest;
  unsigned device, more[41];
} Kernel;
static pthread_mutex_t records_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*ask)(unsigned char **, size_t *, size_t *);
static void (*give)(void *, unsigned, unsigned char *, size_t, size_t);
static int recording[64];
static unsigned char *records;
static size_t room, filled;
static long given_back, registered;
static unsigned kernel_takes, kernel_waits; /* nanoseconds: it runs, and pass before it begins */

static unsigned long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}
static void *ask_on_a_thread(void *unused) {
  size_t most;
  ask(&records, &room, &most);
  return unused;
}
static void *give_on_a_thread(void *unused) {
  give(0, 0, records, room, filled);
  return unused;
}
static void on_a_thread(void *(*run)(void *)) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
}
static void give_records(void) {
  if (filled) on_a_thread(give_on_a_thread), given_back++;
  records = 0, filled = 0;
}
static void record_kernel(void) {
  if (!recording[10]) return;
  pthread_mutex_lock(&records_lock);
  if (!records || filled + sizeof(Kernel) > room) {
    give_records();
    on_a_thread(ask_on_a_thread);
  }
  if (records) {
    unsigned long long begin = now_ns() + kernel_waits;
    Kernel kernel = {10, {0}, begin, begin + kernel_takes, 0, context - 1, {0}};
    memcpy(records + filled, &kernel, sizeof kernel);
    filled += sizeof kernel;
  }
  pthread_mutex_unlock(&records_lock);
}
int cuptiActivityRegisterCallbacks(void *request, void *complete) {
  ask = request, give = complete, registered++;
  return getenv("FAKE_CUPTI_NO_RECORDS") ? 15 : 0;
}
int cuptiActivityEnable(unsigned kind) { return recording[kind] = 1, 0; }
int cuptiActivityDisable(unsigned kind) { return recording[kind] = 0, 0; }
int cuptiActivityFlushAll(unsigned flag) {
  pthread_mutex_lock(&records_lock);
  unsigned long long now = now_ns();
  int running = 0;
  for (Kernel *kernel = (Kernel *)records; kernel < (Kernel *)(records + filled); kernel++)
    if (kernel->end > now) running = 1, kernel->end = flag ? 0 : kernel->end;
  if (flag || !running) give_records();
  pthread_mutex_unlock(&records_lock);
  return 0;
}
int cuptiActivityGetNextRecord(unsigned char *buffer, size_t length, unsigned char **record) {
  unsigned char *next = *record ? *record + sizeof(Kernel) : buffer;
  if (next >= buffer + length) return 12;
  *record = next;
  return 0;
}
int cuptiGetTimestamp(unsigned long long *time) { return *time = now_ns(), 0; }
int cuptiGetVersion(unsigned *version) {
  *version = getenv("FAKE_CUPTI_VERSION") ? atoi(getenv("FAKE_CUPTI_VERSION")) : 130001;
  return 0;
}
int cuptiGetDeviceId(unsigned long long of, unsigned *device) { return *device = of - 1, 0; }
int fake_recording(void) { return recording[10]; }
long fake_registered(void) { return registered; }
void fake_set_kernel(unsigned waits, unsigned takes) { kernel_waits = waits, kernel_takes = takes; }

/* Calls of a thread that its subscriber saw begin and not end, for their callback was turned off meanwhile: with four of
   them an H200's CUPTI (CUDA 13.0) tells of the end of calls alone. */
enum { MOST_OPEN = 4 };
static __thread int open_calls;

/* The signal that comes while the next call waits, if any. */
static int signal_in_wait;
void fake_signal_in_wait(int number) { signal_in_wait = number; }

static void call_with(const char *name, const void *parameters, unsigned microseconds) {
  CallbackData data = {0, name, parameters, {0, 0, (void *)context}};
  unsigned id = 1;
  while (id < COUNT && strcmp(NAMES[id], name)) id++;
  int begins = subscriber && enabled[id] && open_calls < MOST_OPEN;
  if (begins) open_calls++, delivered[id]++, subscriber(0, 1, id, &data);
  struct timespec pause = {0, microseconds * 1000};
  if (microseconds) nanosleep(&pause, 0);
  if (microseconds && signal_in_wait) raise(signal_in_wait), signal_in_wait = 0;
  data.site = 1;
  if (!subscriber || !enabled[id]) return;
  if (begins) open_calls--;
  subscriber(0, 1, id, &data);
}
static void call(const char *name, unsigned long long to, unsigned long long from, unsigned long long size,
                 unsigned microseconds) {
  unsigned long long parameters[8] = {to, from, size};
  call_with(name, parameters, microseconds);
}

/* Streams are numbers below 64; each may be busy, and captured. */
static unsigned long long busy, captured, asked_while_captured;
static int capture_mode;
int cuThreadExchangeStreamCaptureMode(int *mode) {
  int before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return 0;
}
int cuStreamIsCapturing(unsigned long long stream, int *status) {
  *status = captured >> stream & 1;
  return 0;
}
int cuStreamQuery(unsigned long long stream) {
  if (captured >> stream & 1 || capture_mode != 2) asked_while_captured++;
  return busy >> stream & 1 ? 600 : 0;
}
void fake_set_busy(int stream, int on) { busy = on ? busy | 1ull << stream : busy & ~(1ull << stream); }
void fake_set_captured(int stream, int on) { captured = on ? captured | 1ull << stream : captured & ~(1ull << stream); }
void fake_set_context(int number) { context = number; }
int fake_wrongly_asked(void) { return asked_while_captured || capture_mode; }
long fake_delivered(const char *name) {
  unsigned id = 1;
  while (id < COUNT && strcmp(NAMES[id], name)) id++;
  return delivered[id];
}
long fake_switches(void) { return switches; }
static unsigned launch_takes; /* microseconds */
void fake_set_launch_takes(unsigned microseconds) { launch_takes = microseconds; }
void fake_launch(int stream) {
  unsigned long long parameters[8] = {[5] = stream};
  call_with("cuLaunchKernel", parameters, launch_takes);
  record_kernel();
}
void fake_launch_often(int times) {
  while (times--) fake_launch(0);
}
void fake_launch_ex(int stream) {
  unsigned long long config[8] = {[4] = stream};
  unsigned long long parameters[8] = {(unsigned long long)config};
  call_with("cuLaunchKernelEx", parameters, 0);
}
void fake_graph(int stream) {
  unsigned long long parameters[8] = {0, stream};
  call_with("cuGraphLaunch", parameters, 0);
}
void fake_destroy(int stream) { call("cuStreamDestroy_v2", stream, 0, 0, 0); }
void fake_wait(int stream) { call("cuStreamSynchronize", stream, 0, 0, 50); }

int fake_subscribed(void) { return subscriber != 0; }

enum { PAGEABLE = 1, PINNED = 2, DEVICE = 4 };
static int debug_mode;
int fake_get_debug_mode(void) { return debug_mode; }
void fake_set_debug_mode(int mode) { debug_mode = mode; }

/* As torch does once an operation that synchronized is done. */
static void warn(void) {
  if (!debug_mode) return;
  int (*warn_python)(void *, const char *, long) = dlsym(RTLD_DEFAULT, "PyErr_WarnEx");
  void **category = dlsym(RTLD_DEFAULT, "PyExc_UserWarning");
  warn_python(*category, "called a synchronizing CUDA operation (Triggered internally at CUDAFunctions.cpp:1.)", 1);
}

/* What torch was seen to call in each operation. */
double fake_item(double value) {
  call("cuMemcpyDtoHAsync_v2", PINNED, DEVICE, 4, 0);
  call("cuStreamSynchronize", 0, 0, 0, 50);
  warn();
  return value;
}
void fake_tolist(void) {
  call("cuMemcpyDtoHAsync_v2", PAGEABLE, DEVICE, 24, 50);
  call("cuStreamSynchronize", 0, 0, 0, 0);
  warn();
}
void fake_upload(int pinned, long size, int non_blocking) {
  call("cuMemcpyHtoDAsync_v2", DEVICE, pinned ? PINNED : PAGEABLE, size, 0);
  if (non_blocking) return;
  call("cuStreamSynchronize", 0, 0, 0, 0);
  warn();
}
void fake_kernel(void) { call("cuLaunchKernel", 0, 0, 0, 0); }
void fake_synchronize(void) { call("cuCtxSynchronize_v2", 0, 0, 0, 50); }

__attribute__((destructor)) static void check(void) {
  if (subscriber) fputs("fake_cuda: left subscribed at exit\n", stderr);
  if (recording[10]) fputs("fake_cuda: left recording at exit\n", stderr);
}
