"""One peer on one set of bench/defaults.py.

    default_peers.py LEARNER FOLDER OUT

Reads train.vw, test.vw and set.json of FOLDER and writes JSON: predictions of the test rows (probabilities of the second class, of each
class, or numbers), the number of nonzero weights where the peer has one, and its version.
Every learner runs with its defaults and sees each row once, but for `batch`, which converges. scikit-learn's scalers see all training
rows before the first one is learned: that is a second pass which parsimon, VW and River do without.
"""
import json
import math
import os
import sys
import tempfile
import warnings


def read(folder, part):
    """Labels, and rows as dictionaries; a category has the value 1."""
    labels, rows = [], []
    with open(os.path.join(folder, f"{part}.vw"), encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if line:
                label, features = line.split(" | ", 1)
                row = {}
                for word in features.split():
                    name, colon, value = word.partition(":")
                    row[name] = row.get(name, 0.0) + (float(value) if colon else 1.0)
                labels.append(float(label))
                rows.append(row)
    return labels, rows


def vw(folder, about):
    import vowpalwabbit

    kind, classes = about["kind"], about["classes"]
    learn = {"two": "--loss_function logistic", "many": f"--oaa {classes} --loss_function logistic --probabilities", "number": ""}[kind]
    link = {"two": "--link logistic", "many": "--probabilities", "number": ""}[kind]
    with tempfile.TemporaryDirectory() as scratch:
        model, out = os.path.join(scratch, "model"), os.path.join(scratch, "predictions")
        vowpalwabbit.Workspace(f"-d {folder}/train.vw -f {model} --quiet {learn}").finish()
        vowpalwabbit.Workspace(f"-t -i {model} -d {folder}/test.vw -p {out} --quiet {link}").finish()
        with open(out) as f:
            lines = [line.split() for line in f if line.strip()]
    if kind == "many":
        predictions = [[float(w.split(":")[1]) for w in words] for words in lines]
    else:
        predictions = [float(words[0]) for words in lines]
    return predictions, None, vowpalwabbit.__version__


def matrices(folder, about, scaled):
    """CSR matrices. With `scaled`, numeric columns of tables have mean 0 and deviation 1, missing cells the mean; other features are
    divided by their largest absolute value."""
    import numpy as np
    from scipy import sparse

    numeric = {name: j for j, name in enumerate(about["numeric"])}
    vocabulary, parts, labels = {}, {}, {}
    for part in ("train", "test"):
        labels[part], rows = read(folder, part)
        dense = np.full((len(rows), len(numeric)), np.nan)
        starts, ids, values = [0], [], []
        for i, row in enumerate(rows):
            for name, value in row.items():
                if name in numeric:
                    dense[i, numeric[name]] = value
                    continue
                j = vocabulary.setdefault(name, len(vocabulary)) if part == "train" else vocabulary.get(name)
                if j is not None:
                    ids.append(j)
                    values.append(value)
            starts.append(len(ids))
        parts[part] = dense, (np.array(values), np.array(ids, dtype=np.int32), np.array(starts, dtype=np.int32))
    width = len(vocabulary)
    words = {part: sparse.csr_matrix(csr, shape=(len(csr[2]) - 1, width)) for part, (_, csr) in parts.items()}
    dense = {part: d for part, (d, _) in parts.items()}
    if scaled:
        if numeric:
            mean, deviation = np.nanmean(dense["train"], axis=0), np.nanstd(dense["train"], axis=0)
            deviation[deviation == 0] = 1
            dense = {part: np.nan_to_num((d - mean) / deviation) for part, d in dense.items()}
        if width:
            largest = np.maximum(abs(words["train"]).max(axis=0).toarray().ravel(), 1e-300)
            words = {part: w @ sparse.diags(1 / largest) for part, w in words.items()}
    both = {part: sparse.hstack([sparse.csr_matrix(np.nan_to_num(dense[part])), words[part]]).tocsr() for part in words}
    return {part: (both[part], np.array(labels[part])) for part in both}


def linear(folder, about, scaled, classifier, regressor):
    import sklearn

    parts = matrices(folder, about, scaled)
    (x, y), (t, _) = parts["train"], parts["test"]
    if about["kind"] == "number":
        model = regressor.fit(x, y)
        predictions = model.predict(t)
    else:
        model = classifier.fit(x, y)
        p = model.predict_proba(t)
        predictions = p[:, 1] if about["kind"] == "two" else p
    return predictions.tolist(), int((model.coef_ != 0).sum()), sklearn.__version__


def sgd(folder, about, scaled=False):
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    once = {"max_iter": 1, "tol": None, "shuffle": False}
    return linear(folder, about, scaled, SGDClassifier(loss="log_loss", **once), SGDRegressor(**once))


def sgd_scaled(folder, about):
    return sgd(folder, about, scaled=True)


def batch(folder, about):
    from sklearn.linear_model import LogisticRegression, Ridge

    return linear(folder, about, True, LogisticRegression(max_iter=1000), Ridge())


def river(folder, about):
    """Numeric columns of tables through StandardScaler; other features through MaxAbsScaler, because StandardScaler turns a feature
    that is 1 wherever it occurs into 0."""
    import river
    from river import linear_model, multiclass, preprocessing

    numeric = set(about["numeric"])
    standard, largest = preprocessing.StandardScaler(), preprocessing.MaxAbsScaler()

    def scaled(row, learn):
        """A missing cell stays absent; River's own selection of columns refuses rows that lack one."""
        parts = (standard, {k: v for k, v in row.items() if k in numeric}), (largest, {k: v for k, v in row.items() if k not in numeric})
        result = {}
        for scaler, part in parts:
            if learn:
                scaler.learn_one(part)
            result |= scaler.transform_one(part)
        return result

    kind = about["kind"]
    learner = {"two": linear_model.LogisticRegression, "many": lambda: multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
               "number": linear_model.LinearRegression}[kind]()
    labels, rows = read(folder, "train")
    for x, y in zip(rows, labels):
        learner.learn_one(scaled(x, True), y if kind == "number" else y == 1 if kind == "two" else int(y))
    rows = [scaled(x, False) for x in read(folder, "test")[1]]
    if kind == "number":
        predictions = [learner.predict_one(x) for x in rows]
    elif kind == "two":
        predictions = [learner.predict_proba_one(x).get(True, 0.5) for x in rows]
    else:
        predictions = [[p.get(c + 1, 0.0) for c in range(about["classes"])] for p in map(learner.predict_proba_one, rows)]
    return predictions, None, river.__version__


LEARNERS = {"vw": vw, "sgd": sgd, "sgd_scaled": sgd_scaled, "river": river, "batch": batch}


def main():
    learner, folder, out = sys.argv[1:]
    warnings.simplefilter("ignore")
    with open(os.path.join(folder, "set.json")) as f:
        about = json.load(f)
    predictions, nonzeros, version = LEARNERS[learner](folder, about)
    # JSON has no infinity; a prediction that is not finite is written as null.
    tidy = [p if isinstance(p, list) else p if math.isfinite(p) else None for p in predictions]
    with open(out, "w") as f:
        json.dump({"predictions": tidy, "nonzeros": nonzeros, "version": version}, f)


if __name__ == "__main__":
    main()
