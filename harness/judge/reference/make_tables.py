#!/usr/bin/env python3
"""Makes the reference tables that the tests of `judge::stats` compare with.

    python3 make_tables.py              writes tables.json and gaps.json beside this file
    python3 make_tables.py --band       prints the rows of sd_band::TABLE (some minutes)

Needs numpy and scipy (made with numpy 2.x, scipy 1.x). Seeded: two runs write the same files. The formulas are written out
here a second time, in another language and with another library, on purpose: a table that shared code with the tests would prove nothing.
"""
import json
import math
import pathlib
import sys

import numpy as np
from scipy import stats

HERE = pathlib.Path(__file__).parent
EPS, EARLY, WINDOW = 0.060, 0.002, 0.025


def distributions():
    sf = [[n, p, m, float(stats.binom.sf(m - 1, n, p))]
          for n, p in ((60, .02), (100, .0957), (300, .02), (300, .5), (2000, .1)) for m in (1, 5, 12, 20, 40, 150, 200)]
    upper = [[n, d, a, int(stats.binom.isf(a, n, d))]
             for n in (60, 150, 300, 600) for d in (.01, .02, .05) for a in (1e-3, 1e-7)]
    normal = [[a, float(stats.norm.isf(a))] for a in (.025, 1e-3, 1e-7, 2.5e-8, 1e-12)]
    return {"binomial_at_least": sf, "binomial_upper": upper, "normal_upper": normal}


def criticals():
    dkw = [[n, a, math.sqrt(math.log(2 / a) / (2 * n))] for n in (30, 60, 100, 150, 300, 600, 900) for a in (1e-7, 1e-8)]
    reach = [[n, k, a, 1 - (a / (2 * k)) ** (1 / n)] for n in (20, 50, 100, 300) for k in (1, 3, 6) for a in (1e-7,)]
    rank = [[n, p, a, float(stats.norm.isf(a / 2 / p) / math.sqrt(n - 1))] for n in (40, 100) for p in (1, 2, 4) for a in (1e-7,)]
    scan = [[n, w, eps, scan_threshold(n, w, 1e-7 / 3, eps)] for n in (20, 50, 100, 200, 300) for w in (.1, .2, 1., 2., 4.) for eps in (.06, .03)]
    return {"dkw": dkw, "reach": reach, "rank_corr": rank, "gap_scan": scan, "phase": math.log(5 / 1e-7) * 1.05}


def scan_threshold(n, width, alpha, eps):
    v = WINDOW + eps + EARLY
    p, cells = min(1., 1.1 * v / width), max(1., width / (.1 * v))
    return next((m for m in range(int(n * p) + 1, n + 1) if cells * stats.binom.sf(m - 1, n, p) <= alpha), n + 1)


def sd_quantile(n, alpha, side, draws, seed=1):
    """Importance sampling as in sd_tail.rs, but by bisection over q with fresh weights each time."""
    x0 = np.linspace(0, 1, 4001)
    centres = np.linspace(.05, .95, 19) if side < 0 else np.array([.5])

    def chance(q):
        g = np.random.default_rng(seed)
        target = q * q / 12 * (n - 1) / n
        thetas, norms, cdfs = [], [], []
        for c in centres:
            y = (x0 - c) ** 2
            lo, hi = (-8000., 0.) if side < 0 else (0., 8000.)
            for _ in range(40):
                th = (lo + hi) / 2
                e = np.exp(th * y - (th * y).max())
                lo, hi = (th, hi) if (e * y).sum() / e.sum() < target else (lo, th)
            e = np.exp(th * y - (th * y).max())
            mass = np.concatenate([[0], np.cumsum((e[1:] + e[:-1]) / 2)])
            thetas.append(th)
            norms.append(math.log(mass[-1] / (len(x0) - 1)) + (th * y).max())
            cdfs.append(mass / mass[-1])
        pick = g.integers(0, len(centres), draws)
        u = g.random((draws, n))
        x = np.empty((draws, n))
        for j in range(len(centres)):
            x[pick == j] = np.interp(u[pick == j], cdfs[j], x0)
        s1, s2 = x.sum(1), (x ** 2).sum(1)
        logq = np.stack([th * (s2 - 2 * c * s1 + n * c * c) - n * z for th, c, z in zip(thetas, centres, norms)])
        top = logq.max(0)
        logq = top + np.log(np.exp(logq - top).mean(0))
        ratio = np.sqrt(12 * (s2 - s1 ** 2 / n).clip(0) / (n - 1))
        w = np.where(ratio < q if side < 0 else ratio > q, np.exp(-logq), 0)
        return w.mean() + 3 * w.std() / math.sqrt(draws)      # on the safe side by three standard errors

    lo, hi = (.01, 1.) if side < 0 else (1., math.sqrt(3 * n / (n - 1)))
    for _ in range(20):
        mid = (lo + hi) / 2
        if (chance(mid) < alpha) == (side < 0):
            lo = mid
        else:
            hi = mid
    return lo if side < 0 else hi


