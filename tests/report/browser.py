"""A headless Chromium, driven by its DevTools protocol through two pipes, and the pictures that it takes."""
import base64
import json
import os
import select
import shutil
import struct
import subprocess
import tempfile
import time
import zlib

TIMEOUT = 60  # seconds for one answer


class Browser:
    """Opens pages one after the other. `close` ends the process."""

    def __init__(self, command, log):
        commands_in, self.commands = os.pipe()
        self.answers, answers_out = os.pipe()
        self.profile = tempfile.mkdtemp(prefix="winnow-browser-")
        self.log = open(log, "wb")

        def as_3_and_4():  # where Chromium looks for the pipes
            reading, writing = os.dup(commands_in), os.dup(answers_out)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                 "--remote-debugging-pipe", "--user-data-dir=" + self.profile]
        self.process = subprocess.Popen([command, *flags], stdout=self.log, stderr=self.log, close_fds=False,
                                        preexec_fn=as_3_and_4)
        os.close(commands_in)
        os.close(answers_out)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Log", "Runtime", "Network"):
            self.call(domain + ".enable")

    def close(self):
        os.close(self.commands)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.answers)
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise RuntimeError("the browser does not answer")
            data = os.read(self.answers, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url, scheme, width):
        """Loads a page as a reader with a "light" or "dark" system sees it; returns what went wrong and what was fetched."""
        self.events = []
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + TIMEOUT
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive(deadline))
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return self.errors(), self.fetched()

    def errors(self):
        texts = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Log.entryAdded":
                texts.append(parameters["entry"]["text"])
            elif event.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                texts.append(json.dumps(parameters)[:200])
        return texts

    def fetched(self):
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:400])
        return result["result"].get("value")

    def picture(self):
        """The whole page: PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"])


class Picture:
    """Pixels of a PNG of 8 bits, RGB or RGBA, without interlacing."""

    def __init__(self, png):
        at, data = 8, b""
        while at < len(png):
            length, kind = struct.unpack(">I4s", png[at:at + 8])
            body = png[at + 8:at + 8 + length]
            at += 12 + length
            if kind == b"IHDR":
                self.width, self.height, depth, colour = struct.unpack(">IIBB", body[:10])
                assert depth == 8 and colour in (2, 6) and body[12] == 0
                self.bytes = 3 if colour == 2 else 4
            elif kind == b"IDAT":
                data += body
        self.rows = self.unfiltered(zlib.decompress(data))

    def unfiltered(self, data):
        size, step, rows = self.width * self.bytes, self.bytes, []
        above = bytearray(size)
        for y in range(self.height):
            start = y * (size + 1)
            kind, row = data[start], bytearray(data[start + 1:start + 1 + size])
            if kind == 1:
                for i in range(step, size):
                    row[i] = (row[i] + row[i - step]) & 255
            elif kind == 2:
                row = bytearray((a + b) & 255 for a, b in zip(row, above))
            elif kind == 3:
                for i in range(size):
                    row[i] = (row[i] + ((row[i - step] if i >= step else 0) + above[i]) // 2) & 255
            elif kind == 4:
                for i in range(size):
                    a, b, c = (row[i - step] if i >= step else 0), above[i], (above[i - step] if i >= step else 0)
                    p = a + b - c
                    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                    row[i] = (row[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255
            rows.append(row)
            above = row
        return rows

    def colours(self, left, top, width, height):
        """How often each colour is in a rectangle."""
        counts = {}
        for y in range(max(0, int(top)), min(self.height, int(top + height))):
            row = self.rows[y]
            for x in range(max(0, int(left)), min(self.width, int(left + width))):
                at = x * self.bytes
                colour = (row[at], row[at + 1], row[at + 2])
                counts[colour] = counts.get(colour, 0) + 1
        return counts
