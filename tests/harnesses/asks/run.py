"""Asks its model as often as its argument says, writes the last answer as its reply, and prints what it could see."""

import json
import os
import sys
import urllib.error
import urllib.request

how_often, name = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else os.environ["MODEL_MAIN_NAME"]
answer = ""
for number in range(how_often):
    body = {
        "model": name,
        "temperature": 0.5,
        "messages": [{"role": "user", "content": f"Question {number}"}],
    }
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        data=json.dumps(body).encode(),
        headers={
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}",
        },
    )
    try:
        with urllib.request.urlopen(request) as found:
            answer = json.load(found)["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode())
with open(os.environ["REPLY_FILE"], "w") as file:
    file.write(answer or "nothing")
print(json.dumps(dict(os.environ)))
