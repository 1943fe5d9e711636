"""A server of three worker processes and a scheduler thread: ``decode_server.py STEPS WARMUP``."""

import multiprocessing
import sys
import threading

import decode_worker


def main(steps, warmup):
    """Hand two prompts to each worker and wait for the answers."""
    spawn = multiprocessing.get_context("spawn")
    answers = spawn.Queue()
    queues = [spawn.Queue() for _ in range(3)]
    workers = [
        spawn.Process(target=decode_worker.serve, args=(number, queue, answers, steps, warmup))
        for number, queue in enumerate(queues)
    ]
    for worker in workers:
        worker.start()

    def schedule():
        for queue in queues:
            queue.put([[1, 2, 3, 4], [5, 6, 7, 8]])
            queue.put([[9, 10, 11], [12, 13, 14]])
            queue.put(None)

    scheduler = threading.Thread(target=schedule)
    scheduler.start()
    scheduler.join()
    print(sorted(answers.get() for _ in range(6)))
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
