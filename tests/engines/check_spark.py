"""check_spark.py: Spark writes datasets and reads them, on a cluster of its own with two executors and speculation on:
both modes, empty parts, dedup and a global shuffle. Disturbed by killed workers, tasks that always fail, attempts that
are late or both finish, killed drivers and a full disk, it makes the bytes of an undisturbed run, or no dataset and
says why; nothing is left over."""
import contextlib
import functools
import os
import pathlib
import signal
import socket
import subprocess
import sys

import common

pyspark = common.skip_without("pyspark")

import leat
import leat.integrations.spark
import spark_disturbed
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

ROWS = common.rows()
NUMBER = "int(substring_index(url, '/', -1))"  # of a row, in SQL
# for all processes of Spark, whatever their folder
os.environ["PYTHONPATH"] = os.pathsep.join(os.path.abspath(path) for path in os.environ["PYTHONPATH"].split(os.pathsep))


# ---- A cluster ----

@contextlib.contextmanager
def cluster(folder):
    """A master and two workers, on two hosts, as Spark tries no task twice at once on one."""
    environment = {**os.environ, "SPARK_HOME": pathlib.Path(pyspark.__file__).parent, "SPARK_DAEMON_MEMORY": "256m"}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    daemons = []

    def start(kind, *arguments):
        log = open(folder / f"log-{len(daemons)}", "w")
        daemons.append(subprocess.Popen(
            [environment["SPARK_HOME"] / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", "--webui-port", "0",
             *arguments], env=environment, stdout=log, stderr=log, start_new_session=True))

    try:
        start("master.Master", "--host", "127.0.0.1", "--port", str(port))
        for host in ("127.0.0.1", "127.0.0.2"):
            start("worker.Worker", "--host", host, "--cores", "1", "--memory", "1g", "--work-dir", folder / "work",
                  f"spark://127.0.0.1:{port}")
        yield f"spark://127.0.0.1:{port}"
    finally:
        for daemon in daemons:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait()


