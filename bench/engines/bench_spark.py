"""bench_spark.py [FILE.parquet]: the CPU time that a write to leat takes beyond Spark's `noop` sink over the same
Parquet file, against `leat pack --threads 1` of that file; its column `text` is packed with gpt2.

    PYTHONPATH=build/python build/engines-venv/bin/python bench/engines/bench_spark.py

The row "Python" is a sink that looks at no batch: what Spark takes to bring the rows to Python. Without a file it makes
one of 160 MB of examples/corpus, whose repeated words suit `leat pack`: give a file of your own. CPU time is that of
the JVM, the driver and the Python workers together, in a session that has done each write twice before: a JVM compiles
for seconds."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from alone import make_parquet, pack_seconds

TIMES, WARM = 3, 2


def seconds():
    """CPU time so far of all processes of this session, with that of their children which ended."""
    total = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == os.getsid(0):
            total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def unread():
    """The data source "unread", which Spark pickles whole."""
    from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage

    class Writer(DataSourceArrowWriter):
        def write(self, iterator):
            for _ in iterator:
                pass
            return WriterCommitMessage()

    class Unread(DataSource):
        @classmethod
        def name(cls):
            return "unread"

        def writer(self, schema, overwrite):
            return Writer()

    return Unread


def spark_seconds(path, folder):
    """CPU times of all sinks, several times in turn."""
    import leat.integrations.spark
    from pyspark.sql import SparkSession
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (SparkSession.builder.master("local[1]").config("spark.driver.memory", "512m")
             .config("spark.ui.enabled", "false").getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    leat.integrations.spark.register(spark)
    spark.dataSource.register(unread())
    df = spark.read.parquet(path).select("text")
    sinks = {"noop": lambda: df.write.format("noop").mode("overwrite").save(),
             "python": lambda: df.write.format("unread").mode("append").save("none"),
             "leat": lambda: df.write.format("leat").option("tokenizer", "gpt2").mode("overwrite").save(folder)}
    taken = {name: [] for name in sinks}
    for _ in range(WARM + TIMES):
        for name, write in sinks.items():
            before = seconds()
            write()
            taken[name].append(seconds() - before)
    return {name: all_of[WARM:] for name, all_of in taken.items()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = sys.argv[1] if len(sys.argv) > 1 else f"{folder}/texts.parquet"
        if len(sys.argv) < 2:
            make_parquet(path, 160_000_000)
        ran = subprocess.run([sys.executable, __file__, "--in-session", path, f"{folder}/spark"], check=True, text=True,
                             stdout=subprocess.PIPE, start_new_session=True)
        taken = json.loads(ran.stdout.splitlines()[-1])
        taken["pack"] = [pack_seconds(path, f"{folder}/packed") for _ in range(TIMES)]
    for name, what in (("noop", "Spark, noop"), ("python", "Spark, Python"), ("leat", "Spark, leat"),
                       ("pack", "leat pack --threads 1")):
        print(f"{what:24} " + ", ".join(f"{one:.2f}" for one in taken[name]) + " s of CPU time")
    noop, leat, pack = (statistics.median(taken[name]) for name in ("noop", "leat", "pack"))
    print(f"leat beyond noop, to leat pack: {(leat - noop) / pack:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in-session"]:
        print(json.dumps(spark_seconds(*sys.argv[2:])))
    else:
        main()
