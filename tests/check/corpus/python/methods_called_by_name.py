import torch


class Callback:
    def on_begin(self, trainer): ...

    def on_step(self, trainer, logs): ...

    def on_metrics(self, trainer, metrics): ...

    def on_end(self, trainer): ...


class Printer(Callback):
    def on_step(self, trainer, logs):
        print(logs["loss"].item())  # expect: SYN101

    def on_metrics(self, trainer, metrics):
        print(" ".join(f"{name}={value:.4f}" for name, value in metrics.items()))  # silent: of host numbers


class Stopper(Callback):
    def on_step(self, trainer, logs):
        if logs["norm"].isnan():  # expect: SYN104
            trainer.stops = True

    def on_end(self, trainer):
        print(trainer.best.item())  # expect: SYN101


class Watcher(Callback):
    def on_metrics(self, trainer, metrics):
        if metrics["accuracy"] > 0.5:  # silent
            trainer.stops = True


class Keeper(Callback):
    def on_begin(self, trainer):
        trainer.best = torch.zeros((), device="cuda")


class Trainer:
    def __init__(self, callbacks):
        self.callbacks = callbacks
        self.stops = False

    def fire(self, event, *args):
        for callback in self.callbacks:
            getattr(callback, event)(self, *args)

    def train(self):
        self.fire("on_begin")
        loss = torch.ones(4, device="cuda").sum()
        self.fire("on_step", {"loss": loss, "norm": loss})
        self.fire("on_metrics", {"accuracy": 0.5})
        self.fire("on_end")


class Handler:
    def __init__(self, callbacks):
        self.callbacks = callbacks

    def call(self, event, *args, **more):
        for callback in self.callbacks:
            function = getattr(callback, event, None)
            if function is not None:
                function(*args, **more)


class Timer(Callback):
    def on_step(self, trainer, logs):
        if logs > 0:  # expect: SYN104
            trainer.stops = True

    def on_metrics(self, trainer, metrics):
        if metrics > 0:  # silent
            trainer.stops = True


class Meters:
    def __init__(self):
        self.loss = torch.ones(2, device="cuda")
        self.count = torch.ones(2)

    def read(self, name):
        return getattr(self, name)


def total(meters: Meters):
    return meters.read("loss").sum().item()  # expect: SYN101


def kept(meters: Meters, name: str):
    return getattr(meters, name)().item()  # silent: no caller shows the name


Trainer([Printer(), Stopper(), Watcher(), Keeper()]).train()
handler = Handler([Timer(), Timer()])
handler.call("on_step", None, logs=torch.ones(4, device="cuda").sum())
handler.call("on_metrics", None, metrics=0.5)
total(Meters())
