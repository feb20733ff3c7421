"""The sets of bench/defaults.py: how each is read, split and written for the learners.

A set becomes a folder with a training part and a held-out test part, written twice: as its users have it (svmlight, VW text or a
table with raw cells), which parsimon reads, and as VW text, which the peers read. Both hold the same information: in the VW text
a numeric cell is `column:value`, a category is `column=value`, a missing cell is absent.

The split is deterministic. A published test file is used where there is one. Otherwise the last quarter of the rows is held out, in
the order of the file where that is the order of time, and after a seeded shuffle elsewhere.
"""
import bz2
import collections
import csv
import gzip
import hashlib
import io
import json
import math
import os
import random
import re
import shutil
import tarfile

import default_generated

# A change of this file that changes what is written must change this number: prepared folders are kept.
VERSION = 3
TEST_SHARE = 0.25

# What a set is. `label` of a table is what --label-column gets; `categories` what --text-columns gets. `order` is "time", "shuffled" or
# "published" (a test file of its own). `kind`: "two" classes, "many" classes, "number".
Set = collections.namedtuple("Set", "name kind order shape read flags", defaults=([],))


def lines(path):
    opener = {"gz": gzip.open, "bz2": bz2.open}[path.rsplit(".", 1)[1]]
    with opener(path, "rt", encoding="utf-8", errors="replace", newline="") as f:
        return f.read().replace("\r\n", "\n").split("\n")


# Readers. Each gives (rows, test rows or None). A row of "ids" is (label, [(id, value text)]), of "words" (label, [(word, value text)]),
# of "table" a list of cells.


def svmlight(*names, relabel=None):
    def part(folder, name):
        rows = []
        for line in lines(os.path.join(folder, name)):
            words = line.split()
            if words:
                label = words[0].lstrip("+")
                rows.append(((relabel or {}).get(label, label), [tuple(w.split(":")) for w in words[1:]]))
        return rows

    return lambda folder: (part(folder, names[0]), part(folder, names[1]) if len(names) > 1 else None)


def vw_ids(folder, name):
    rows = []
    for line in lines(os.path.join(folder, name)):
        if line:
            label, features = line.split("|f")
            rows.append((label.strip(), [tuple(w.split(":")) for w in features.split()]))
    return rows


def rcv1_small(folder):
    return vw_ids(folder, "libsvm/vw_rcv1_small.dat.gz"), vw_ids(folder, "libsvm/vw_rcv1_small_test.data.gz")


def reviews(domain):
    """Word counts of the reviews of one domain."""
    def read(folder):
        rows = []
        for polarity, label in (("positive", "1"), ("negative", "-1")):
            for line in lines(os.path.join(folder, f"sentiment/processed_acl_{domain}_{polarity}.review.gz")):
                if line:
                    rows.append((label, [tuple(w.rsplit(":", 1)) for w in line.split()[:-1]]))
        return rows, None

    return read


def counted(words):
    return [(word, str(n)) for word, n in collections.Counter(words).items()]


def rcv1_topic(topic):
    def read(folder):
        documents = [json.loads(line) for line in lines(os.path.join(folder, "text/rcv1_dev_2316.jsonl.gz")) if line]
        return [("1" if topic in d["doc_label"] else "-1", counted(d["doc_token"])) for d in documents], None

    return read


def newsgroups(folder):
    parts = {"train": [], "test": []}
    with tarfile.open(os.path.join(folder, "text/20news-bydate.tar.gz")) as archive:
        for member in archive:
            place = re.fullmatch(r"data/20ng/20news-bydate-(train|test)/([^/]+)/[^/]+", member.name)
            if member.isfile() and place:
                text = archive.extractfile(member).read().decode("latin-1").lower()
                parts[place[1]].append((place[2], counted(re.findall(r"[a-z]{2,}", text))))
    groups = {g: str(i + 1) for i, g in enumerate(sorted({g for g, _ in parts["train"]}))}
    return tuple([(groups[g], words) for g, words in parts[part]] for part in ("train", "test"))


def messages(folder):
    rows = csv.reader(lines(os.path.join(folder, "tables/sms_spam.csv.gz")))
    return [("1" if row[0] == "spam" else "-1", counted(re.findall(r"\w+", row[1].lower()))) for row in rows if row], None


def mnist(label_of, train=12000, test=4000):
    """Pixels as whole numbers; the first rows of both files."""
    def part(folder, name, count):
        with gzip.open(os.path.join(folder, f"mnist/{name}-images-idx3-ubyte.gz")) as f:
            pixels = f.read(16 + 784 * count)[16:]
        with gzip.open(os.path.join(folder, f"mnist/{name}-labels-idx1-ubyte.gz")) as f:
            labels = f.read(8 + count)[8:]
        images = (pixels[784 * i:784 * (i + 1)] for i in range(count))
        return [(label_of(label), [(str(j + 1), str(p)) for j, p in enumerate(image) if p]) for label, image in zip(labels, images)]

    return lambda folder: (part(folder, "train", train), part(folder, "t10k", test))


