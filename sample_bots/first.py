"""The smallest bot: always the first option.

The referee lists what is legal in `options`; the answer is a place in that list, counted
from 0, and repeats the question's `id`. Copy this file and replace the 0 by an idea.
"""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "hello", "name": "first", "version": "1"}', flush=True)
    elif message["type"] == "ask":
        print(json.dumps({"type": "choose", "id": message["id"], "choice": 0}), flush=True)
