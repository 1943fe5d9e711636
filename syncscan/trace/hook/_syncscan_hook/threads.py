"""Starts a thread of which the program sees nothing: `threading` does not list it, and it takes no signal."""

import _thread
import signal


def start_thread(function):
    """Run ``function()`` in a thread; returns ``join(timeout)``, which waits until the thread is gone.

    A thread that is still there when the interpreter goes is ended by force, which can abort the process.
    """
    # A signal that the program blocks, to wait for it, must not find a thread that takes it.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        if hasattr(_thread, "start_joinable_thread"):  # Python 3.13
            return _thread.start_joinable_thread(function, daemon=True).join
        return _start_with_lock(function)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _start_with_lock(function):
    begun = _thread.allocate_lock()
    begun.acquire()
    gone = []

    def run():
        gone.append(_thread._set_sentinel())  # the interpreter releases it, last of all
        gone[0].acquire()
        begun.release()
        function()

    def join(timeout):
        if begun.acquire(timeout=timeout):
            gone[0].acquire(timeout=timeout)

    _thread.start_new_thread(run, ())
    return join