def cells(*names, delimiter=",", relabel=None):
    """The records of a table, with its header if it has one."""
    def part(folder, name):
        rows = [row for row in csv.reader(lines(os.path.join(folder, name)), delimiter=delimiter) if row]
        return [[relabel(c) for c in row] for row in rows] if relabel else rows

    return lambda folder: (part(folder, names[0]), part(folder, names[1]) if len(names) > 1 else None)


def table(label, categories=(), header=True, delimiter=",", drop=()):
    """The shape of a table: columns by name, or by number from 1 where there is no header."""
    return {"form": "table", "label": label, "categories": list(categories), "header": header, "delimiter": delimiter, "drop": list(drop)}


IDS, WORDS = {"form": "ids"}, {"form": "words"}
PLAIN = table("last", header=False)
SQUARED, MANY = ["--loss", "squared"], ["--multiclass"]


def names(text):
    return text.split()


REAL = [
    Set("a1a", "two", "shuffled", IDS, svmlight("libsvm/a1a.gz")),
    Set("a9a", "two", "published", IDS, svmlight("libsvm/a9a.gz", "libsvm/a9a.t.gz", relabel={"0": "-1"})),
    Set("w8a", "two", "shuffled", IDS, svmlight("libsvm/w8a.gz")),
    Set("mushrooms", "two", "shuffled", IDS, svmlight("libsvm/mushrooms.gz")),
    Set("rcv1_small", "two", "published", IDS, rcv1_small),
    Set("rcv1_ccat", "two", "shuffled", WORDS, rcv1_topic("CCAT")),
    Set("news20", "many", "shuffled", IDS, svmlight("libsvm/news20.bz2"), MANY),
    Set("20news_bydate", "many", "published", WORDS, newsgroups, MANY),
    Set("mnist", "many", "published", IDS, mnist(str), MANY),
    Set("mnist_odd", "two", "published", IDS, mnist(lambda digit: "1" if digit % 2 else "-1")),
    *(Set(f"reviews_{d}", "two", "shuffled", WORDS, reviews(d)) for d in names("books dvd electronics kitchen")),
    *(Set(f"reviews5k_{d}", "two", "published", IDS, svmlight(*(f"sentiment/graal_amazon5000_{d}_{p}.svmlight.gz" for p in names("train test"))))
      for d in names("books dvd electronics kitchen")),
    Set("frappe", "two", "published", IDS, svmlight("ctr/frappe_validation.libfm.gz", "ctr/frappe_test.libfm.gz")),
    Set("criteo", "two", "time", table("1", map(str, range(15, 41)), header=False, delimiter="\t"), cells("ctr/criteo_head_7200.tsv.gz", delimiter="\t")),
    Set("avazu", "two", "time", table("click", names(
        "id hour C1 banner_pos site_id site_domain site_category app_id app_domain app_category device_id device_ip device_model device_type "
        "device_conn_type C14 C15 C16 C17 C18 C19 C20 C21")), cells("ctr/avazu_8087.csv.gz")),
    Set("amazon_access", "two", "shuffled", table("ACTION", names(
        "RESOURCE MGR_ID ROLE_ROLLUP_1 ROLE_ROLLUP_2 ROLE_DEPTNAME ROLE_TITLE ROLE_FAMILY_DESC ROLE_FAMILY ROLE_CODE")),
        cells("ctr/amazon_access_train.csv.gz")),
    Set("adult", "two", "published", table("15", names("2 4 6 7 8 9 10 14"), header=False),
        cells("tables/adult_train.csv.gz", "tables/adult_test.csv.gz", relabel=lambda cell: cell.strip().removesuffix("."))),
    Set("bank", "two", "shuffled", table("y", names("job marital education default housing loan contact month poutcome")), cells("tables/bank_full.csv.gz")),
    Set("bank_in_time", "two", "time", table("y", names("job marital education default housing loan contact month poutcome")),
        cells("tables/bank_full.csv.gz")),
    Set("telco", "two", "shuffled", table("Churn", names(
        "customerID gender Partner Dependents PhoneService MultipleLines InternetService OnlineSecurity OnlineBackup DeviceProtection TechSupport "
        "StreamingTV StreamingMovies Contract PaperlessBilling PaymentMethod")), cells("tables/telco_churn.csv.gz")),
    Set("sms_spam", "two", "shuffled", WORDS, messages),
    Set("housing", "number", "shuffled", table("median_house_value", ["ocean_proximity"]), cells("tables/california_housing.csv.gz"), SQUARED),
    Set("movielens", "number", "shuffled", table("3", names("1 2"), header=False, delimiter="\t", drop=[3]),
        cells("libsvm/movielens_100k.tsv.gz", delimiter="\t"), SQUARED),
    *(Set(name, "number", "shuffled", PLAIN, cells(f"regression/uci_{name}.csv.gz"), SQUARED)
      for name in names("bike elevators kin40k protein pumadyn32nm")),
]

