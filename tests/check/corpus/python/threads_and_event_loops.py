"""Functions that run others in threads, pools and event loops hand arguments and results on."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import torch


def search(q):
    return (q @ q.T).amax(0)


def best(scores):
    return scores.max().item()  # expect: SYN101


async def summed(q):
    await asyncio.sleep(0)
    return q.sum(0)


async def serve(pool: ThreadPoolExecutor) -> None:
    q = torch.randn(4, 4, device="cuda")
    loop = asyncio.get_running_loop()
    print((await loop.run_in_executor(pool, search, q)).shape)  # silent
    found = await loop.run_in_executor(pool, search, q)
    print(found.tolist())  # expect: SYN102
    print((await asyncio.to_thread(search, q)).tolist())  # expect: SYN102
    print(pool.submit(search, q).result().tolist())  # expect: SYN102
    print(list(pool.map(search, [q]))[0].tolist())  # expect: SYN102
    task = asyncio.create_task(summed(q))
    if task and not task.done():  # silent
        print((await task).tolist())  # todo: SYN102
    first, number = await asyncio.gather(summed(q), asyncio.sleep(0, 3))
    print(first.tolist(), number)  # expect: SYN102 `first.tolist()`
    print((await asyncio.wait_for(summed(q), 1)).tolist())  # expect: SYN102
    thread = threading.Thread(target=best, args=(q,))
    thread.start()


def on_the_host():
    with ThreadPoolExecutor(2) as pool:
        return pool.submit(search, torch.randn(4, 4)).result().tolist()  # silent


class Chained:
    def __init__(self):
        self.pool, self.pending = ThreadPoolExecutor(1), None

    def load(self, last):
        return last

    def advance(self):
        self.pending = self.pool.submit(self.load, self.pending)


def main():
    asyncio.run(serve(ThreadPoolExecutor(1)))
