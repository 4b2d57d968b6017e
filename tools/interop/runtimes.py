"""Checks that one program does the same under Bun and Deno as under Node, and that tensors which nothing disposes of do not fill memory there.

    pnpm build
    EAGRE_BUN=bun EAGRE_DENO=deno python tools/interop/runtimes.py

A runtime that is neither named nor on the path is left out.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAM, CONVERTED = HERE / 'runtimes.mjs', HERE / 'runtimes_converted.ts'
REGISTER = ROOT / 'packages/eagre/dist/register.js'
MOST_MEGABYTES = 800


def found(name):
    return os.environ.get(f'EAGRE_{name.upper()}') or shutil.which(name)


def lines(command, env=None):
    done = subprocess.run([str(c) for c in command], cwd=ROOT, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if done.returncode != 0:
        sys.exit(f'{command[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}')
    return done.stdout.splitlines()


def check(name, command, expected):
    with tempfile.TemporaryDirectory() as folder:
        results, costs = (json.loads(line) for line in lines([*command, PROGRAM, folder]))
    if expected is not None:
        assert results == expected, f'{name}: {results} instead of {expected}'
    for loop, cost in costs.items():
        assert cost['megabytes'] < MOST_MEGABYTES, f'{name}: {loop} took {cost["megabytes"]} MB'
    print(f'{name}: the same results; ' + ', '.join(f'{k} {v["ms"]} ms, {v["megabytes"]} MB' for k, v in costs.items()))
    return results


expected = check('node', [found('node')], None)
assert expected['readme'] == [[[8, 11], [16, 23]], 'native'], expected
assert expected['training'][0] and expected['training'][2], expected
bun, deno = found('bun'), found('deno')
if bun:
    check('bun', [bun], expected)
    assert lines([bun, '--preload', REGISTER, CONVERTED]) == ['42 native']
    print('bun: eagre/register converts TypeScript')
if deno:
    permissions = ['--allow-env', '--allow-ffi', '--allow-read', '--allow-write', '--allow-sys']
    check('deno', [deno, 'run', *permissions], expected)
    # In a checkout the package of the addon is a script, which Deno does not load while hooks are there.
    addon = {'EAGRE_ADDON': str(ROOT / 'native/build/Release/eagre.node')}
    assert lines([deno, 'run', '-A', '--preload', REGISTER, CONVERTED], addon) == ['42 native']
    print('deno: eagre/register converts TypeScript')
for name, path in (('bun', bun), ('deno', deno)):
    if not path:
        print(f'{name} is not installed (EAGRE_{name.upper()}): left out')