def sd_checks():
    """Bands at levels, sizes and attempts the embedded table does not have; and at 1e-3, which plain simulation confirms."""
    rows = [[n, t, sd_quantile(n, t, -1, 20000), sd_quantile(n, t, 1, 20000)]
            for n, t in ((8, 1e-4), (20, 1e-8), (40, 1e-3), (100, 1e-8), (100, 1e-7 / 10), (300, 1e-6 / 6))]
    g = np.random.default_rng(5)
    s = np.concatenate([g.random((50000, 20)).std(1, ddof=1) for _ in range(40)]) * math.sqrt(12)
    return {"sd_band": rows, "sd_plain": [20, 1e-3, float(np.quantile(s, 1e-3)), float(np.quantile(s, 1 - 1e-3))]}


def restart():
    """Exact P(D <= d) in whole numbers: lattice paths between two lines over all paths."""
    def inside_share(n, m, num, den):      # |i/n - j/m| <= num/den
        row = [0] * (m + 1)
        for i in range(n + 1):
            new = [0] * (m + 1)
            for j in range(m + 1):
                if abs(i * m - j * n) * den <= num * n * m:
                    new[j] = 1 if i == j == 0 else row[j] + (new[j - 1] if j else 0)
            row = new
        return row[m] / math.comb(n + m, n)
    return {"restart": [[n, m, a, b, inside_share(n, m, a, b)] for n, m, a, b in
                        ((300, 300, 6, 300), (300, 300, 7, 300), (300, 300, 30, 300), (60, 60, 3, 60), (40, 60, 8, 120), (7, 5, 10, 35))]}


def arrivals(n_retries, base, law, dt, cells):
    cur = np.zeros(cells)
    cur[0] = 1
    out = []
    for k in range(n_retries):
        c = min(60., base * 2 ** k)
        lo, hi = (0, c) if law == "full" else (c / 2, c)
        kern = np.zeros(cells)
        kern[int(round(lo / dt)):int(round(hi / dt))] = 1
        kern /= kern.sum()
        cur = np.clip(np.fft.irfft(np.fft.rfft(cur, 2 * cells) * np.fft.rfft(kern, 2 * cells), 2 * cells)[:cells], 0, None)
        out.append(cur)
    return np.array(out)


def peak_threshold(n, n_retries, base, window, law, sliding, alpha=1e-7):
    dt = window / 100
    p = arrivals(n_retries, base, law, dt, int(round(base * 2 ** n_retries / dt)))
    step, width = (10, 110) if sliding else (100, 100)
    mus = [p[:, s:s + width].sum(1) for s in range(0, p.shape[1] - step, step)]
    s = np.linspace(.01, 6, 600)
    for m in range(1, n * n_retries + 1):
        total = 0.
        for mu in mus:
            if m <= n * mu.sum():
                total = 1.
                break
            total += math.exp(np.min(n * np.log1p(mu * (np.exp(s)[:, None] - 1)).sum(1) - s * m))
        if total <= alpha:
            return m
    return n * n_retries + 1


def peaks():
    cases = [(n, 3, 1., .1, "full", sliding) for n in (20, 50, 100, 200, 500) for sliding in (True, False)]
    cases += [(2000, 2, .911, .1, "full", True), (100, 3, .2, .02, "equal", True), (100, 2, .5, .05, "equal", False)]
    return {"peak": [[*c, peak_threshold(*c)] for c in cases]}


