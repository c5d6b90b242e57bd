# Sourced, with want=run or want=dev: makes .venv with the pinned dependencies when it is missing or out of date.
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "p2p-rummy needs Python 3.11 or newer; set PYTHON to one" >&2
    exit 1
}
stamp=.venv/.installed-$want
if [ ! -e "$stamp" ] || [ pyproject.toml -nt "$stamp" ] || [ constraints.txt -nt "$stamp" ]; then
    echo "setting up .venv ..." >&2
    [ -x .venv/bin/python ] || "$python" -m venv .venv
    if [ "$want" = dev ]; then spec='.[dev]'; else spec='.'; fi
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e "$spec"
    touch "$stamp"
    [ "$want" != dev ] || touch .venv/.installed-run
fi
