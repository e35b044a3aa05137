/*
 * test_pack_overlay.c: packing on overlayfs, as containers have it: what is below is copied up when it is written,
 * renamed or linked. A new dataset; one that replaces a dataset of the layer below; a run that was stopped in the layer
 * below, at any call, and is resumed above it; a layer above that has no room. Always the bytes of an undisturbed run,
 * and nothing changes below. Needs root.
 */
#include <signal.h>
#include <sys/wait.h>

#include "packing.h"

static struct packing p;
static char lower[600], upper[560];

/* A fresh layer above, with this much room. */
static bool mount_overlay(unsigned long room, const char *more)
{
    char options[2048], folder[2][600];

    if (!mount_memory(upper, room))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        snprintf(folder[i], sizeof folder[i], "%s/%s", upper, i ? "work" : "files");
        make_folder(folder[i]);
    }
    snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s%s", lower, folder[0], folder[1], more);
    if (mount("overlay", p.work, "overlay", 0, options) == 0)
        return true;
    umount(upper);
    return false;
}

static void unmount_overlay(void)
{
    T_CHECK(umount(p.work) == 0);
    T_CHECK(umount(upper) == 0);
}

static enum leat_status pack(bool resume, bool force)
{
    struct leat_pack_report report;

    return packing_pack(&p, &(struct packing_run) { .name = p.name, .resume = resume, .force = force }, &report,
                        &t_err);
}

static void fresh(const char *more)
{
    T_CHECK(mount_overlay(16ul << 20, more));
    T_OK(pack(false, false));
    packing_go_on(&p); /* finished */
    T_STATUS(pack(false, false), LEAT_E_EXISTS);
    T_OK(pack(false, true));
    packing_go_on(&p);
    unmount_overlay();
}

/* Below is another dataset of this name. */
static void replaces(const char *more)
{
    struct small other = { .seed = 5 };
    char kept[600];

    snprintf(other.name, sizeof other.name, "%.590s/d", lower);
    snprintf(kept, sizeof kept, "%.500s/kept", p.folder);
    small_write(&other);
    copy_dataset(other.name, kept);
    T_CHECK(mount_overlay(16ul << 20, more));
    T_STATUS(pack(false, false), LEAT_E_EXISTS);
    T_OK(pack(false, true));
    packing_go_on(&p);
    T_EQ(verified(p.name), LEAT_OK);
    unmount_overlay();
    T_CHECK(same_dataset(other.name, kept));
    clear_folder(lower);
}

/* A run in the layer below that is killed after about so many microseconds; what is left of it is resumed above. */
static bool resumes(const char *more, unsigned micros)
{
    const char *before;
    pid_t child;
    int status;
    bool left;

    child = fork();
    if (child == 0) { /* the same names, so that what is below is what is seen above */
        if (!own_mounts() || mount(lower, p.work, NULL, MS_BIND, NULL) != 0)
            _exit(2);
        _exit(pack(false, false) != LEAT_OK);
    }
    usleep(micros);
    kill(child, SIGKILL);
    T_CHECK(waitpid(child, &status, 0) == child && (WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
    left = access(t_text("%.500s/d.partial.checkpoint", lower), F_OK) == 0;
    before = t_text("%s", listing(lower));
    T_CHECK(mount_overlay(16ul << 20, more));
    packing_go_on(&p);
    unmount_overlay();
    T_STR(listing(lower), before);
    clear_folder(lower);
    return left;
}

static void resumes_often(const char *more)
{
    unsigned left = 0;

    for (unsigned i = 0; i < 40; i++)
        left += resumes(more, 500 + 300 * i);
    fprintf(stderr, "%u of 40 runs below had a checkpoint\n", left);
}

/* The layer above is full. */
static void no_room(const char *more)
{
    unsigned fulls = 0;

    for (unsigned i = 1; i < 20; i++) {
        enum leat_status s;

        T_CHECK(mount_overlay((unsigned long)i * 50000, more));
        s = pack(false, false);
        fulls += s != LEAT_OK;
        packing_check(&p, s, &t_err);
        if (s != LEAT_OK)
            T_EQ(s, LEAT_E_NO_SPACE);
        T_CHECK(mount(NULL, upper, NULL, MS_REMOUNT, "size=16777216") == 0);
        packing_go_on(&p);
        unmount_overlay();
    }
    T_CHECK(fulls > 5 && fulls < 19);
}

int main(void)
{
    static const char *const kinds[] = { "", ",redirect_dir=off,index=off", ",metacopy=on,redirect_dir=on" };

    if (!own_mounts()) /* for one, where / is not a mount point: in a plain chroot */
        return t_skip("mounts of its own cannot be had here");
    packing_begin(&p);
    snprintf(lower, sizeof lower, "%.500s/lower", p.folder);
    snprintf(upper, sizeof upper, "%.500s/upper", p.folder);
    make_folder(lower);
    make_folder(upper);
    if (!mount_overlay(16ul << 20, ""))
        return t_skip("overlayfs cannot be mounted here");
    unmount_overlay();
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!mount_overlay(16ul << 20, kinds[i])) { /* not all are for users with a namespace of their own */
            fprintf(stderr, "overlayfs with \"%s\" cannot be mounted here\n", kinds[i]);
            continue;
        }
        unmount_overlay();
        fresh(kinds[i]);
        replaces(kinds[i]);
        resumes_often(kinds[i]);
        no_room(kinds[i]);
    }
    packing_end(&p);
    return t_end();
}
