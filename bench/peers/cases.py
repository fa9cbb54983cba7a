"""The list of nets that compare.py takes, which scripts add to."""

import json


def add_case(out, case):
    """Takes the place of one of the same name: those that are not made anew stay."""
    path = out / "cases.json"
    cases = json.loads(path.read_text()) if path.exists() else []
    path.write_text(json.dumps([other for other in cases if other["name"] != case["name"]] + [case], indent=1))
