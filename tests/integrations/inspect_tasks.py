"""Run tasks by Inspect in a process of their own: `inspect_tasks.py TASKS.json LOGS` writes LOGS/results.json.

A process of its own keeps the streams that Inspect leaves open away from the other tests.
"""

import json
import sys
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as run
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, scorer

from bayesagree.integrations import inspect as metrics


def say_yes(*_):
    output = ModelOutput.from_content("mockllm/model", "yes")
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else a tokenizer is downloaded
    return output


def evaluated(name, metric, key, samples, logs):
    """Values of the metric, or the error, of a task whose model says yes and whose scorer keeps the answer."""

    @scorer(metrics=[getattr(metrics, metric)(key)], name="word")
    def word():
        async def score(state, target):
            answer = state.output.completion
            return Score(value="C" if answer == target.text else "I", answer=answer)

        return score

    task = Task(dataset=[Sample(input="?", **sample) for sample in samples], scorer=word(), name=name)
    (log,) = run(task, model=get_model("mockllm/model", custom_outputs=say_yes), log_dir=logs, display="none")
    values = {key: found.value for key, found in log.results.scores[0].metrics.items()} if log.results else {}
    return {"log": log.location, "values": values, "error": log.error.message if log.error else ""}


def record_reports(written):
    """Note, by task, the reports that the hook writes while Inspect awaits its `on_task_end`."""
    hook = metrics.ReportBesideLog.on_task_end

    async def on_task_end(self, data):
        folder = Path(sys.argv[2])
        before = set(folder.glob("*.html"))
        await hook(self, data)
        written[data.log.eval.task] = [path.name for path in set(folder.glob("*.html")) - before]

    metrics.ReportBesideLog.on_task_end = on_task_end


if __name__ == "__main__":
    written = {}
    record_reports(written)
    tasks, logs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2]
    results = {name: evaluated(name, *task, logs) for name, task in tasks.items()}
    for name, result in results.items():
        result["on_task_end"] = written.get(name, [])
    Path(logs, "results.json").write_text(json.dumps(results), encoding="utf-8")