GENERATED = [
    Set("made_clicks", "two", "time", IDS, default_generated.clicks),
    Set("made_drift", "two", "time", IDS, default_generated.drifting_clicks),
    Set("made_text", "two", "time", WORDS, default_generated.text),
    Set("made_table", "two", "time", table("outcome", names("city plan")), default_generated.wild_table),
    Set("made_shifted", "number", "time", table("target"), default_generated.shifted_target, SQUARED),
    Set("made_noise", "two", "time", IDS, default_generated.noise),
    Set("made_noise_number", "number", "time", table("target"), default_generated.noise_numbers, SQUARED),
    Set("made_classes", "many", "time", IDS, default_generated.classes, MANY),
]


def half(name):
    """Settings are chosen on half a and reported on half b; the name decides."""
    return "ab"[hashlib.sha256(name.encode()).digest()[0] % 2]


def split(one, folder):
    rows, test = one.read(folder)
    header = None
    if one.shape["form"] == "table":
        header = rows.pop(0) if one.shape["header"] else None
        for drop in one.shape["drop"]:
            rows = [row[:drop] + row[drop + 1:] for row in rows]
    if one.order != "time":
        random.Random(1).shuffle(rows)
    if test is None:
        cut = len(rows) - int(len(rows) * TEST_SHARE)
        rows, test = rows[:cut], rows[cut:]
    return header, rows, test


def clean(text):
    """A word that VW text can hold."""
    return re.sub(r"[\s:|]", "_", text.strip())


def as_vw(label, features):
    return f"{label} | " + " ".join(f"{clean(n)}:{v}" if v is not None else clean(n) for n, v in features)


def is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def table_features(columns, row):
    """Features of a record; `columns` are (position, name, is category)."""
    features = []
    for position, name, is_category in columns:
        cell = row[position].strip()
        if is_category:
            if cell:
                features.append((f"{name}={cell}", None))
        elif is_number(cell):
            features.append((name, cell))
    return features


def class_order(labels):
    """The order that parsimon gives the classes: numbers by value, texts by bytes."""
    found = sorted(set(labels))
    return sorted(found, key=float) if all(map(is_number, found)) else found


def position(header, width, asked):
    if asked == "last":
        return width - 1
    return header.index(asked) if header and asked in header else int(asked) - 1


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)


def prepare(one, data, cache):
    """The folder of a set, made if absent, and what it holds."""
    folder = os.path.join(cache, f"{one.name}-{VERSION}")
    described = os.path.join(folder, "set.json")
    if os.path.exists(described):
        with open(described) as f:
            return folder, json.load(f)
    header, train, test = split(one, data)
    form, flags, columns = one.shape["form"], [], None
    partial = folder + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(partial)
    if form == "table":
        width = len(train[0])
        label_at = position(header, width, one.shape["label"])
        categories = {position(header, width, c) for c in one.shape["categories"]}
        columns = [(i, header[i] if header else f"c{i + 1}", i in categories) for i in range(width) if i != label_at]
        flags = {"label": ["--label-column", header[label_at] if header else str(label_at + 1)],
                 "categories": ["--text-columns", ",".join(header[i] if header else str(i + 1) for i in sorted(categories))] if categories else []}
    ending = {"ids": "svm", "words": "vw", "table": "tsv" if one.shape.get("delimiter") == "\t" else "csv"}[form]
    label_of = (lambda row: row[label_at].strip()) if form == "table" else (lambda row: row[0])
    classes = class_order(map(label_of, train)) if one.kind != "number" else None
    codes = {c: str(i + 1) for i, c in enumerate(classes)} if one.kind == "many" else dict(zip(classes or [], ("-1", "1")))
    seen, targets = collections.Counter(), {}
    for part, rows in (("train", train), ("test", test)):
        vw, targets[part] = [], []
        for row in rows:
            label = label_of(row)
            target = codes[label] if classes else label
            features = table_features(columns, row) if form == "table" else row[1]
            targets[part].append(float(target))
            vw.append(as_vw(target, features))
            if part == "train":
                seen.update({clean(n) for n, v in features if v is None or float(v) != 0})
        write(os.path.join(partial, f"{part}.vw"), "\n".join(vw) + "\n")
        if form == "ids":
            write(os.path.join(partial, f"{part}.svm"), "".join(f"{label} {' '.join(f'{i}:{v}' for i, v in features)}\n" for label, features in rows))
        elif form == "table":
            text = io.StringIO()
            if ending == "csv":
                csv.writer(text, lineterminator="\n").writerows(([header] if header else []) + rows)
            else:
                text.write("".join("\t".join(row) + "\n" for row in rows))
            write(os.path.join(partial, f"{part}.{ending}"), text.getvalue())
    about = {
        "name": one.name, "kind": one.kind, "order": one.order, "half": half(one.name), "form": form, "file": ending,
        "classes": classes and len(classes), "rows": len(train), "test_rows": len(test), "features": len(seen),
        "once": sum(n == 1 for n in seen.values()) / max(len(seen), 1),
        "numeric": [name for _, name, is_category in columns if not is_category] if columns else [],
        "label_flags": flags["label"] if flags else [], "other_flags": (flags["categories"] if flags else []) + one.flags,
        "targets": targets,
    }
    with open(os.path.join(partial, "set.json"), "w") as f:
        json.dump(about, f)
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(partial, folder)
    return folder, about
