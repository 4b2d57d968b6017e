"""Checks that Python's zipfile reads the ZIP archives with zip64 fields that @eagre/formats writes, and it Python's.

    pnpm build
    python tools/interop/archives.py
"""

import base64
import json
import pathlib
import subprocess
import tempfile
import zipfile

HERE = pathlib.Path(__file__).parent
FILES = {'a.txt': b'first', 'ü/b.txt': b'\x07' * 300, 'empty': b''}
MANY = 65_600


def run(command, folder):
    return subprocess.run(['node', HERE / 'archives.mjs', command, folder], check=True, stdout=subprocess.PIPE, text=True).stdout


def check_ours(folder):
    run('write', folder)
    for start in (0, 4, 10, 100, 320):
        with zipfile.ZipFile(f'{folder}/{start}.zip') as archive:
            assert archive.testzip() is None, start
            assert {name: archive.read(name) for name in archive.namelist()} == FILES, start
    with zipfile.ZipFile(f'{folder}/many.zip') as archive:
        assert archive.namelist() == [str(i) for i in range(MANY)]
        assert archive.read('65599') == b'65599'


def check_theirs(folder):
    limit = zipfile.ZIP64_LIMIT
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        zipfile.ZIP64_LIMIT = 4
        try:
            with zipfile.ZipFile(f'{folder}/small.zip', 'w', compression) as archive:
                for name, content in FILES.items():
                    archive.writestr(name, content)
        finally:
            zipfile.ZIP64_LIMIT = limit
        with zipfile.ZipFile(f'{folder}/many.zip', 'w', compression) as archive:
            for i in range(MANY):
                archive.writestr(str(i), b'')
        read = json.loads(run('read', folder))
        assert {name: base64.b64decode(content) for name, content in read['small']} == FILES, compression
        assert read['many'] == MANY, compression


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_ours(folder)
        check_theirs(folder)
    print('archives with zip64 fields are read by Python, and those of Python by Eagre')


if __name__ == '__main__':
    main()
