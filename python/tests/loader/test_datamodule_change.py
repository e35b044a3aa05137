"""leat.DataModule.change(): Lightning trains on the changed plan's batches, none of them twice or never, and goes on
with them after a checkpoint from before the change or after it; other weights come at the sample that the change
says."""
import pytest
from test_trainers import Model, lightning, trainer

import leat


class Changes(Model):
    """Changes the plan within these steps."""

    def __init__(self, changes):
        super().__init__()
        self.changes = changes

    def training_step(self, batch, batch_index):
        loss = super().training_step(batch, batch_index)
        if len(self.seen) in self.changes:
            self.trainer.datamodule.change(self.changes[len(self.seen)])
        return loss


def fit(model, module, folder, steps, **options):
    saves = lightning.callbacks.ModelCheckpoint(folder, filename="{step}", every_n_train_steps=1, save_top_k=-1)
    trainer(folder, max_steps=steps, callbacks=[saves]).fit(model, module, **options)
    return model.seen


@pytest.mark.parametrize("steps", [None, 4])
def test_change(folder, tmp_path, steps):
    plan = leat.Plan([(f"{folder}/a", 1), (f"{folder}/b", 1)], 16, seed=3)
    first = plan.change(20, weights=[0, 1])
    second = first.change(32, add=[(f"{folder}/c", 3)])
    batches = leat.Loader(second, 4)
    wanted = [int(next(batches).inputs.sum()) for _ in range(14)]
    unchanged = leat.Loader(plan, 4)
    assert wanted[:5] == [int(next(unchanged).inputs.sum()) for _ in range(5)]
    assert wanted[5:9] != [int(next(unchanged).inputs.sum()) for _ in range(4)]
    model = Changes({3: first, 6: second})
    assert fit(model, leat.DataModule(plan, 4, steps=steps), tmp_path, 14) == wanted
    for step in 2, 5, 9:
        saved = tmp_path / f"step={step}.ckpt"
        found = fit(Model(), leat.DataModule(second, 4, steps=steps), tmp_path / "again", 14, ckpt_path=saved,
                    weights_only=False)
        assert found == wanted[step:]
