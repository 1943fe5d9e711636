"""A test of a counter lets statements run in few steps: they are not of a step."""

import torch


class Module(torch.nn.Module):
    def training_step(self, batch, batch_idx):
        loss = torch.ones(3, device="cuda").sum()
        if batch_idx % 100 == 0:
            print(loss.item())  # expect: SYN101 (once)
        if self.trainer.global_step % self.every == 0 and self.verbose:
            self.log_value(loss.item())  # expect: SYN101 (once)
        if not (self.step + 1) % 10:
            loss.tolist()  # expect: SYN102 (once)
        if (batch_idx + 1) % self.accumulation_steps == 0:
            loss.tolist()  # expect: SYN102 (step)
        if self.step % 4 == 0:
            self.optimizer.step()
            loss.tolist()  # expect: SYN102 (step)
        if self.step % 4 == 0:
            self.optimizers().step()
            loss.tolist()  # expect: SYN102 (step)
        if self.seen.value % self.log_interval == 0:
            loss.tolist()  # expect: SYN102 (once)
        if "%d" % log_interval == "0":
            loss.tolist()  # expect: SYN102 (step)
        if self.layer_idx % 2 == 0:
            loss.tolist()  # expect: SYN102 (step)
        if not (self.steps % self.save_every):
            loss.tolist()  # expect: SYN102 (once)
        if self.is_master and (batch_idx % 100 == 0 or self.count == self.total):
            loss.tolist()  # expect: SYN102 (once)
        if batch_idx % 100 == 0 or self.count != self.total:
            loss.tolist()  # expect: SYN102 (step)
        if batch_idx % 100 == 0 or self.mode == "all":
            loss.tolist()  # expect: SYN102 (step)
        if self.count == self.total:
            loss.tolist()  # expect: SYN102 (step)
        if self.metrics.should_log(self.step):
            loss.tolist()  # expect: SYN102 (once)
        if self.should_stop:
            loss.tolist()  # expect: SYN102 (step)
        if not self.is_accumulating and self.state["step_count"] % self.every == 0:
            loss.tolist()  # expect: SYN102 (once)
        if self.state["step_count"] % self.accumulation_steps == 0:
            loss.tolist()  # expect: SYN102 (step)
        if self.state["layer_count"] % 4 == 0:
            loss.tolist()  # expect: SYN102 (step)
        is_due = self.iter_num % self.every == 0
        if is_due and self.verbose_too:
            loss.tolist()  # expect: SYN102 (once)
        if not is_due:
            loss.tolist()  # expect: SYN102 (step)
        is_late = self.iter_num % self.every == 0
        is_late = self.late
        if is_late:
            loss.tolist()  # expect: SYN102 (step)
        should_log = self.metrics.should_log(self.step)
        if not should_log:
            return loss
        loss.tolist()  # expect: SYN102 (once)
        return loss

    def validation_step(self, batch, batch_idx):
        y = torch.ones(3, device="cuda")
        if batch_idx > 0 or self.current_epoch % 5 > 0:
            return y.tolist()  # expect: SYN102 (step)
        if self.step % 5:
            return y
        return y.cpu()  # expect: SYN105 (once)

    def test_step(self, batch, batch_idx):
        y = torch.ones(3, device="cuda")
        if self.hidden or batch_idx > 0:
            return
        y.cpu()  # expect: SYN105 (once)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            if i % 2 == 0:
                torch.cuda.synchronize()  # expect: SYN401 (step)
            if i == 0:
                torch.cuda.synchronize()  # expect: SYN401 (step)


def train(train_loader, model):
    for i, batch in enumerate(train_loader):
        loss = torch.ones(3, device="cuda").sum()
        loss.backward()
        if i % 10 == 0:
            print(loss.item())  # expect: SYN101 (once)
        if i == 0:
            print(loss.item())  # expect: SYN101 (once)
        if i % 10:
            continue
        print(loss.item())  # expect: SYN101 (once)


def train(model, loader, every, freq, total):
    for i, batch in enumerate(loader):
        i_accum = i // freq
        loss = model(batch["x"].cuda()).sum()  # expect: SYN302 (step)
        loss.backward()
        if model.is_main and (i_accum % every == 0 or i_accum + 1 == total):
            loss.tolist()  # expect: SYN102 (once)
        if i_accum % freq == 0 or model.is_main:
            loss.tolist()  # expect: SYN102 (step)


class Callback:
    def on_train_batch_end(self, trainer, outputs, batch):
        y = torch.ones(3, device="cuda")
        if trainer.global_step < self.warmup_steps:
            y.tolist()  # expect: SYN102 (once)
        if trainer.global_step >= self.warmup_steps:
            y.tolist()  # expect: SYN102 (step)
        if trainer.global_step < self.most_steps:
            y.tolist()  # expect: SYN102 (step)
        if (trainer.global_step - 1) % self.every != 0 or self.last == trainer.global_step:
            return
        outputs.sum().backward()
        y.tolist()  # expect: SYN102 (once)


def tasks(model, batches, loader, optimizer, optimizer_step, n):
    for task, batch in batches:
        loss = model(batch["x"].cuda()).sum()
        loss.backward()
        if task == "mlm":
            loss.tolist()  # expect: SYN102 (step)
    for i, batch in enumerate(loader):
        loss = model(batch["x"].cuda()).sum()  # expect: SYN302 (step)
        temperature = 1.0 - 0.01 * i
        scaled = loss * i
        if temperature < 0.5:
            loss.tolist()  # expect: SYN102 (step)
        if scaled.dim() == 0 and scaled == 0:  # expect: SYN104 (step)
            loss.tolist()  # expect: SYN102 (step)
        if (i + 1) % n == 0:
            loss.tolist()  # expect: SYN102 (step)
            optimizer_step(optimizer)
        if (i + 1) % n != 0:
            loss.backward()
        else:
            loss.tolist()  # expect: SYN102 (step)
            loss.backward()
