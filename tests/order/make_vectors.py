"""make_vectors.py: prints the vectors of docs/ORDER.md, by the twins. They are frozen: this shows where they come
from, and makes the first ones of a new version."""
import vectors

PERMUTATIONS = [
    (1, 0, 0, 0), (2, 0, 0, 0), (2, 1, 0, 0), (3, 0, 0, 0), (5, 0, 0, 0), (7, 0, 0, 1), (9, 1, 2, 3), (100, 0, 0, 0),
    (1000, 42, 1, 0), (65535, 42, 1, 7), (65536, 42, 1, 7), (65537, 42, 1, 7), (1000000, 0, 0, 0), (1000000, 1, 0, 0),
    (1000000, 0, 1, 0), (1000000, 0, 0, 1), (5000000000, 2**64 - 1, 65535, 2**40), (2**40 - 87, 123456789, 3, 1),
    (2**48 - 1, 7, 0, 0), (2**48, 2**63, 1000, 2**59)]
BLENDS = [
    ([1], 10, 3), ([1, 1], 0, 8), ([1, 1, 1], 0, 9), ([5, 3, 2], 0, 12), ([5, 3, 2], 10**15, 12),
    ([0, 2, 0, 1, 0], 0, 9), ([1, 10**9], 5 * 10**8 - 2, 5), ([10**9, 1, 10**9], 10**18, 6),
    ([1, 1, 2, 3, 5, 8, 13, 21], 0, 20), ([7, 7, 7, 7, 7, 7, 7], 0, 14), ([2**47, 2**47 - 1, 1], 2**61, 8),
    ([281474976710655, 1], 2**47 - 2, 4)]
