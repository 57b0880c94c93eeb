#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turn scripts/*.lua into C.

    embed_scripts.py OUTPUT_DIR SCRIPT.lua...

writes to OUTPUT_DIR/script/
    script_ids.h    an enum of the scripts, ordered by name
    script_words.h  indexes of the words of each: its keys, then its arguments
    scripts.c       the table hf__scripts
Only the body is embedded, because it is sent with the first use of a script; the
SHA-1 is of exactly those bytes. A script with a wrong header stops the build.
"""

import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import scriptfile  # noqa: E402

NOTICE = """/* SPDX-License-Identifier: Apache-2.0 */
/* Generated from scripts/ by tools/embed_scripts.py. */
"""


def c_bytes(text):
    """An initializer of chars, whose size C does not limit as it does that of a
    string; a line for each line."""
    return "".join("    %s,\n" % ",".join(str(ord(c)) for c in line)
                   for line in text.splitlines(keepends=True)) + "    0"


def bodies(scripts):
    return "".join(f"static const char body_{script.name}[] = {{\n"
                   f"{c_bytes(script.sent)}}};\n\n" for script in scripts)


def ids(scripts):
    names = "".join(f"    HF__SCRIPT_{s.name.upper()},\n" for s in scripts)
    return (NOTICE + "#ifndef HF__SCRIPT_SCRIPT_IDS_H\n"
            "#define HF__SCRIPT_SCRIPT_IDS_H\n\n"
            "typedef enum hf__script_id {\n" + names +
            "    HF__SCRIPT_COUNT\n} hf__script_id;\n\n" +
            "".join(f"extern const hf__shape hf__shape_{s.name};\n"
                    for s in scripts) + "\n#endif\n")


def words(scripts):
    lines = []
    for script in scripts:
        prefix = f"    HF__{script.name.upper()}_"
        rows = [(name.upper(), at) for at, name in script.words]
        if rows:
            rows.append(("KEYS", len(script.places["KEYS"])))
        if rows and not script.open_ended:
            rows.append(("WORDS", len(script.words)))
        lines += [f"{prefix}{name} = {at},\n" for name, at in rows]
    return (NOTICE + "#ifndef HF__SCRIPT_SCRIPT_WORDS_H\n"
            "#define HF__SCRIPT_SCRIPT_WORDS_H\n\nenum {\n" + "".join(lines) +
            "};\n\n#endif\n")


def follow(acquire, script):
    """hf__follow of a script that confirms or undoes an acquire."""
    name = script.name.upper()
    places = [scriptfile.FOLLOW.get(
        word, f"HF__{acquire.name.upper()}_{word.upper()}")
              for _, word in script.words]
    return (f"{{&hf__scripts[HF__SCRIPT_{name}], HF__{name}_KEYS, "
            f"HF__{name}_WORDS,\n     {{{', '.join(places)}}}}}")


def acquires(scripts):
    by_name = {script.name: script for script in scripts}
    text = ""
    for script in scripts:
        if not script.follows:
            continue
        confirm, undo = (by_name[name] for name in script.follows)
        text += (f"static const hf__acquire_rule acquire_{script.name} = {{\n"
                 f"    {follow(script, confirm)},\n"
                 f"    {follow(script, undo)},\n"
                 f"    HF__{script.name.upper()}_TTL,\n"
                 f"    HF__{undo.name.upper()}_ENTRY}};\n\n")
    return text


def types(script):
    """The types of its keys; of the last and all that follow."""
    return ", ".join(f'"{place.type}"' if place.type else "NULL"
                     for place in script.places["KEYS"])


def table(scripts):
    rows = []
    for script in scripts:
        body = script.sent.encode("ascii")
        digest = hashlib.sha1(body).hexdigest()
        rows.append(
            f"    {{ /* {script.name} */\n"
            f'      "{script.name}", body_{script.name},\n'
            f'      {len(body)},\n      "{digest}",\n'
            f"      HF__SCRIPT_{script.name.upper()},\n"
            f"      HF__SCRIPT_{script.name.upper()},\n"
            f"      {'true' if script.repeatable else 'false'},\n"
            f"      HF__LANE_{script.lane.upper()},\n"
            f"      &hf__shape_{script.name},\n"
            f"      HF__QUORUM_{script.quorum.upper()},\n"
            f"      {'&acquire_' + script.name if script.follows else 'NULL'},\n"
            f"      {{ {types(script)} }}, {len(script.places['KEYS'])},\n"
            f"      false, {'true' if script.reads else 'false'},\n"
            f"      HF__LEASES_{script.leases.upper()},\n"
            f"      {'true' if script.is_twin else 'false'} }},\n")
    return (NOTICE + '#include "script/script.h"\n'
            '#include "script/script_words.h"\n\n' + bodies(scripts) +
            acquires(scripts) +
            "const hf__script hf__scripts[] = {\n" + "".join(rows) + "};\n")


def write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="ascii") != text:
        path.write_text(text, encoding="ascii")


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__.strip())
    output = Path(arguments[0]) / "script"
    scripts = scriptfile.load_all(arguments[1:])
    findings = [f"{script.path}:{line}: {what}" for script in scripts
                for line, what in sorted(script.findings)]
    if findings:
        sys.exit("\n".join(findings))
    output.mkdir(parents=True, exist_ok=True)
    write_if_changed(output / "script_ids.h", ids(scripts))
    write_if_changed(output / "script_words.h", words(scripts))
    write_if_changed(output / "scripts.c", table(scripts))


if __name__ == "__main__":
    main(sys.argv[1:])
