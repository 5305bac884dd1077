"""An MCP server for tests, standard library only: over pipes, or with `http FILE` on a free port of 127.0.0.1, whose
address it writes to FILE. Beside good tools it has all the bad manners that a client must survive."""

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time

TOOLS = {
    "echo": "Says it again.",
    "add": "Adds a and b.",
    "fail": "Fails, and says why.",
    "parts": "A picture and a text.",
    "texts": "Two texts.",
    "silent": "Never answers.",
    "huge": "Answers with n bytes.",
    "die": "Ends the server.",
    "garbage": "Writes what is no message, and never answers.",
    "flood": "Sends n notifications before it answers.",
    "ask": "Asks the client for a model's reply, and answers with what it got.",
    "environment": "The server's environment.",
    "forget": "Forgets the session, over HTTP.",
    "child": "Starts a process that ignores the end of its input; answers with its id.",
}
RESOURCES = [{"uri": "note:one", "name": "one", "mimeType": "text/plain"}]
TEMPLATES = [{"uriTemplate": "note:{name}", "name": "note"}]


def text(value):
    return {"content": [{"type": "text", "text": value}]}


class Fault(Exception):
    pass


class Server:
    """What the two transports have in common. `say` sends a message at once, `hear` waits for the client's next."""

    def __init__(self, say, hear):
        self.say, self.hear = say, hear

    def answer(self, message):
        method, params = message.get("method"), message.get("params") or {}
        if "id" not in message or method is None:
            return None
        try:
            result = self.result(method, params)
        except Fault as fault:
            return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32602, "message": str(fault)}}
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def result(self, method, params):
        if method == "initialize":
            version = os.environ.get("MCP_TEST_VERSION", params["protocolVersion"])
            capabilities = {"tools": {}} if os.environ.get("MCP_TEST_TOOLS_ONLY") else {"tools": {}, "resources": {}}
            return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": {"name": "test"}}
        if method == "tools/list":
            # A page a tool.
            at = int(params.get("cursor", 0))
            names = sorted(TOOLS)
            if os.environ.get("MCP_TEST_HUGE_LIST"):
                tool = {"name": "huge", "description": "x" * (5 << 20), "inputSchema": {"type": "object"}}
                return {"tools": [tool], "nextCursor": str(at + 1)}
            schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
            page = {"tools": [{"name": names[at], "description": TOOLS[names[at]], "inputSchema": schema}]}
            return page | ({"nextCursor": str(at + 1)} if at + 1 < len(names) else {})
        if method == "resources/list":
            return {"resources": RESOURCES}
        if method == "resources/templates/list":
            return {"resourceTemplates": TEMPLATES}
        if method == "resources/read":
            if params["uri"] != "note:one":
                raise Fault(f"there is no resource {params['uri']}")
            return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": "the first note"}]}
        if method == "tools/call":
            return self.call(params["name"], params.get("arguments") or {})
        raise Fault(f"no method {method}")

    def call(self, name, given):
        if name not in TOOLS:
            raise Fault(f"Unknown tool: {name}")
        return getattr(self, name)(given)

    def echo(self, given):
        return text(given.get("text", ""))

    def add(self, given):
        return text("see the structure") | {"structuredContent": {"sum": given["a"] + given["b"]}}

    def fail(self, given):
        return text(f"the disk is full: {given.get('path')}") | {"isError": True}

    def parts(self, given):
        return {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}, {"type": "text", "text": "hi"}]}

    def texts(self, given):
        return {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}

    def silent(self, given):
        time.sleep(3600)

    def huge(self, given):
        return text("x" * given["n"])

    def die(self, given):
        print("the last words of a server", file=sys.stderr, flush=True)
        os._exit(3)

    def garbage(self, given):
        sys.stdout.write("Listening on port 80 {\n")
        sys.stdout.flush()
        time.sleep(3600)

    def flood(self, given):
        for number in range(given["n"]):
            self.say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": number}})
        return text("done")

    def ask(self, given):
        self.say({"jsonrpc": "2.0", "id": "q1", "method": given.get("method", "sampling/createMessage"), "params": {}})
        reply = self.hear()
        return text(json.dumps(reply.get("error", reply.get("result"))))

    def environment(self, given):
        return text(json.dumps(dict(os.environ)))

    def forget(self, given):
        Handler.session = None
        return text("forgotten")

    def child(self, given):
        # Deaf to everything but being killed.
        code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"
        return text(str(subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL).pid))


def over_pipes():
    def say(message):
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    def hear():
        return json.loads(sys.stdin.readline())

    server = Server(say, hear)
    if os.environ.get("MCP_TEST_PID"):
        with open(os.environ["MCP_TEST_PID"], "w") as file:
            file.write(str(os.getpid()))
    if os.environ.get("MCP_TEST_DEAF"):
        # Never reads to the end of its input, and goes on when it is asked to end: that is only noted.
        signal.signal(signal.SIGTERM, lambda *_: open(os.environ["MCP_TEST_PID"] + ".asked", "w").close())
        for line in sys.stdin:
            reply = server.answer(json.loads(line))
            if reply is not None:
                say(reply)
            if json.loads(line).get("method") == "tools/call":
                open(os.environ["MCP_TEST_PID"] + ".called", "w").close()
                while True:
                    time.sleep(3600)
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "tools/call" and message["params"]["name"] == "silent":
            continue
        reply = server.answer(message)
        if reply is not None:
            say(reply)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    session = None
    asked = []
    refused = []

    def log_message(self, *args):
        pass

    def reply(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_DELETE(self):
        Handler.session = None
        self.reply(200)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wanted = os.environ.get("MCP_TEST_AUTHORIZATION")
        if wanted and self.headers.get("Authorization") != wanted:
            return self.reply(401, b"who are you?", "text/plain")
        if message.get("method") == "initialize":
            Handler.session = f"session-{time.time_ns()}"
        elif self.headers.get("Mcp-Session-Id") != Handler.session or not self.headers.get("MCP-Protocol-Version"):
            return self.reply(404, b"no such session", "text/plain")
        if "method" not in message:
            Handler.refused.append(message)
        if "id" not in message or "method" not in message:
            return self.reply(202)
        name = (message.get("params") or {}).get("name")
        if name == "ask":
            return self.events(message)
        if name == "silent":
            time.sleep(3600)
        answer = Server(lambda message: None, None).answer(message)
        body = json.dumps(answer).encode()
        if message["method"] == "tools/list":
            body = b": a comment\n\nevent: message\ndata: " + body + b"\n\n"
            return self.reply(200, body, "text/event-stream")
        self.reply(200, body, Mcp_Session_Id=Handler.session or "none")

    def events(self, message):
        """The client's answer to a question comes as another request, while the stream is open."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

        def say(event):
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
            self.wfile.flush()

        def hear():
            while not Handler.refused:
                time.sleep(0.01)
            return Handler.refused.pop()

        say(Server(say, hear).answer(message))
        self.close_connection = True


def over_http(file):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with open(file + ".half", "w") as out:
        out.write(f"http://127.0.0.1:{server.server_port}/mcp")
    os.rename(file + ".half", file)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    server.serve_forever()


if len(sys.argv) > 1 and sys.argv[1] == "http":
    over_http(sys.argv[2])
else:
    over_pipes()
