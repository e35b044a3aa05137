"""change_program.py FOLDER OUT: ranks that change the plan of their loaders (test_change.py): to different plans, at
different places, where one of them cannot, and at last as they should. Each writes what it was told to OUT.RANK."""
import sys

import torch.distributed as dist

import leat

folder, out = sys.argv[1:]
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
plan = leat.Plan([f"{folder}/a", f"{folder}/b"], 16, seed=3)
loader = leat.Loader(plan, 4, rank=rank, world=world, framework="numpy")
said = []


def told(plan, **options):
    try:
        loader.change(plan, **options)
    except (ValueError, leat.Error) as error:
        said.append(str(error).splitlines()[0])
    else:
        said.append("changed")


next(loader)
told(plan.change(48, weights=[1, 3 if rank == 1 else 2]))
next(loader)
if rank > 0:
    next(loader)
told(plan.change(48, weights=[1, 2]))
if rank == 0:
    next(loader)
if rank == 2:  # it alone has changed, without asking the others
    loader.change(plan.change(60, weights=[1, 5]), group=False)
    loader._place, place = loader._place._replace(cursor=72), loader._place
    loader.plan = plan.change(61, weights=[1, 5]).change(62, weights=[5, 1])
told(plan.change(96, weights=[1, 2]))
if rank == 2:
    loader._place, loader.plan = place, plan.change(60, weights=[1, 5])
    loader.change(plan, group=False)
changed = plan.change(36, weights=[0, 1])
loader.change(changed)
with leat.Loader(changed, 4, rank=rank, world=world, framework="numpy", position=36) as other:
    batches = [(next(loader).inputs, next(other).inputs) for _ in range(6)]
said.append("the same" if all((a == b).all() for a, b in batches) else "others")
said.append(" ".join(str(int(a.sum())) for a, _ in batches))
with open(f"{out}.{rank}", "w", encoding="utf-8") as file:
    file.write("\n".join(said) + "\n")
dist.destroy_process_group()
