#!/bin/sh
# slurm.sh: a cluster of two nodes on this machine, for a script that sources it: slurm_start FOLDER, slurm_stop. Its
# daemons run as `nobody` if the script runs as root, else as the user; no munge, no cgroups, no accounting.
slurm_user=$(id -un)
[ "$slurm_user" != root ] || slurm_user=nobody

as_user() {
    if [ "$(id -un)" = "$slurm_user" ]; then
        "$@"
    else
        setpriv --reuid "$slurm_user" --regid nogroup --clear-groups "$@"
    fi
}

slurm_node() { # NAME
    as_user slurmd -N "$1" -f "$SLURM_CONF"
}

slurm_start() { # FOLDER
    slurm=$1
    mkdir -p "$slurm/state" "$slurm/log"
    [ "$slurm_user" = "$(id -un)" ] || chown -R "$slurm_user" "$slurm"
    SLURM_CONF=$slurm/slurm.conf
    export SLURM_CONF
    cat >"$SLURM_CONF" <<CONF
ClusterName=leat
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=16900
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=sched_interval=2,bf_interval=2,requeue_delay=0
SlurmUser=$slurm_user
SlurmdUser=$slurm_user
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/state/%n
SlurmctldPidFile=$slurm/ctl.pid
SlurmdPidFile=$slurm/%n.pid
SlurmctldLogFile=$slurm/log/ctl
SlurmdLogFile=$slurm/log/%n
MaxArraySize=9
MaxJobCount=5000
SlurmdTimeout=30
KillWait=5
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=16911 CPUs=2 RealMemory=1000
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=16912 CPUs=2 RealMemory=1000
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONF
    as_user slurmctld -c -f "$SLURM_CONF" && slurm_node n1 && slurm_node n2
}

# Prints the processes of a node: those that its jobs started, after the step that would report their end.
slurm_processes() { # NODE
    # shellcheck disable=SC2013 # a name in /proc has no spaces
    for settings in $(grep -lszx "SLURM_JOB_NODELIST=$1" /proc/[0-9]*/environ); do
        grep -qszx "SLURM_CONF=$SLURM_CONF" "$settings" || continue
        process=${settings%/environ}
        parent=$(sed -n 's/^PPid:[[:space:]]*//p' "$process/status" 2>/dev/null)
        [ "$(cat "/proc/$parent/comm" 2>/dev/null)" != slurmstepd ] || echo "$parent"
        echo "${process#/proc/}"
    done
}

slurm_kill() { # NODE: with all that runs on it, as a machine that loses its power
    kill -KILL "$(cat "$slurm/$1.pid")"
    for process in $(slurm_processes "$1"); do
        kill -KILL "$process" 2>/dev/null || :
    done
}

slurm_stop() {
    scancel --quiet --user "$slurm_user" 2>/dev/null || :
    for name in n1 n2 ctl; do
        pid=$(cat "$slurm/$name.pid" 2>/dev/null) || continue
        kill "$pid" 2>/dev/null || :
        while kill -0 "$pid" 2>/dev/null; do sleep 0.2; done
    done
}