DEALS = [
    ([5, 4, 3, 2], 1), ([5, 4, 3, 2], 2), ([7, 7, 7, 7], 2), ([9, 9, 1, 1, 5, 5, 5, 5], 2), ([1, 0, 0, 0], 4),
    ([100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 5, 1], 3), ([81, 64, 49, 36, 25, 16, 9, 4, 121, 100, 144, 169], 2),
    ([2**40 // (1 + i * 7 % 32) for i in range(32)], 4), ([4095**2 - 977 * (i * i % 61)**2 for i in range(32)], 8)]
CUTS = [
    ("1", "0.5", 0, 0, 0, 0, 10), ("1", "0.5", 0, 0, 0, 1, 10), ("1", "0.5", 0, 0, 1, 0, 10),
    ("1", "0.5", 0, 1, 0, 0, 10), ("1", "0.5", 1, 0, 0, 0, 10), ("1", "1", 7, 0, 5, 9, 4), ("1", "0", 7, 0, 5, 9, 5),
    ("1", "1", 7, 0, 5, 9, 3), ("0", "1", 7, 0, 5, 9, 100),
    ("0.5", "0.5", 2**64 - 1, 65535, 2**48 - 1, 2**60 - 1, 2**30 + 1),
    ("0.999999999999999999", "1e-18", 3, 2, 10**9, 10**12, 4096), ("0.25", "0.25", 42, 0, 17, 3, 2000),
    ("0.25", "0.25", 42, 0, 17, 4, 2000), ("0.25", "0.25", 42, 0, 17, 5, 2000), ("0.25", "0.25", 42, 0, 18, 3, 2000)]
PLANS = [
    ("a=1000", "source a:1;seq-len 8", [0, 1, 2, 123, 124, 10**6, 2**60 - 1]),
    ("a=1000", "source a:1;seq-len 8;order sequential;epochs 1", [0, 1, 2, 123]),
    ("a=10000+7+20000 b=5000", "source a:0.75;source b:0.25;seq-len 16;seed 7", [0, 1, 2, 3, 4, 5, 1873, 10**9]),
    ("a=100000 b=50000 c=2000000", "source a:0.5;source b:0.3;source c:1e-9;seq-len 64;base-len 256;seed 99;"
     "at 6400:0.2,0.3,0.5:len=128;at 7040:1,1,1:len=256",
     [0, 1, 16, 63, 64, 6399, 6400, 6401, 7039, 7040, 7041, 10**7]),
    ("a=4000 b=4000", "source a:3:2;source b:1:3;seq-len 20;base-len 60;seed 1;epochs 2", [0, 1, 527, 528, 791]),
    ("a=300000000000000", "source a:1;seq-len 2;base-len 2;seed 5", [0, 1, 2**47, 2**60 - 1]),
    ("a=1000 b=9000 c=100", "source a:1;source b:8:1;source c:0;seq-len 10;seed 3;at 500:0,1,1;skip 20:30;skip 100:101",
     [0, 19, 20, 29, 499, 500, 501, 1000, 1300])]
DOCUMENTS = [
    ("a=5", "source a:1;seq-len 8;order documents", [0, 1, 10**6, 2**60 - 1]),
    ("a=3,0,1,12,7,2", "source a:1;seq-len 8;order documents-sequential;epochs 2", range(12)),
    ("a=3,0,1,12,7,2", "source a:1;seq-len 8;order documents;epochs 2", range(12)),
    ("a=4,9++0,6 b=0 c=10,11,20", "source a:0.2:1;source b:7;source c:0;seq-len 10;seed 7;order documents;epochs 3",
     range(16)),
    ("a=5x1000+17x3 b=2,300x500", "source b:1;source a:1;seq-len 256;seed 18446744073709551615;order documents",
     [0, 1, 2, 3, 1503, 1504, 1505, 10**9]),
    ("a=2x66000", "source a:1;seq-len 1;seed 3;order documents;epochs 1", [0, 1, 2, 65535, 65999]),
    ("a=10,0,10,0,0,10,0 b=7,8,9,0", "source a:1;source b:1;seq-len 4;seed 1;order documents-sequential;"
     "split x=0.5,y=0.5;use x;epochs 1", range(7)),
    ("a=10,0,10,0,0,10,0 b=7,8,9,0", "source a:1;source b:1;seq-len 4;seed 1;order documents;"
     "split x=0.5,y=0.5;use y;epochs 2;skip 1:2", range(4)),
    ("a=3,0,1,12,7,2,9,9,4,5,6", "source a:1;seq-len 12;seed 3;order documents;epochs 2;max-tokens 20;pool 8",
     range(22)),
    ("a=3,0,1,12,7,2", "source a:1;seq-len 9;order documents-sequential;epochs 1;max-tokens 30;max-rows 2", range(6)),
    ("a=5x1000+17x3 b=2,300x500", "source b:1;source a:1;seq-len 256;seed 18446744073709551615;order documents;"
     "max-tokens 8192", [0, 1, 2, 3, 4095, 4096, 10**9])]

FITS = [
    ("a=5", "source a:1;seq-len 8;order fit", [0, 1, 10**6, 2**60 - 1]),
    ("a=3,0,1,12,7,2,3,3,4,9", "source a:1;seq-len 8;order fit;epochs 2", range(14)),
    ("a=4,9++0,6,3x20 b=0,2 c=10,11,20", "source a:0.5:1;source b:1;source c:0.25;seq-len 10;seed 7;order fit;epochs 3",
     range(16)),
    ("a=5x1000,17x300,2x77,90x90,4000", "source a:1;seq-len 64;seed 18446744073709551615;order fit",
     [0, 1, 2, 3, 99, 300, 301, 10**9]),
    ("a=2,3,4,5,6,7x9 b=3x10,30", "source a:1;source b:1;seq-len 9;seed 3;order fit;at 5:2,1;at 12:1,1:len=4;"
     "at 20:1,3:len=9;skip 1:2", [0, 4, 5, 11, 12, 13, 19, 20, 21, 40]),
    ("a=2,3,4,5,6,7x9 b=3x10,30", "source a:1:3;source b:1;seq-len 9;seed 3;order fit;at 5:0,1:len=4;at 12:1,1:len=9;"
     "at 18:1,1:len=6", [0, 3, 4, 5, 11, 12, 13, 14, 17, 18, 19, 24]),
    ("a=2,3,3,4,5x4,6,7x9,30,31,50", "source a:1;seq-len 12;seed 3;order fit;epochs 1;max-per-row 2;min-length 3;"
     "max-length 31;cut-length 21", range(20)),
    ("a=5x4,17x3,9,1,16,40", "source a:1;seq-len 16;order fit;epochs 1;align 4", range(14)),
    ("a=2,30,31,50,17,18", "source a:1;seq-len 16;seed 3;order fit;epochs 1;overlap 5", range(20)),
    ("a=2,3x9,4,30,31,50 b=60,7x8", "source a:1;source b:1;seq-len 16;seed 3;order fit;max-per-row 2;align 8;overlap 3;"
     "at 6:1,2:len=24", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 40])]

MEGATRON = [
    ("a=9x5", "source a;seq-len 8;order megatron;split 1,1;use valid", range(3)),  # halves become even numbers
    ("a=9x7", "source a;seq-len 8;order megatron;split 1,1;use valid", range(3)),
    ("a=5,0,9,1,12,30,2", "source a;seq-len 8;order megatron", range(9)),
    ("a=5,0,9,1,12,30,2", "source a;seq-len 8;order megatron;samples 17;seed 7", range(22)),
    ("a=5,0,9,1,12,30,2", "source a;seq-len 8;order megatron;samples 20;seed 7", range(22)),
    ("a=7x40,3x20", "source a:1;seq-len 16;order megatron;samples 40;split 90, 5, 5;seed 4294967295",
     [0, 1, 2, 20, 39]),
    ("a=20x30 b=9x50+100 c=9x40+40", "source a:0.1;source b:0.7;source c:0.2;seq-len 10;order megatron;samples 100;"
     "split 8,1,1;use train;seed 0;mid-level-dataset-surplus 0.05", [0, 1, 2, 3, 4, 5, 50, 98, 99, 100, 101]),
    ("a=20x30 b=9x50+100 c=400", "source a;source b;source c;seq-len 10;order megatron", [0, 1, 2, 3, 50, 100, 149]),
    ("a=20x30 b=9x50 c=40x10", "source a;source b;source c;seq-len 10;order megatron;samples 20;split 1,1,1;use test",
     range(20)),
    ("a=100x9 b=100x9 c=100x9 d=100x9 e=100x9 f=100x9 g=100x9", "source a:1;source b:3;source c:5;source d:7;"
     "source e:2;source f:4;source g:6;seq-len 9;order megatron;samples 500", [0, 1, 2, 3, 4, 5, 6, 7, 300, 301, 499])]

# What a block of vectors is called, what each of its lines begins with, what makes its plans, and these.
KINDS = [("plan", "sample", vectors.plan, PLANS), ("documents", "row", vectors.documents, DOCUMENTS),
         ("fit", "pieces", vectors.fit, FITS), ("megatron", "window", vectors.megatron, MEGATRON)]


def main():
    print("```vectors")
    for p in PERMUTATIONS:
        print("permute", *p, ":", vectors.permute(*p))
    print("```\n\n```vectors")
    for weights, first, count in BLENDS:
        print("blend", ",".join(map(str, weights)), first, ":", vectors.blend(weights, first, count))
    print("```\n\n```vectors")
    for costs, world in DEALS:
        print("deal", ",".join(map(str, costs)), world, ":", vectors.deal(costs, world))
    print("```\n\n```vectors")
    for c in CUTS:
        print("cut", *c, ":", vectors.cut(*c))
    print("```\n\n```vectors")
    for kind, word, made, cases in KINDS:
        for data, text, samples in cases:
            plan = made(data, text)
            print(f"{kind} {data} | {text}")
            for n in samples:
                if n < plan.end:
                    print(f"{word} {n} :", *plan.show(n))
            print("ends", plan.end)
        print("```" if kind == KINDS[-1][0] else "```\n\n```vectors")


if __name__ == "__main__":
    main()
