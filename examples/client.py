#!/usr/bin/env python3
"""A client that behaves: it waits as long as it is told, and a little longer; it stops in time; and it asks no second time
for a day that is used up. The standard library is all it needs.

    status, headers, body = request("https://api.example.com/v1/items", body=b"...", patience=60)

From a shell: python3 client.py URL [SECONDS [BODY]]
"""

import json
import random
import sys
import time
import urllib.error
import urllib.request

# Refusals that end by themselves soon. Whoever gives one has not passed the request on, so it may be sent again, a POST too.
PASSING = {"rate_limited", "over_capacity", "limiter_unavailable"}


def request(url, body=None, headers=None, patience=60.0):
    """Sends a GET, or a POST where there is a body. Does not try again after `patience` seconds: the refusal is then the answer."""
    end = time.monotonic() + patience
    while True:
        status, answered, text = once(url, body, headers or {})
        wait = to_wait(status, answered, text)
        if wait is None or time.monotonic() + wait > end:
            return status, answered, text
        time.sleep(wait)


def once(url, body, headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body, headers=headers), timeout=30) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def to_wait(status, headers, text):
    """How many seconds until the request is worth sending again; None where it is not."""
    after = headers.get("Retry-After", "")
    if status < 400 or not after.isdecimal() or headers.get_content_type() != "application/problem+json":
        return None
    if json.loads(text).get("reason") not in PASSING:
        return None
    seconds = int(after)
    # Up to a tenth more, a second at least: others were told the same time.
    return seconds + random.uniform(0, max(1.0, seconds / 10))


if __name__ == "__main__":
    url, *rest = sys.argv[1:]
    patience = float(rest[0]) if rest else 60.0
    status, _, text = request(url, rest[1].encode() if len(rest) > 1 else None, patience=patience)
    print(status, text.decode())
