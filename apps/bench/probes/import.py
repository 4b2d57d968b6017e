# How long the import of a module takes in a process that has done nothing else.
import importlib
import json
import sys
import time

start = time.perf_counter()
importlib.import_module(sys.argv[1])
print(json.dumps({"value": time.perf_counter() - start}))