def session(master):
    """A SparkSession that knows the format "leat"."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (SparkSession.builder.master(master).appName("check_spark")
             .config("spark.driver.host", "127.0.0.1").config("spark.ui.enabled", "false")
             .config("spark.driver.memory", "512m").config("spark.executor.memory", "512m")
             .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
             .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")  # both executors, whatever they wait for
             .config("spark.scheduler.maxRegisteredResourcesWaitingTime", "120s")
             .config("spark.excludeOnFailure.enabled", "false")
             .config("spark.speculation", "true").config("spark.speculation.interval", "50ms")
             .config("spark.speculation.quantile", "0.1").config("spark.speculation.multiplier", "1.0")
             .config("spark.python.task.killTimeout", "600s")  # a task that need not run any more goes on to its end
             .config("spark.sql.shuffle.partitions", "6").config("spark.sql.execution.arrow.maxRecordsPerBatch", "50")
             .getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    leat.integrations.spark.register(spark)
    spark.dataSource.register(spark_disturbed.Disturbed)
    return spark


def files(folder):
    """The Parquet files with ROWS, in their order."""
    return sorted(map(str, folder.glob("texts/*")))


def table(spark, paths):
    """All documents in their order, a partition for each file."""
    return functools.reduce(DataFrame.union, [spark.read.parquet(path) for path in paths]).select("url", "text")


def write(df, name, mode="append", format="leat", **options):
    df.write.format(format).options(tokenizer=common.TOKENIZER, id="url", **options).mode(mode).save(str(name))


def refused(call, *words):
    """What the exception says, which has all of these words."""
    try:
        call()
    except PySparkException as error:
        for word in words:
            assert word in str(error), f"no {word!r} in: {error}"
        return str(error)
    raise AssertionError("no exception")


def check_whole(name, wanted=ROWS):
    common.check_documents(name, wanted)
    common.check_nothing_left(name)


# ---- Undisturbed ----

def check_modes(spark, df, folder):
    """Returns what the parts of an undisturbed run hold."""
    write(df, "calm")
    check_whole("calm")
    common.check_tokens("calm", ROWS)
    calm = common.contents("calm")
    assert len(calm) == 6

    refused(lambda: write(df, "calm"), "is a finished dataset", 'mode("overwrite")', '"extend"')
    write(df.filter(f"{NUMBER} < 7"), "calm", "overwrite")
    check_whole("calm", ROWS[:7])
    write(df, "calm", "overwrite")
    check_whole("calm")
    assert common.contents("calm") == calm
    for mode in ("errorifexists", "ignore"):
        refused(lambda: write(df, "calm", mode), "UNSUPPORTED_DATA_SOURCE_SAVE_MODE")
    return calm


def check_options(spark, df, folder):
    for options, words in (({"tokeniser": "gpt2"}, ["unknown option 'tokeniser'; did you mean 'tokenizer'?"]),
                           ({"special": "perhaps"}, ["option special: must be true or false"]),
                           ({"force": "true"}, ["option 'force' is mode(\"overwrite\")"]),
                           ({"append": "true"}, ["option 'append' is mode(\"append\")"]),
                           ({"text": "body"}, ["no column body; the columns are url (string), text (string)"]),
                           ({"end": "<none>"}, ["<none>"]),
                           ({"tokenizer": "gpt22"}, ["unknown tokenizer \"gpt22\""])):
        refused(lambda: df.write.format("leat").options(**options).mode("append").save("refused"), *words)
    refused(lambda: df.write.format("leat").mode("append").save(), "no path: give one to save()")
    bad = f"if({NUMBER} = 3, raise_error('a bad row'), text) text"
    refused(lambda: write(df.selectExpr("url", bad).orderBy("url"), "refused"), "a bad row")  # in an earlier stage
    assert not os.path.exists("refused")
    options = {"NULLS": "skip", "ID": "url", "Max_Rejects": "1%", "memory": "600M", "special": "true"}
    df.selectExpr("url", "if(url = 'http://example.org/3', null, text) text").write.format("leat").options(
        **options).mode("append").save("file://" + os.path.abspath("options"))
    check_whole("options", ROWS[:3] + ROWS[4:])


def check_empty_parts(spark, df, folder):
    write(df.filter(f"{NUMBER} >= 500"), "empty-parts")
    check_whole("empty-parts", ROWS[500:])
    assert len(common.listed("empty-parts")) == 4
    refused(lambda: write(df.filter("false"), "no-rows"), "no documents: ", "allow_empty")
    assert not os.path.exists("no-rows")
    write(df.filter("false"), "no-rows", allow_empty="true")
    check_whole("no-rows", [])


def check_extended(spark, df, folder):
    """A finished dataset gets more parts only where that is asked for, and stays open as it was."""
    write(df.filter(f"{NUMBER} < 400"), "extended")
    before = leat.open("extended")
    run = pathlib.Path("extended/leat-run.list").read_text().splitlines()[1].split()[1]
    refused(lambda: write(df, "extended"), "is a finished dataset", '"extend"')
    refused(lambda: write(df.filter(f"{NUMBER} >= 400").selectExpr("url", "if(url = 'http://example.org/777', "
                                                                   "raise_error('a bad row'), text) text"),
                          "extended", extend="true"), "a bad row")
    assert leat.open("extended").info == before.info
    write(df.filter(f"{NUMBER} >= 400"), "extended", extend="true")
    common.check_documents("extended", ROWS)
    common.check_documents(f"extended/leat-run.list.{run}", ROWS[:400])
    assert leat.open(f"extended/leat-run.list.{run}").info == before.info != leat.open("extended").info
    refused(lambda: df.write.format("leat").options(tokenizer="bytes", extend="true").mode("append").save("extended"),
            "tokenizer")


def check_kept_and_split(spark, df, folder):
    """Options of leat.pack() by the same names: the documents are those that it packs from the same rows."""
    rows = [{**row, "n": n} for n, row in enumerate(ROWS)]
    common.write_parquet("kept-texts", rows, 1)
    leat.pack("kept-texts", "kept-alone", common.TOKENIZER, id="url", keep=["n >= 100", "n < 900"], split="valid=0.3")
    made = [(row["url"], row["text"], row["n"]) for row in rows]
    df = spark.createDataFrame(made, "url string, text string, n int")
    write(df, "kept", keep="n >= 100\nn < 900", split="valid=0.3")
    for one, other in (("kept", "kept-alone"), ("kept/valid", "kept-alone.valid")):
        assert sorted(common.documents(one)) == sorted(common.documents(other)), one


# ---- Disturbed ----

def disturb(df, name, kind, mode="append"):
    events = pathlib.Path(f"events-{name}").resolve()
    events.mkdir()
    write(df, name, mode, "disturbed", disturb=kind, events=str(events))
    return events


def check_disturbed(spark, df, folder, calm):
    disturb(df, "worker-killed", "WorkerKilled")
    check_whole("worker-killed")
    assert common.contents("worker-killed") == calm

    disturb(df, "both-finish", "BothFinish")
    check_whole("both-finish")
    assert common.contents("both-finish") == calm

    events = disturb(df, "late", "LateAttempt")
    spark_disturbed.wait_for(events / "late")
    assert "committed" in (events / "error").read_text()
    check_whole("late")
    assert common.contents("late") == calm

    refused(lambda: disturb(df, "fails", "AlwaysFails"), "this task always fails")
    spark_disturbed.wait_for(pathlib.Path("events-fails/late"))
    assert "no more" in pathlib.Path("events-fails/error").read_text()
    assert not os.path.exists("fails")


# one that is killed, with the mode of its write, and what the folder is then: as before, or the new dataset
KILLED = {"HangsBefore": ("append", False), "HangsNaming": ("overwrite", False), "HangsSweeping": ("overwrite", True),
          "HangsAfter": ("append", True)}


def drive(kind, paths):
    """A driver that will be killed: a program of its own, without a cluster."""
    disturb(table(session("local[1]"), paths), kind, kind, KILLED[kind][0])


def check_killed_drivers(spark, df, folder, calm):
    drivers = {}
    for kind, (mode, _) in KILLED.items():
        if mode == "overwrite":
            write(df.filter(f"{NUMBER} < 7"), kind, "append")
        with open(f"log-{kind}", "w") as log:
            drivers[kind] = subprocess.Popen([sys.executable, __file__, kind, *files(folder)], stdout=log, stderr=log,
                                             start_new_session=True)
    for kind, (mode, committed) in KILLED.items():
        events = pathlib.Path(f"events-{kind}")
        spark_disturbed.wait_for(events / "hangs")
        os.killpg(drivers[kind].pid, signal.SIGKILL)
        drivers[kind].wait()
        assert (events / "signal").exists() == (kind in ("HangsNaming", "HangsSweeping"))
        if (events / "signal").exists():
            assert int((events / "signal").read_text()) == signal.SIGSYS
        if committed:
            common.check_documents(kind, ROWS)
        elif mode == "append":
            common.check_no_dataset(kind)
        else:
            common.check_documents(kind, ROWS[:7])

        if committed and mode == "append":
            refused(lambda: write(df, kind, mode), "is a finished dataset")
        else:
            write(df, kind, mode)
        check_whole(kind)
        assert common.contents(kind) == calm


def check_full_disk(spark, df, folder):
    disk = folder / "disk"
    with common.small_disk(disk, "256k") as enlarge:
        if not enlarge:
            return
        refused(lambda: write(df, disk / "new"), "No space left on device")
        assert os.listdir(disk) == []
        write(df.filter(f"{NUMBER} < 7"), disk / "old")
        files_before = set(os.listdir(disk / "old"))
        refused(lambda: write(df, disk / "old", "overwrite"), "No space left on device")
        common.check_documents(disk / "old", ROWS[:7])
        assert set(os.listdir(disk / "old")) == files_before - {"leat-run"}  # the plan was that of the run that failed


# ---- A pipeline, as docs/engines.md has it ----

def check_pipeline(spark, df, folder):
    from pyspark.sql.functions import rand

    texts = spark.read.parquet("texts").select("url", "text")
    (texts.dropDuplicates(["text"])   # exact deduplication
          .orderBy(rand(seed=1))      # a global shuffle
          .write.format("leat").option("tokenizer", "gpt2").option("id", "url")
          .mode("append").save("corpus"))

    rows = 0
    plan = leat.Plan(["corpus"], seq_len=128, seed=3, epochs=1)
    for inputs, labels in leat.Loader(plan, 8, style="tuple", framework="numpy"):
        assert inputs.shape == labels.shape
        rows += len(inputs)
    assert rows == leat.open("corpus").info.tokens // 128, rows

    found = common.documents("corpus")
    assert sorted(text for _, text in found) == sorted({row["text"] for row in ROWS})
    assert set(found) < {(row["url"], row["text"]) for row in ROWS}
    numbers = [int(url.split("/")[-1]) for url, _ in found]
    assert numbers != sorted(numbers) and max(numbers[:20]) > 600 > min(numbers[:20])
    common.check_nothing_left("corpus")
    common.train("corpus")
    counted = spark.read.format("leat").schema("tokens array<int>").load("corpus").selectExpr("sum(size(tokens)) n")
    assert counted.first().n == leat.open("corpus").info.tokens


def check_repeatable_shuffle(spark, df, folder):
    from pyspark.sql.functions import lit, xxhash64

    hashes = dict(df.select("url", xxhash64(lit(1), "url")).collect())
    for step, name in ((1, "shuffled"), (-1, "again")):
        shuffled = table(spark, files(folder)[::step]).orderBy(xxhash64(lit(1), "url"))
        write(shuffled, name)
        check_whole(name, sorted(ROWS, key=lambda row: hashes[row["url"]]))


# ---- Reading ----

def check_reading(spark, df, folder):
    read = spark.read.format("leat").load("calm")
    assert read.dtypes == [("number", "bigint"), ("id", "string"), ("source", "string"), ("tokens", "array<int>"),
                           ("text", "string")], read.dtypes
    rows = read.collect()
    assert [row.number for row in rows] == list(range(len(ROWS)))
    assert [(row.id, row.text) for row in rows] == [(row["url"], row["text"]) for row in ROWS]
    with leat.open("calm") as dataset:
        assert [row.tokens for row in rows] == [document.tolist() for document in dataset]

    some = spark.read.format("leat").option("partitions", "7").schema("text string, id string").load("calm")
    assert some.rdd.getNumPartitions() == 7
    assert [tuple(row) for row in some.collect()] == [(row["text"], row["url"]) for row in ROWS]
    named = spark.read.format("leat").option("Columns", "mask, number").option("partitions", "100000").load("calm")
    assert named.dtypes == [("mask", "array<smallint>"), ("number", "bigint")]
    assert all(set(row.mask) == {255} for row in named.take(3))
    assert spark.read.format("leat").load("no-rows").collect() == []

    spark.createDataFrame([([1, 2, 3], [1.0, 0.0, 1.0])], "text array<int>, learned array<float>").write.format(
        "leat").option("mask", "learned").option("end", "none").mode("append").save("masked")
    row, = spark.read.format("leat").load("masked").collect()
    assert (row.tokens, row.mask, row.id) == ([1, 2, 3], [255, 0, 255], None), row

    load = spark.read.format("leat")
    refused(lambda: load.load("nothing").collect(), "nothing")
    refused(lambda: load.load(), "no path: give one to load()")
    refused(lambda: load.schema("body string").load("calm").collect(), "no column body string; the columns are number")
    refused(lambda: load.schema("tokens array<bigint>").load("calm").collect(), "no column tokens array<bigint>")
    refused(lambda: spark.read.format("leat").option("columns", "body").load("calm"), "columns must be one of number")
    refused(lambda: spark.read.format("leat").option("column", "id").load("calm"),
            "unknown option 'column'; did you mean 'columns'?")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # which ends the cluster, too
    with common.own_folder() as folder:
        common.write_parquet(folder / "texts", ROWS)
        with cluster(folder) as master:
            spark = session(master)
            df = table(spark, files(folder))
            calm = check_modes(spark, df, folder)
            check_options(spark, df, folder)
            check_empty_parts(spark, df, folder)
            check_extended(spark, df, folder)
            check_kept_and_split(spark, df, folder)
            check_reading(spark, df, folder)
            check_disturbed(spark, df, folder, calm)
            check_killed_drivers(spark, df, folder, calm)
            check_full_disk(spark, df, folder)
            check_pipeline(spark, df, folder)
            check_repeatable_shuffle(spark, df, folder)
            spark.stop()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        drive(sys.argv[1], sys.argv[2:])
    else:
        main()
