#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turn scripts/*.lua into functions of C.

    embed_native.py OUTPUT_DIR SCRIPT.lua...

writes to OUTPUT_DIR/script/
    native_ids.h       an enum of the commands that scripts run
    native_NOUN.c      the functions of the scripts of each noun
    native_scripts.c   the tables hf__native_functions and hf__native_names
What is translated is what servers are sent. A script that cannot be translated
stops the build.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import scriptfile  # noqa: E402
from embed_scripts import write_if_changed  # noqa: E402
from lua_syntax import LuaError  # noqa: E402
from lua_to_c import Translator  # noqa: E402

NOTICE = """/* SPDX-License-Identifier: Apache-2.0 */
/* Generated from scripts/ by tools/embed_native.py. */
"""


def noun(script):
    """What its file is named after."""
    return script.name.split("_")[0]


def ids(commands):
    """The enum of the commands."""
    names = "".join(f"    HF__NATIVE_{name.upper()},\n" for name in commands)
    return (NOTICE + "#ifndef HF__SCRIPT_NATIVE_IDS_H\n"
            "#define HF__SCRIPT_NATIVE_IDS_H\n\nenum {\n    HF__NATIVE_ANY = -1,\n"
            + names + "    HF__NATIVE_COMMANDS\n};\n\n#endif\n")


def tables(scripts, commands):
    """Both tables."""
    declared = "".join(f"hf__native_function hf__native_script_{script.name};\n"
                       for script in scripts)
    functions = "".join(f"    hf__native_script_{script.name},\n"
                        for script in scripts)
    names = "".join(f'    "{name}",\n' for name in commands)
    return (NOTICE + '#include "engine/native/native_code.h"\n\n' + declared
            + "\nhf__native_function *const hf__native_functions[] = {\n"
            + functions + "};\n\nconst char *const hf__native_names[] = {\n"
            + names + "};\n")


def translated(scripts):
    """Each script's translator, by name; what could not be translated."""
    found, failures = {}, []
    for script in scripts:
        try:
            found[script.name] = Translator(script.name, script.sent)
        except LuaError as error:
            failures.append(f"{script.path}:{script.body_line + error.line - 1}: "
                            f"{error.what} is not translated to C")
    return found, failures


def main(arguments):
    """Write the files."""
    if len(arguments) < 2:
        sys.exit(__doc__.strip())
    output = Path(arguments[0]) / "script"
    scripts = scriptfile.load_all(arguments[1:])
    found, failures = translated(scripts)
    if failures:
        sys.exit("\n".join(failures))
    commands = sorted({name for one in found.values() for name in one.commands})
    output.mkdir(parents=True, exist_ok=True)
    write_if_changed(output / "native_ids.h", ids(commands))
    write_if_changed(output / "native_scripts.c", tables(scripts, commands))
    for name in {noun(script) for script in scripts}:
        write_if_changed(
            output / f"native_{name}.c",
            NOTICE + '#include "engine/native/native_code.h"\n\n' + "\n".join(
                found[script.name].c_text() for script in scripts
                if noun(script) == name))


if __name__ == "__main__":
    main(sys.argv[1:])