# ---------------------------------------------------------------------- statistics of fixed tables
def fleets():
    g = np.random.default_rng(20240607)
    c = np.array([1., 2., 4.])
    noise = lambda n: .005 + .015 * g.random((n, 3)) + g.lognormal(math.log(.001), .5, (n, 3))
    decor = []
    for _ in range(30):
        prev, row = 1., []
        for _ in range(3):
            prev = min(60., 1 + g.random() * (3 * prev - 1))
            row.append(prev)
        decor.append(row)
    out = {
        "full": g.random((40, 3)) * c + noise(40),
        "equal": (.5 + .5 * g.random((40, 3))) * c + noise(40),
        "herd": np.tile(c, (30, 1)) + noise(30),
        "whole seconds": np.floor(g.random((40, 3)) * c) + noise(40),
        "one draw": g.random((40, 1)) * c + noise(40),
        "decorrelated": np.array(decor) + noise(30),
    }
    rows = {k: np.round(v, 6).tolist() for k, v in out.items()}
    rows["ragged"] = [r[:1 + i % 3] for i, r in enumerate(rows["full"])]
    return rows


SHAPES = {"full": (0., 1.), "equal": (.5, 1.), "plus_minus_25": (.75, 1.25), "exponential": (1., 1.)}


def pit(rows, law):
    """(a, b, outside) of each gap by retry; base 1 s, cap 60 s."""
    a, b, out = {}, {}, 0
    for row in rows:
        plo = phi = 1.
        for k, gap in enumerate(row):
            lo, hi = max(gap - EPS, 0), gap + EARLY
            if law == "decorrelated":
                L, Ha, Hb = 1., 3 * phi, 3 * plo
                plo, phi = min(max(lo, 1), 60), min(max(hi, 1), 60)
            else:
                L, Ha = (x * min(60., 2. ** k) for x in SHAPES[law])
                Hb = Ha
            if Ha > L:
                x, y = (lo - L) / (Ha - L), (hi - L) / (Hb - L)
            else:
                x, y = (1. if lo > Ha else 0.), (0. if hi < L else 1.)
            out += gap > Ha + EPS or gap < L - EARLY
            a.setdefault(k, []).append(min(max(x, 0), 1))
            b.setdefault(k, []).append(min(max(y, 0), 1))
    return a, b, out


def measures(rows, law):
    a, b, out = pit(rows, law)
    A, B = np.sort(sum(a.values(), [])), np.sort(sum(b.values(), []))
    n = len(A)
    i = np.arange(1, n + 1) / n
    cols = [np.array([r[k] for r in rows if len(r) > k]) for k in range(3)]
    m = {"outside": int(out), "distance": float(max((i - B).max(), (A - i + 1 / n).max())),
         "floor": [min(a[k]) for k in range(3)], "ceiling": [max(b[k]) for k in range(3)],
         "fullest": [max(int(((x >= lo) & (x - lo < WINDOW)).sum()) for lo in x) for x in cols],
         "spearman": [float(stats.spearmanr(*np.array([r[k:k + 2] for r in rows if len(r) > k + 1]).T)[0]) for k in range(2)]}
    if law in ("full", "equal", "plus_minus_25"):
        lo, hi = SHAPES[law]
        m["sd"] = [float(np.std(np.clip(x, lo * 2 ** k - EARLY, hi * 2 ** k + EPS), ddof=1)) for k, x in enumerate(cols)]
    if law == "full":
        everything = np.concatenate(cols)
        m["rayleigh"] = {str(t): float(abs(np.exp(2j * np.pi * everything / t).sum()) ** 2 / len(everything)) for t in (.05, .1, .25, .5, 1.)}
    return m


def main():
    if "--band" in sys.argv:
        for n in (8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 250, 300):
            lo = [math.floor(sd_quantile(n, t, -1, 40000) * 1e4) / 1e4 for t in (1e-7 / 6, 5e-9, 1e-9)]
            hi = [math.ceil(sd_quantile(n, t, 1, 40000) * 1e4) / 1e4 for t in (1e-7 / 6, 5e-9, 1e-9)]
            print(f"    ({n}, [" + ", ".join(f"({a:.4f}, {b:.4f})" for a, b in zip(lo, hi)) + "]),", flush=True)
        return
    rows = fleets()
    laws = (*SHAPES, "decorrelated")
    tables = {**distributions(), **criticals(), **sd_checks(), **restart(), **peaks(),
              "measures": {name: {law: measures(r, law) for law in laws} for name, r in rows.items()}}
    (HERE / "gaps.json").write_text(json.dumps(rows, separators=(",", ":")) + "\n")
    (HERE / "tables.json").write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in tables.items()) + "\n}\n")


if __name__ == "__main__":
    main()
