"""promptfoo: results of an evaluation as JSON; each assertion is a judge of each output."""

from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found


def read(file: File, question: str | None) -> Found:
    """Read pass and fail of each assertion: an item is an output, a provider's answer to one prompt of one test."""
    found = Found()
    for row in file.json["results"]["results"]:
        if row.get("error") and not row.get("gradingResult"):
            found.left_out["outputs with an error"] += 1
            continue
        provider = row["provider"]
        name = str((provider.get("label") or provider.get("id")) if isinstance(provider, dict) else provider)
        system = name if row.get("promptIdx", 0) == 0 else f"{name}, prompt {row['promptIdx']}"
        item = f"test {row['testIdx']}, {system}"
        grading = row.get("gradingResult") or {}
        components = grading.get("componentResults") or [grading | {"pass": row["success"]}]
        for number, component in enumerate(components, 1):
            assertion = component.get("assertion") or {}
            kind = assertion.get("metric") or assertion.get("type") or "assertion"
            verdict = "pass" if component["pass"] else "fail"
            found.answers.append(("pass", item, f"{kind} {number}", verdict))
    return found
